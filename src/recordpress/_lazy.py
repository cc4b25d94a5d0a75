"""Lazy imports of packages: a module is imported on the first use of its names (PEP 562).

``import recordpress`` finds `recordpress.log` and its other packages at no cost, and a command that reads records does
not load the modules that copy logs. The names of a package are in its ``__init__.pyi``, for type checkers too.
`recordpress` itself has no ``__getattr__``: CPython does not specialize attribute access on a module with one, so that
``recordpress.crc32c(data)`` would take half as long again.
"""

import sys

TYPE_CHECKING = False  # importing typing would add a tenth to the time that importing recordpress takes
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
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


class Package(ModuleType):
    """Package that publishes the names of a private module when the import system sets it as an attribute."""

    _module_of: "dict[str, str]"  # by public name

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, value)
        if name.startswith("_") and type(value) is ModuleType:
            names = [name for name, module in self._module_of.items() if module == value.__name__]
            publish(self.__name__, names, vars(value))


_HEAP = 1 << 9  # Py_TPFLAGS_HEAPTYPE: a class of Python


def publish(package: str, names: "Iterable[str]", found: "dict[str, Any]") -> None:
    """Set ``__module__`` of the public classes and functions of private modules to the package, which users know;
    tracebacks, reprs and pickles show it."""
    for name in names:
        value = found.get(name)
        home = getattr(value, "__module__", None) or ""
        if "._" not in home or not hasattr(value, "__qualname__"):
            continue
        if isinstance(value, type) and not value.__flags__ & _HEAP:
            from recordpress._sealed import set_module

            set_module(value, package)
            continue
        if isinstance(value, type):
            value.__annotations__ = _evaluated(value.__annotations__, vars(sys.modules[home]))
        value.__module__ = package


def _evaluated(annotations: "dict[str, Any]", names: "dict[str, Any]") -> "dict[str, Any]":
    """Return the annotations of a class as typing.get_type_hints evaluates them, which would look for names in the
    module that the class states; annotations with names only for type checkers remain text."""
    evaluated = dict(annotations)
    for name, annotation in annotations.items():
        text = getattr(annotation, "__forward_arg__", annotation)  # of a NamedTuple
        try:
            evaluated[name] = eval(text, names) if isinstance(text, str) else annotation
        except NameError:  # remains text
            continue
    return evaluated


def exports(package: str, file: str) -> "tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]":
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package, from the stub next to its `file`, which imports
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
    itself: Any = sys.modules[package]
    itself.__class__, itself._module_of = Package, module_of
    return get, lambda: names, names
