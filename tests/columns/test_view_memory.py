"""What views keep: at most four times the bytes that they show, and one block, also of input that is not compressed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest

import recordpress

BLOCK = 1 << 16
VALUE = 1 << 20


def _key(offset: int) -> bytes:
    return b"key of record %06d" % offset


def _log(magic: int = 2, n: int = 12, value: int = VALUE) -> bytearray:
    return bytearray().join(
        recordpress.write_records(
            [bytes(value)] * 2, keys=[_key(base), _key(base + 1)], base_offset=base, magic=magic, timestamps=[1, 1]
        )
        for base in range(0, n, 2)
    )


def _buffers(column: pa.ChunkedArray) -> dict[int, int]:
    """The buffers that views point into, by address."""
    return {
        buffer.address: buffer.size for chunk in column.chunks for buffer in chunk.buffers()[2:] if buffer is not None
    }


Read = Callable[[bytearray, Path, str], Iterator[recordpress.Columns]]


def _whole(data: bytearray, _: Path, name: str) -> Iterator[recordpress.Columns]:
    yield recordpress.read_columns(data, [name], binary_type="binary_view", threads=3)


def _pieces(data: bytearray, _: Path, name: str) -> Iterator[recordpress.Columns]:
    yield from recordpress.iter_columns(data, [name], binary_type="binary_view")


def _file(_: bytearray, path: Path, name: str) -> Iterator[recordpress.Columns]:
    with path.open("rb") as file:
        yield from recordpress.iter_columns(file, [name], binary_type="binary_view", threads=2)


def _reader(_: bytearray, path: Path, name: str) -> Iterator[recordpress.Columns]:
    yield from recordpress.open_log(path).read([name], binary_type="binary_view")


READS = pytest.mark.parametrize("read", [_whole, _pieces, _file, _reader])


@READS
@pytest.mark.parametrize("magic", [0, 2])
def test_keys_do_not_keep_the_values(magic: int, read: Read, tmp_path: Path) -> None:
    path = tmp_path / "00000000000000000000.log"
    data = _log(magic)
    path.write_bytes(data)
    recordpress.release_unused()
    before = recordpress.pool_bytes()[0]
    results = list(read(data, path, "key"))
    shown = sum(len(_key(offset)) for offset in range(12))
    assert recordpress.pool_bytes()[0] - before <= 4 * shown + len(results) * BLOCK
    tables = [pa.table(columns) for columns in results]
    assert [key for table in tables for key in table["key"].to_pylist()] == [_key(offset) for offset in range(12)]
    for table in tables:
        table.validate(full=True)
        kept = sum(_buffers(table["key"]).values())
        assert kept <= 4 * sum(len(key) for key in table["key"].to_pylist()) + BLOCK
    data.append(0)  # fails if anything points into it


def test_a_few_of_many_records_do_not_keep_the_rest() -> None:
    data = _log(n=200, value=1000)
    one = recordpress.read_columns(data, ["value"], start_offset=20, end_offset=22, binary_type="binary_view")
    data.append(0)
    table = one.to_pyarrow()
    assert table["value"].to_pylist() == [bytes(1000)] * 2
    assert sum(_buffers(table["value"]).values()) <= 4 * 2000 + BLOCK


def test_short_values_keep_nothing() -> None:
    """A view holds up to 12 bytes itself, and so do Arrow's copies of its buffers."""
    data = bytearray(recordpress.write_records([bytes(100)] * 100, keys=[b"twelve bytes"] * 100))
    table = recordpress.read_columns(data, ["key"], binary_type="binary_view").to_pyarrow()
    data.append(0)
    assert table["key"].to_pylist() == [b"twelve bytes"] * 100
    assert set(_buffers(table["key"]).values()) <= {0}


def test_compressed_input_is_not_kept() -> None:
    data = bytearray(recordpress.write_records([bytes(range(256)) * 40] * 10, compression_type="lz4"))
    columns = recordpress.read_columns(data, ["value"], binary_type="binary_view")
    data.append(0)
    assert columns["value"].to_pylist() == [bytes(range(256)) * 40] * 10


@READS
def test_values_that_are_most_of_the_input_are_not_copied(read: Read, tmp_path: Path) -> None:
    path = tmp_path / "00000000000000000000.log"
    data = _log(n=4)
    path.write_bytes(data)
    results = list(read(data, path, "value"))
    sizes = [size for columns in results for size in _buffers(pa.table(columns)["value"]).values()]
    assert sum(sizes) >= 4 * VALUE
    if read in (_whole, _pieces):
        with pytest.raises(BufferError):
            data.append(0)
