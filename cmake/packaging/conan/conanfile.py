"""Conan 2 recipe: builds the checkout that it lies in.

    conan create cmake/packaging/conan
"""

import os

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, rm, rmdir


class PlacetoConan(ConanFile):
    name = "placeto"
    version = "0.1.0"
    description = "Learned device placement for neural networks"
    license = "Apache-2.0"
    author = "The Placeto authors"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "onednn": [True, False]}
    default_options = {"shared": True, "onednn": False}
    generators = "CMakeDeps"

    def requirements(self):
        self.requires("flatbuffers/[>=2.0 <25]")
        if self.options.onednn:
            self.requires("onednn/[>=2.6]")

    def build_requirements(self):
        self.tool_requires("flatbuffers/<host_version>")

    def export_sources(self):
        checkout = os.path.join(self.recipe_folder, "..", "..", "..")
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "schema/*", "runtime/*", "models/*"):
            copy(self, pattern, checkout, self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["PLACETO_BUILD_TOOLS"] = False
        toolchain.cache_variables["PLACETO_BUILD_TESTS"] = False
        toolchain.cache_variables["PLACETO_BUILD_BENCHMARKS"] = False
        toolchain.cache_variables["PLACETO_ONEDNN"] = bool(self.options.onednn)
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()
        # Both libraries are installed: who links by name would get the shared one, whatever was asked
        # for. Files for CMake and pkg-config name both, and CMakeDeps and PkgConfigDeps write their own.
        lib = os.path.join(self.package_folder, "lib")
        rm(self, "*.a" if self.options.shared else "*.so*", lib, recursive=True)
        rmdir(self, os.path.join(lib, "cmake"))
        rmdir(self, os.path.join(lib, "pkgconfig"))

    def package_info(self):
        # One of the two libraries, by the names that the CMake package of the project uses.
        target = "placeto::placeto" if self.options.shared else "placeto::placeto_static"
        self.cpp_info.set_property("cmake_target_name", target)
        self.cpp_info.libs = ["placeto"]
        if not self.options.shared:
            self.cpp_info.system_libs = ["stdc++", "m"]
