"""repair: a copy of a damaged log with every intact batch, and new sidecar files.

::

    scan ──► Batches ──► chain: as many as possible in order ──► copied range by range ──► read back, checksums compared
                                                                                      ──► indexes, snapshots, epochs
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from os import PathLike

from recordpress._file_names import LOG_FILE_SUFFIX, PARTITION_METADATA, TopicPartition
from recordpress._json_keys import JsonFields
from recordpress.errors import InvalidArgumentError, RecordpressError
from recordpress.files import READ_BYTES, FileSystem, named, resolve
from recordpress.log._log import Log
from recordpress.log._open import open_paths
from recordpress.log._progress import Meter, ProgressCallback
from recordpress.log._segment import Partition, Segment
from recordpress.log.check.build_sidecars import epochs_of, producers_before, sidecar_files
from recordpress.log.check.lost_records import LostRecords
from recordpress.log.check.rebuild import INDEX_INTERVAL_BYTES, SidecarBuilder
from recordpress.log.check.scan import ScanReport, scan_partition
from recordpress.log.copy._ascending_batches import Batches
from recordpress.log.copy._copy_log import refuse_inside, target_of
from recordpress.log.findings import Finding
from recordpress.log.publish.complete_directory import complete_directory
from recordpress.log.publish.work_directory import WorkDirectory
from recordpress.log.sidecars.partition_metadata import partition_metadata_bytes, read_partition_metadata

_PASSES = 3  # over the bytes: scanned, copied, read back


@dataclass(frozen=True)
class RepairedSegment:
    """Segment of the copy.

    Attributes
    ----------
    file, source : str
        The copied segment, and its source. Their base offsets differ only where segments overlapped.
    batches, size : int
        Number of batches and bytes in the copy.
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
class RepairReport(JsonFields):
    """Result of `repair`.

    Attributes
    ----------
    segments : list of RepairedSegment
    lost : list of LostRecords
        The offsets of records that are not in the copy.
    findings : list of Finding
        Findings of `scan`, and intact batches omitted because their offsets are out of order with most others.

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
    lost: list[LostRecords] = field(default_factory=list)


def repair(
    path: str | PathLike[str] | list[str] | Log,
    target: str | PathLike[str],
    *,
    filesystem: object = None,
    index_interval_bytes: int = INDEX_INTERVAL_BYTES,
    progress: ProgressCallback | None = None,
) -> RepairReport:
    """Copy every intact batch of a log, with fresh indexes, snapshots and leader epochs.

    The source is only read. If batches overlap, the largest set with ascending offsets is kept.

    Parameters
    ----------
    path : path, URL, pattern, or several
        As `open_log` takes it.
    target : path or URL
        A directory to create, in which each partition gets a directory ``<topic>-<partition>``. A single partition is
        written to `target` itself if that has a partition's name. In a local file system, the directory gets its name
        when it is complete; in a store the object ``_recordpress-unfinished`` marks it until then. The next call with
        the same target removes the files of a killed call.
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
        No partition was found, or the target exists, is inside the source, or is being written by another call.
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
    files, place = resolve(target)
    place = target_of(files, place)
    names = _names(opened.partitions, files.name(place))
    report = RepairReport(findings=list(opened.skipped))
    meter = Meter(progress, opened.partitions, _PASSES)
    with named("target", "dst"):
        refuse_inside(path, opened.partitions, files, place, filesystem)
        with complete_directory(target, marker=None) as work:
            for partition, name in zip(opened.partitions, names, strict=True):
                _copy_partition(partition, name, work, index_interval_bytes, report, meter)
    meter.end()
    return report


def _names(partitions: tuple[Partition, ...], target: str) -> list[str]:
    """Return the name of each partition's directory in the target; empty if the target itself is the directory."""
    if len(partitions) == 1 and (partitions[0].topic is None or TopicPartition.of_directory(target)):
        return [""]
    if any(partition.topic is None for partition in partitions):
        raise InvalidArgumentError("a folder of segments without a topic must be repaired on its own", field="path")
    return [str(partition) for partition in partitions]


def _copy_partition(
    partition: Partition, name: str, work: WorkDirectory, interval: int, report: RepairReport, meter: Meter
) -> None:
    batches = Batches()
    scanned = ScanReport(findings=report.findings, lost=report.lost)
    scan_partition(partition, interval, scanned, meter, batches.add)
    chain = batches.chain()
    for finding, lost in _left_out(partition, batches, chain):
        report.findings.append(finding)
        report.lost.extend([lost] if lost else [])
    files, place = work.files, work.directory(name)
    final = files.join(work.target, name) if name else work.target
    segments = _copy_segments(partition, batches, chain, files, place, report, final, meter)
    builder = SidecarBuilder(producers_before(partition), index_interval_bytes=interval)
    epochs = epochs_of(partition)
    for file, data in sidecar_files(segments, builder, meter, epochs, check_crcs=True):
        files.create_file(files.join(place, file), data)
    _copy_metadata(partition, files, place)


def _left_out(
    partition: Partition, batches: Batches, chain: array[int]
) -> Iterator[tuple[Finding, LostRecords | None]]:
    """Yield a finding for each intact batch outside the chain, and its offsets if no batch of the copy covers them."""
    firsts = [batches.first[number] for number in chain]
    kept = iter(chain)
    following = next(kept, None)
    for number in range(len(batches)):
        if number == following:
            following = next(kept, None)
            continue
        first, last = batches.first[number], batches.last[number]
        url = partition.segments[batches.segment[number]].url
        position, size = batches.position[number], batches.size[number]
        message = (
            f"an intact batch is omitted: its offsets, {first} to {last}, are out of order with most other batches"
        )
        before = bisect_right(firsts, first) - 1
        is_covered = before >= 0 and batches.last[chain[before]] >= last
        lost = LostRecords(partition.topic, partition.partition, first, last + 1, url, position, size)
        yield Finding(url, position, size, first, "offset order", message), None if is_covered else lost


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
        if end == at and base_offset > source.base_offset:
            continue  # another segment has all its offsets, and may get its name
        name = f"{base_offset:020}{LOG_FILE_SUFFIX}"
        path = files.join(place, name)
        size = _copy_ranges(source, _ranges(batches, chain[at:end]), files, path, meter)
        shown = files.url(files.join(directory, name))
        with source.open() as file:
            report.segments.append(RepairedSegment(shown, source.url, end - at, size, file.size))
        copied.append(Segment(files, place, name, base_offset, size))  # none of them may end in a truncated entry
        if end > at:
            next_offset = batches.last[chain[end - 1]] + 1
        at = end
    return copied


def _ranges(batches: Batches, numbers: array[int]) -> Iterator[tuple[int, int]]:
    """Yield the start and end, in bytes, of each range of adjacent batches."""
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
            for position in range(start, end, READ_BYTES):
                data = file.read_exactly(position, min(READ_BYTES, end - position))
                writer.write(data)
                size += len(data)
                meter.advance(len(data))
        writer.publish()
    return size


def _copy_metadata(partition: Partition, files: FileSystem, place: str) -> None:
    """Copy ``partition.metadata`` if it is readable; otherwise a broker creates it from the topic's id."""
    info = partition.others.get(PARTITION_METADATA)
    if info is None:
        return
    try:
        with partition.segments[0].filesystem.open(info.path) as file:
            data = partition_metadata_bytes(read_partition_metadata(file))
    except RecordpressError:
        return
    files.create_file(files.join(place, PARTITION_METADATA), data)
