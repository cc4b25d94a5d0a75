from typing_extensions import Buffer

from kpress.typing import CompressionType, Integer, Level

DEFAULT_MAX_SIZE: int

def compress(
    data: Buffer, compression_type: CompressionType, level: Level = None, *, magic: Integer = 2, raw: bool = False
) -> bytes: ...
def compress_into(
    data: Buffer,
    out: Buffer,
    compression_type: CompressionType,
    level: Level = None,
    *,
    magic: Integer = 2,
    raw: bool = False,
) -> int: ...
def decompress(
    data: Buffer, compression_type: CompressionType, max_size: Integer = ..., *, magic: Integer = 2
) -> bytes: ...
def decompress_into(data: Buffer, out: Buffer, compression_type: CompressionType, *, magic: Integer = 2) -> int: ...
def compress_bound(size: Integer, compression_type: CompressionType) -> int: ...
