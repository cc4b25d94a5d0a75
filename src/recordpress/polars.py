"""Logs in Polars: a lazy frame that reads only the data that a query needs.

::

    LazyFrame ──► columns, predicate, number of rows ──► Log.read: columns, partitions, offsets, times ──► DataFrames
                                                                                    └── the predicate, once more

The parts of a predicate that are joined by ``&`` may limit topic, partition, offset and timestamp. These limits need
only keep every matching row: every frame is filtered by the whole predicate. This module needs polars.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from recordpress.codecs import CodecRegistry
from recordpress.columns.catalogue import DEFAULT
from recordpress.log import Partition, open_log

if TYPE_CHECKING:
    import os

    import polars

    from recordpress.log import Log

_PLACES = ("topic", "partition")
_1970 = datetime(1970, 1, 1, tzinfo=UTC)
# The operator of a comparison with its sides exchanged.
_EXCHANGED = {"Gt": "Lt", "GtEq": "LtEq", "Lt": "Gt", "LtEq": "GtEq", "Eq": "Eq"}


def scan_log(
    path: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    columns: Iterable[str] | None = None,
    filesystem: object = None,
    codecs: CodecRegistry | None = None,
    **options: Any,
) -> polars.LazyFrame:
    """Return a log as a lazy frame.

    Only the query's columns are decoded. Filters on topic and partition choose directories, and filters on offset and
    timestamp limit what is read from them. ``head`` and ``slice`` end the read early.

    Parameters
    ----------
    path, filesystem, codecs
        As in `recordpress.open_log`. Files are listed at once; records are read when the query is collected.
    columns : sequence of str, optional
        Columns of the frame. By default topic, partition, offset, timestamp, timestampType, key, value and headers;
        `recordpress.read_columns` lists further columns.
    options
        ``isolation_level``, ``on_corrupt``, ``threads`` and other options of `Log.read`.

    Returns
    -------
    polars.LazyFrame

    Raises
    ------
    RecordpressError
        As in `recordpress.open_log` and `Log.read`; Polars may raise errors of a running query as ComputeError.

    Examples
    --------
    >>> import polars as pl
    >>> from recordpress.polars import scan_log
    >>> frame = scan_log("demo/logs")
    >>> (frame.filter(pl.col("topic") == "sessions", pl.col("offset") < 100)
    ...       .group_by("partition").len().sort("partition").collect().rows())
    [(0, 100), (1, 100)]
    """
    import polars as pl
    from polars.io.plugins import register_io_source

    log = open_log(path, filesystem=filesystem, codecs=codecs)
    names = list(columns) if columns is not None else [*_PLACES, *DEFAULT]
    schema = _frame_of(log.select(lambda partition: False), names, options).schema

    def source(
        with_columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None, batch_size: int | None
    ) -> Iterator[pl.DataFrame]:
        return _Scan(log, with_columns if with_columns is not None else names, predicate, n_rows, options).frames()

    return register_io_source(source, schema=schema)


def _frame_of(log: Log, names: list[str], options: dict[str, Any]) -> polars.DataFrame:
    import polars as pl

    return pl.DataFrame(log.read(names, **options))


class _Scan:
    """One execution of a query."""

    def __init__(
        self, log: Log, names: list[str], predicate: polars.Expr | None, rows: int | None, options: dict[str, Any]
    ) -> None:
        self.names = names
        self.predicate = predicate
        self.rows = rows
        self.options = dict(options)
        parts = [] if predicate is None else list(_parts_of(predicate))
        self.log = log.select(_chosen([part for part in parts if set(part.meta.root_names()) <= set(_PLACES)]))
        for part in parts:
            for name, value in _bounds_of(part).items():
                tighter = max if name.startswith("start") else min
                known = self.options.get(name)
                self.options[name] = value if known is None else tighter(known, value)

    def frames(self) -> Iterator[polars.DataFrame]:
        import polars as pl

        needed = [] if self.predicate is None else self.predicate.meta.root_names()
        # a frame without columns has no rows: the offset is read instead
        read = list(dict.fromkeys([*self.names, *needed])) or ["offset"]
        if self.rows == 0:
            yield _frame_of(self.log.select(lambda partition: False), read, self.options).select(self.names or read)
            return
        with self.log.read(read, **self.options) as reader:
            for columns in reader:
                frame = pl.DataFrame(columns)
                if self.predicate is not None:
                    frame = frame.filter(self.predicate)
                if self.rows is not None:
                    frame = frame.head(self.rows)
                    self.rows -= frame.height
                yield frame.select(self.names or read)
                if self.rows == 0:
                    return


def _parts_of(expression: polars.Expr) -> Iterator[polars.Expr]:
    """Yield the expressions that `expression` joins with ``&``."""
    if _operator(expression) in ("And", "LogicalAnd"):
        for inner in expression.meta.pop():
            yield from _parts_of(inner)
    else:
        yield expression


def _tree(expression: polars.Expr) -> Any:
    """Return the expression in Polars' JSON. Its form may change: unknown expressions set no limits."""
    return json.loads(expression.meta.serialize(format="json"))


def _operator(expression: polars.Expr) -> str | None:
    tree = _tree(expression)
    node = tree.get("BinaryExpr") if isinstance(tree, dict) else None
    return node.get("op") if isinstance(node, dict) else None


def _chosen(parts: list[polars.Expr]) -> Callable[[Partition], bool]:
    """Return a function that tests a partition with these expressions, which use only topic and partition."""
    import polars as pl

    def wanted(partition: Partition) -> bool:
        schema = {"topic": pl.String, "partition": pl.Int32}
        place = pl.DataFrame({"topic": [partition.topic], "partition": [partition.partition]}, schema=schema)
        return all(place.filter(part).height for part in parts)

    return wanted


def _bounds_of(part: polars.Expr) -> dict[str, int]:
    """Return the options of `Log.read` for a comparison of offset or timestamp with a value; otherwise {}."""
    operator = _operator(part)
    if operator not in _EXCHANGED:
        return {}
    # meta.pop returns the sides from right to left
    value, column = part.meta.pop()
    if column.meta.is_literal():
        value, column = column, value
        operator = _EXCHANGED[operator]
    if not value.meta.is_literal() or _tree(column) not in ({"Column": "offset"}, {"Column": "timestamp"}):
        return {}
    return _bounds(column.meta.output_name(), operator, _literal(value))


def _literal(value: polars.Expr) -> int | None:
    """Return an int unchanged, and a datetime in ms, rounded down; None if the value is neither."""
    import polars as pl

    found = pl.select(value).item()
    if isinstance(found, datetime) and found.tzinfo is not None:
        return (found - _1970) // timedelta(milliseconds=1)
    return found if type(found) is int else None


def _bounds(name: str, operator: str, value: int | None) -> dict[str, int]:
    """Return bounds that keep every matching row. A time that was rounded down may also match the next millisecond."""
    if value is None or not -(1 << 62) < value < 1 << 62:
        return {}
    found = {}
    if operator in ("Gt", "GtEq", "Eq"):
        found[f"start_{name}"] = value
    if operator in ("Lt", "LtEq", "Eq"):
        found[f"end_{name}"] = value + 1
    return found
