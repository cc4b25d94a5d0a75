from recordpress.log import sidecars as sidecars
from recordpress.log._batches import LogBatch as LogBatch
from recordpress.log._digest import RecordDigest as RecordDigest
from recordpress.log._end_offset import end_offset as end_offset
from recordpress.log._file_records import FileRecords as FileRecords
from recordpress.log._log import Log as Log
from recordpress.log._progress import Progress as Progress
from recordpress.log._read import LogReader as LogReader
from recordpress.log._segment import Partition as Partition, Segment as Segment
from recordpress.log._stats import LogStats as LogStats, Share as Share, stats_of as stats_of
from recordpress.log.calls import open_log as open_log
from recordpress.log.check.lost_records import LostRecords as LostRecords
from recordpress.log.check.reindex import ReindexReport as ReindexReport, reindex as reindex
from recordpress.log.check.scan import ScanReport as ScanReport, SegmentScan as SegmentScan, scan as scan
from recordpress.log.check.verify import VerifyReport as VerifyReport, verify as verify
from recordpress.log.copy.calls import compact as compact, convert as convert, transcode as transcode
from recordpress.log.copy.compact import CompactedPartition as CompactedPartition
from recordpress.log.copy.manifest import (
    CopiedPartition as CopiedPartition,
    CopiedSegment as CopiedSegment,
    Manifest as Manifest,
    QuarantinedSegment as QuarantinedSegment,
    SourceFile as SourceFile,
)
from recordpress.log.copy.repair import (
    RepairedSegment as RepairedSegment,
    RepairReport as RepairReport,
    repair as repair,
)
from recordpress.log.copy.savings import Estimate as Estimate, Saving as Saving, TopicSavings as TopicSavings
from recordpress.log.dump.segment import DumpOptions as DumpOptions, SegmentDump as SegmentDump
from recordpress.log.findings import Finding as Finding
