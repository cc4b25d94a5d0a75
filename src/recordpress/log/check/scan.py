"""scan: intact and damaged parts of a log from its first byte to its last, and the part that a broker would keep."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from os import PathLike

from recordpress._file_names import INDEX_FILE_SUFFIX
from recordpress._json_keys import JsonFields
from recordpress.files import RandomAccessFile, walked
from recordpress.log._log import Log
from recordpress.log._log_order import unseen_by_consumers
from recordpress.log._open import open_paths
from recordpress.log._progress import Meter, ProgressCallback
from recordpress.log._segment import Partition, Segment
from recordpress.log.check._recovery import Recovery
from recordpress.log.check.damage_walk import OFFSETS_RULE, BadRange, Scanner
from recordpress.log.check.lost_records import LostRecords, lost_in
from recordpress.log.check.order import OrderCheck
from recordpress.log.check.rebuild import INDEX_INTERVAL_BYTES
from recordpress.log.findings import Finding
from recordpress.record.header import BatchHeader


@dataclass(frozen=True)
class SegmentScan:
    """The result of a scan for one segment.

    Attributes
    ----------
    file : str
    base_offset : int
    size, intact_bytes : int
        Bytes of the file, and of its intact batches.
    batches : int
        Number of intact batches.
    next_offset : int or None
        Offset after the last intact batch; None if no batch is intact.
    recovery_bytes : int
        Bytes at the file's start that a broker's recovery would keep; also 0 if it would remove the file or refuse the
        partition.
    recovery_offset : int
        The offset at which the log would continue after the recovery.

    Examples
    --------
    >>> from recordpress.log import scan
    >>> first = scan("demo/logs/sessions-0").segments[0]
    >>> first.batches, first.intact_bytes == first.size == first.recovery_bytes
    (1, True)
    """

    file: str
    base_offset: int
    size: int
    intact_bytes: int
    batches: int
    next_offset: int | None
    recovery_bytes: int
    recovery_offset: int


@dataclass(frozen=True)
class ScanReport(JsonFields):
    """The result of `scan`.

    Attributes
    ----------
    segments : list of SegmentScan
    lost : list of LostRecords
        The offsets of records in damaged bytes, in the order of the log.
    findings : list of Finding
        Byte ranges without an intact batch; batches whose offsets or leader epochs are out of order; files that are not
        part of a log.

    Examples
    --------
    >>> from recordpress.log import scan
    >>> report = scan("demo/logs/sessions-0")
    >>> len(report.segments), report.findings
    (2, [])
    """

    segments: list[SegmentScan] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    lost: list[LostRecords] = field(default_factory=list)


def scan(
    path: str | PathLike[str] | list[str] | Log,
    *,
    filesystem: object = None,
    index_interval_bytes: int = INDEX_INTERVAL_BYTES,
    progress: ProgressCallback | None = None,
) -> ScanReport:
    """Read every byte of a log, and continue after damage.

    Parameters
    ----------
    path : path, URL, pattern, or several; or Log
        As for `open_log`, or its result.
    filesystem : optional
        As `open_log` takes it.
    index_interval_bytes : int
        The broker's ``index.interval.bytes``: its recovery empties a segment whose index would not ascend.
    progress : callable, optional
        Called with a `Progress` as the work continues.

    Returns
    -------
    ScanReport
        Each finding of damage gives its bytes, the offsets before and after, and what a broker's own recovery would
        keep and cut.

    Raises
    ------
    InvalidArgumentError
        No partition was found.
    OSError

    Examples
    --------
    >>> import pathlib, tempfile, recordpress
    >>> from recordpress.log import scan
    >>> log = bytearray(b"".join(recordpress.write_records([b"x"] * 10, base_offset=i) for i in range(0, 50, 10)))
    >>> log[200] ^= 1
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     path = pathlib.Path(directory) / "00000000000000000000.log"
    ...     _ = path.write_bytes(log)
    ...     report = scan(path)
    >>> [(finding.position, finding.size, finding.offset, finding.rule) for finding in report.findings]
    [(141, 141, 10, 'checksum')]
    >>> report.segments[0].batches, report.segments[0].recovery_bytes
    (4, 141)
    """
    opened = open_paths(path, filesystem)
    report = ScanReport(findings=list(opened.skipped))
    meter = Meter(progress, opened.partitions)
    for partition in opened.partitions:
        scan_partition(partition, index_interval_bytes, report, meter)
    meter.end()
    return report


def scan_partition(
    partition: Partition,
    interval: int,
    report: ScanReport,
    meter: Meter,
    found: Callable[[int, BatchHeader], object] | None = None,
) -> None:
    """Add a partition to the report; `found` is called with the number of the segment and each intact batch."""
    order = OrderCheck()
    first = len(report.segments)
    ends: list[tuple[Segment, int | None]] = []
    damaged: list[tuple[Segment, BadRange]] = []
    cut_before: Recovery | None = None  # of an earlier segment: recovery removes all segments after it
    refusal: Finding | None = None
    for number, segment in enumerate(partition.segments):
        # LogLoader.loadSegmentFiles recovers a segment without an index by itself, before recoverLog sees its damage
        has_index = INDEX_FILE_SUFFIX in segment.suffixes
        later = len(partition.segments) - number - 1 if has_index else 0
        with segment.open() as stored, walked(stored) as file:
            recovery = Recovery(file, segment.base_offset, interval, has_index)
            parts = _parts(segment, file, recovery, order, report, meter)
            bad: list[BadRange] = []
            end: int | None = None
            for part in parts:
                if isinstance(part, BadRange):
                    bad.append(part)
                    continue
                end = max(end or 0, part.last_offset + 1)
                if found is not None:
                    found(number, part)
        ends.append((segment, end))
        damaged += [(segment, part) for part in bad]
        removed = cut_before is not None
        report.findings.extend(_described(bad, segment, file.size, recovery, later, removed))
        if recovery.refusal and not (has_index and removed):
            message = f"a broker refuses the partition: {recovery.refusal}"
            refusal = refusal or Finding(segment.url, None, None, None, "recovery", message)
        if cut_before is not None:
            report.segments.append(_removed(report.segments.pop(), cut_before))
        elif recovery.stopped and has_index:
            cut_before = recovery
    if refusal:
        report.findings.append(refusal)
        report.segments[first:] = [
            replace(one, recovery_bytes=0, recovery_offset=one.base_offset) for one in report.segments[first:]
        ]
    report.findings.extend(unseen_by_consumers(ends))
    report.lost.extend(lost_in(partition, damaged))


def _parts(
    segment: Segment, file: RandomAccessFile, recovery: Recovery, order: OrderCheck, report: ScanReport, meter: Meter
) -> Iterator[BatchHeader | BadRange]:
    """Yield the parts of a segment, then add the segment to the report."""
    batches = intact = 0
    next_offset = None
    for part in Scanner(file, segment.base_offset):
        if isinstance(part, BadRange):
            recovery.add_bad(part)
        else:
            batches += 1
            intact += part.size
            next_offset = part.next_offset
            recovery.add(part)
            report.findings.extend(order.add(part, segment.url))
        yield part
        meter.advance(part.size)
    recovery.end()
    meter.end_segment()
    counts = (batches, next_offset, recovery.keeps, recovery.next_offset)
    report.segments.append(SegmentScan(segment.url, segment.base_offset, file.size, intact, *counts))


def _removed(scanned: SegmentScan, cut: Recovery) -> SegmentScan:
    return replace(scanned, recovery_bytes=0, recovery_offset=cut.next_offset)


def _described(
    bad: list[BadRange], segment: Segment, size: int, recovery: Recovery, later: int, removed: bool
) -> Iterator[Finding]:
    """Yield findings for bad ranges, with the effect of a broker's recovery."""
    for part in bad:
        if removed:
            fate = "a broker's recovery removes this segment, which follows a damaged one"
        elif recovery.refusal:
            fate = "a broker refuses the partition"
        elif part.rule == OFFSETS_RULE and recovery.is_split:
            fate = "a broker's recovery moves these bytes to a new segment"
        elif part.position < recovery.keeps:
            fate = "a broker's recovery keeps these bytes"
        else:
            fate = (
                f"a broker's recovery keeps the first {recovery.keeps} bytes of the file, up to offset "
                f"{recovery.next_offset}, and removes {size - recovery.keeps} bytes"
            )
            if later:
                fate += f", with the {later} segments after it" if later > 1 else ", with the segment after it"
        yield part.finding(segment.url, f"; {fate}")
