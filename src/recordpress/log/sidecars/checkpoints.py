"""Text files of offsets: ``leader-epoch-checkpoint`` of a partition and the ``*-offset-checkpoint`` files of a log dir
(Kafka's CheckpointFile, LeaderEpochCheckpointFile and OffsetCheckpointFile).

::

    0                             version
    2                             number of lines that follow
    0 0                           <epoch> <start offset>, or <topic> <partition> <offset>
    2 60
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

from recordpress._arguments import INT32_MAX, INT64_MAX
from recordpress._file_names import TopicPartition
from recordpress.errors import InvalidArgumentError
from recordpress.log.sidecars.sidecar_io import Sidecar, SidecarSource, SidecarTarget, read_sidecar, write_sidecar

_NUMBER = re.compile(r"[+-]?[0-9]{1,19}")  # what Integer.parseInt and Long.parseLong accept, in ASCII digits
_SPACES = re.compile(r"[ \t\x0b\f\r]+")
_LINE_END = re.compile(rb"\r\n|\r|\n")  # as BufferedReader.readLine
_EPOCHS_RULE = "leader epoch checkpoint"
_OFFSETS_RULE = "offset checkpoint"


class EpochEntry(NamedTuple):
    """Line of a ``leader-epoch-checkpoint`` file.

    Attributes
    ----------
    epoch : int
        Epoch of a leader of the partition.
    start_offset : int
        The first offset that was written in this epoch.

    Examples
    --------
    >>> from recordpress.log.sidecars import read_leader_epochs
    >>> read_leader_epochs("demo/logs/sessions-0/leader-epoch-checkpoint")
    [EpochEntry(epoch=0, start_offset=0)]
    """

    epoch: int
    start_offset: int


class _Line(NamedTuple):
    number: int
    position: int
    text: str


def read_leader_epochs(source: SidecarSource) -> list[EpochEntry]:
    """Read the entries of a ``leader-epoch-checkpoint`` file, which older brokers may leave empty.

    Parameters
    ----------
    source : path, bytes-like, or an object with `size` and `read_at`

    Returns
    -------
    list of EpochEntry

    Raises
    ------
    CorruptRecordError
        The version is not 0, a line is not two numbers, the second line gives a wrong number of lines, or epochs or
        offsets do not ascend.
    OSError

    Examples
    --------
    >>> from recordpress.log.sidecars import read_leader_epochs
    >>> read_leader_epochs(b"0\\n2\\n0 0\\n2 60\\n")
    [EpochEntry(epoch=0, start_offset=0), EpochEntry(epoch=2, start_offset=60)]
    """
    sidecar = read_sidecar(source, _EPOCHS_RULE)
    entries: list[EpochEntry] = []
    for line in _entry_lines(sidecar, _EPOCHS_RULE):
        epoch, offset = _fields(sidecar, line, 2, _EPOCHS_RULE)
        entry = EpochEntry(
            _number(sidecar, line, epoch, "epoch", INT32_MAX, _EPOCHS_RULE),
            _number(sidecar, line, offset, "startOffset", INT64_MAX, _EPOCHS_RULE),
        )
        before = entries[-1] if entries else EpochEntry(-1, -1)
        for name, value, least in zip(("epoch", "startOffset"), entry, before, strict=True):
            if value <= least:
                message = f"line {line.number}: {name} {value} does not follow {least}"
                raise sidecar.corrupt(message, line.position, name, _EPOCHS_RULE)
        entries.append(entry)
    return entries


def read_offset_checkpoint(source: SidecarSource) -> dict[TopicPartition, int]:
    """Read the offsets of a ``recovery-point-``, ``log-start-``, ``replication-`` or ``cleaner-offset-checkpoint``
    file.

    Parameters
    ----------
    source : path, bytes-like, or an object with `size` and `read_at`

    Returns
    -------
    dict of TopicPartition to int
        In the order of the lines.

    Raises
    ------
    CorruptRecordError
        The version is not 0, a line is not a topic and two numbers, the second line gives a wrong number of lines, or a
        partition occurs twice.
    OSError

    Examples
    --------
    >>> from recordpress.log.sidecars import read_offset_checkpoint
    >>> read_offset_checkpoint(b"0\\n1\\norders 0 4500\\n")
    {TopicPartition(topic='orders', partition=0): 4500}
    """
    sidecar = read_sidecar(source, _OFFSETS_RULE)
    offsets: dict[TopicPartition, int] = {}
    for line in _entry_lines(sidecar, _OFFSETS_RULE):
        topic, partition, offset = _fields(sidecar, line, 3, _OFFSETS_RULE)
        if not topic:
            raise sidecar.corrupt(f"line {line.number}: the topic is empty", line.position, "topic", _OFFSETS_RULE)
        key = TopicPartition(topic, _number(sidecar, line, partition, "partition", INT32_MAX, _OFFSETS_RULE))
        if key in offsets:
            message = f"line {line.number}: {key} already has an offset"
            raise sidecar.corrupt(message, line.position, "partition", _OFFSETS_RULE)
        offsets[key] = _number(sidecar, line, offset, "offset", INT64_MAX, _OFFSETS_RULE)
    return offsets


def _entry_lines(sidecar: Sidecar, rule: str) -> Iterator[_Line]:
    """Yield the lines after the first two, and then check their number."""
    lines = _lines(sidecar, rule)
    if not lines:
        return
    version = _number(sidecar, lines[0], lines[0].text, "version", INT32_MAX, rule)
    if version:
        raise sidecar.corrupt(f"line 1: version {version} is not 0", 0, "version", rule)
    if len(lines) == 1:
        return
    count = _number(sidecar, lines[1], lines[1].text, "count", INT32_MAX, rule)
    yield from lines[2:]
    if count != len(lines) - 2:
        message = f"line 2: expected {count} entries, found {len(lines) - 2}"
        raise sidecar.corrupt(message, lines[1].position, "count", rule)


def _lines(sidecar: Sidecar, rule: str) -> list[_Line]:
    lines: list[_Line] = []
    start = 0
    while start < len(sidecar.data):
        found = _LINE_END.search(sidecar.data, start)
        end, after = (found.start(), found.end()) if found else (len(sidecar.data),) * 2
        try:
            lines.append(_Line(len(lines) + 1, start, sidecar.data[start:end].decode()))
        except UnicodeDecodeError as error:
            message = f"line {len(lines) + 1}: not UTF-8"
            raise sidecar.corrupt(message, start + error.start, "text", rule) from None
        start = after
    return lines


def _fields(sidecar: Sidecar, line: _Line, count: int, rule: str) -> list[str]:
    fields = _SPACES.split(line.text.rstrip(" \t\x0b\f\r"))
    if len(fields) != count:
        message = f"line {line.number}: expected {count} fields, found {len(fields)}"
        raise sidecar.corrupt(message, line.position, "entry", rule)
    return fields


def _number(sidecar: Sidecar, line: _Line, text: str, field: str, largest: int, rule: str) -> int:
    if not _NUMBER.fullmatch(text) or not -largest - 1 <= int(text) <= largest:
        message = f"line {line.number}: {text[:40]!r} is not a number from {-largest - 1} to {largest}"
        raise sidecar.corrupt(message, line.position, field, rule)
    return int(text)


def leader_epochs_bytes(entries: Iterable[tuple[int, int]]) -> bytes:
    """Return the bytes of a ``leader-epoch-checkpoint`` file; see `write_leader_epochs`."""
    entries = list(entries)
    for number, (before, after) in enumerate(pairwise([(-1, -1), *entries])):
        if after[0] <= before[0] or after[1] <= before[1] or after[0] > INT32_MAX or after[1] > INT64_MAX:
            raise InvalidArgumentError(
                f"entry {number}: epochs (int32) and start offsets (int64) must be 0 or more, and ascend",
                field="entries",
            )
    return _text(f"{epoch} {offset}" for epoch, offset in entries)


def offset_checkpoint_bytes(offsets: Mapping[TopicPartition, int]) -> bytes:
    """Return the bytes of an ``*-offset-checkpoint`` file; see `write_offset_checkpoint`."""
    for key, offset in offsets.items():
        if not key.topic or _SPACES.search(key.topic):
            raise InvalidArgumentError(f"topic {key.topic!r} is empty or has a space in it", field="topic")
        if not -INT64_MAX - 1 <= offset <= INT64_MAX:
            raise InvalidArgumentError(f"offset {offset} of {key} is not an int64", field="offset")
    return _text(f"{key.topic} {key.partition} {offset}" for key, offset in offsets.items())


def _text(entries: Iterable[str]) -> bytes:
    lines = list(entries)
    return "".join(f"{line}\n" for line in ("0", str(len(lines)), *lines)).encode()


def write_leader_epochs(target: SidecarTarget, entries: Iterable[tuple[int, int]]) -> None:
    """Write a ``leader-epoch-checkpoint`` file.

    Parameters
    ----------
    target : path, or an object with `write`
        A file is written under a hidden name and renamed when it is complete.
    entries : iterable of (epoch, start offset)
        Both must ascend.

    Raises
    ------
    InvalidArgumentError
        Entries are not in ascending order, or do not fit their fields.
    OSError

    Examples
    --------
    >>> import io
    >>> out = io.BytesIO()
    >>> write_leader_epochs(out, [(0, 0), (2, 60)])
    >>> out.getvalue()
    b'0\\n2\\n0 0\\n2 60\\n'
    """
    write_sidecar(target, leader_epochs_bytes(entries))


def write_offset_checkpoint(target: SidecarTarget, offsets: Mapping[TopicPartition, int]) -> None:
    """Write an ``*-offset-checkpoint`` file.

    Parameters
    ----------
    target : path, or an object with `write`
        A file is written under a hidden name and renamed when it is complete.
    offsets : mapping of TopicPartition to int

    Raises
    ------
    InvalidArgumentError
        A topic is empty or has a space in it, or an offset is not an int64.
    OSError

    Examples
    --------
    >>> import io
    >>> from recordpress.log.sidecars import TopicPartition
    >>> out = io.BytesIO()
    >>> write_offset_checkpoint(out, {TopicPartition("orders", 0): 4500})
    >>> out.getvalue()
    b'0\\n1\\norders 0 4500\\n'
    """
    write_sidecar(target, offset_checkpoint_bytes(offsets))
