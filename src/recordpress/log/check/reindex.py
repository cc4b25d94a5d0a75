"""reindex: the files next to the segments of a log, rebuilt from the log."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from os import PathLike

from recordpress._file_names import INDEX_FILE_SUFFIX, TIME_INDEX_FILE_SUFFIX, TXN_INDEX_FILE_SUFFIX
from recordpress._json_keys import JsonFields
from recordpress.errors import InvalidArgumentError
from recordpress.files import FileSystem, LocalFileSystem, resolve
from recordpress.log._layout import SEGMENT_FILE
from recordpress.log._log import Log
from recordpress.log._open import open_paths
from recordpress.log._progress import Meter, ProgressCallback
from recordpress.log._segment import Partition
from recordpress.log.check.broker_lock import refuse_running_broker
from recordpress.log.check.build_sidecars import epochs_of, producers_before, sidecar_files
from recordpress.log.check.rebuild import INDEX_INTERVAL_BYTES, SidecarBuilder
from recordpress.log.findings import Finding
from recordpress.log.sidecars.sidecar_io import LARGEST_SIDECAR

_RULE = "log directory"


@dataclass(frozen=True)
class ReindexReport(JsonFields):
    """The result of `reindex`.

    Attributes
    ----------
    files : list of str
        The files that were written; a correct file is left as it is.
    findings : list of Finding
        Files that did not agree with the log, or were missing.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from recordpress.log import reindex
    >>> report = reindex("demo/logs/sessions-0", tempfile.mkdtemp())
    >>> len(report.files), report.findings
    (7, [])
    """

    files: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


def reindex(
    path: str | PathLike[str] | list[str] | Log,
    target: str | PathLike[str] | None = None,
    *,
    filesystem: object = None,
    index_interval_bytes: int = INDEX_INTERVAL_BYTES,
    progress: ProgressCallback | None = None,
) -> ReindexReport:
    """Rebuild the ``.index``, ``.timeindex``, ``.txnindex`` and ``.snapshot`` files and the ``leader-epoch-checkpoint``
    of a log from the headers of its batches.

    Each file is written under a hidden name and renamed when it is complete. Snapshots at offsets where no segment
    begins or ends are left alone.

    Parameters
    ----------
    path : path, URL, pattern, or several
        As `open_log` takes it.
    target : path or URL, optional
        An existing directory for the files of a single partition. By default, they are written next to the segments.
    filesystem : optional
        As `open_log` takes it.
    index_interval_bytes : int
        The broker's ``index.interval.bytes``.
    progress : callable, optional
        Called with a `Progress` as the work continues.

    Returns
    -------
    ReindexReport

    Raises
    ------
    RecordpressError
        A segment is damaged (`scan` shows where, `repair` copies what is intact), or is incomplete although it is not
        the last of its partition. Nothing is written for its partition.
    InvalidArgumentError
        A broker runs on the directory; or no partition was found, only a part of one, or several with `target`.
    OSError

    Examples
    --------
    >>> import pathlib, tempfile, recordpress
    >>> from recordpress.log import reindex
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     path = pathlib.Path(directory) / "00000000000000000000.log"
    ...     _ = path.write_bytes(recordpress.write_records([b"x"] * 10))
    ...     report = reindex(directory)
    >>> [os.path.basename(name) for name in report.files]
    ['00000000000000000000.index', '00000000000000000000.timeindex', '00000000000000000010.snapshot', ...]
    """
    opened = open_paths(path, filesystem)
    report = ReindexReport(findings=list(opened.skipped))
    if target is not None and len(opened.partitions) > 1:
        raise InvalidArgumentError(
            f"target takes the files of a single partition, but path has {len(opened.partitions)}", field="target"
        )
    meter = Meter(progress, opened.partitions)
    for partition in opened.partitions:
        _refuse_part(partition)
        source = partition.segments[0].filesystem
        beside = partition.segments[0].directory
        files, directory = resolve(target) if target is not None else (source, beside)
        if isinstance(files, LocalFileSystem):
            refuse_running_broker(os.path.dirname(os.path.abspath(directory)))
        _reindex_partition(partition, files, directory, index_interval_bytes, report, meter)
    meter.end()
    return report


def _refuse_part(partition: Partition) -> None:
    """Raise if segments are missing: leader epochs and producer states need all segments of a partition."""
    files = partition.segments[0].filesystem
    given = {segment.name for segment in partition.segments}
    for entry in files.list(partition.segments[0].directory):
        if SEGMENT_FILE.fullmatch(entry.name) and entry.name not in given:
            raise InvalidArgumentError(
                f"{partition.url} also has {entry.name}: the files next to a log are rebuilt from all of its segments, "
                "so pass the directory",
                field="path",
            )


def _reindex_partition(
    partition: Partition, files: FileSystem, directory: str, interval: int, report: ReindexReport, meter: Meter
) -> None:
    builder = SidecarBuilder(producers_before(partition), index_interval_bytes=interval)
    epochs = epochs_of(partition)
    is_beside = directory == partition.segments[0].directory
    made = dict(sidecar_files(partition.segments, builder, meter, epochs))
    for name, data in made.items():
        _write(files, files.join(directory, name), data, report, is_beside)
    for segment in partition.segments:  # remove its transaction index if nothing was aborted in it
        name = segment.stem + TXN_INDEX_FILE_SUFFIX
        path = files.join(directory, name)
        if name not in made and _bytes_of(files, path):
            files.delete(path)
            report.findings.append(_finding(files, path, "the log has no aborted transaction: the file was removed"))


def _write(files: FileSystem, path: str, data: bytes, report: ReindexReport, is_expected: bool) -> None:
    there = _bytes_of(files, path)
    if there is not None and _is_same(path, there, data):
        return
    files.create_file(path, data)
    report.files.append(files.url(path))
    if there is not None:
        report.findings.append(_finding(files, path, "the file differed from the log"))
    elif is_expected:
        report.findings.append(_finding(files, path, "the file was missing"))


def _is_same(path: str, there: bytes, data: bytes) -> bool:
    """Return whether a file is as it should be; an index may be padded with zeros."""
    if path.endswith((INDEX_FILE_SUFFIX, TIME_INDEX_FILE_SUFFIX)):
        return there[: len(data)] == data and not there[len(data) :].strip(b"\0")
    return there == data


def _bytes_of(files: FileSystem, path: str) -> bytes | None:
    try:
        with files.open(path) as file:
            return file.read_at(0, min(file.size, LARGEST_SIDECAR))
    except FileNotFoundError:
        return None


def _finding(files: FileSystem, path: str, message: str) -> Finding:
    return Finding(files.url(path), None, None, None, _RULE, message)
