"""Columns of fetched record sets, for the readers of both clients.

::

    a client's fetch of one partition: bytes, position, aborted transactions
                                   │
    ColumnChoice (what to decode) ─┴─► FetchedColumns.take(), until it is done ──► place(): topic, partition
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from types import FunctionType, MethodType
from typing import Any

from recordpress.adapters._client import Client
from recordpress.columns import Columns, ConstantColumns, iter_columns, read_columns, with_constants
from recordpress.columns.place import PLACE_COLUMNS, chosen_columns
from recordpress.errors import InvalidArgumentError, RecordpressError


def rebound(method: Any, **names: object) -> Any:
    """Return a copy of the client's bound method with other objects under these global names, for its object only."""
    function = method.__func__
    return MethodType(FunctionType(function.__code__, function.__globals__ | names), method.__self__)


class ColumnChoice:
    """Columns of the result, and how they are decoded; `also` names columns that the reader itself needs."""

    def __init__(self, columns: Iterable[str] | None, also: Sequence[str], **decoding: Any) -> None:
        self.names = chosen_columns(columns)
        of_records = [name for name in self.names if name not in PLACE_COLUMNS]
        read_columns(b"", of_records, **decoding)  # refuses wrong names and options
        self.decoded = [*of_records, *(name for name in also if name not in of_records)]
        self.decoding = decoding
        self._constants = lru_cache(64)(_constants)  # keeps the memory of 64 partitions

    def is_as(self, other: ColumnChoice) -> bool:
        """Return whether the results have the same columns, decoded in the same way."""
        return (self.names, self.decoded, self.decoding) == (other.names, other.decoded, other.decoding)

    def place(self, columns: Columns, topic: str, partition: int) -> Columns:
        """Return the columns of the result, with topic and partition in every row if they are requested."""
        return with_constants(columns, self.names, self._constants(topic, partition))

    def empty(self) -> Columns:
        """Return a result without rows."""
        return self.place(read_columns(b"", self.decoded, **self.decoding), "", 0)


def refuse_functions(client: str, functions: Mapping[str, object]) -> None:
    """Raise an error that names a client's first serializer or deserializer: columns hold bytes."""
    for name, function in functions.items():
        if function is not None:
            raise InvalidArgumentError(f"columns have bytes, but the {client} has a {name}", field=name)


def _constants(topic: str, partition: int) -> ConstantColumns:
    return ConstantColumns({"topic": (str, topic), "partition": (int, partition)})


class FetchedColumns:
    """Columns of the records that one fetch of a partition returned, starting at an offset."""

    def __init__(
        self,
        data: bytes,
        choice: ColumnChoice,
        start_offset: int,
        aborted_transactions: Iterable[tuple[int, int]] | None,
        check_crcs: bool,
        client: Client,
    ) -> None:
        self.next_offset = start_offset
        self.position = 0  # bytes of the batches whose rows were returned
        self.is_done = False
        self._client = client
        self._size = len(data)
        self._rest: Columns | None = None
        self._error: Exception | None = None
        self._walk = iter_columns(
            data,
            choice.decoded,
            start_offset=start_offset,
            aborted_transactions=aborted_transactions,
            check_crcs=check_crcs,
            **choice.decoding,
        )

    @property
    def bytes_left(self) -> int:
        """Bytes of the batches whose rows were not returned yet."""
        return self._size - self.position

    def take(self, max_records: int | None = None, max_bytes: int | None = None) -> Columns | None:
        """Return the next rows, of a batch or more, or None at the end; set `next_offset` to the offset after them."""
        rows = self._decode(max_bytes) if self._rest is None else self._rest
        self._rest = None
        if rows is not None and max_records is not None and len(rows) > max_records:
            rows, self._rest = rows[:max_records], rows[max_records:]
        else:
            self.position = self._walk.position
            self.next_offset = max(self.next_offset, self._walk.next_offset or 0)
            self.is_done = rows is None or self.position + self._walk.trailing_bytes >= self._size
        if rows is not None:
            self.next_offset = max(self.next_offset if self._rest is None else 0, rows["offset"][len(rows) - 1] + 1)
        return rows

    def _decode(self, max_bytes: int | None) -> Columns | None:
        if self._error is not None:
            raise self._error
        self._walk.batch_bytes = max(self._size, 1) if max_bytes is None else max_bytes
        try:
            return next(self._walk, None)
        except RecordpressError as error:
            self._error = self._client.translated(error)
        raise self._error
