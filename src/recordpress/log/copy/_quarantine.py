"""Damaged segments of a source, kept in the copy under a name that readers ignore."""

from __future__ import annotations

from recordpress.checksum import crc32c
from recordpress.errors import CorruptRecordError, RecordpressError
from recordpress.files import READ_BYTES, FileSystem
from recordpress.files.read_back import COPY_RULE
from recordpress.log.copy._copy_log import CopyTask, refuse_changed, segment_name
from recordpress.log.copy.manifest import QuarantinedSegment, SourceFile
from recordpress.log.findings import Finding

# Brokers load ``.log`` files, delete ``.deleted``, ``.cleaned`` and ``.swap`` (LogLoader), and ignore everything else.
QUARANTINED_SUFFIX = ".quarantined"
# "KIP-110": messages of v0 and v1 cannot have the wanted codec
_NOT_OF_THE_SOURCE = (COPY_RULE, "file size", "KIP-110")


def damage_of_source(task: CopyTask, error: RecordpressError) -> Finding:
    """Return damage in the source as a finding; raise errors with any other cause."""
    if error.rule in _NOT_OF_THE_SOURCE:
        raise error
    finding = Finding.of_damage(error, file=task.segment.url)
    refuse_changed(task)
    return finding


def quarantine_segment(task: CopyTask, files: FileSystem, finding: Finding) -> QuarantinedSegment:
    """Copy the damaged file unchanged."""
    name = segment_name(task.segment) + QUARANTINED_SUFFIX
    checksum = position = 0
    with task.segment.open() as file, files.create(files.join(task.directory, name)) as writer:
        while position < file.size:
            data = file.read_exactly(position, min(READ_BYTES, file.size - position))
            checksum = crc32c(data, checksum)
            writer.write(data)
            position += len(data)
        if position != task.size and not task.segment.is_last:
            raise CorruptRecordError("the file was written to while it was read", file=file.name, rule="file size")
        writer.publish()
    source = SourceFile(task.segment.url, position, 0, task.modified, (), 0)
    return QuarantinedSegment(name, task.segment.base_offset, position, f"{checksum:08x}", vars(finding), source)
