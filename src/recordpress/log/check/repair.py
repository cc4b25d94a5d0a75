"""repair: a copy of a damaged log with every batch that is intact, and fresh files next to it.

::

    scan ──► Batches ──► chain: as many as possible in order ──► copied range by range ──► read back, checksums compared
                                                                                      ──► indexes, snapshots, epochs
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from recordpress._file_names import LOG_FILE_SUFFIX, PARTITION_METADATA, TopicPartition, printable
from recordpress.errors import InvalidArgumentError, RecordpressError
from recordpress.files import FileSystem, LocalFileSystem, resolve, sweep, sync_directory, unfinished_directory
from recordpress.log._open import open_paths
from recordpress.log._progress import Meter, ProgressCallback
from recordpress.log._segment import Partition, Segment
from recordpress.log.check._chain import Batches
from recordpress.log.check.build_sidecars import epochs_of, producers_before, sidecar_files
from recordpress.log.check.damage_report import ScanReport, scan_partition
from recordpress.log.check.rebuild import INDEX_INTERVAL_BYTES, SidecarBuilder
from recordpress.log.findings import Finding
from recordpress.log.sidecars.partition_metadata import partition_metadata_bytes, read_partition_metadata

_COPY_BYTES = 8 << 20  # of one read: large enough to hide its fixed costs
_PASSES = 3  # over the bytes: scanned, copied, read back


@dataclass(frozen=True)
class RepairedSegment:
    """A segment of the copy.

    Attributes
    ----------
    file, source : str
        The name of the copy has another base offset only where segments overlapped.
    batches, size : int
        Of the copy.
    source_size : int

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from recordpress.log import repair
    >>> report = repair("demo/logs/sessions-0", pathlib.Path(tempfile.mkdtemp()) / "copy")
    >>> [(segment.batches, segment.size == segment.source_size) for segment in report.segments]
    [(1, True), (17, True)]
    """

    file: str
    source: str
    batches: int
    size: int
    source_size: int


@dataclass(frozen=True)
class RepairReport:
    """The result of `repair`.

    Attributes
    ----------
    segments : list of RepairedSegment
    findings : list of Finding
        Findings of `scan`, and intact batches left out because other batches have their offsets.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from recordpress.log import repair
    >>> report = repair("demo/logs/sessions-0", pathlib.Path(tempfile.mkdtemp()) / "copy")
    >>> len(report.segments), report.findings
    (2, [])
    """

    segments: list[RepairedSegment] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """The fields for JSON output."""
        return {
            "findings": [finding.to_dict() for finding in self.findings],
            "segments": [asdict(segment) for segment in self.segments],
        }


def repair(
    path: str | PathLike[str] | list[str],
    target: str | PathLike[str],
    *,
    filesystem: object = None,
    index_interval_bytes: int = INDEX_INTERVAL_BYTES,
    progress: ProgressCallback | None = None,
) -> RepairReport:
    """Copy every intact batch of a log, with fresh indexes, snapshots and leader epochs.

    The source is only read. If batches overlap, the largest set in order of offsets is kept.

    Parameters
    ----------
    path : path, URL, pattern, or several
        As `open_log` takes it.
    target : path or URL
        A directory, in which each partition gets a directory ``<topic>-<partition>``. A single partition is written to
        `target` itself if that has a partition's name. In a local file system a partition's directory gets its name
        when it is complete.
    filesystem : optional
        As `open_log` takes it.
    index_interval_bytes : int
        The broker's ``index.interval.bytes``.
    progress : callable, optional
        Called with a `Progress` as the work continues.

    Returns
    -------
    RepairReport

    Raises
    ------
    InvalidArgumentError
        No partition was found, or the directory to write already exists.
    RecordpressError
        The copy differs from what was read: the source changed during the call, or the target is damaged.
    OSError

    Examples
    --------
    >>> import pathlib, tempfile, recordpress
    >>> from recordpress.log import repair
    >>> log = bytearray(b"".join(recordpress.write_records([b"x"] * 10, base_offset=i) for i in range(0, 50, 10)))
    >>> log[200] ^= 1
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     source, target = pathlib.Path(directory, "a-0"), pathlib.Path(directory, "b-0")
    ...     source.mkdir()
    ...     _ = (source / "00000000000000000000.log").write_bytes(log)
    ...     report = repair(source, target)
    ...     copied = recordpress.read_columns((target / "00000000000000000000.log").read_bytes(), ["offset"])
    >>> report.segments[0].batches, len(report.findings), copied.num_rows
    (4, 1, 40)
    """
    opened = open_paths(path, filesystem)
    files, root = resolve(target)
    report = RepairReport(findings=list(opened.skipped))
    places = _places(opened.partitions, files, root)
    meter = Meter(progress, opened.partitions, _PASSES)
    for partition, directory in zip(opened.partitions, places, strict=True):
        _salvage_partition(partition, files, directory, index_interval_bytes, report, meter)
    meter.end()
    return report


def _places(partitions: tuple[Partition, ...], files: FileSystem, root: str) -> list[str]:
    """The directory of each partition, which must not be there."""
    is_one = len(partitions) == 1
    if is_one and (partitions[0].topic is None or TopicPartition.of_directory(files.name(root)) is not None):
        places = [root]
    else:
        places = [files.join(root, str(partition)) for partition in partitions]
    if any(partition.topic is None for partition in partitions) and not is_one:
        raise InvalidArgumentError("a folder of segments without a topic's name is repaired by itself", field="path")
    for place in places:
        if _exists(files, place):
            if isinstance(files, LocalFileSystem):
                sweep(Path(place))  # the lock of a call that was killed when it was done
            raise InvalidArgumentError(f"{printable(files.url(place))} is there already", field="target")
    return places


def _exists(files: FileSystem, path: str) -> bool:
    try:
        return bool(files.list(path)) or isinstance(files, LocalFileSystem)
    except (FileNotFoundError, NotADirectoryError):
        return False


def _salvage_partition(
    partition: Partition, files: FileSystem, directory: str, interval: int, report: RepairReport, meter: Meter
) -> None:
    batches = Batches()
    scanned = ScanReport(findings=report.findings)
    scan_partition(partition, interval, scanned, meter, batches.add)
    chain = batches.chain()
    report.findings.extend(_left_out(partition, batches, chain))
    with _published(files, directory) as place:
        segments = _copy_segments(partition, batches, chain, files, place, report, directory, meter)
        builder = SidecarBuilder(producers_before(partition), index_interval_bytes=interval)
        epochs = epochs_of(partition, partition.segments[0].filesystem)
        for name, data in sidecar_files(segments, builder, meter, epochs, check_crcs=True):
            _create(files, files.join(place, name), data)
        _copy_metadata(partition, files, place)


@contextmanager
def _published(files: FileSystem, directory: str) -> Iterator[str]:
    """A directory that gets its name at the end, if the file system can rename."""
    if not isinstance(files, LocalFileSystem):
        files.make_directory(directory)
        yield directory
        return
    final = Path(directory)
    final.parent.mkdir(parents=True, exist_ok=True)
    with unfinished_directory(final) as path:
        yield os.fspath(path)
        sync_directory(path)
        os.rename(path, final)
        sync_directory(final.parent)


def _left_out(partition: Partition, batches: Batches, chain: array[int]) -> Iterator[Finding]:
    """Findings for intact batches that are not in the chain."""
    kept = iter(chain)
    following = next(kept, None)
    for number in range(len(batches)):
        if number == following:
            following = next(kept, None)
            continue
        first, last = batches.first[number], batches.last[number]
        yield Finding(
            partition.segments[batches.segment[number]].url,
            batches.position[number],
            batches.size[number],
            first,
            "offset order",
            f"an intact batch is left out: its offsets, {first} to {last}, are out of order among those of more others",
        )


# --- the copy -------------------------------------------------------------------------------------------------------


def _copy_segments(
    partition: Partition,
    batches: Batches,
    chain: array[int],
    files: FileSystem,
    place: str,
    report: RepairReport,
    directory: str,
    meter: Meter,
) -> list[Segment]:
    copied = []
    next_offset, at = 0, 0
    for number, source in enumerate(partition.segments):
        end = at
        while end < len(chain) and batches.segment[chain[end]] == number:
            end += 1
        base_offset = max(source.base_offset, next_offset)
        name = f"{base_offset:020}{LOG_FILE_SUFFIX}"
        path = files.join(place, name)
        size = _copy_ranges(source, _ranges(batches, chain[at:end]), files, path, meter)
        shown = files.url(files.join(directory, name))
        with source.open() as file:
            report.segments.append(RepairedSegment(shown, source.url, end - at, size, file.size))
        copied.append(Segment(files, path, base_offset, shown, size))  # none of them may end in a cut entry
        if end > at:
            next_offset = batches.last[chain[end - 1]] + 1
        at = end
    return copied


def _ranges(batches: Batches, numbers: array[int]) -> Iterator[tuple[int, int]]:
    """Beginning and end of the bytes of these batches, as long as they follow each other."""
    start = end = 0
    for number in numbers:
        position, size = batches.position[number], batches.size[number]
        if position != end:
            if end > start:
                yield start, end
            start = position
        end = position + size
    if end > start:
        yield start, end


def _copy_ranges(source: Segment, ranges: Iterator[tuple[int, int]], files: FileSystem, path: str, meter: Meter) -> int:
    size = 0
    with source.open() as file, files.create(path) as writer:
        for start, end in ranges:
            for position in range(start, end, _COPY_BYTES):
                data = file.read_exactly(position, min(_COPY_BYTES, end - position))
                writer.write(data)
                size += len(data)
                meter.advance(len(data))
        writer.publish()
    return size


def _copy_metadata(partition: Partition, files: FileSystem, place: str) -> None:
    """``partition.metadata``, if it can be read: a broker makes it again from the topic's id."""
    info = partition.files.get(PARTITION_METADATA)
    if info is None:
        return
    try:
        with partition.segments[0].filesystem.open(info.path) as file:
            data = partition_metadata_bytes(read_partition_metadata(file))
    except RecordpressError:
        return
    _create(files, files.join(place, PARTITION_METADATA), data)


def _create(files: FileSystem, path: str, data: bytes) -> None:
    with files.create(path) as writer:
        writer.write(data)
        writer.publish()
