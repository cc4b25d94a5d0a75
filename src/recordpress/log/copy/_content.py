"""Contents of a segment."""

from typing import NamedTuple


class SegmentContent(NamedTuple):
    """Contents of a segment, from reading all of it; records and batches of control do not count."""

    records: int
    batches: int
    bytes: int
    compression_types: tuple[str, ...]
    next_offset: int | None
    digest: str
    trailing_bytes: int = 0
