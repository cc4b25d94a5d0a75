"""iter_columns on a file: several windows of a few batches, which stay in the caches, make one large result."""

import io
import itertools
import random

import pytest

import recordpress

pa = pytest.importorskip("pyarrow")

COLUMNS = ["offset", "timestamp", "key", "value", "headers", "isTransactional"]
DRAW = random.Random(7)
CODECS = ["none", "lz4", "none", "zstd", "snappy"]
BATCH_BYTES = 3 << 20  # larger than a window of 1.25 MiB, smaller than the log


def batch(number: int, codec: str) -> bytes:
    values = [DRAW.randbytes(2000) if n % 7 else None for n in range(20)]
    return recordpress.write_records(
        values,
        keys=[b"%d" % n if n % 3 else None for n in range(20)],
        timestamps=[1_000 * number + n for n in range(20)],
        headers=[[("h", b"x")] * (n % 3) for n in range(20)],
        base_offset=20 * number,
        compression_type=codec,  # type: ignore[arg-type]
    )


BATCHES = [batch(number, CODECS[number % 5]) for number in range(200)]
LOG = b"".join(BATCHES)
STARTS = [0, *itertools.accumulate(map(len, BATCHES))]


def rows_of(results: list[recordpress.Columns]) -> "pa.Table":
    return pa.concat_tables([pa.table(columns) for columns in results]).combine_chunks()


class Watched(io.BytesIO):
    """A file that keeps how much it was asked for, and fails once it has given enough."""

    def __init__(self, data: bytes, gives: int = 1 << 40, error: BaseException | None = None) -> None:
        super().__init__(data)
        self.gives = gives
        self.error = error
        self.asked: list[int] = []

    def readinto(self, buffer):  # type: ignore[no-untyped-def]
        if self.error is not None and self.tell() >= self.gives:
            raise self.error
        self.asked.append(len(buffer))
        return super().readinto(buffer)


@pytest.mark.parametrize("binary_type", ["binary", "large_binary"])
def test_results_are_large_and_hold_the_same(binary_type: str) -> None:
    file = Watched(LOG)
    iterator = recordpress.iter_columns(file, COLUMNS, batch_bytes=BATCH_BYTES, binary_type=binary_type)  # type: ignore[call-overload]
    results, ends = [], []
    for columns in iterator:
        results.append(columns)
        ends.append(iterator.position)
    assert (
        rows_of(results) == pa.table(recordpress.read_columns(LOG, COLUMNS, binary_type=binary_type)).combine_chunks()
    )  # type: ignore[call-overload]
    assert len(results) == -(-len(LOG) // BATCH_BYTES)
    assert all(len(pa.table(columns).to_batches()) == 1 for columns in results)
    assert [columns.valid_bytes for columns in results] == [b - a for a, b in itertools.pairwise([0, *ends])]
    assert set(ends) <= set(STARTS)
    assert max(file.asked) < 2 << 20
    assert (iterator.position, iterator.next_offset) == (len(LOG), 4000)


def test_a_large_entry_is_read_up_to_its_end() -> None:
    """What is left over of a view is copied: most of an entry, where there are few in each."""
    batches = [recordpress.write_records([bytes([65 + number]) * 700_000], base_offset=number) for number in range(6)]
    file = Watched(b"".join(batches))
    results = list(recordpress.iter_columns(file, ["value"], batch_bytes=5 << 20))
    assert rows_of(results) == pa.table(recordpress.read_columns(b"".join(batches), ["value"])).combine_chunks()
    assert file.asked[2:5] == [len(batches[0])] * 3


def test_filters_and_a_resumed_walk() -> None:
    asked = {"start_offset": 1505, "end_offset": 3333, "batch_bytes": BATCH_BYTES}
    first = recordpress.iter_columns(io.BytesIO(LOG), ["offset"], **asked)  # type: ignore[arg-type]
    some = next(first)
    rest = list(recordpress.iter_columns(io.BytesIO(LOG[first.position :]), ["offset"], **asked))  # type: ignore[arg-type]
    assert rows_of([some, *rest])["offset"].to_pylist() == list(range(1505, 3333))


@pytest.mark.parametrize("bad", [0, 1, 60, 70, 199])
def test_rows_before_a_wrong_entry_come_first(bad: int) -> None:
    wrong = bytearray(LOG)
    wrong[STARTS[bad + 1] - 1] ^= 1
    iterator = recordpress.iter_columns(io.BytesIO(wrong), ["offset"], batch_bytes=BATCH_BYTES)
    results: list[recordpress.Columns] = []
    with pytest.raises(recordpress.CorruptRecordError) as caught:
        results.extend(iterator)
    found = [offset for columns in results for offset in columns["offset"].to_pylist()]
    assert found == list(range(20 * bad))
    assert (caught.value.position, caught.value.field_position) == (STARTS[bad], STARTS[bad] + 17)
    assert iterator.position == STARTS[bad]


def test_wrong_entries_are_skipped() -> None:
    wrong = bytearray(LOG)
    for bad in (0, 33, 34, 120):
        wrong[STARTS[bad + 1] - 1] ^= 1
    iterator = recordpress.iter_columns(io.BytesIO(wrong), ["offset"], batch_bytes=BATCH_BYTES, on_corrupt="skip")
    offsets = rows_of(list(iterator))["offset"].to_pylist()
    assert offsets == [offset for offset in range(4000) if offset // 20 not in (0, 33, 34, 120)]
    assert [error.position for error in iterator.errors] == [STARTS[bad] for bad in (0, 33, 34, 120)]


def test_a_header_that_is_wrong_ends_the_walk_after_the_rows_before_it() -> None:
    wrong = bytearray(LOG)
    wrong[STARTS[50] + 16] = 9  # a magic that nobody knows
    iterator = recordpress.iter_columns(io.BytesIO(wrong), ["offset"], batch_bytes=BATCH_BYTES)
    assert next(iterator).num_rows == 1000
    with pytest.raises(recordpress.RecordpressError, match="magic"):
        next(iterator)
    assert iterator.position == STARTS[50]


@pytest.mark.parametrize("end", [len(LOG) - 5, STARTS[40] + 30])
def test_a_cut_tail(end: int) -> None:
    iterator = recordpress.iter_columns(io.BytesIO(LOG[:end]), ["offset"], batch_bytes=BATCH_BYTES)
    whole = sum(start <= end for start in STARTS) - 1
    assert sum(columns.num_rows for columns in iterator) == 20 * whole
    assert (iterator.position, iterator.trailing_bytes) == (STARTS[whole], end - STARTS[whole])
    with pytest.raises(recordpress.CorruptRecordError, match=r"truncated|ends"):
        list(recordpress.iter_columns(io.BytesIO(LOG[:end]), ["offset"], batch_bytes=BATCH_BYTES, complete=True))


def test_an_error_of_the_file_comes_after_the_rows_before_it() -> None:
    file = Watched(LOG, gives=2 << 20, error=OSError("the disk is gone"))
    iterator = recordpress.iter_columns(file, ["offset"], batch_bytes=BATCH_BYTES)
    columns = next(iterator)
    whole = columns.num_rows // 20
    assert STARTS[whole + 1] > 2 << 20 and iterator.position == STARTS[whole]
    with pytest.raises(OSError, match="the disk is gone"):
        next(iterator)


def test_an_interrupt_loses_rows_and_says_so() -> None:
    """The iterator's position is where the last result ended that the caller got."""
    file = Watched(LOG, gives=3 << 20, error=KeyboardInterrupt())
    iterator = recordpress.iter_columns(file, ["offset"], batch_bytes=BATCH_BYTES)
    first = next(iterator)
    with pytest.raises(KeyboardInterrupt):
        next(iterator)
    assert (iterator.position, iterator.next_offset) == (STARTS[first.num_rows // 20], first.num_rows)
    assert list(iterator) == []


def test_header_checksums_of_all_windows_are_told() -> None:
    broken = []
    for number in range(100):
        data = bytearray(batch(number, "lz4"))
        if number % 10 == 0:
            recordpress.break_lz4_header(memoryview(data)[61:])
            data[17:21] = recordpress.crc32c(data[21:]).to_bytes(4, "big")
        broken.append(bytes(data))
    starts = [0, *itertools.accumulate(map(len, broken))]
    options = {"batch_bytes": BATCH_BYTES, "lz4_header_checksum": "ignore"}
    results = list(recordpress.iter_columns(io.BytesIO(b"".join(broken)), ["offset"], **options))  # type: ignore[arg-type]
    assert len(results) == 2
    found = [error.position for columns in results for error in columns.lz4_header_errors]
    assert [sum(start <= (position or 0) for start in starts) - 1 for position in found] == list(range(0, 100, 10))
