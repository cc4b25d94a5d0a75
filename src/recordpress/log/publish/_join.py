"""Join of several staged segments into one."""

from __future__ import annotations

from recordpress._file_names import LOG_FILE_SUFFIX
from recordpress.checksum import crc32c
from recordpress.errors import CorruptRecordError
from recordpress.files import FileSystem
from recordpress.files.read_back import publish_checked
from recordpress.log._file_records import FileRecords
from recordpress.log.check.rebuild import SidecarBuilder
from recordpress.log.publish._journal import PlannedSegment
from recordpress.log.publish._stamp import Stamp
from recordpress.log.publish.staging import StagedSegment


def join(files: FileSystem, job: str, segment: PlannedSegment, stem: str, index_interval_bytes: int) -> int:
    """Write a segment, joined from its staged segments, and its indexes, to paths that begin with `stem`; return its
    checksum. Each staged segment is read once."""
    builder = SidecarBuilder(index_interval_bytes=index_interval_bytes)
    builder.begin(segment.base_offset)
    stamp = Stamp(builder, segment.base_offset)
    checksum = 0
    with files.upload(stem + LOG_FILE_SUFFIX) as writer:
        for staged in segment.staged:
            found = 0
            part = staged.opened(files, job)
            with FileRecords(part) as records:
                for chunk, data in stamp.stamped(records, staged):
                    found = crc32c(chunk, found)
                    checksum = crc32c(data, checksum)
                    writer.write(data)
                part.forget()
            _check(files, job, staged, found)
        check_end(files, job, segment, stamp.next_offset)
        for suffix, content in builder.end().files(with_snapshot=False).items():
            files.write_file(stem + suffix, content)
        publish_checked(writer, files, stem + LOG_FILE_SUFFIX, stamp.position, checksum)
    return checksum


def check_end(files: FileSystem, job: str, segment: PlannedSegment, next_offset: int) -> None:
    """Raise an error if a segment does not end where it should."""
    if next_offset != segment.next_offset:
        raise CorruptRecordError(
            f"the batches end at offset {next_offset}, but should end at {segment.next_offset}",
            file=files.url(files.join(job, segment.staged[-1].file)),
            rule="staged segment",
        )


def _check(files: FileSystem, job: str, staged: StagedSegment, found: int) -> None:
    if found != staged.crc32c:
        raise CorruptRecordError(
            f"a task wrote bytes with the checksum {staged.crc32c:#010x}, but {found:#010x} is read back",
            file=files.url(files.join(job, staged.file)),
            rule="staged segment",
        )
