"""Where a partition ends."""

from __future__ import annotations

from recordpress._arguments import INT64_MAX
from recordpress.errors import RecordpressError
from recordpress.log._extent import end_of, is_checked, near_the_end
from recordpress.log._segment import Partition


def end_offset(partition: Partition, *, complete: bool = False) -> int:
    """Return the offset after the highest one of a partition: an append from there on reuses none.

    In a log whose offsets ascend it is Kafka's log end offset. All headers of the last segment are read, and the last
    ones of the others; in a store, the last ones of two segments. A wrong base offset among the others is found by full
    reads, `verify` and `scan`.

    Parameters
    ----------
    partition : Partition
    complete : bool
        The log must end with a complete entry; by default a truncated entry at the end, or zeros, do not count. The
        last headers of every segment are read.

    Returns
    -------
    int

    Raises
    ------
    RecordpressError
        The last batches are damaged, or the end is not `complete`.

    Examples
    --------
    >>> import recordpress
    >>> from recordpress.log import end_offset
    >>> [partition] = recordpress.open_log("demo/logs/sessions-0").partitions
    >>> end_offset(partition)
    1643
    """
    ends = [segment.base_offset for segment in partition.segments]
    unread = list(partition.segments)
    while unread:
        segment = unread.pop()
        with segment.records(complete=complete) as file:
            walk = file.headers() if is_checked(segment) else near_the_end(segment, file)
            try:
                walk.pass_over(walk.end)
                file.check_end(walk)
            except RecordpressError as error:
                file.check_end(walk, error)
            if walk.extent is not None:
                ends.append(walk.extent[1])
                break
    for number, segment in enumerate(reversed(unread)):
        if complete or not number or is_checked(segment):
            ends.append(end_of(segment) or 0)
    return min(max(ends, default=0), INT64_MAX)  # none comes after the last int64
