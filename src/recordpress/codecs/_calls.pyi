from typing import overload

from typing_extensions import Buffer

from recordpress.codecs import CodecRegistry
from recordpress.codecs._zstd_dictionary import Dictionary
from recordpress.codecs.dictionary_types import Dictionaries
from recordpress.typing import CompressionType, Integer, Level

DEFAULT_MAX_SIZE: int
"""Default limit on decompressed bytes: 64 MiB."""

# Names other than Kafka's need a registry that has them.

@overload
def compress(
    data: Buffer,
    compression_type: CompressionType,
    level: Level = None,
    *,
    magic: Integer = 2,
    raw: bool = False,
    codecs: None = None,
    dictionary: Dictionary | None = None,
) -> bytes: ...
@overload
def compress(
    data: Buffer,
    compression_type: str,
    level: Level = None,
    *,
    magic: Integer = 2,
    raw: bool = False,
    codecs: CodecRegistry,
    dictionary: Dictionary | None = None,
) -> bytes: ...
@overload
def compress_into(
    data: Buffer,
    out: Buffer,
    compression_type: CompressionType,
    level: Level = None,
    *,
    magic: Integer = 2,
    raw: bool = False,
    codecs: None = None,
    dictionary: Dictionary | None = None,
) -> int: ...
@overload
def compress_into(
    data: Buffer,
    out: Buffer,
    compression_type: str,
    level: Level = None,
    *,
    magic: Integer = 2,
    raw: bool = False,
    codecs: CodecRegistry,
    dictionary: Dictionary | None = None,
) -> int: ...
@overload
def decompress(
    data: Buffer,
    compression_type: CompressionType,
    max_decompressed_bytes: Integer = ...,
    *,
    magic: Integer = 2,
    codecs: None = None,
    dictionaries: Dictionaries | None = None,
) -> bytes: ...
@overload
def decompress(
    data: Buffer,
    compression_type: str,
    max_decompressed_bytes: Integer = ...,
    *,
    magic: Integer = 2,
    codecs: CodecRegistry,
    dictionaries: Dictionaries | None = None,
) -> bytes: ...
@overload
def decompress_into(
    data: Buffer,
    out: Buffer,
    compression_type: CompressionType,
    *,
    magic: Integer = 2,
    codecs: None = None,
    dictionaries: Dictionaries | None = None,
) -> int: ...
@overload
def decompress_into(
    data: Buffer,
    out: Buffer,
    compression_type: str,
    *,
    magic: Integer = 2,
    codecs: CodecRegistry,
    dictionaries: Dictionaries | None = None,
) -> int: ...
@overload
def compress_bound(size: Integer, compression_type: CompressionType, *, codecs: None = None) -> int: ...
@overload
def compress_bound(size: Integer, compression_type: str, *, codecs: CodecRegistry) -> int: ...
