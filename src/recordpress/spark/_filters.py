"""Filters that Spark pushes down: they reduce what is read, and Spark applies them again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from recordpress.log import Partition

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True)
class Wanted:
    """The records that filters keep; timestamps are in ms, ends are exclusive, and None means no limit."""

    topics: frozenset[str] | None = None
    partitions: frozenset[int] | None = None
    start_offset: int | None = None
    end_offset: int | None = None
    start_timestamp: int | None = None
    end_timestamp: int | None = None

    def has(self, partition: Partition) -> bool:
        """Return whether the filters may keep a record of this partition."""
        return (self.topics is None or partition.topic in self.topics) and (
            self.partitions is None or partition.partition in self.partitions
        )

    def narrowed(self, start: int | None, end: int | None) -> tuple[int | None, int | None]:
        """Return the part of a range of offsets that the filters keep."""
        return _most(start, self.start_offset), _least(end, self.end_offset)


def wanted_by(filters: Iterable[Any]) -> Wanted:
    """Return the records that pyspark's filters on offset, timestamp, partition and topic keep."""
    wanted = Wanted()
    for one in filters:
        column: tuple[str, ...] = getattr(one, "attribute", ())
        if len(column) == 1:
            wanted = _with(wanted, type(one).__name__, column[0].lower(), getattr(one, "value", None))
    return wanted


def _with(wanted: Wanted, kind: str, column: str, value: Any) -> Wanted:
    values = tuple(value) if kind == "In" else (value,) if kind in ("EqualTo", "EqualNullSafe") else None
    if column in ("topic", "partition"):
        return _one_of(wanted, column, values)
    if column == "timestamp" and values is not None and all(isinstance(one, datetime) for one in values):
        start = min(map(_floor, values), default=0)
        return _between(wanted, "timestamp", start, max(map(_floor, values), default=0) + 1)
    if column == "offset" and values is not None and all(isinstance(one, int) for one in values):
        return _between(wanted, "offset", min(values, default=0), max(values, default=-1) + 1)
    if column == "offset" and isinstance(value, int):
        above, below = value + (kind == "GreaterThan"), value + (kind == "LessThanOrEqual")
    elif column == "timestamp" and isinstance(value, datetime):
        above, below = _floor(value), _floor(value) + 1
    else:
        return wanted
    if kind in ("GreaterThan", "GreaterThanOrEqual"):
        return _between(wanted, column, above, None)
    return _between(wanted, column, None, below) if kind in ("LessThan", "LessThanOrEqual") else wanted


def _one_of(wanted: Wanted, column: str, values: tuple[Any, ...] | None) -> Wanted:
    if values is None:
        return wanted
    name = f"{column}s"
    known: Any = getattr(wanted, name)
    both: Any = frozenset(values) if known is None else known & frozenset(values)
    return replace(wanted, **{name: both})


def _between(wanted: Wanted, column: str, start: int | None, end: int | None) -> Wanted:
    first, last = f"start_{column}", f"end_{column}"
    bounds: dict[str, Any] = {first: _most(getattr(wanted, first), start), last: _least(getattr(wanted, last), end)}
    return replace(wanted, **bounds)


def _floor(time: datetime) -> int:
    """Return a time in ms; Spark gives the times of filters in UTC."""
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).__sub__(_EPOCH) // _MILLISECOND


def _most(*values: int | None) -> int | None:
    return max((value for value in values if value is not None), default=None)


def _least(*values: int | None) -> int | None:
    return min((value for value in values if value is not None), default=None)
