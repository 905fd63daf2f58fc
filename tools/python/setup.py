"""Makes the declarations from the C headers, and takes the libraries along if they were built.

The headers are those of the checkout, or PLACETO_HEADER and PLACETO_ONNX_HEADER. The libraries are
PLACETO_LIBRARY and PLACETO_ONNX_LIBRARY, or those of the checkout's build/release; without them, the
package looks for installed ones at run time.
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
        headers = [
            os.environ.get("PLACETO_HEADER", ROOT / "runtime/include/placeto/placeto.h"),
            os.environ.get("PLACETO_ONNX_HEADER",
                           ROOT / "tools/capi/include/placeto/placeto_onnx.h"),
        ]
        generate.main(["generate.py", *map(str, headers), str(package / "_native.py")])
        built = ROOT / "build/release"
        for name, variable, path in (
                ("libplaceto.so", "PLACETO_LIBRARY", built / "runtime/capi/libplaceto.so"),
                ("libplaceto-onnx.so", "PLACETO_ONNX_LIBRARY",
                 built / "tools/capi/libplaceto-onnx.so")):
            library = os.environ.get(variable, path)
            if pathlib.Path(library).exists():
                shutil.copyfile(library, package / name)


setup(cmdclass={"build_py": Build})
