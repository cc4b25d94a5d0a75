"""Hooks in Spark that importing recordpress.spark adds: new sessions have the functions for SQL, and
``format("recordpress")`` of a Spark Connect client registers the data source.

The server plans reads and writes with its own Python. Its error for a data source that it does not find has 200 lines
and no remedy; registering checks that Python first.
"""

from __future__ import annotations

import sys
from functools import wraps
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# The attribute that holds the session, by module and class.
_FORMATS = {
    ("pyspark.sql.connect.readwriter", "DataFrameReader"): "_client",
    ("pyspark.sql.connect.readwriter", "DataFrameWriter"): "_spark",
    ("pyspark.sql.connect.streaming.readwriter", "DataStreamReader"): "_client",
    ("pyspark.sql.connect.streaming.readwriter", "DataStreamWriter"): "_session",
}

_registered: WeakSet[SparkSession] = WeakSet()


def watch() -> None:
    """Add the functions to each new session; register the data source when a Spark Connect client names the format."""
    from pyspark.sql import SparkSession

    _wrap_formats()
    builder: Any = SparkSession.Builder
    start = builder.getOrCreate

    @wraps(start)
    def started(self: Any) -> SparkSession:
        session: SparkSession = start(self)
        _wrap_formats()  # loading the modules of Spark Connect takes a second, so only loaded ones are wrapped
        from recordpress.spark._session import add_functions

        add_functions(session)
        return session

    builder.getOrCreate = started


def _wrap_formats() -> None:
    for (module, name), attribute in _FORMATS.items():
        kind = getattr(sys.modules.get(module), name, None)
        if kind is not None and not hasattr(kind.format, "__wrapped__"):
            kind.format = _registering(kind.format, attribute)


def _registering(original: Any, attribute: str) -> Any:
    """Return a method `format` that first registers the data source with the session in `attribute`."""

    @wraps(original)
    def format(self: Any, source: str) -> Any:
        session = getattr(self, attribute)
        if source.lower() == "recordpress" and session not in _registered:
            from recordpress.spark._session import register

            register(session)
            _registered.add(session)
        return original(self, source)

    return format
