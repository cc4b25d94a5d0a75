"""What Kafka's DumpLogSegments (4.3.1, org.apache.kafka.tools) prints of the files beside a log, line by line."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from kpress._file_names import (
    INDEX_FILE_SUFFIX,
    PRODUCER_SNAPSHOT_FILE_SUFFIX,
    TIME_INDEX_FILE_SUFFIX,
    TXN_INDEX_FILE_SUFFIX,
)
from kpress.errors import InvalidArgumentError
from kpress.files import RandomAccessFile, resolve
from kpress.log._offset_index import read_offset_index
from kpress.log._producer_snapshot import ProducerState, read_snapshot
from kpress.log._time_index import read_time_index
from kpress.log._transaction_index import read_transaction_index

_TXN_INDEX_VERSION = 0


def is_sidecar(path: str | os.PathLike[str]) -> bool:
    """Whether `sidecar_lines` takes a file, by its name.

    Examples
    --------
    >>> from kpress.log import is_sidecar
    >>> is_sidecar("00000000000000000000.index"), is_sidecar("00000000000000000000.log")
    (True, False)
    """
    return os.fspath(path).endswith(tuple(_LINES))


def sidecar_lines(path: str | os.PathLike[str], *, sanity_check: bool = False) -> Iterator[str]:
    """The lines of an ``.index``, ``.timeindex``, ``.txnindex`` or ``.snapshot`` file.

    Parameters
    ----------
    path : path or URL
    sanity_check : bool
        Of an offset or time index one line: that it has passed the checks of its reader (``--index-sanity-check``).

    Yields
    ------
    str
        With its line end.

    Raises
    ------
    InvalidArgumentError
        Another file.
    CorruptRecordError
        The file is not what its name says.
    OSError

    Examples
    --------
    >>> from kpress.log import sidecar_lines
    >>> print(*sidecar_lines("logs/orders-0/00000000000000000000.index"), sep="")      # doctest: +SKIP
    offset: 105 position: 6384
    """
    name = os.fspath(path)
    suffix = next((suffix for suffix in _LINES if name.endswith(suffix)), None)
    if suffix is None:
        raise InvalidArgumentError(f"{name} is none of {', '.join(_LINES)}", field="path", file=name)
    files, where = resolve(name)
    with files.open(where) as file:
        lines = list(_LINES[suffix](file, name))
    if sanity_check and suffix in (INDEX_FILE_SUFFIX, TIME_INDEX_FILE_SUFFIX):
        lines = [f"{name} passed sanity check."]
    for line in lines:
        yield f"{line}\n"


def _offset_index(file: RandomAccessFile, name: str) -> Iterator[str]:
    index = read_offset_index(file)
    if not len(index):
        yield f"{name} is empty."
    for entry in index:
        yield f"offset: {entry.offset} position: {entry.position}"


def _time_index(file: RandomAccessFile, name: str) -> Iterator[str]:
    for entry in read_time_index(file):
        yield f"timestamp: {entry.timestamp} offset: {entry.offset}"


def _transaction_index(file: RandomAccessFile, name: str) -> Iterator[str]:
    for txn in read_transaction_index(file):
        yield (
            f"version: {_TXN_INDEX_VERSION} producerId: {txn.producer_id} firstOffset: {txn.first_offset} "
            f"lastOffset: {txn.last_offset} lastStableOffset: {txn.last_stable_offset}"
        )


def _snapshot(file: RandomAccessFile, name: str) -> Iterator[str]:
    for producer in read_snapshot(file):
        open_since = producer.current_txn_first_offset
        shown = "OptionalLong.empty" if open_since < 0 else f"OptionalLong[{open_since}]"
        yield (
            f"producerId: {producer.producer_id} producerEpoch: {producer.producer_epoch} "
            f"coordinatorEpoch: {producer.coordinator_epoch} currentTxnFirstOffset: {shown} "
            f"lastTimestamp: {producer.timestamp}{_last_batch(producer)}"
        )


def _last_batch(producer: ProducerState) -> str:
    """As ProducerStateEntry has it of a snapshot: none after a marker."""
    if producer.last_offset < 0:
        return ""
    return (
        f" firstSequence: {producer.first_sequence} lastSequence: {producer.last_sequence} "
        f"lastOffset: {producer.last_offset} offsetDelta: {producer.offset_delta} timestamp: {producer.timestamp}"
    )


_LINES: dict[str, Callable[[RandomAccessFile, str], Iterator[str]]] = {
    INDEX_FILE_SUFFIX: _offset_index,
    TIME_INDEX_FILE_SUFFIX: _time_index,
    TXN_INDEX_FILE_SUFFIX: _transaction_index,
    PRODUCER_SNAPSHOT_FILE_SUFFIX: _snapshot,
}
