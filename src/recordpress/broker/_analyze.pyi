from typing_extensions import Buffer, disjoint_base

from recordpress.codecs import CodecRegistry
from recordpress.codecs.table import CodecTable
from recordpress.typing import Integer

@disjoint_base
class Analysis:
    error_code: int
    refusal: str | None
    detail: str | None
    error_position: int
    size: int
    valid_bytes: int
    source_codec: int
    entries: int
    first: BatchHeader | None
    second: BatchHeader | None
    scan_error_after: int
    hides_producer: bool
    hides_epoch: bool
    mixes_producers: bool
    max_entry_size: int
    max_timestamp: int
    last_offset: int

@disjoint_base
class BatchHeader:
    position: int
    size: int
    magic: int
    attributes: int
    codec: int
    base_offset: int
    last_offset: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    last_sequence: int
    partition_leader_epoch: int
    records_count: int
    is_transactional: bool
    is_control: bool

def headers(records: Buffer) -> Analysis: ...
def analyze(
    records: Buffer,
    *,
    max_message_bytes: Integer,
    is_client: bool = True,
    ignore_record_size: bool = False,
    known_codecs: Integer = ...,
    helpful: bool = False,
    codecs: CodecRegistry | CodecTable | None = None,
) -> Analysis: ...
