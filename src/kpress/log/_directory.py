"""The directories and files of a log dir by their names (spec log-segments 1; Kafka's LocalLog and LogFileUtils)."""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from kpress.errors import InvalidArgumentError, KpressError

LOG_FILE_SUFFIX = ".log"
INDEX_FILE_SUFFIX = ".index"
TIME_INDEX_FILE_SUFFIX = ".timeindex"
TXN_INDEX_FILE_SUFFIX = ".txnindex"
PRODUCER_SNAPSHOT_FILE_SUFFIX = ".snapshot"
LEADER_EPOCH_CHECKPOINT = "leader-epoch-checkpoint"
PARTITION_METADATA = "partition.metadata"

# [0-9]: \d takes the digits of other scripts, too
_PARTITION_DIRECTORY = re.compile(r"(?P<topic>.+)-(?P<partition>[0-9]+)", re.DOTALL)
_SEGMENT_FILE = re.compile(r"(?P<base>[0-9]{20})\.log")


@contextmanager
def located(position: int, file: str | Path | None = None) -> Iterator[None]:
    """Make an error about a part of a file say where in the file it is."""
    try:
        yield
    except KpressError as error:
        if error.position is not None:
            error.position += position
        if file is not None:
            error.file = str(file)
        raise


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
        """By the last ``-`` of a directory's name; None where that is not the directory of a live partition."""
        match = _PARTITION_DIRECTORY.fullmatch(name)
        return cls(match["topic"], int(match["partition"])) if match else None

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


@dataclass(frozen=True, order=True)
class LogSegment:
    """One ``.log`` file; its other files have the same name with another suffix.

    Attributes
    ----------
    base_offset : int
        From the file's name: at most the first offset in it.
    path : Path
    """

    base_offset: int
    path: Path

    def sibling(self, suffix: str) -> Path:
        """The file of that kind, such as ``.txnindex``, whether it is there or not."""
        return self.path.with_suffix(suffix)

    def mapped(self) -> mmap.mmap | bytes:
        """The content of the file, mapped: pages are read when they are touched."""
        if self.path.stat().st_size == 0:
            return b""  # mmap takes no empty file
        with open(self.path, "rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


@dataclass(frozen=True)
class PartitionDirectory:
    """The directory of one partition.

    Attributes
    ----------
    topic_partition : TopicPartition
    path : Path
    segments : tuple of LogSegment
        In order of base offset.
    """

    topic_partition: TopicPartition
    path: Path
    segments: tuple[LogSegment, ...]


def segments_of(directory: Path) -> tuple[LogSegment, ...]:
    """Segments by name; ``.log.deleted``, ``.cleaned`` and ``.swap`` are of unfinished work and no segments."""
    found = ((_SEGMENT_FILE.fullmatch(path.name), path) for path in directory.iterdir() if path.is_file())
    return tuple(sorted(LogSegment(int(name["base"]), path) for name, path in found if name))


def list_partitions(path: str | Path) -> list[PartitionDirectory]:
    """The partitions of a log dir, or the one of a partition's own directory.

    Parameters
    ----------
    path : str or Path
        A broker's log dir (one of ``log.dirs``), or the directory of one partition in it.

    Returns
    -------
    list of PartitionDirectory
        By topic and partition. Partitions without a segment are left out, and so are directories that wait
        for deletion or are not yet whole (``-delete``, ``-future``, ``-stray``).

    Raises
    ------
    FileNotFoundError, NotADirectoryError
    InvalidArgumentError
        There is no partition.

    Examples
    --------
    >>> [str(p.topic_partition) for p in list_partitions("demo/logs")][:3]      # doctest: +SKIP
    ['access-json-0', 'access-json-1', 'access-log-0']
    """
    root = Path(path).resolve()
    candidates = [root, *sorted(entry for entry in root.iterdir() if entry.is_dir())]
    partitions = [
        PartitionDirectory(topic_partition, directory, segments)
        for directory in candidates
        if (topic_partition := TopicPartition.of_directory(directory.name)) and (segments := segments_of(directory))
    ]
    if not partitions:
        raise InvalidArgumentError(
            f"{root} holds no partition: there is no directory <topic>-<partition> with a segment "
            "(<20 digits>.log) in it, nor is it one itself"
        )
    return sorted(partitions, key=lambda found: found.topic_partition)
