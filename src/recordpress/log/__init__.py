"""Logs: a broker's directories, or copies of them anywhere, with the files next to each segment.

`open_log` finds partitions and segments, and `Log` reads them. The rest is in folders:

::

    sidecars/  the files next to a segment: indexes, snapshots, checkpoints
    check/     verify, scan, reindex
    copy/      transcode, convert, repair, compact, and the manifest of a copy
    publish/   publication of finished files under their final names
    dump/      the output of Kafka's DumpLogSegments

Names follow Kafka's storage package.
"""

from recordpress._lazy import exports

__getattr__, __dir__, __all__ = exports(__name__, __file__)
