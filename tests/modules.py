"""The modules of the package, those in the shared object included, which no listing of a folder shows."""

import pkgutil

import kpress
from kpress._modules import LIBRARIES

COMPILED = sorted(f"kpress.{name}" for name in LIBRARIES)
_PYTHON = {info.name for info in pkgutil.walk_packages(kpress.__path__, "kpress.", onerror=lambda name: None)}
MODULES = sorted({*_PYTHON, *COMPILED} - {"kpress._native"})
