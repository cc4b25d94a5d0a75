"""The partitions of a local log dir."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from recordpress._file_names import LOG_FILE_SUFFIX, TopicPartition, printable, refuse_without_records
from recordpress.errors import InvalidArgumentError
from recordpress.files import LocalFileSystem, RandomAccessFile
from recordpress.log._layout import Layout
from recordpress.log._segment import Partition


@dataclass(frozen=True, order=True)
class LogSegment:
    """One ``.log`` file; its other files have the same name with another suffix.

    Attributes
    ----------
    base_offset : int
        From the file's name: at most the first offset in it.
    path : Path
    is_last : bool
        Whether it is the last of its partition: only this one may end in a cut entry or in zeros.

    Examples
    --------
    >>> from recordpress.log import list_partitions
    >>> segment = list_partitions("demo/logs")[0].segments[0]
    >>> segment.path.name, segment.base_offset, segment.is_last
    ('00000000000000000000.log', 0, True)
    """

    base_offset: int
    path: Path
    is_last: bool = field(default=False, compare=False)

    @property
    def is_tiered(self) -> bool:
        """Never: tiered copies are opened by `recordpress.open_log`."""
        return False

    def sibling(self, suffix: str) -> Path:
        """The file of that kind, such as ``.txnindex``, whether it exists or not."""
        return self.path.with_suffix(suffix)

    def open(self) -> RandomAccessFile:
        """The record set."""
        return LocalFileSystem().open(str(self.path))

    def open_sibling(self, suffix: str) -> RandomAccessFile:
        """Open the file of that kind, or raise FileNotFoundError."""
        return LocalFileSystem().open(str(self.sibling(suffix)))


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
        The directory that was given to `list_partitions`: no link may leave it.

    Examples
    --------
    >>> from recordpress.log import list_partitions
    >>> found = list_partitions("demo/logs")[-1]
    >>> str(found.topic_partition), [segment.base_offset for segment in found.segments]
    ('sessions-1', [0, 225])
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
        No partition was found, or `path` is a file. A directory with segments has a number that Kafka would not write
        (``a-00``, ``a-99999999999``), has a name that is not UTF-8, or lies in another partition's directory. A
        symbolic link leads out of `path`. A segment is a directory or a named pipe. The message names the file.

    Examples
    --------
    >>> from recordpress.log import list_partitions
    >>> [str(found.topic_partition) for found in list_partitions("demo/logs")][:3]
    ['access-json-0', 'access-json-1', 'access-log-0']
    """
    root = Path(os.path.realpath(path))
    _check_directory(root)
    layout = Layout(LocalFileSystem(), str(root))
    layout.read_directory()
    found = [directory for partition in layout.partitions if (directory := _directory_of(partition, root))]
    if not found:
        raise InvalidArgumentError(
            f"{printable(root)} holds no partition: there is no directory <topic>-<partition> with a segment "
            "(<20 digits>.log) in it, nor is it one itself",
            field="path",
        )
    return sorted(found, key=lambda directory: directory.topic_partition)


def _check_directory(path: Path) -> None:
    if path.is_dir() or not path.exists():
        return
    refuse_without_records(path)
    if path.name.endswith(LOG_FILE_SUFFIX):
        hint = "one segment is read by recordpress.open_log(path).read()"
    else:
        hint = "a log dir or the directory of one partition is needed"
    raise InvalidArgumentError(f"{printable(path)} is not a directory; {hint}", file=printable(path), field="path")


def _directory_of(partition: Partition, root: Path) -> PartitionDirectory | None:
    """None if it is not a broker's: its directory has another name."""
    path = Path(partition.segments[0].path).parent
    topic_partition = TopicPartition.of_directory(path.name)
    if topic_partition is None or partition.topic != topic_partition.topic:
        return None
    segments = tuple(
        LogSegment(segment.base_offset, Path(segment.path), segment.is_last) for segment in partition.segments
    )
    return PartitionDirectory(topic_partition, path, segments, root)
