from collections.abc import Callable

from typing_extensions import Buffer, disjoint_base

from recordpress.codecs import DEFAULT_MAX_SIZE as DEFAULT_MAX_SIZE, CodecRegistry
from recordpress.codecs.table import CodecTable
from recordpress.log._digest import RecordDigest
from recordpress.log.copy._segment_content import SegmentContent
from recordpress.log.copy._settle_marks import Marks
from recordpress.record.change_magic import LOST as LOST
from recordpress.typing import Integer, Level

@disjoint_base
class Run: ...

@disjoint_base
class RecompressThreads:
    digest: RecordDigest
    crc32c: int
    run_bytes: int
    already: int
    left: int
    settles: bool
    settled: int
    dropped_markers: int
    dropped_records: int
    def __init__(
        self,
        compression_type: str | None,
        level: Level = None,
        *,
        batch_bytes: Integer | None = None,
        batch_records: Integer | None = None,
        max_message_bytes: Integer = ...,
        marks: Marks = ...,
        min_gain: float | None = 0.0,
        threads: Integer = 1,
        max_decompressed_bytes: Integer = ...,
        codecs: CodecRegistry | CodecTable | None = None,
        file: str | None = None,
        magic: Integer | None = None,
        reading: bool = False,
    ) -> None: ...
    def feed(self, piece: Buffer, position: int, write: Callable[[memoryview], object]) -> None: ...
    def finish(self, write: Callable[[memoryview], object]) -> None: ...
    def close(self) -> None: ...
    @property
    def lost(self) -> dict[str, int]: ...
    @property
    def before(self) -> SegmentContent: ...
    @property
    def after(self) -> SegmentContent: ...
