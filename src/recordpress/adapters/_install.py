"""Replacement of names in a client's modules, and their exact restoration."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import version
from threading import RLock
from typing import TYPE_CHECKING, NamedTuple, Protocol

from recordpress.codecs import DEFAULT_MAX_SIZE
from recordpress.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager
    from types import ModuleType
    from typing import Any

    from recordpress.adapters._client import Client

LOCK = RLock()


def check_version(distribution: str, least: tuple[int, int], below: tuple[int, int]) -> tuple[int, int]:
    """Return the client's major and minor version; raise an error if it is unsupported."""
    found = version(distribution)
    parts = found.split(".")[:2]
    number = (int(parts[0]), int(parts[1])) if len(parts) == 2 and all(map(str.isdecimal, parts)) else (0, 0)
    if not least <= number < below:
        raise InvalidArgumentError(
            f"this adapter is for {distribution} {_text(least)} or later, below {_text(below)}; {found} is installed",
            field="version",
        )
    return number


def _text(number: tuple[int, int]) -> str:
    return f"{number[0]}.{number[1]}"


class Adapter:
    """The names to replace in each of a client's modules, and the adapter's `own` objects for them."""

    def __init__(
        self,
        package: str,
        own: dict[str, Any],
        names: dict[str, str],
        tables: Iterable[tuple[str, str, str]],
        also: Iterable[str] = (),
    ) -> None:
        self.package = package
        self.names = {module: {name: own[name] for name in text.split()} for module, text in names.items()}
        self.tables = tuple(tables)
        self.also = tuple(also)
        self.pairs: list[tuple[Any, Any]] = []  # the client's object, the adapter's object
        self.kept: list[tuple[Any, str, Any, Any]] = []  # a table's holder and attribute, the table, its replacement

    def install(self) -> bool:
        """Install the replacements; return False if they are already installed."""
        with LOCK:
            if self.pairs:
                return False
            for module in self.also:
                import_module(module)
            pairs = [
                (getattr(import_module(module), name), own)
                for module, names in self.names.items()
                for name, own in names.items()
            ]
            tables = [(getattr(import_module(module), name), attribute) for module, name, attribute in self.tables]
            self.pairs = pairs
            try:
                self._replace({id(theirs): own for theirs, own in pairs})
                for holder, attribute in tables:
                    self._replace_table(holder, attribute)
            except BaseException:  # also Ctrl-C: a partial installation would remain and count as complete
                self.uninstall()
                raise
            return True

    def uninstall(self) -> bool:
        """Restore the client's names; return False if the replacements are not installed."""
        with LOCK:
            if not self.pairs:
                return False
            self._replace({id(own): theirs for theirs, own in self.pairs})
            while self.kept:
                holder, attribute, table, own = self.kept.pop()
                if getattr(holder, attribute) is own:  # otherwise the program has replaced the table since
                    setattr(holder, attribute, table)
            self.pairs = []
            return True

    def _modules(self) -> list[ModuleType]:
        """Return the client's imported modules."""
        prefix = f"{self.package}."
        return [module for name, module in list(sys.modules.items()) if name == self.package or name.startswith(prefix)]

    def _replace(self, by: dict[int, Any]) -> None:
        for module in self._modules():
            for name, value in list(vars(module).items()):
                if id(value) in by:
                    setattr(module, name, by[id(value)])

    def _replace_table(self, holder: Any, attribute: str) -> None:
        table = getattr(holder, attribute)
        by = {id(theirs): own for theirs, own in self.pairs}
        new = {key: tuple(by.get(id(value), value) for value in row) for key, row in table.items()}
        self.kept.append((holder, attribute, table, new))
        setattr(holder, attribute, new)


INSTALL_DOC = """Put the classes and functions of this module into {name}, for the whole process.

In every module of `{package}` that holds one of the names, recordpress's object replaces the client's. Names that the
program itself imported from {name} earlier do not change; producers and consumers need not be created again. All codecs
work, with or without {libraries}. A second call only changes the limit.

Parameters
----------
max_decompressed_bytes : int
    Maximum size of one batch's decompressed records in bytes; a larger batch raises {name}'s {corrupt}.

Raises
------
InvalidArgumentError
    The limit is not between 1 and 2147483647. Importing this module fails for an unsupported version of {name}.

Examples
--------
>>> import {package}.record, recordpress.adapters.{module}
>>> recordpress.adapters.{module}.install()
>>> {package}.record.MemoryRecords is recordpress.adapters.{module}.MemoryRecords
True
>>> recordpress.adapters.{module}.uninstall()
"""

UNINSTALL_DOC = """Restore all names of {name}; do nothing if they were not replaced.

The limit returns to its default. Open batches keep their classes.

Examples
--------
>>> import recordpress.adapters.{module}
>>> recordpress.adapters.{module}.uninstall()
"""

INSTALLED_DOC = """Context manager that installs for its block, and restores the previous names and limit after it.

Examples
--------
>>> import {package}.codec, recordpress.adapters.{module}
>>> with recordpress.adapters.{module}.installed():
...     {package}.codec.has_zstd()
True
"""


class Install(Protocol):
    """Type of install()."""

    def __call__(self, *, max_decompressed_bytes: int = DEFAULT_MAX_SIZE) -> None: ...


class Calls(NamedTuple):
    """Public calls of an adapter's module."""

    install: Install
    uninstall: Callable[[], None]
    installed: Callable[[], AbstractContextManager[None]]


def calls_of(adapter: Adapter, client: Client, **words: str) -> Calls:
    """Return install(), uninstall() and installed(), with docstrings from the adapter."""

    def install(*, max_decompressed_bytes: int = DEFAULT_MAX_SIZE) -> None:
        client.limit(max_decompressed_bytes)
        adapter.install()

    def uninstall() -> None:
        adapter.uninstall()
        client.limit(DEFAULT_MAX_SIZE)

    @contextmanager
    def installed() -> Iterator[None]:
        before = client.cap
        mine = adapter.install()
        try:
            yield
        finally:
            if mine:
                adapter.uninstall()
            client.limit(before)

    described: list[tuple[Any, str]] = [(install, INSTALL_DOC), (uninstall, UNINSTALL_DOC), (installed, INSTALLED_DOC)]
    for call, doc in described:
        call.__doc__ = doc.format(package=adapter.package, **words)
        call.__module__ = f"recordpress.adapters.{words['module']}"
        call.__qualname__ = call.__name__
    return Calls(install, uninstall, installed)
