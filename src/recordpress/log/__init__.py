"""Logs: directories of a broker, or copies of them anywhere, with the files next to each segment.

`open_log` finds partitions and segments, and `Log` reads them. Further work on logs has a folder each:

::

    sidecars/  the files next to a segment: indexes, snapshots, checkpoints
    check/     verify, scan, repair, reindex
    copy/      transcode, convert, compact, and the manifest of a copy
    publish/   how finished files get their names
    dump/      what Kafka's DumpLogSegments prints

Names follow Kafka's storage package.
"""

from recordpress._lazy import exports

__getattr__, __dir__, __all__ = exports(__name__, __file__)
