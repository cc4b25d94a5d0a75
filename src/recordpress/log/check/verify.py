"""verify: whether a log is intact, as a broker would leave it.

============  ====================================================================================================
check         what is checked
============  ====================================================================================================
``file``      sizes, and that every file next to a segment can be read and fits it
``batch``     also every byte: headers, checksums, the order of offsets and of leader epochs
``record``    also every record: decompressed, parsed, compared with its header; sequences of producers; indexes
              against the log
============  ====================================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from os import PathLike
from typing import Literal, TypeAlias, TypeVar, get_args

from recordpress._arguments import INT32_MAX, choice
from recordpress._file_names import (
    INDEX_FILE_SUFFIX,
    LEADER_EPOCH_CHECKPOINT,
    PARTITION_METADATA,
    PRODUCER_SNAPSHOT_FILE_SUFFIX,
    TIME_INDEX_FILE_SUFFIX,
    TXN_INDEX_FILE_SUFFIX,
)
from recordpress._json_keys import JsonFields
from recordpress.codecs import CodecRegistry
from recordpress.errors import RecordpressError
from recordpress.files import FileInfo, RandomAccessFile, walked
from recordpress.log._extent import is_wrapper, near_the_end
from recordpress.log._log import Log
from recordpress.log._log_order import unseen_by_consumers
from recordpress.log._open import open_paths
from recordpress.log._progress import Meter, ProgressCallback
from recordpress.log._segment import Partition, Segment
from recordpress.log.check._record_checks import RecordCheck
from recordpress.log.check.build_sidecars import producers_before
from recordpress.log.check.damage_walk import BadRange, Scanner
from recordpress.log.check.index_checks import OffsetIndexCheck, TimeIndexCheck, transaction_findings
from recordpress.log.check.lost_records import LostRecords, lost_in
from recordpress.log.check.order import OrderCheck, SequenceCheck
from recordpress.log.check.rebuild import SidecarBuilder, marker_of
from recordpress.log.findings import Finding
from recordpress.log.sidecars.checkpoints import EpochEntry, read_leader_epochs
from recordpress.log.sidecars.offset_index import OffsetIndex, read_offset_index
from recordpress.log.sidecars.partition_metadata import read_partition_metadata
from recordpress.log.sidecars.producer_snapshot import read_snapshot
from recordpress.log.sidecars.time_index import TimeIndex, read_time_index
from recordpress.log.sidecars.transaction_index import AbortedTxn, read_transaction_index
from recordpress.log.splits import LogSplit
from recordpress.record.header import BatchHeader

Check: TypeAlias = Literal["file", "batch", "record"]
_DIRECTORY_RULE = "log directory"
_T = TypeVar("_T")


@dataclass
class VerifyReport(JsonFields):
    """The result of `verify`.

    Attributes
    ----------
    check : {'file', 'batch', 'record'}
    segments, size : int
        The number of segments, and the bytes of their ``.log`` files.
    batches : int
        Number of intact batches; 0 with ``file``.
    records : int
        Number of records, without control records; 0 unless ``record``.
    lost : list of LostRecords
        The offsets of records in damaged bytes, in the order of the log; empty with ``file``.
    findings : list of Finding

    Examples
    --------
    >>> from recordpress.log import verify
    >>> report = verify("demo/logs/sessions-0", "record")
    >>> report.check, report.segments, report.batches, report.findings
    ('record', 2, 18, [])
    """

    check: Check
    segments: int = 0
    size: int = 0
    batches: int = 0
    records: int = 0
    findings: list[Finding] = field(default_factory=list)
    lost: list[LostRecords] = field(default_factory=list)


def verify(
    path: str | PathLike[str] | list[str] | Log,
    check: Check = "batch",
    *,
    filesystem: object = None,
    codecs: CodecRegistry | None = None,
    progress: ProgressCallback | None = None,
) -> VerifyReport:
    """Check a log for errors. Nothing is changed.

    Parameters
    ----------
    path : path, URL, pattern, or several; or Log
        As for `open_log`, or its result.
    check : {'file', 'batch', 'record'}
        'file': names and the files next to the segments. 'batch': also all batches. 'record': also all records.
    filesystem, codecs : optional
        As `open_log` takes them.
    progress : callable, optional
        Called with a `Progress` as the work continues.

    Returns
    -------
    VerifyReport

    Raises
    ------
    InvalidArgumentError
        No partition was found, or `check` is not an accepted value.
    OSError

    Examples
    --------
    >>> import pathlib, tempfile, recordpress
    >>> from recordpress.log import verify
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     stem = pathlib.Path(directory) / "00000000000000000000"
    ...     _ = stem.with_suffix(".log").write_bytes(recordpress.write_records([b"x"] * 10))
    ...     _ = stem.with_suffix(".index").write_bytes(bytes.fromhex("00000009 00000046"))
    ...     report = verify(directory, "record")
    >>> [(finding.position, finding.rule, finding.message) for finding in report.findings]
    [(0, 'offset index', 'position 70 is not in the log')]
    """
    opened = open_paths(path, filesystem, codecs)
    choice("check", check, get_args(Check))
    report = VerifyReport(check, findings=list(opened.skipped))
    meter = Meter(progress, opened.partitions)
    for partition in opened.partitions:
        _Verification(partition, report, meter).run()
    meter.end()
    return report


def verify_split(split: LogSplit, check: Check) -> VerifyReport:
    """Verify some of a partition's segments; the state before them comes from the end of the previous segment and the
    first segment's ``.snapshot``."""
    report = VerifyReport(check)
    verification = _Verification(split.located(), report, Meter(None, ()))
    verification.begin_after(split.before[-1] if split.before else None)
    verification.run()
    return report


class _Sidecars:
    """Readable files next to a segment; errors in the others become findings."""

    def __init__(self, segment: Segment, findings: list[Finding]) -> None:
        self._segment = segment
        self._findings = findings
        base = segment.base_offset
        self.index: OffsetIndex | None = self._read(INDEX_FILE_SUFFIX, lambda file: read_offset_index(file, base))
        self.times: TimeIndex | None = self._read(TIME_INDEX_FILE_SUFFIX, lambda file: read_time_index(file, base))
        self.transactions: list[AbortedTxn] | None = self._read(
            TXN_INDEX_FILE_SUFFIX, lambda file: read_transaction_index(file, base)
        )

    def name(self, suffix: str) -> str:
        return self._segment.url.removesuffix(".log") + suffix

    def _read(self, suffix: str, read: Callable[[RandomAccessFile], _T]) -> _T | None:
        try:
            with self._segment.open_sibling(suffix) as file:
                return read(file)
        except FileNotFoundError:
            if suffix == INDEX_FILE_SUFFIX:  # without it, a broker reads the segment again
                self._findings.append(Finding(self.name(suffix), None, None, None, _DIRECTORY_RULE, "it is missing"))
        except RecordpressError as error:
            self._findings.append(Finding.of_error(error, file=self.name(suffix)))
        return None


class _Verification:
    """Verification of one partition."""

    def __init__(self, partition: Partition, report: VerifyReport, meter: Meter) -> None:
        self.partition = partition
        self.report = report
        self.meter = meter
        self.findings = report.findings
        self.damaged: list[tuple[Segment, BadRange]] = []
        self.order = OrderCheck()
        self.sequences = SequenceCheck()
        self.records = RecordCheck()
        self.builder = SidecarBuilder(producers_before(partition))

    def begin_after(self, segment: Segment | None) -> None:
        """Begin with the state at the end of `segment`, which precedes the first segment to verify."""
        if segment is None or self.report.check == "file":
            return
        for producer in producers_before(self.partition):
            self.sequences.begin(producer)
        with segment.records(complete=False) as file, suppress(RecordpressError):
            for header in near_the_end(segment, file):
                for _ in self.order.add(header, segment.url):
                    pass  # the verification of that segment reports it

    def run(self) -> None:
        epochs = self._partition_files()
        ends: list[tuple[Segment, int | None]] = []
        for segment in self.partition.segments:
            sidecars = _Sidecars(segment, self.findings)
            with segment.open() as stored, walked(stored) as file:
                self.report.segments += 1
                self.report.size += file.size
                self._sizes(segment, file, sidecars)
                if self.report.check != "file":
                    ends.append((segment, self._read(segment, file, sidecars)))
            self.meter.end_segment()
        self.findings.extend(unseen_by_consumers(ends))
        self.report.lost.extend(lost_in(self.partition, self.damaged))
        if epochs and self.report.check != "file":
            self.findings.extend(self._epochs(epochs))
        self.report.records += self.records.records

    # --- files ------------------------------------------------------------------------------------------------------

    def _partition_files(self) -> list[EpochEntry] | None:
        suffix, others = PRODUCER_SNAPSHOT_FILE_SUFFIX, self.partition.others
        self._partition_file(others.get(PARTITION_METADATA), read_partition_metadata)
        for info in [info for name, info in others.items() if name.endswith(suffix)]:
            self._partition_file(info, read_snapshot)
        for segment in self.partition.segments:
            self._partition_file(segment.files.get(suffix), read_snapshot)
        return self._partition_file(others.get(LEADER_EPOCH_CHECKPOINT), read_leader_epochs)

    def _partition_file(self, info: FileInfo | None, read: Callable[[RandomAccessFile], _T]) -> _T | None:
        if info is None:
            return None
        files = self.partition.segments[0].filesystem
        try:
            with files.open(info.path) as file:
                return read(file)
        except RecordpressError as error:
            self.findings.append(Finding.of_error(error, file=files.url(info.path)))
            return None

    def _sizes(self, segment: Segment, file: RandomAccessFile, sidecars: _Sidecars) -> None:
        if file.size > INT32_MAX:
            message = f"the file has {file.size} bytes; a broker opens files of at most {INT32_MAX}"
            self.findings.append(Finding(segment.url, None, file.size, None, "file size", message))
        index = sidecars.index
        if self.report.check == "file" and index and index[-1].position >= file.size:
            message = f"the last entry's position {index[-1].position} is not in the log, which has {file.size} bytes"
            name, offset = sidecars.name(INDEX_FILE_SUFFIX), index[-1].offset
            self.findings.append(Finding(name, 8 * len(index) - 8, 8, offset, "offset index", message))

    # --- batches and records ----------------------------------------------------------------------------------------

    def _read(self, segment: Segment, file: RandomAccessFile, sidecars: _Sidecars) -> int | None:
        """Read all batches, and return the offset after the highest one."""
        end: int | None = None
        deep = self.report.check == "record"
        index = OffsetIndexCheck(sidecars.index, sidecars.name(INDEX_FILE_SUFFIX)) if deep and sidecars.index else None
        times = (
            TimeIndexCheck(sidecars.times, sidecars.name(TIME_INDEX_FILE_SUFFIX)) if deep and sidecars.times else None
        )
        aborts: set[tuple[int, int]] = set()
        self.builder.begin(segment.base_offset)
        for part in Scanner(file, segment.base_offset):
            self.meter.advance(part.size)
            if isinstance(part, BadRange):
                self.findings.append(part.finding(segment.url))
                self.damaged.append((segment, part))
                continue
            self.report.batches += 1
            end = max(end or 0, part.last_offset + 1)
            if not (deep and is_wrapper(part)):
                self.findings.extend(self.order.add(part, segment.url))
            marker = marker_of(file, part)
            self.builder.add(part, marker)
            if marker is not None and not marker.committed:
                aborts.add((part.producer_id, part.base_offset))
            if deep:
                self.findings.extend(self._of_batch(segment, file, part, index, times))
        made = self.builder.end().transactions
        if deep:
            self.findings.extend(index.end() if index else ())
            self.findings.extend(times.end() if times else ())
            name = sidecars.name(TXN_INDEX_FILE_SUFFIX)
            self.findings.extend(transaction_findings(sidecars.transactions or [], made, aborts, name))
        return end

    def _of_batch(
        self,
        segment: Segment,
        file: RandomAccessFile,
        header: BatchHeader,
        index: OffsetIndexCheck | None,
        times: TimeIndexCheck | None,
    ) -> Iterator[Finding]:
        yield from self.records.add(file, header, segment.url, segment.codecs)
        if is_wrapper(header):
            yield from self.order.add(header, segment.url, self.records.first_offset)
        yield from self.sequences.add(header, self.order.gaps, segment.url)
        if index is not None:
            yield from index.add(header, self.records.first_offset)
        if times is not None:
            yield from times.add(header)

    def _epochs(self, stored: list[EpochEntry]) -> Iterator[Finding]:
        """Yield findings about leader epochs that the checkpoint lacks, or starts at a later offset."""
        starts = {entry.epoch: entry.start_offset for entry in stored}
        files = self.partition.segments[0].filesystem
        name = files.url(self.partition.others[LEADER_EPOCH_CHECKPOINT].path)
        for epoch, offset in self.builder.epochs:
            if epoch not in starts or starts[epoch] > offset:
                message = f"leader epoch {epoch} begins at offset {offset} in the log, but not in the checkpoint"
                yield Finding(name, None, None, offset, "leader epoch checkpoint", message)
