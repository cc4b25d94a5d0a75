"""Transaction index of a segment, ``.txnindex`` (Kafka's TransactionIndex, KIP-98): the aborted transactions with a
marker in the segment.

::

    int16 version (0)  int64 producerId  int64 firstOffset  int64 lastOffset  int64 lastStableOffset

The file is created at the first abort.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from itertools import pairwise
from os import PathLike
from typing import NamedTuple

from recordpress.errors import InvalidArgumentError
from recordpress.log.sidecars.sidecar_io import (
    Sidecar,
    SidecarSource,
    SidecarTarget,
    packed,
    read_sidecar,
    write_sidecar,
)

# Like Kafka's AbortedTxn, the reader looks only at the first byte of the version.
_ENTRY = struct.Struct(">bxqqqq")
_VERSION = 0
_LAST_OFFSET_AT = 18
_RULE = "transaction index"


class AbortedTxn(NamedTuple):
    """Aborted transaction, as stored in a ``.txnindex`` file.

    Attributes
    ----------
    producer_id, first_offset : int
        first_offset may lie in an earlier segment.
    last_offset : int
        Offset of the marker that ended the transaction.
    last_stable_offset : int
        Last stable offset of the partition when the marker was written.

    Examples
    --------
    >>> from recordpress.log.sidecars import read_transaction_index
    >>> data = bytes.fromhex("0000 0000000000001092 0000000000000064 000000000000008d 0000000000000064")
    >>> [entry] = read_transaction_index(data)
    >>> entry.producer_id, entry.first_offset, entry.last_offset
    (4242, 100, 141)
    """

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


def read_transaction_index(source: SidecarSource, base_offset: int | None = None) -> list[AbortedTxn]:
    """Read the entries of a ``.txnindex`` file; a missing file has no entries.

    Parameters
    ----------
    source : path, bytes-like, or an object with `size` and `read_at`
    base_offset : int, optional
        Base offset of the segment: all transactions in its index end at or after it. By default, the number at the
        start of the file's name; 0 if it is unknown.

    Returns
    -------
    list of AbortedTxn

    Raises
    ------
    CorruptRecordError
        An unknown version, a truncated entry, or offsets that do not ascend from the base offset.
    InvalidArgumentError
        `source` is a directory, a named pipe or the like.
    OSError

    Examples
    --------
    >>> from recordpress.log.sidecars import read_transaction_index
    >>> read_transaction_index(bytes.fromhex(
    ...     "0000 0000000000001092 0000000000000064 000000000000008d 0000000000000064"))
    [AbortedTxn(producer_id=4242, first_offset=100, last_offset=141, last_stable_offset=100)]
    """
    try:
        sidecar = read_sidecar(source, _RULE)
    except FileNotFoundError:
        if not isinstance(source, str | PathLike):
            raise
        return []
    least = sidecar.base_offset(base_offset)
    transactions = []
    for position in range(0, len(sidecar.data), _ENTRY.size):
        transaction = _read_entry(sidecar, position, least)
        least = transaction.last_offset + 1
        transactions.append(transaction)
    return transactions


def _read_entry(sidecar: Sidecar, position: int, least: int) -> AbortedTxn:
    if len(sidecar.data) - position < _ENTRY.size:
        raise sidecar.corrupt("the last entry is truncated", position, "version", _RULE)
    version, *fields = _ENTRY.unpack_from(sidecar.data, position)
    if version > _VERSION:
        raise sidecar.corrupt(f"version {version} is unknown", position, "version", _RULE)
    transaction = AbortedTxn(*fields)
    if transaction.last_offset < least:
        message = f"lastOffset {transaction.last_offset} is below {least}"
        raise sidecar.corrupt(message, position + _LAST_OFFSET_AT, "lastOffset", _RULE)
    return transaction


def transaction_index_bytes(transactions: Iterable[AbortedTxn]) -> bytes:
    """Return the bytes of a ``.txnindex`` file; see `write_transaction_index`."""
    entries = [(_VERSION, *transaction) for transaction in transactions]
    for number, (before, after) in enumerate(pairwise(entries), 1):
        if after[3] <= before[3]:
            raise InvalidArgumentError(
                f"entry {number}: last_offset {after[3]} does not follow {before[3]}", field="last_offset"
            )
    return packed(_ENTRY, entries, ("version", *AbortedTxn._fields))


def write_transaction_index(target: SidecarTarget, transactions: Iterable[AbortedTxn]) -> None:
    """Write a ``.txnindex`` file.

    Parameters
    ----------
    target : path, or an object with `write`
        A file is written under a hidden name and renamed when it is complete.
    transactions : iterable of AbortedTxn
        In the order of their markers.

    Raises
    ------
    InvalidArgumentError
        Offsets of markers do not ascend, or a value does not fit its field.
    OSError

    Examples
    --------
    >>> import io
    >>> out = io.BytesIO()
    >>> write_transaction_index(out, [AbortedTxn(4242, 100, 141, 100)])
    >>> len(out.getvalue())
    34
    """
    write_sidecar(target, transaction_index_bytes(transactions))
