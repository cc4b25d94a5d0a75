from typing_extensions import Buffer, disjoint_base

from recordpress.codecs import DEFAULT_MAX_SIZE as DEFAULT_MAX_SIZE, CodecRegistry
from recordpress.codecs.table import CodecTable
from recordpress.errors import RecordpressError
from recordpress.record.change_magic import LOST as LOST
from recordpress.typing import Integer

def holds_newer(data: Buffer, magic: int) -> bool: ...
def cut_bytes_of(data: Buffer) -> int: ...

@disjoint_base
class DownConversion:
    error_code: int
    cause: RecordpressError | None
    records: bytes
    size: int
    closed: bool
    hidden: bool
    repeated_batches: int
    filler_bytes: int
    cut_bytes: int
    def __init__(
        self,
        data: Buffer,
        magic: Integer,
        first_offset: Integer,
        *,
        conversion: str = "lazy",
        keeps_unconverted: bool = True,
        helpful: bool = False,
        zstd: bool = True,
        drops_headers: bool = True,
        codecs: CodecRegistry | CodecTable | None = None,
        max_decompressed_bytes: Integer = ...,
    ) -> None: ...
    @property
    def batches(self) -> int: ...
    @property
    def converted_records(self) -> int: ...
    @property
    def control_batches(self) -> int: ...
    @property
    def early_records(self) -> int: ...
    @property
    def temporary_bytes(self) -> int: ...
    @property
    def lost(self) -> dict[str, int]: ...
