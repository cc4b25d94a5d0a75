from collections.abc import Iterable
from typing import Never, Self

from typing_extensions import Buffer, disjoint_base

from recordpress.codecs import DEFAULT_MAX_SIZE as DEFAULT_MAX_SIZE, CodecRegistry
from recordpress.columns._columns import Columns
from recordpress.typing import BinaryType, HeaderChecksum, Integer, Time, TimestampUnit

DEFAULT: tuple[str, ...]
NAMES: tuple[str, ...]

@disjoint_base
class Options:
    def __init__(self, *args: Never, **kwargs: Never) -> None: ...

@disjoint_base
class Window:
    error: Exception | None
    def __new__(cls, options: Options) -> Self: ...

def read_columns(
    data: Buffer,
    columns: Iterable[str] | None = None,
    *,
    check_crcs: bool = True,
    binary_type: BinaryType = "binary",
    timestamp_unit: TimestampUnit = "ms",
    start_offset: Integer | None = None,
    end_offset: Integer | None = None,
    start_timestamp: Time | None = None,
    end_timestamp: Time | None = None,
    control: bool = False,
    aborted_transactions: Iterable[tuple[Integer, Integer]] | None = None,
    threads: Integer = 1,
    complete: bool = False,
    max_decompressed_bytes: Integer = ...,
    max_message_bytes: Integer = ...,
    chunk_bytes: Integer = ...,
    codecs: CodecRegistry | None = None,
    lz4_header_checksum: HeaderChecksum = "verify",
) -> Columns: ...
