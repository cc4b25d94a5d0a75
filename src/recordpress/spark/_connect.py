"""Sessions of Spark Connect: the server plans reads and writes, with its own Python.

The error of a server that does not find the data source has 200 lines and no remedy. Therefore
``format("recordpress")`` of a client first registers the data source, which checks the server's Python.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import wraps
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# By module and class: the attribute with the session.
_FORMATS = {
    ("pyspark.sql.connect.readwriter", "DataFrameReader"): "_client",
    ("pyspark.sql.connect.readwriter", "DataFrameWriter"): "_spark",
    ("pyspark.sql.connect.streaming.readwriter", "DataStreamReader"): "_client",
    ("pyspark.sql.connect.streaming.readwriter", "DataStreamWriter"): "_session",
}

_registered: WeakSet[SparkSession] = WeakSet()


def watch(register: Callable[[SparkSession], None]) -> None:
    """Make ``format("recordpress")`` of Spark Connect register the data source, in this and in later sessions."""
    if find_spec("grpc") is None or "SPARK_PYTHON_RUNTIME" in os.environ:  # no client; a worker
        return
    from pyspark.sql import SparkSession

    _wrap_formats(register)
    builder: Any = SparkSession.Builder
    start = builder.getOrCreate

    @wraps(start)
    def started(self: Any) -> SparkSession:
        session: SparkSession = start(self)
        _wrap_formats(register)  # the modules of Spark Connect take a second to load, so others do without them
        return session

    builder.getOrCreate = started


def _wrap_formats(register: Callable[[SparkSession], None]) -> None:
    for (module, name), attribute in _FORMATS.items():
        kind = getattr(sys.modules.get(module), name, None)
        if kind is not None and not hasattr(kind.format, "__wrapped__"):
            kind.format = _registering(kind.format, attribute, register)


def _registering(original: Any, attribute: str, register: Callable[[SparkSession], None]) -> Any:
    """Return the method `format` of a class whose session is in this attribute."""

    @wraps(original)
    def format(self: Any, source: str) -> Any:
        session = getattr(self, attribute)
        if source.lower() == "recordpress" and session not in _registered:
            register(session)
            _registered.add(session)
        return original(self, source)

    return format
