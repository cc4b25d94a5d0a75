"""read_columns and iter_columns: isolation, errors and consumers that the vectors do not show."""

from __future__ import annotations

import ctypes
import io
import os
import random
import subprocess
import sys
from typing import Any

import pyarrow as pa
import pytest

import recordpress

VALUES = [b"a value that is too long to lie in a view", None, b"short"]


def _transactional(offset: int, value: bytes) -> bytes:
    builder = recordpress.BatchBuilder(
        base_offset=offset, producer_id=7, producer_epoch=0, base_sequence=0, is_transactional=True
    )
    builder.append(value)
    return builder.build()


def _marker(offset: int, commit: bool) -> bytes:
    builder = recordpress.BatchBuilder(
        base_offset=offset, producer_id=7, producer_epoch=0, is_transactional=True, is_control=True
    )
    builder.append_end_txn_marker(commit, coordinator_epoch=1)
    return builder.build()


@pytest.mark.parametrize("aborted", [[(7, 7)], [(7, 0), (7, 7)], [(7, 0), (7, 3), (7, 7), (8, 0)]])
def test_one_abort_marker_ends_all_aborted_transactions_before_it(aborted: list[tuple[int, int]]) -> None:
    """Whoever reads from the middle of a log gives transactions that had ended before (CompletedFetch has a set)."""
    data = _transactional(8, b"aborted") + _marker(10, False) + _transactional(11, b"committed") + _marker(12, True)
    columns = recordpress.read_columns(data, ["value"], aborted_transactions=aborted)
    assert pa.table(columns)["value"].to_pylist() == [b"committed"]


def test_what_the_producer_writes_outside_its_transaction_is_kept() -> None:
    """CompletedFetch.isBatchAborted asks for the transactional bit, too."""
    builder = recordpress.BatchBuilder(base_offset=9, producer_id=7, producer_epoch=0, base_sequence=1)
    builder.append(b"outside")
    data = _transactional(8, b"aborted") + builder.build() + _marker(10, False)
    columns = recordpress.read_columns(data, ["value"], aborted_transactions=[(7, 8)])
    assert pa.table(columns)["value"].to_pylist() == [b"outside"]


def test_a_wrapper_as_librdkafka_sends_it_is_looked_into() -> None:
    """Offset 0 and the first message's timestamp: its header does not tell which ranges it overlaps."""
    times = [1000 + i for i in range(10)]
    data = bytearray(recordpress.write_records([b"v"] * 10, magic=1, compression_type="lz4", timestamps=times))
    data[0:8] = bytes(8)
    data[18:26] = (1000).to_bytes(8, "big")
    data[12:16] = recordpress.crc32(data[16:]).to_bytes(4, "big")
    every = pa.table(recordpress.read_columns(data, ["offset"]))["offset"].to_pylist()
    assert every == list(range(10))
    for bounds in ({"start_offset": 5}, {"start_timestamp": 1005}, {"start_offset": 5, "end_timestamp": 1010}):
        assert pa.table(recordpress.read_columns(data, ["offset"], **bounds))["offset"].to_pylist() == every[5:]


def test_a_file_without_bytes_for_now_is_not_at_its_end() -> None:
    end, other = os.pipe()
    os.set_blocking(end, False)
    os.write(other, recordpress.write_records(VALUES)[:-1])
    with (
        os.fdopen(end, "rb", buffering=0) as file,
        pytest.raises(recordpress.InvalidArgumentError, match="non-blocking"),
    ):
        list(recordpress.iter_columns(file))
    os.close(other)


def test_a_file_in_one_piece() -> None:
    data = recordpress.write_records(VALUES) * 100
    assert [columns.num_rows for columns in recordpress.iter_columns(io.BytesIO(data), batch_bytes=1 << 62)] == [300]


def test_a_timestamp_beyond_microseconds_has_a_place() -> None:
    good = recordpress.write_records([b"a"], timestamps=[5])
    data = good + recordpress.write_records([b"b"], base_offset=1, timestamps=[1 << 60])
    pieces = recordpress.iter_columns(data, ["timestamp"], timestamp_unit="us")
    assert next(pieces).num_rows == 1
    with pytest.raises(recordpress.InvalidArgumentError, match="microseconds") as caught:
        next(pieces)
    assert (caught.value.position, caught.value.offset) == (len(good), 1)


@pytest.mark.parametrize("binary_type", ["binary", "large_binary", "binary_view"])
@pytest.mark.parametrize("n_batches", [0, 1, 3])
def test_polars_takes_any_number_of_record_batches(binary_type: str, n_batches: int) -> None:
    polars = pytest.importorskip("polars")
    data = b"".join(recordpress.write_records(VALUES, base_offset=3 * i) for i in range(n_batches))
    columns = recordpress.read_columns(data, ["value"], binary_type=binary_type, threads=3)
    assert polars.DataFrame(columns)["value"].to_list() == VALUES * n_batches


def test_several_record_batches_are_not_one_array() -> None:
    columns = recordpress.read_columns(recordpress.write_records(VALUES) * 2, threads=2)
    assert not hasattr(columns, "__arrow_c_array__")
    with pytest.raises(recordpress.InvalidArgumentError, match="2 record batches"):
        columns.__arrow_c_array__()


def test_several_record_batches_are_written() -> None:
    columns = recordpress.read_columns(recordpress.write_records(VALUES) * 2, ["value"], threads=2)
    written = recordpress.write_columns(columns)
    assert [record.value for batch in recordpress.read_batches(written) for record in batch] == VALUES * 2


RELEASED_LATE = """
import ctypes, recordpress
columns = recordpress.read_columns(recordpress.write_records([b"v" * 100]), ["value"], binary_type="binary_view")
address = ctypes.pythonapi.PyCapsule_GetPointer
address.restype, address.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
_, capsule = columns.__arrow_c_array__()
c = ctypes.CDLL(None)
c.malloc.restype = ctypes.c_void_p
c.__cxa_atexit.argtypes = [ctypes.c_void_p] * 3
source, target = address(capsule, b"arrow_array"), c.malloc(80)
ctypes.memmove(target, source, 80)  # a consumer moves the array
release = ctypes.c_void_p.from_address(source + 64)
c.__cxa_atexit(release.value, target, target)  # and releases it when the interpreter is gone
release.value = None
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="__cxa_atexit")
def test_an_array_may_outlive_the_interpreter() -> None:
    assert ctypes.sizeof(ctypes.c_void_p) == 8
    subprocess.run([sys.executable, "-c", RELEASED_LATE], check=True)


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_views_of_a_part_of_a_batch(magic: Any) -> None:
    """The same values as in a copied column, whatever part of each batch they are."""
    draw = random.Random(magic)
    sizes = (0, 1, 11, 12, 13, 40, 5000, 1 << 20)
    for _ in range(60):
        log = b""
        for _ in range(draw.randrange(1, 6)):
            n = draw.randrange(1, 20)
            keys, values = (
                [draw.choice([None, draw.randbytes(4) * (draw.choice(of) // 4)]) for _ in range(n)]
                for of in (sizes[: draw.randrange(1, 8)], sizes[: draw.randrange(1, 9)])
            )
            codec = draw.choice(["none", "gzip", "lz4"])
            base = draw.randrange(1 << 20)
            log += recordpress.write_records(values, keys=keys, magic=magic, compression_type=codec, base_offset=base)
        for names in (["key"], ["value"], ["key", "value"]):
            options = {"start_offset": 1 << 19} if draw.random() < 0.3 else {}
            copied = recordpress.read_columns(log, names, **options).to_pyarrow().to_pydict()
            viewed = recordpress.read_columns(log, names, binary_type="binary_view", **options)
            assert viewed.to_pyarrow().to_pydict() == copied
