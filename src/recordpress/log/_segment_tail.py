"""Bytes after the last complete entry of a segment, as a finding."""

from __future__ import annotations

from recordpress.log._file_records import FileRecords
from recordpress.log._segment import Segment
from recordpress.log.findings import Finding


def tail_findings(segment: Segment, file: FileRecords) -> list[Finding]:
    """Return a finding if a completely read file has bytes after the last complete entry."""
    if not file.trailing_bytes:
        return []
    what, rule = f"the last entry is truncated after {file.trailing_bytes} bytes", "record set framing"
    if file.tail == "zeros":
        what, rule = f"{file.trailing_bytes} zero bytes follow the last entry: the log ends here", "preallocated file"
    return [Finding(segment.url, file.valid_bytes, file.trailing_bytes, file.next_offset, rule, what)]
