from typing import Never, overload

from typing_extensions import Buffer, disjoint_base

from recordpress.codecs import DEFAULT_MAX_SIZE as DEFAULT_MAX_SIZE, CodecRegistry
from recordpress.codecs._zstd_dictionary import Dictionary
from recordpress.codecs.dictionary_types import Dictionaries
from recordpress.typing import CompressionType, Integer, Level

class Compressor:
    def __init__(self, *args: Never, **kwargs: Never) -> None: ...
    def compress(self, data: Buffer) -> bytes: ...
    def flush(self) -> bytes: ...
    def reset(self) -> None: ...

@disjoint_base
class Decompressor:
    def __init__(self, *args: Never, **kwargs: Never) -> None: ...
    def decompress(self, data: Buffer) -> bytes: ...
    def flush(self) -> bytes: ...
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...

@overload
def compressor(
    compression_type: CompressionType,
    level: Level = None,
    *,
    magic: Integer = 2,
    codecs: None = None,
    dictionary: Dictionary | None = None,
) -> Compressor: ...
@overload
def compressor(
    compression_type: str,
    level: Level = None,
    *,
    magic: Integer = 2,
    codecs: CodecRegistry,
    dictionary: Dictionary | None = None,
) -> Compressor: ...
@overload
def decompressor(
    compression_type: CompressionType,
    max_decompressed_bytes: Integer = ...,
    *,
    magic: Integer = 2,
    codecs: None = None,
    dictionaries: Dictionaries | None = None,
) -> Decompressor: ...
@overload
def decompressor(
    compression_type: str,
    max_decompressed_bytes: Integer = ...,
    *,
    magic: Integer = 2,
    codecs: CodecRegistry,
    dictionaries: Dictionaries | None = None,
) -> Decompressor: ...
