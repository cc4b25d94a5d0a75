from typing_extensions import Buffer

def recompress(
    data: Buffer,
    compression_type: str,
    level: int | str | None = None,
    *,
    max_decompressed_bytes: int = ...,
) -> bytes: ...
