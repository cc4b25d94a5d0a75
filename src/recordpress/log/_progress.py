"""The progress of a call that reads a log from its first byte to its last."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias

from recordpress.log._segment import Partition

_STEP_BYTES = 1 << 20  # between two reports; chosen, not measured


class Progress(NamedTuple):
    """Progress of a call.

    Attributes
    ----------
    bytes_done, bytes_total : int
        Bytes that are read several times count several times.
    segments_done, segments_total : int

    Examples
    --------
    >>> import recordpress
    >>> from recordpress.log import Progress
    >>> seen = []
    >>> report = recordpress.log.verify("demo/logs/sessions-0", progress=seen.append)
    >>> seen[-1].segments_done, seen[-1].bytes_done == seen[-1].bytes_total
    (2, True)
    """

    bytes_done: int
    bytes_total: int
    segments_done: int
    segments_total: int


ProgressCallback: TypeAlias = Callable[[Progress], object]


class Meter:
    """Reporter of progress to a caller: after each megabyte, and at the end."""

    def __init__(self, progress: ProgressCallback | None, partitions: Iterable[Partition], passes: int = 1) -> None:
        sizes = [segment.size or 0 for partition in partitions for segment in partition.segments]
        self._progress = progress
        self._total, self._segments = sum(sizes) * passes, len(sizes)
        self._done = self._segments_done = 0
        self._next = _STEP_BYTES

    def advance(self, size: int) -> None:
        """Count more bytes as done."""
        self._done += size
        if self._done >= self._next and self._progress is not None:
            self._next = self._done + _STEP_BYTES
            self._progress(Progress(self._done, max(self._done, self._total), self._segments_done, self._segments))

    def end_segment(self) -> None:
        """Count another segment."""
        self._segments_done += 1

    def end(self) -> None:
        """Report that everything is done, even if the sizes in the listing differ."""
        if self._progress is not None:
            self._progress(Progress(self._total, self._total, self._segments, self._segments))
