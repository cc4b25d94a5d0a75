from collections.abc import Iterable, Iterator

from typing_extensions import Buffer

from kpress.codecs import DEFAULT_MAX_SIZE as DEFAULT_MAX_SIZE
from kpress.columns._columns import Columns
from kpress.typing import BinaryFile, BinaryType, Integer, Time, TimestampUnit

NAMES: tuple[str, ...]
DEFAULT: tuple[str, ...]

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
    control: bool = False,
    aborted_transactions: Iterable[tuple[Integer, Integer]] | None = None,
    threads: Integer = 1,
    max_decompressed_bytes: Integer = ...,
    chunk_bytes: Integer = ...,
) -> Iterator[Columns]: ...
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
    max_decompressed_bytes: Integer = ...,
    chunk_bytes: Integer = ...,
) -> Columns: ...
