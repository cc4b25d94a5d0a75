from recordpress.log import sidecars
from recordpress.log._batches import LogBatch
from recordpress.log._digest import RecordDigest
from recordpress.log._end_offset import end_offset
from recordpress.log._file_records import FileRecords
from recordpress.log._log import Log
from recordpress.log._progress import Progress
from recordpress.log._read import LogReader
from recordpress.log._segment import Partition, Segment
from recordpress.log._stats import LogStats, Share, stats_of
from recordpress.log.calls import open_log
from recordpress.log.check.damage_report import ScanReport, SegmentScan, scan
from recordpress.log.check.reindex import ReindexReport, reindex
from recordpress.log.check.verify import VerifyReport, verify
from recordpress.log.copy.calls import convert, transcode
from recordpress.log.copy.manifest import CopiedPartition, CopiedSegment, Manifest, QuarantinedSegment, SourceFile
from recordpress.log.copy.repair import RepairedSegment, RepairReport, repair
from recordpress.log.copy.transcode import Estimate
from recordpress.log.dump._dump import DumpOptions, SegmentDump
from recordpress.log.findings import Finding

__all__ = [
    "CopiedPartition",
    "CopiedSegment",
    "DumpOptions",
    "Estimate",
    "FileRecords",
    "Finding",
    "Log",
    "LogBatch",
    "LogReader",
    "LogStats",
    "Manifest",
    "Partition",
    "Progress",
    "QuarantinedSegment",
    "RecordDigest",
    "ReindexReport",
    "RepairReport",
    "RepairedSegment",
    "ScanReport",
    "Segment",
    "SegmentDump",
    "SegmentScan",
    "Share",
    "SourceFile",
    "VerifyReport",
    "convert",
    "end_offset",
    "open_log",
    "reindex",
    "repair",
    "scan",
    "sidecars",
    "stats_of",
    "transcode",
    "verify",
]
