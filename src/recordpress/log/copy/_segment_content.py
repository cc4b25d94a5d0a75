"""Contents of a segment."""

from typing import NamedTuple


class SegmentContent(NamedTuple):
    """Contents of a segment, found by reading all of it; control records and control batches are not counted."""

    records: int
    batches: int
    bytes: int
    compression_types: tuple[str, ...]
    next_offset: int | None
    digest: str
    trailing_bytes: int = 0
