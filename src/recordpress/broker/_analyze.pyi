from typing_extensions import Buffer, disjoint_base

from recordpress.codecs import CodecRegistry
from recordpress.codecs.table import CodecTable
from recordpress.record.header import BatchHeader
from recordpress.typing import Integer

@disjoint_base
class Analysis:
    error_code: int
    refusal: str | None
    scan_message: str | None  # of ByteBufferLogInputStream's exception, for the response
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
