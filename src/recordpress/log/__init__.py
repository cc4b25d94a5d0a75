"""Logs: a broker's directories, or copies of them anywhere, with the files next to each segment.

::

    paths ──► log          _open          _layout reads the names of files; _segment: partitions and their segments
    log ──► columns        _read          _extent: which segments; _seek: which batch; _transactions: omitted records
                           _log_order     which records are in the log, if offsets go back
    segment ──► columns    _file_records  chunks of complete entries; _trailing_bytes: the rest of the file
    segment ──► headers    _header_walk   without payloads
    log ──► tasks          splits         for other processes; _part: parts of a large segment

The rest is in folders::

    sidecars/  the files next to a segment: indexes, snapshots, checkpoints
    check/     verify, scan, reindex
    copy/      transcode, convert, repair, compact, and the manifest of a copy
    publish/   publication of finished files under their final names
    dump/      the output of Kafka's DumpLogSegments

Names follow Kafka's storage package.
"""

from recordpress._lazy import exports

__getattr__, __dir__, __all__ = exports(__name__, __file__)
