"""Batches of a segment that a copy does not join, or leaves out."""

from typing import NamedTuple


class Marks(NamedTuple):
    """Base offsets (int64, ascending) of batches, and the kind of each, as in _settle.pxd.

    Batches below `settle_below` without a mark lose their producer; None: all keep it.
    """

    offsets: bytes = b""
    kinds: bytes = b""
    settle_below: int | None = None


NO_MARKS = Marks()
