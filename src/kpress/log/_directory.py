"""The directories and files of a log dir by their names (Kafka's LocalLog, UnifiedLog and LogFileUtils)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from kpress._file_names import LOG_FILE_SUFFIX, printable, refuse_without_records
from kpress.errors import InvalidArgumentError
from kpress.files import check_link, check_regular

_INT32_MAX = (1 << 31) - 1
_INT64_MAX = (1 << 63) - 1
# [0-9]: \d takes the digits of other scripts, too
_LIKE_A_PARTITION = re.compile(r".+-[0-9]+", re.DOTALL)
_PARTITION_DIRECTORY = re.compile(r"(?P<topic>.+)-(?P<partition>0|[1-9][0-9]{0,9})", re.DOTALL)
_SEGMENT_FILE = re.compile(r"(?P<base>[0-9]{20})\.log")


@dataclass(frozen=True, order=True)
class TopicPartition:
    """A partition of a topic; as text it is the name of its directory.

    Examples
    --------
    >>> TopicPartition.of_directory("web-access.v2-11")
    TopicPartition(topic='web-access.v2', partition=11)
    >>> TopicPartition.of_directory("orders-0.5f1c-delete") is None
    True
    """

    topic: str
    partition: int

    @classmethod
    def of_directory(cls, name: str) -> Self | None:
        """The partition whose directory has this name, split at its last ``-``; None if Kafka gives no partition this
        name: one that awaits deletion (``-delete``), a number that is not an int32 or has leading zeros, a topic that
        is not UTF-8."""
        match = _PARTITION_DIRECTORY.fullmatch(name)
        if not match or int(match["partition"]) > _INT32_MAX or not _is_utf8(name):
            return None
        return cls(match["topic"], int(match["partition"]))

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


def _is_utf8(name: str) -> bool:
    """Bytes of a name that are not UTF-8 reach Python as lone surrogates."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


@dataclass(frozen=True, order=True)
class LogSegment:
    """One ``.log`` file; its other files have the same name with another suffix.

    Attributes
    ----------
    base_offset : int
        From the file's name: at most the first offset in it.
    path : Path
    is_last : bool
        Whether it is the last of its partition: only this one may end in an entry that is cut, or in zeros.
    """

    base_offset: int
    path: Path
    is_last: bool = field(default=False, compare=False)

    def sibling(self, suffix: str) -> Path:
        """The file of that kind, such as ``.txnindex``, whether it exists or not."""
        return self.path.with_suffix(suffix)


@dataclass(frozen=True)
class PartitionDirectory:
    """The directory of one partition.

    Attributes
    ----------
    topic_partition : TopicPartition
    path : Path
    segments : tuple of LogSegment
        In order of base offset.
    root : Path
        The directory that `list_partitions` was given: no link may leave it.
    """

    topic_partition: TopicPartition
    path: Path
    segments: tuple[LogSegment, ...]
    root: Path = field(default=Path(os.sep), compare=False, repr=False)


def list_partitions(path: str | Path) -> list[PartitionDirectory]:
    """The partitions of a log dir, or the one of a partition's own directory.

    Parameters
    ----------
    path : str or Path
        A broker's log dir (one of ``log.dirs``), or the directory of one partition in it.

    Returns
    -------
    list of PartitionDirectory
        By topic and partition. Left out are partitions without a segment, directories that await deletion or are
        not yet complete (``-delete``, ``-future``, ``-stray``), and everything whose name does not end in a number.

    Raises
    ------
    FileNotFoundError
    InvalidArgumentError
        There is no partition, or `path` is a file. A directory with segments has a number that Kafka does not give
        (``a-00``, ``a-99999999999``), has a name that is not UTF-8, or lies in another partition's directory. A
        symbolic link leaves `path`. A segment is a directory or a named pipe. The message names the culprit.

    Examples
    --------
    >>> [str(p.topic_partition) for p in list_partitions("demo/logs")][:3]      # doctest: +SKIP
    ['access-json-0', 'access-json-1', 'access-log-0']
    """
    root = Path(os.path.realpath(path))
    _check_directory(root)
    own = _partition(root, root)
    partitions = [own] if own else list(_partitions_in(root, root))
    for partition in partitions:
        _refuse_nested(partition, root)
    if not partitions:
        raise InvalidArgumentError(
            f"{printable(root)} holds no partition: there is no directory <topic>-<partition> with a segment "
            "(<20 digits>.log) in it, nor is it one itself",
            field="path",
        )
    return sorted(partitions, key=lambda found: found.topic_partition)


def _check_directory(path: Path) -> None:
    if path.is_dir() or not path.exists():
        return
    refuse_without_records(path)
    if path.name.endswith(LOG_FILE_SUFFIX):
        hint = 'one segment is read by kpress.iter_columns(open(path, "rb"))'
    else:
        hint = "a log dir or the directory of one partition is needed"
    raise InvalidArgumentError(f"{printable(path)} is not a directory; {hint}", file=printable(path))


def _partitions_in(directory: Path, root: Path) -> Iterator[PartitionDirectory]:
    """Those whose directories lie in `directory`."""
    with os.scandir(directory) as entries:
        names = sorted(entry.name for entry in entries if _LIKE_A_PARTITION.fullmatch(entry.name))
    for name in names:
        check_link(directory / name, root)
        if (directory / name).is_dir() and (partition := _partition(directory / name, root)):
            yield partition


def _partition(directory: Path, root: Path) -> PartitionDirectory | None:
    """None if the directory holds no segment, or has a name that is not like a partition's."""
    if not _LIKE_A_PARTITION.fullmatch(directory.name):
        return None
    segments = _segments_of(directory, root)
    if not segments:
        return None
    topic_partition = TopicPartition.of_directory(directory.name)
    if topic_partition is None:
        raise InvalidArgumentError(
            f"{printable(directory)} holds segments, but Kafka gives no partition this name: it is a topic in UTF-8, "
            f"'-', and a number from 0 to {_INT32_MAX} without leading zeros",
            file=printable(directory),
        )
    return PartitionDirectory(topic_partition, directory, segments, root)


def _refuse_nested(outer: PartitionDirectory, root: Path) -> None:
    """Whose records are meant could not be told."""
    for inner in _partitions_in(outer.path, root):
        raise InvalidArgumentError(
            f"{printable(inner.path)} is a partition inside the partition {printable(outer.path)}",
            file=printable(inner.path),
        )


def _segments_of(directory: Path, root: Path) -> tuple[LogSegment, ...]:
    """Segments by name; ``.log.deleted``, ``.cleaned`` and ``.swap`` belong to unfinished work and are not segments."""
    found = []
    with os.scandir(directory) as entries:
        for entry in entries:
            path = directory / entry.name
            if entry.is_symlink():
                check_link(path, root)
            if name := _SEGMENT_FILE.fullmatch(entry.name):
                if not entry.is_file(follow_symlinks=False):
                    check_regular(path)
                found.append((_base_offset(path, name["base"]), path))
    found.sort()
    return tuple(LogSegment(base, path, path is found[-1][1]) for base, path in found)


def _base_offset(path: Path, digits: str) -> int:
    offset = int(digits)
    if offset > _INT64_MAX:
        raise InvalidArgumentError(
            f"{printable(path)}: {digits} is greater than any offset, which is an int64", file=printable(path)
        )
    return offset
