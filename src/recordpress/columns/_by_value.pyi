from typing import Literal, overload

from typing_extensions import disjoint_base

from recordpress.codecs import DEFAULT_MAX_SIZE as DEFAULT_MAX_SIZE, CodecRegistry, Dictionary
from recordpress.codecs.dictionary_types import Dictionaries
from recordpress.columns._columns import Column
from recordpress.typing import ArrowArray, ArrowStream, CompressionType, Integer, Level

@disjoint_base
class ValueSource: ...

@disjoint_base
class ValueColumn: ...

@disjoint_base
class ByValue(ValueColumn): ...

class ValueChecksums(ValueColumn): ...

# Names other than Kafka's need a registry that has them.

@overload
def compress_values(
    data: ArrowArray | ArrowStream,
    compression_type: CompressionType,
    level: Level = None,
    *,
    dictionary: Dictionary | None = None,
    codecs: None = None,
) -> Column: ...
@overload
def compress_values(
    data: ArrowArray | ArrowStream,
    compression_type: str,
    level: Level = None,
    *,
    dictionary: Dictionary | None = None,
    codecs: CodecRegistry,
) -> Column: ...
@overload
def decompress_values(
    data: ArrowArray | ArrowStream,
    compression_type: CompressionType,
    max_decompressed_bytes: Integer = ...,
    *,
    dictionaries: Dictionaries | None = None,
    on_corrupt: Literal["raise", "null"] = "raise",
    codecs: None = None,
) -> Column: ...
@overload
def decompress_values(
    data: ArrowArray | ArrowStream,
    compression_type: str,
    max_decompressed_bytes: Integer = ...,
    *,
    dictionaries: Dictionaries | None = None,
    on_corrupt: Literal["raise", "null"] = "raise",
    codecs: CodecRegistry,
) -> Column: ...
def crc32c_values(data: ArrowArray | ArrowStream) -> Column: ...
