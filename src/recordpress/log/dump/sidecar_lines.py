"""Output of Kafka's DumpLogSegments (4.3.1, org.apache.kafka.tools) for the files next to a log, line by line."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator

from recordpress._file_names import (
    INDEX_FILE_SUFFIX,
    LOG_FILE_SUFFIX,
    PRODUCER_SNAPSHOT_FILE_SUFFIX,
    TIME_INDEX_FILE_SUFFIX,
    TXN_INDEX_FILE_SUFFIX,
)
from recordpress.errors import InvalidArgumentError
from recordpress.files import FileSystem, RandomAccessFile, resolve
from recordpress.log._file_records import FileRecords
from recordpress.log.check.index_checks import OffsetIndexCheck, TimeIndexCheck
from recordpress.log.findings import Finding
from recordpress.log.sidecars.offset_index import read_offset_index
from recordpress.log.sidecars.producer_snapshot import ProducerState, read_snapshot
from recordpress.log.sidecars.time_index import read_time_index
from recordpress.log.sidecars.transaction_index import read_transaction_index

MAX_MESSAGE_BYTES = 5 << 20  # the tool's default
_TXN_INDEX_VERSION = 0
_EMPTY = "{} is empty."


def is_sidecar(path: str | os.PathLike[str]) -> bool:
    """Return whether `sidecar_lines` accepts a file, by its name."""
    return os.fspath(path).endswith(tuple(_LINES))


def shown_path(path: str | os.PathLike[str]) -> str:
    """Return a path as the tool prints it: as it was given, without repeated slashes (java.io.File)."""
    name = os.fspath(path)
    return name if "://" in name else re.sub("/+", "/", name)


def sidecar_lines(
    path: str | os.PathLike[str],
    *,
    sanity_check: bool = False,
    verify_only: bool = False,
    max_message_bytes: int = MAX_MESSAGE_BYTES,
    findings: list[Finding] | None = None,
) -> Iterator[str]:
    """Yield the lines of an index or snapshot file, and add differences between an index and its log to `findings`."""
    name, shown = os.fspath(path), shown_path(path)
    suffix = next((suffix for suffix in _LINES if name.endswith(suffix)), None)
    if suffix is None:
        raise InvalidArgumentError(f"{name} has none of the suffixes {', '.join(_LINES)}", field="path", file=name)
    files, where = resolve(name)
    with files.open(where) as file:
        lines = list(_LINES[suffix](file, shown))
        is_index = suffix in (INDEX_FILE_SUFFIX, TIME_INDEX_FILE_SUFFIX)
        log = where.removesuffix(suffix) + LOG_FILE_SUFFIX
        compares = is_index and findings is not None and not sanity_check
        is_there = (found := files.find(log)) is not None and found.is_file
        if findings is not None and compares and (verify_only or is_there):
            findings += _differences(file, files, log, name, max_message_bytes)
    if lines == [_EMPTY.format(shown)]:
        pass  # the tool prints this before it looks at its flags
    elif sanity_check and is_index:
        lines = [f"{shown} passed sanity check."]
    elif verify_only and is_index:
        lines = []
    for line in lines:
        yield f"{line}\n"


def _differences(
    file: RandomAccessFile, files: FileSystem, log: str, name: str, max_message_bytes: int
) -> Iterator[Finding]:
    """Return the differences between an index and the headers of its log."""
    is_times = name.endswith(TIME_INDEX_FILE_SUFFIX)
    index = None if is_times else read_offset_index(file)
    check = TimeIndexCheck(read_time_index(file), name) if index is None else OffsetIndexCheck(index, name)
    positions = {entry.position for entry in index or ()}
    with FileRecords(files.open(log), complete=False) as records:
        for header in records.headers():
            if isinstance(check, OffsetIndexCheck):
                yield from check.add(header, header.last_offset)  # the tool looks at no other offset
            else:
                yield from check.add(header)
            if header.position in positions and header.size > max_message_bytes:
                message = f"the batch has {header.size} bytes, more than the allowed {max_message_bytes}"
                place = (records.path, header.position, header.size, header.base_offset)
                yield Finding(*place, "max-message-size", message)
    yield from check.end()


def _offset_index(file: RandomAccessFile, name: str) -> Iterator[str]:
    index = read_offset_index(file)
    if not len(index):
        yield _EMPTY.format(name)
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
    """Return the text of a producer's last batch in a snapshot, as in ProducerStateEntry; empty after a marker."""
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
