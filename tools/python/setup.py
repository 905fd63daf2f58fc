"""Makes the declarations from the C headers, and takes the built libraries along.

The headers are those of the checkout, or PLACETO_HEADER and PLACETO_ONNX_HEADER. The libraries are
PLACETO_LIBRARY and PLACETO_ONNX_LIBRARY, or those of the checkout's build/release; where none were
built but libplaceto is installed, the package opens that at run time.
"""

import ctypes.util
import os
import pathlib
import re
import shutil
import sys

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel  # setuptools 70.1 and later
except ImportError:
    from wheel.bdist_wheel import bdist_wheel

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILT = ROOT / "build/release"
HEADER = pathlib.Path(os.environ.get("PLACETO_HEADER", ROOT / "runtime/include/placeto/placeto.h"))
ONNX_HEADER = pathlib.Path(os.environ.get(
    "PLACETO_ONNX_HEADER", ROOT / "tools/capi/include/placeto/placeto_onnx.h"))
sys.path.insert(0, str(HERE))


def version():
    """The header's: the compiler holds it to the project's."""
    text = HEADER.read_text(encoding="utf-8")
    return ".".join(re.search(rf"#define PLACETO_VERSION_{part} (\d+)\n", text)[1]
                    for part in ("MAJOR", "MINOR", "PATCH"))


def find_library(name, variable, built):
    """The file to take along, or None."""
    if variable in os.environ:
        given = pathlib.Path(os.environ[variable])
        if not given.exists():
            raise SystemExit(f"setup.py: {variable} names {given}, which does not exist")
        return given
    if built.exists():
        return built
    if ctypes.util.find_library(name):
        print(f"setup.py: no {built}; the package will use the installed lib{name}")
    elif name == "placeto":  # it cannot be imported without
        raise SystemExit(
            f"setup.py: no libplaceto: {built} does not exist, and none is installed. Build it "
            "first (cmake --preset release && cmake --build --preset release --target placeto "
            "placeto_onnx_capi), or name one in PLACETO_LIBRARY")
    else:
        print(f"setup.py: no lib{name}: the package will read and write binary files alone")
    return None


class Build(build_py):
    def run(self):
        if getattr(self, "editable_mode", False):
            raise SystemExit("setup.py: cannot be installed editable, as parts are made when it is "
                             "built")
        libraries = {
            "libplaceto.so": find_library("placeto", "PLACETO_LIBRARY",
                                          BUILT / "runtime/capi/libplaceto.so"),
            "libplaceto-onnx.so": find_library("placeto-onnx", "PLACETO_ONNX_LIBRARY",
                                               BUILT / "tools/capi/libplaceto-onnx.so"),
        }
        super().run()
        import generate

        package = pathlib.Path(self.build_lib, "placeto")
        generate.main(["generate.py", str(HEADER), str(ONNX_HEADER), str(package / "_native.py")])
        for name, library in libraries.items():
            (package / name).unlink(missing_ok=True)  # of an earlier build
            if library is not None:
                shutil.copyfile(library, package / name)


class Wheel(bdist_wheel):
    def get_tag(self):
        """Any Python 3, as ctypes opens the libraries, but only machines that can run them."""
        return ("py3", "none", super().get_tag()[2])


class Binary(Distribution):
    def has_ext_modules(self):
        """So that the package is not taken for one that runs anywhere."""
        return True


setup(version=version(), cmdclass={"build_py": Build, "bdist_wheel": Wheel}, distclass=Binary)
