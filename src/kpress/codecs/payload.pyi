from typing_extensions import Buffer

DEFAULT_MAX_SIZE: int

def compress(
    data: Buffer, compression_type: str, level: int | str | None = None, *, magic: int = 2, raw: bool = False
) -> bytes: ...
def compress_into(
    data: Buffer,
    out: Buffer,
    compression_type: str,
    level: int | str | None = None,
    *,
    magic: int = 2,
    raw: bool = False,
) -> int: ...
def decompress(
    data: Buffer, compression_type: str, max_size: int = ..., *, magic: int = 2
) -> bytes: ...
def decompress_into(data: Buffer, out: Buffer, compression_type: str, *, magic: int = 2) -> int: ...
def compress_bound(size: int, compression_type: str) -> int: ...
