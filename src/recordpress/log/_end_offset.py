"""End offset of a partition."""

from __future__ import annotations

from recordpress._arguments import INT64_MAX
from recordpress.errors import RecordpressError
from recordpress.log._extent import end_of, is_checked, near_the_end
from recordpress.log._segment import Partition


def end_offset(partition: Partition, *, complete: bool = False) -> int:
    """Return the offset after the highest offset of a partition: an append that starts there reuses no offset.

    In a log whose offsets ascend, it is Kafka's log end offset. All headers of the last segment are read, and the last
    headers of the others; in a store, the last headers of two segments. Only full reads, `verify` and `scan` find a
    wrong base offset in other headers.

    Parameters
    ----------
    partition : Partition
    complete : bool
        The log must end with a complete entry, and the last headers of every segment are read. By default, a truncated
        entry or zeros at the end do not count.

    Returns
    -------
    int

    Raises
    ------
    RecordpressError
        The last batches are damaged, or the log does not end as `complete` requires.

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
    return min(max(ends, default=0), INT64_MAX)  # no offset follows the largest int64
