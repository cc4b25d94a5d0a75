"""The compiled modules are named in src/recordpress/_extension_finder.py; how they are built is in build_support/."""

import runpy
import sys
from pathlib import Path

from setuptools import Extension, setup

sys.path.insert(0, str(Path(__file__).resolve().parent))
from build_support.bdist_wheel import bdist_wheel
from build_support.build_ext import build_ext

modules = runpy.run_path("src/recordpress/_extension_finder.py")

setup(
    cmdclass={"build_ext": build_ext, "bdist_wheel": bdist_wheel},
    ext_modules=[
        Extension(
            f"recordpress.{modules['FILE']}",
            [f"src/recordpress/{name.replace('.', '/')}.pyx" for name in modules["LIBRARIES"]],
            include_dirs=["include", "src"],
        )
    ],
)
