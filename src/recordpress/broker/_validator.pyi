from typing import Final

from typing_extensions import Buffer, disjoint_base

from recordpress.codecs import DEFAULT_MAX_SIZE as DEFAULT_MAX_SIZE, CodecRegistry
from recordpress.codecs.table import CodecTable
from recordpress.record.header import BatchHeader
from recordpress.typing import Integer, Level

@disjoint_base
class StoredSet:
    size: int
    header: BatchHeader | None
    rewritten: bool
    @property
    def records(self) -> bytes: ...

REASONS: Final[tuple[str, ...]]
FINDINGS: Final[tuple[str, ...]]
RULES: Final[dict[str, int]]

@disjoint_base
class Validation:
    error_code: int
    refusal: str | None
    error_message: str | None
    detail: str | None
    record_errors: list[tuple[int, str]]
    stored: StoredSet | None
    @property
    def records(self) -> bytes: ...
    rebuilt: bool
    size_may_have_changed: bool
    largest_batch: int
    reasons: int
    findings: int
    max_timestamp: int
    shallow_offset_of_max_timestamp: int
    log_append_time: int
    next_offset: int
    path: str

def validate_records(
    data: Buffer,
    *,
    source_codec: Integer,
    target_codec: Integer,
    target_level: Level = None,
    target_magic: Integer = 2,
    log_append_time: bool = False,
    before_max_ms: Integer = ...,
    after_max_ms: Integer = ...,
    compacted: bool = False,
    leader_epoch: Integer = 0,
    next_offset: Integer = 0,
    now_ms: Integer,
    origin_client: bool = True,
    rules: Integer = 0,
    helpful: bool = False,
    codecs: CodecRegistry | CodecTable | None = None,
    max_record_bytes: Integer = 0,
    max_decompressed_bytes: Integer = ...,
) -> Validation: ...
