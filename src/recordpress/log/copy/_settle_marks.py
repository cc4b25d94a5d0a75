"""Batches of a segment that a copy does not join, or omits."""

from typing import NamedTuple

from recordpress.checksum import crc32c


class Marks(NamedTuple):
    """Base offsets (int64, ascending) of batches, and the kind of each, as in _settle.pxd.

    Batches below `settle_below` without a mark lose their producer; None: all keep it.
    """

    offsets: bytes = b""
    kinds: bytes = b""
    settle_below: int | None = None

    def checksum(self) -> str:
        """Return a checksum for a manifest; empty if there are no marks."""
        if self == NO_MARKS:
            return ""
        below = b"" if self.settle_below is None else self.settle_below.to_bytes(8, "big", signed=True)
        return f"{crc32c(self.offsets + self.kinds + below):08x}"


NO_MARKS = Marks()
