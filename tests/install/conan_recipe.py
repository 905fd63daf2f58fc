"""Runs the Conan recipe without Conan: stand-ins for what it imports do what Conan would, as far as
a machine without a network can. Exports the sources, configures them alone with what the recipe sets,
installs a finished build and looks for what the recipe says is there.

    conan_recipe.py RECIPE BUILD WORK
"""

import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
import types

RECIPE, BUILD, WORK = (os.path.abspath(path) for path in sys.argv[1:4])


def copy(conanfile, pattern, src, dst, **_):
    """Like conan.tools.files.copy: patterns match whole paths, and `*` crosses folders."""
    copied = []
    for folder, folders, names in os.walk(src):
        folders[:] = [name for name in folders if name not in ("build", ".git")]
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), src)
            if fnmatch.fnmatch(path, pattern):
                target = os.path.join(dst, path)
                os.makedirs(os.path.dirname(target), exist_ok=True)
                shutil.copy2(os.path.join(src, path), target)
                copied.append(target)
    return copied


def rm(conanfile, pattern, folder, recursive):
    """Like conan.tools.files.rm: patterns match names."""
    assert recursive
    for inside, _, names in os.walk(folder):
        for name in fnmatch.filter(names, pattern):
            os.remove(os.path.join(inside, name))


def rmdir(conanfile, folder):
    shutil.rmtree(folder, ignore_errors=True)


class Toolchain:
    def __init__(self, conanfile):
        self.conanfile, self.cache_variables = conanfile, {}

    def generate(self):
        self.conanfile.variables = dict(self.cache_variables)


class CMake:
    def __init__(self, conanfile):
        self.conanfile = conanfile

    def configure(self):
        values = self.conanfile.variables.items()
        defined = [f"-D{key}={('OFF', 'ON')[value] if isinstance(value, bool) else value}"
                   for key, value in values]
        command = ["cmake", "-S", self.conanfile.source_folder, "-B", self.conanfile.build_folder]
        done = subprocess.run(command + defined + ["-DCMAKE_BUILD_TYPE=Release"], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert done.returncode == 0, done.stdout
        assert "not used by the project" not in done.stdout, done.stdout

    def build(self):
        """The suite has built the same sources: that is not repeated here."""

    def install(self):
        for component in ("runtime", "development"):
            subprocess.run(["cmake", "--install", BUILD, "--component", component, "--prefix",
                            self.conanfile.package_folder], check=True, stdout=subprocess.DEVNULL)


class CppInfo:
    libs, system_libs = [], []

    def __init__(self):
        self.properties = {}

    def set_property(self, name, value):
        self.properties[name] = value


class ConanFile:
    def requires(self, reference):
        assert re.fullmatch(r"[a-z0-9_]+/(\[[^\]]+\]|[\w.]+)", reference), reference
        self.required.append(reference)

    def tool_requires(self, reference):
        name, version = reference.split("/")
        host = [r for r in self.required if r.startswith(name + "/")]
        assert version != "<host_version>" or host, f"{reference}: not required for the host"


def stand_in(name, **contents):
    module = types.ModuleType(name)
    vars(module).update(contents)
    sys.modules[name] = module


stand_in("conan", ConanFile=ConanFile)
stand_in("conan.tools")
stand_in("conan.tools.cmake", CMake=CMake, CMakeToolchain=Toolchain, cmake_layout=lambda _: None)
stand_in("conan.tools.files", copy=copy, rm=rm, rmdir=rmdir)


def run(recipe_class, shared):
    recipe = recipe_class()
    recipe.required, recipe.cpp_info = [], CppInfo()
    recipe.options = types.SimpleNamespace(**{**recipe.default_options, "shared": shared})
    for option, chosen in vars(recipe.options).items():
        assert chosen in recipe_class.options[option], option
    work = os.path.join(WORK, "shared" if shared else "static")
    shutil.rmtree(work, ignore_errors=True)
    recipe.recipe_folder = os.path.dirname(RECIPE)
    recipe.source_folder = recipe.export_sources_folder = os.path.join(work, "source")
    recipe.build_folder = os.path.join(work, "build")
    recipe.package_folder = os.path.join(work, "package")
    for step in ("export_sources", "layout", "requirements", "build_requirements", "generate",
                 "build", "package", "package_info"):
        getattr(recipe, step)()
    package = recipe.package_folder
    found = {os.path.relpath(os.path.join(folder, name), package)
             for folder, _, names in os.walk(package) for name in names}
    assert "licenses/LICENSE" in found, found
    assert any(path.endswith("include/placeto/placeto.h") for path in found), found
    # A linker takes the shared library where both are there.
    ending, other = (".so", ".a") if shared else (".a", ".so")
    for lib in recipe.cpp_info.libs:
        assert any(path.endswith(f"/lib{lib}{ending}") for path in found), (lib, found)
        assert not any(path.endswith(f"/lib{lib}{other}") for path in found), (lib, found)
    assert not any(path.endswith((".cmake", ".pc")) for path in found), found
    # Code that was written for the project's own CMake package links the same target.
    target = recipe.cpp_info.properties["cmake_target_name"]
    with open(os.path.join(os.path.dirname(RECIPE), "..", "..", "install.cmake"),
              encoding="utf-8") as file:
        names = re.findall(r"install\(TARGETS (\w+) ", file.read())
    assert target.removeprefix("placeto::") in names, (target, names)


def main():
    scope = {}
    with open(RECIPE, encoding="utf-8") as file:
        exec(compile(file.read(), RECIPE, "exec"), scope)  # pylint: disable=exec-used
    recipe_class = scope["PlacetoConan"]
    for shared in (True, False):
        run(recipe_class, shared)
    print(json.dumps({"recipe": recipe_class.name, "version": recipe_class.version}))


main()
