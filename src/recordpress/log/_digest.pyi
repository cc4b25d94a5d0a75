from typing_extensions import Buffer, disjoint_base

from recordpress.codecs import DEFAULT_MAX_SIZE as DEFAULT_MAX_SIZE, CodecRegistry
from recordpress.codecs.table import CodecTable
from recordpress.typing import Integer

@disjoint_base
class RecordDigest:
    @property
    def records(self) -> int: ...
    @property
    def control_records(self) -> int: ...
    def __init__(self) -> None: ...
    def update(
        self,
        data: Buffer,
        *,
        start_offset: Integer | None = None,
        end_offset: Integer | None = None,
        max_decompressed_bytes: Integer = ...,
        codecs: CodecRegistry | CodecTable | None = None,
    ) -> None: ...
    def hexdigest(self) -> str: ...
