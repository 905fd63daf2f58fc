"""Makes the declarations from the C header, and takes the library along if it was built.

The header is that of the checkout, or PLACETO_HEADER. The library is PLACETO_LIBRARY, or that of the
checkout's build/release; without one, the package looks for an installed library at run time.
"""

import os
import pathlib
import shutil
import sys

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))


class Build(build_py):
    def run(self):
        super().run()
        import generate

        package = pathlib.Path(self.build_lib, "placeto")
        header = os.environ.get("PLACETO_HEADER", ROOT / "runtime/include/placeto/placeto.h")
        generate.main(["generate.py", str(header), str(package / "_native.py")])
        library = os.environ.get(
            "PLACETO_LIBRARY", ROOT / "build/release/runtime/capi/libplaceto.so")
        if pathlib.Path(library).exists():
            shutil.copyfile(library, package / "libplaceto.so")


setup(cmdclass={"build_py": Build})
