"""Ranges of bytes, joined so that a store gets few requests."""

from __future__ import annotations

from collections.abc import Iterable


def coalesce(ranges: Iterable[tuple[int, int]], gap: int, largest: int) -> list[tuple[int, int]]:
    """Return fewer ranges that cover the given ones.

    Parameters
    ----------
    ranges : iterable of (start, end)
        In order of their starts.
    gap : int
        Ranges this close or closer become one: reading that many bytes costs less than another request.
    largest : int
        Joining makes no range larger than this.

    Returns
    -------
    list of (start, end)

    Examples
    --------
    >>> from recordpress.files import coalesce
    >>> coalesce([(0, 10), (12, 20), (100, 110)], gap=5, largest=1000)
    [(0, 20), (100, 110)]
    """
    joined: list[tuple[int, int]] = []
    for start, end in ranges:
        if joined:
            first, last = joined[-1]
            if start - last <= gap and max(end, last) - first <= largest:
                joined[-1] = (first, max(end, last))
                continue
        joined.append((start, end))
    return joined
