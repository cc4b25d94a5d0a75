from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, Protocol

from typing_extensions import Buffer

from kpress.codecs import DEFAULT_MAX_SIZE as DEFAULT_MAX_SIZE
from kpress.columns._arrow_out import Columns

class _BinaryFile(Protocol):
    def readinto(self, buffer: memoryview, /) -> int | None: ...

NAMES: tuple[str, ...]
DEFAULT: tuple[str, ...]

def iter_columns(
    source: Buffer | _BinaryFile,
    columns: Sequence[str] | None = None,
    *,
    batch_bytes: int = ...,
    check_crcs: bool = True,
    binary_type: Literal["binary", "large_binary", "binary_view"] = "binary",
    timestamp_unit: Literal["ms", "us"] = "ms",
    start_offset: int | None = None,
    end_offset: int | None = None,
    start_timestamp: int | None = None,
    end_timestamp: int | None = None,
    control: bool = False,
    aborted_transactions: Iterable[tuple[int, int]] | None = None,
    threads: int = 1,
    max_decompressed_bytes: int = ...,
    chunk_bytes: int = ...,
) -> Iterator[Columns]: ...
def read_columns(
    data: Buffer,
    columns: Sequence[str] | None = None,
    *,
    check_crcs: bool = True,
    binary_type: Literal["binary", "large_binary", "binary_view"] = "binary",
    timestamp_unit: Literal["ms", "us"] = "ms",
    start_offset: int | None = None,
    end_offset: int | None = None,
    start_timestamp: int | None = None,
    end_timestamp: int | None = None,
    control: bool = False,
    aborted_transactions: Iterable[tuple[int, int]] | None = None,
    threads: int = 1,
    max_decompressed_bytes: int = ...,
    chunk_bytes: int = ...,
) -> Columns: ...
