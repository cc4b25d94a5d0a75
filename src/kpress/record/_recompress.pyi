from typing_extensions import Buffer

from kpress.codecs import DEFAULT_MAX_SIZE as DEFAULT_MAX_SIZE

def recompress(
    data: Buffer,
    compression_type: str,
    level: int | str | None = None,
    *,
    max_decompressed_bytes: int = ...,
) -> bytes: ...
