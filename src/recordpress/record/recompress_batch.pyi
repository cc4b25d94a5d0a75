from typing import overload

from typing_extensions import Buffer

from recordpress.codecs import DEFAULT_MAX_SIZE as DEFAULT_MAX_SIZE, CodecRegistry
from recordpress.typing import CompressionType, Integer, Level

@overload
def recompress(
    data: Buffer,
    compression_type: CompressionType,
    level: Level = None,
    *,
    max_decompressed_bytes: Integer = ...,
    codecs: None = None,
) -> bytes: ...
@overload
def recompress(
    data: Buffer,
    compression_type: str,
    level: Level = None,
    *,
    max_decompressed_bytes: Integer = ...,
    codecs: CodecRegistry,
) -> bytes: ...
