from collections.abc import Iterable
from typing import Literal, Never, NoReturn, Self

from typing_extensions import Buffer, disjoint_base

from recordpress.codecs import DEFAULT_MAX_SIZE as DEFAULT_MAX_SIZE, CodecRegistry
from recordpress.columns._columns import Columns
from recordpress.errors import RecordpressError
from recordpress.typing import BinaryFile, BinaryType, HeaderChecksum, Integer, Time, TimestampUnit

@disjoint_base
class Source:
    name: str | None
    def __new__(cls, source: object) -> Self: ...

@disjoint_base
class ColumnsIterator:
    errors: list[RecordpressError]
    @property
    def batch_bytes(self) -> int: ...
    @batch_bytes.setter
    def batch_bytes(self, value: Integer) -> None: ...
    def __init__(self, *args: Never, **kwargs: Never) -> None: ...
    @property
    def position(self) -> int: ...
    @property
    def next_offset(self) -> int | None: ...
    @property
    def goes_back(self) -> bool: ...
    @property
    def valid_bytes(self) -> int: ...
    @property
    def trailing_bytes(self) -> int: ...
    @property
    def aborted_transactions(self) -> list[tuple[int, int]]: ...
    def close(self) -> None: ...
    def __iter__(self) -> Self: ...
    def __array__(self, dtype: object = None, copy: object = None) -> NoReturn: ...
    def __next__(self) -> Columns: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *ignored: object) -> None: ...

def iter_columns(
    source: Buffer | BinaryFile,
    columns: Iterable[str] | None = None,
    *,
    batch_bytes: Integer = ...,
    check_crcs: bool = True,
    binary_type: BinaryType = "binary",
    timestamp_unit: TimestampUnit = "ms",
    start_offset: Integer | None = None,
    end_offset: Integer | None = None,
    start_timestamp: Time | None = None,
    end_timestamp: Time | None = None,
    start_position: Integer = 0,
    end_position: Integer | None = None,
    control: bool = False,
    aborted_transactions: Iterable[tuple[Integer, Integer]] | None = None,
    threads: Integer = 1,
    on_corrupt: Literal["raise", "skip"] = "raise",
    complete: bool = False,
    ascending_from: Integer | None = None,
    max_decompressed_bytes: Integer = ...,
    max_message_bytes: Integer = ...,
    chunk_bytes: Integer = ...,
    codecs: CodecRegistry | None = None,
    lz4_header_checksum: HeaderChecksum = "verify",
) -> ColumnsIterator: ...
