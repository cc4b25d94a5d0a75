"""Lazy imports of packages: a module is imported on the first use of its names (PEP 562).

``import recordpress`` finds `recordpress.log` and its other packages at no cost, and a command that reads records does
not load the modules that copy logs. The names of a package are in its ``__init__.pyi``, for type checkers too.
`recordpress` itself has no ``__getattr__``: CPython does not specialize attribute access on a module with one, so that
``recordpress.crc32c(data)`` would take half as long again.
"""

import sys

TYPE_CHECKING = False  # importing typing would add a tenth to the time that importing recordpress takes
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any
else:
    ModuleType = type(sys)


class UnloadedPackage(ModuleType):
    """A package that its first use imports; the import replaces this object in the parent package.

    It is not in sys.modules: ``import recordpress.spark`` runs the package's code, ``import recordpress`` does not.
    """

    def __new__(cls, name: str) -> "UnloadedPackage":
        return super().__new__(cls)

    def __getattr__(self, name: str) -> "Any":
        from importlib import import_module

        return getattr(import_module(self.__name__), name)

    def __repr__(self) -> str:
        return f"<package {self.__name__!r}, not imported yet>"

    def __dir__(self) -> "list[str]":
        from importlib import import_module

        return dir(import_module(self.__name__))


def exports(package: str, file: str) -> "tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]":
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package by the stub next to its `file`, which imports
    each name from its module, and each module from the package."""
    with open(f"{file.rpartition('.')[0]}.pyi", encoding="utf-8") as stub:
        module_of = {
            name.split(" as ")[0].strip(): module
            for statement in f"\n{stub.read()}".split("\nfrom ")[1:]
            for module, _, names in [statement.partition(" import ")]
            for name in names.strip("()\n ,").split(",")
        }

    def get(name: str) -> "Any":
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        from importlib import import_module

        module = module_of[name]
        value = import_module(f"{package}.{name}") if module == package else getattr(import_module(module), name)
        setattr(sys.modules[package], name, value)
        return value

    names = sorted(module_of)
    return get, lambda: names, names
