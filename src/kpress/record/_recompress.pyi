from typing_extensions import Buffer

from kpress.codecs import DEFAULT_MAX_SIZE as DEFAULT_MAX_SIZE
from kpress.codecs import CodecTable
from kpress.typing import CompressionType, Integer, Level

def recompress(
    data: Buffer,
    compression_type: CompressionType,
    level: Level = None,
    *,
    max_decompressed_bytes: Integer = ...,
    codecs: CodecTable | None = None,
) -> bytes: ...
