"""Transactions of a partition: which were aborted (``.txnindex``), and which are still open.

A consumer with isolation.level=read_committed (KIP-98) leaves out the records of aborted transactions, and ends before
the first record of an open one: at the last stable offset.
"""

from __future__ import annotations

from collections.abc import Iterable

from kpress._file_names import TXN_INDEX_FILE_SUFFIX
from kpress.log._directory import LogSegment
from kpress.log._file_records import FileRecords
from kpress.log._transaction_index import AbortedTxn, read_transaction_index


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
