"""Transactions of a partition: which were aborted (``.txnindex``), and which are still open.

A consumer with isolation.level=read_committed (KIP-98) leaves out the records of aborted transactions, and ends before
the first record of an open one: at the last stable offset.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from kpress._file_names import TXN_INDEX_FILE_SUFFIX, printable
from kpress.errors import CorruptRecordError
from kpress.log._directory import LogSegment
from kpress.log._file_records import FileRecords
from kpress.log._files import open_file

# version, producerId, firstOffset, lastOffset, lastStableOffset (Kafka's AbortedTxn). Like Kafka's, this reader looks
# only at the first byte of the version.
_ENTRY = struct.Struct(">bxqqqq")
_VERSION = 0


class AbortedTxn(NamedTuple):
    """An aborted transaction, as stored in a ``.txnindex`` file.

    Attributes
    ----------
    producer_id, first_offset : int
        first_offset may lie in an earlier segment.
    last_offset : int
        Of the marker that ended it.
    last_stable_offset : int
        Of the partition when the marker was written.
    """

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


def read_transaction_index(path: str | Path, base_offset: int = 0) -> list[AbortedTxn]:
    """The entries of a ``.txnindex`` file; none if there is no file, which is created at the first abort.

    Parameters
    ----------
    path : str or Path
    base_offset : int
        Of the segment: all transactions in its index ended at or after it.

    Returns
    -------
    list of AbortedTxn

    Raises
    ------
    CorruptRecordError
        An unknown version, a cut entry, or offsets that do not ascend from the base offset.
    InvalidArgumentError
        `path` is a directory, a named pipe or the like.

    Examples
    --------
    >>> read_transaction_index("logs/orders-0/00000000000000000000.txnindex")       # doctest: +SKIP
    [AbortedTxn(producer_id=4242, first_offset=100, last_offset=141, last_stable_offset=100)]
    """
    try:
        with open_file(path) as file:
            data = file.readall()
    except FileNotFoundError:
        return []
    transactions = []
    least = base_offset
    for position in range(0, len(data), _ENTRY.size):
        if len(data) - position < _ENTRY.size:
            raise _corrupt("the last entry is cut", path, position, "version")
        version, *fields = _ENTRY.unpack_from(data, position)
        if version > _VERSION:
            raise _corrupt(f"version {version} is unknown", path, position, "version")
        transaction = AbortedTxn(*fields)
        if transaction.last_offset < least:
            raise _corrupt(f"lastOffset {transaction.last_offset} is below {least}", path, position + 18, "lastOffset")
        least = transaction.last_offset + 1
        transactions.append(transaction)
    return transactions


def _corrupt(message: str, path: str | Path, position: int, field: str) -> CorruptRecordError:
    return CorruptRecordError(message, file=printable(path), position=position, field=field, rule="transaction index")


def last_stable_offset(segments: Iterable[LogSegment]) -> int | None:
    """The first offset of the earliest transaction that is still open, by the headers of all batches.

    Parameters
    ----------
    segments : iterable of LogSegment
        All segments of a partition, in order.

    Returns
    -------
    int | None
        None if no transaction is open.

    Raises
    ------
    CorruptRecordError
        An impossible entry, or a segment that is not the last does not end with a whole entry.

    Examples
    --------
    >>> [partition] = list_partitions("logs/orders-0")                              # doctest: +SKIP
    >>> last_stable_offset(partition.segments)                                      # doctest: +SKIP
    1208
    """
    first_offsets: dict[int, int] = {}
    for segment in segments:
        with FileRecords(segment.path, complete=not segment.is_last) as file:
            for producer_id, base_offset, is_control in file.transactional_batches():
                if is_control:
                    first_offsets.pop(producer_id, None)
                else:
                    first_offsets.setdefault(producer_id, base_offset)
    return min(first_offsets.values(), default=None)


def transactions_of(segments: Iterable[LogSegment]) -> list[AbortedTxn]:
    """The aborted transactions of a partition, from all its ``.txnindex`` files.

    Parameters
    ----------
    segments : iterable of LogSegment

    Returns
    -------
    list of AbortedTxn

    Raises
    ------
    CorruptRecordError, InvalidArgumentError
        As `read_transaction_index`.

    Examples
    --------
    >>> [partition] = list_partitions("logs/orders-0")                              # doctest: +SKIP
    >>> aborted = [(t.producer_id, t.first_offset) for t in transactions_of(partition.segments)]   # doctest: +SKIP
    """
    return [
        transaction
        for segment in segments
        for transaction in read_transaction_index(segment.sibling(TXN_INDEX_FILE_SUFFIX), segment.base_offset)
    ]
