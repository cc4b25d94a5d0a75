"""The modules of the package, those in the shared object included, which no listing of a folder shows."""

import pkgutil

import recordpress
from recordpress._extension_finder import LIBRARIES

COMPILED = sorted(f"recordpress.{name}" for name in LIBRARIES)
_PYTHON = {info.name for info in pkgutil.walk_packages(recordpress.__path__, "recordpress.", onerror=lambda name: None)}
MODULES = sorted({*_PYTHON, *COMPILED} - {"recordpress._native"})
