"""How a segment may end: the traces of a crash are distinguished from damage, and no entry vanishes silently.

The rule under test decides by checksums, so that the expectation can be computed here from the layout of what was
written: where entries begin, and which of them were touched.
"""

import os
import struct
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

import recordpress
from recordpress.files import RandomAccessFile
from recordpress.log import FileRecords, _file_records, _trailing_bytes
from together import sampled, together

SIZE = struct.Struct(">i")


def batches(n: int = 30, **options: object) -> list[bytes]:
    return [
        recordpress.write_records([b"value %d" % (7 * i)] * 3, base_offset=100 + 3 * i, **options)  # type: ignore[arg-type]
        for i in range(n)
    ]


def with_length(batch: bytes, length: int) -> bytes:
    return batch[:8] + SIZE.pack(length) + batch[12:]


def ending(path: Path, data: bytes, complete: bool = False) -> tuple[int, int, str]:
    """Valid and trailing bytes, and what the tail is. Pieces and columns are all there is before the tail."""
    path.write_bytes(data)
    with FileRecords(path, complete=complete) as file:
        pieces = list(file.chunks())
    assert b"".join(piece for _, piece in pieces) == data[: file.valid_bytes]
    assert file.valid_bytes + file.trailing_bytes == len(data) == file.size
    with FileRecords(path, complete=complete) as headers:
        assert list(headers.walk(transactional=True)) == []
    assert (headers.valid_bytes, headers.tail) == (file.valid_bytes, file.tail)
    with FileRecords(path, complete=complete) as again:
        rows = sum(columns.num_rows for columns in again.columns(["offset"]))
    assert rows == sum(1 for batch in recordpress.read_batches(data[: file.valid_bytes]) for _ in batch)
    found = file.valid_bytes, file.trailing_bytes, file.tail
    assert found == (again.valid_bytes, again.trailing_bytes, again.tail)
    return found


def damage(path: Path, data: bytes, *, complete: bool = False) -> recordpress.CorruptRecordError:
    path.write_bytes(data)
    with FileRecords(path, complete=complete) as file:
        with pytest.raises(recordpress.CorruptRecordError) as caught:
            list(file.chunks())
        valid = file.valid_bytes
    with FileRecords(path, complete=complete) as headers:
        with pytest.raises(recordpress.CorruptRecordError) as hopping:
            list(headers.walk(transactional=True))
        assert (str(hopping.value), headers.valid_bytes) == (str(caught.value), valid)
    with FileRecords(path, complete=complete) as again:
        rows, error = rows_and_error(again)
    assert rows == sum(1 for batch in recordpress.read_batches(data[:valid]) for _ in batch)
    assert (str(error), again.valid_bytes) == (str(caught.value), valid)
    assert caught.value.file == str(path)
    assert (caught.value.field, caught.value.rule) == ("size", "record set framing")
    assert caught.value.position == valid
    return caught.value


def rows_and_error(file: FileRecords, **options: object) -> tuple[int, recordpress.RecordpressError | None]:
    rows = 0
    try:
        for columns in file.columns(["offset"], batch_bytes=500, **options):
            rows += columns.num_rows
    except recordpress.RecordpressError as error:
        return rows, error
    return rows, None


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "00000000000000000000.log"


SETS = {
    "none": batches(),
    "zstd": batches(compression_type="zstd"),
    "large offsets": [recordpress.write_records([b"v"] * 3, base_offset=2**32 - 30 + 3 * i) for i in range(30)],
    "v1": batches(magic=1, compression_type="gzip"),
    "v0": [recordpress.write_records([b"value"], base_offset=i, magic=0) for i in range(30)],
    "v1, then v2": batches(10, magic=1, compression_type="gzip")
    + [recordpress.write_records([b"value"], base_offset=200 + i) for i in range(20)],
}


@pytest.mark.parametrize("entries", SETS.values(), ids=SETS)
def test_a_whole_segment(entries: list[bytes], path: Path) -> None:
    data = b"".join(entries)
    for complete in (False, True):
        assert ending(path, data, complete) == (len(data), 0, "")
        assert ending(path, b"", complete) == (0, 0, "")


@pytest.mark.parametrize("entries", SETS.values(), ids=SETS)
def test_every_cut_of_the_last_entry(entries: list[bytes], path: Path) -> None:
    data = b"".join(entries)
    start = len(data) - len(entries[-1])
    for end in {*sampled(range(start + 1, len(data)), 3), len(data) - 1}:
        kind = "cut" if any(data[start:end]) else "zeros"
        assert ending(path, data[:end]) == (start, end - start, kind)
        assert f"{end - start} " in str(damage(path, data[:end], complete=True))


@pytest.mark.parametrize("entries", SETS.values(), ids=SETS)
def test_every_cut_of_the_only_entry(entries: list[bytes], path: Path) -> None:
    for end in range(1, len(entries[0])):
        kind = "cut" if any(entries[0][:end]) else "zeros"
        assert ending(path, entries[0][:end]) == (0, end, kind)


@pytest.mark.parametrize("entries", SETS.values(), ids=SETS)
@together("which, length", product([0, 1, 9, 15, 28], [1 << 20, 2**31 - 1, None]))
def test_a_damaged_length_does_not_make_entries_vanish(
    entries: list[bytes], which: int, length: int | None, path: Path
) -> None:
    """Kafka's readers take it for a truncated entry: of 30 entries they would return `which`, and no error."""
    start = sum(map(len, entries[:which]))
    rest = sum(map(len, entries[which:]))
    bad = with_length(entries[which], rest if length is None else length)
    data = b"".join([*entries[:which], bad, *entries[which + 1 :]])
    assert sum(1 for _ in recordpress.read_batches(data)) == which
    error = damage(path, data)
    assert error.position == start
    assert f"an intact entry with a later offset begins at byte {start + len(bad)}" in str(error)
    damage(path, data, complete=True)


def test_a_damaged_length_of_the_last_batch(path: Path) -> None:
    """The checksum does not cover the length: it says that all bytes of the batch are here."""
    *before, last = batches()
    for length in (len(last) - 11, 2**31 - 1):
        error = damage(path, b"".join(before) + with_length(last, length))
        assert f"the checksum matches the {len(last)} bytes before that end" in str(error)


def test_damage_is_found_behind_further_damage(path: Path) -> None:
    """An entry that cannot be proven proves nothing: the next one does."""
    entries = batches()
    broken = entries[11][:-1] + b"\xff"
    data = b"".join([*entries[:10], with_length(entries[10], 1 << 20), broken, *entries[12:]])
    at = sum(map(len, entries[:12]))
    assert f"begins at byte {at}" in str(damage(path, data))


def test_a_later_entry_across_the_border_of_two_steps(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = batches()
    data = b"".join([*entries[:10], with_length(entries[10], 1 << 20), entries[11]])
    at = sum(map(len, entries[:11]))
    for step in (512, 600, 1000):
        monkeypatch.setattr(_trailing_bytes, "READ_BYTES", step)
        assert f"begins at byte {at}" in str(damage(path, data))


def test_what_an_entry_that_was_cut_may_hold(path: Path) -> None:
    """Values like headers of entries, and batches with earlier offsets, do not make it damage; one with a later offset
    does, as the documentation says."""
    before = b"".join(batches())  # offsets 100 to 189
    forged = recordpress.write_records([b"x"], base_offset=200)[:-1] + b"\xff"  # its checksum is wrong
    same, far = (recordpress.write_records([b"x"], base_offset=offset) for offset in (190, 191 + 2**31))
    for value in (forged, batches()[5], same, far, bytes(1000), b"\0\0\0\0" * 9 + b"\2" * 99):
        cut = recordpress.write_records([value * 5], base_offset=190)[:-3]
        assert ending(path, before + cut) == (len(before), len(cut), "cut")
    cut = recordpress.write_records([recordpress.write_records([b"x"], base_offset=200), b"y"], base_offset=190)[:-3]
    damage(path, before + cut)


def test_the_last_offset_that_there_is(path: Path) -> None:
    cut = struct.pack(">q", (1 << 63) - 1) + recordpress.write_records([b"x" * 100])[8:-3]
    assert ending(path, cut) == (0, len(cut), "cut")


def test_more_bytes_than_a_request_can_have(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_trailing_bytes, "_LARGEST_CUT", 1000)
    before = b"".join(batches())
    entry = recordpress.write_records([b"x" * 2000], base_offset=190)
    assert ending(path, before + entry[:1000]) == (len(before), 1000, "cut")
    assert "1001 bytes are more than a truncated entry" in str(damage(path, before + entry[:1001]))


def test_headers_without_end_are_not_summed_without_end(path: Path) -> None:
    """Each of 20,000 headers claims the rest of the file: checksums of all would be 10 GB."""
    first = recordpress.write_records([b"v"], base_offset=0)
    count = 20_000
    forged = [struct.pack(">qii", 1 + i, 61 * (count - i) - 12, 0) + b"\2" + first[17:61] for i in range(count)]
    file = Counting(with_length(first, 1 << 30) + b"".join(forged))
    with pytest.raises(recordpress.CorruptRecordError):
        _trailing_bytes.tail_of(file, 0, file.size, None, False)
    assert file.read < 20 * file.size


class Counting(RandomAccessFile):
    """A file in memory, and the bytes that were read of it."""

    def __init__(self, data: bytes) -> None:
        self.data, self.size, self.name, self.read = data, len(data), "a.log", 0

    def read_at(self, position: int, length: int) -> bytes:
        self.read += length
        return self.data[position : position + length]

    def close(self) -> None:
        pass


# ---- zeros


@pytest.mark.parametrize("zeros", [1, 11, 12, 16, 17, 18, 61, 5000])
def test_zeros_after_the_last_entry(zeros: int, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that was preallocated, after an unclean stop."""
    data = b"".join(batches())
    for step in (8 << 20, 100):
        monkeypatch.setattr(_trailing_bytes, "READ_BYTES", step)
        assert ending(path, data + bytes(zeros)) == (len(data), zeros, "zeros")
        assert ending(path, bytes(zeros)) == (0, zeros, "zeros")
        assert f"{zeros} zero bytes follow" in str(damage(path, data + bytes(zeros), complete=True))


def test_a_zeroed_page_is_not_the_end(path: Path) -> None:
    entries = batches()
    start = sum(map(len, entries[:10]))
    data = b"".join(entries)
    for end in (start + 61, start + 300, len(data) - 2):
        zeroed = data[:start] + bytes(end - start) + data[end:]
        assert "entry size 0 is less than the minimum of 14" in str(damage(path, zeroed))


# ---- pieces


@pytest.mark.parametrize("piece", [17, 20, 61, 200, 1000])
def test_pieces_hold_whole_entries(piece: int, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_file_records, "CHUNK_BYTES", piece)
    for entries in SETS.values():
        data = b"".join(entries)
        assert ending(path, data) == (len(data), 0, "")
        assert ending(path, data[:-1]) == (len(data) - len(entries[-1]), len(entries[-1]) - 1, "cut")
        with FileRecords(path, complete=False) as file:
            for position, part in file.chunks():
                assert data[position : position + len(part)] == part
                assert sum(batch.size for batch in recordpress.read_batches(part)) == len(part)


@pytest.mark.parametrize("window", [512, 1000, 1 << 16])
@pytest.mark.parametrize("size", [1, 100, 5000])
def test_headers_are_found_wherever_windows_end(window: int, size: int, path: Path) -> None:
    data, expected = b"", []
    for i in range(40):
        options = {"producer_id": i, "producer_epoch": 0, "base_sequence": 0, "is_transactional": True}
        data += recordpress.write_records([b"v" * size], base_offset=2 * i, **(options if i % 3 else {}))
        if i % 3:
            expected.append((i, 2 * i, False))
        if i % 4 == 0:
            marker = recordpress.BatchBuilder(
                base_offset=2 * i + 1, producer_id=i, producer_epoch=0, is_transactional=True, is_control=True
            )
            marker.append_end_txn_marker(False, 0)
            data += marker.build()
            expected.append((i, 2 * i + 1, True))
        data += recordpress.write_records([b"v"], magic=i % 2, base_offset=2 * i + 1)
    for end in (len(data), len(data) - 1, len(data) - 30):
        path.write_bytes(data[:end])
        with FileRecords(path, complete=False) as file:
            found = file.walk(file.headers(window_bytes=window), transactional=True)
            assert [(h.producer_id, h.base_offset, h.is_control) for h in found] == expected
            assert file.valid_bytes == sum(batch.size for batch in recordpress.read_batches(data[:end]))


def test_an_entry_beyond_the_limit(path: Path) -> None:
    entries = batches(1)
    path.write_bytes(b"".join(entries))
    size = len(entries[0]) - 12
    with FileRecords(path, max_message_bytes=size) as file:
        assert len(list(file.chunks())) == 1
    larger = pytest.raises(recordpress.CorruptRecordError, match=f"entry size {size} is larger than {size - 1}")
    with FileRecords(path, max_message_bytes=size - 1) as file, larger as caught:
        list(file.chunks())
    assert (caught.value.file, caught.value.position, caught.value.field_position) == (str(path), 0, 8)


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_a_large_entry_is_proven_before_it_is_held(magic: int, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_file_records, "CHUNK_BYTES", 1000)
    before = recordpress.write_records([b"a"], magic=magic)
    entry = recordpress.write_records([b"x" * 100_000], base_offset=1, magic=magic)
    assert ending(path, before + entry) == (len(before) + len(entry), 0, "")
    path.write_bytes(before + entry[:-1] + b"y")
    largest = 0
    read = FileRecords.read

    def reading(self: FileRecords, position: int, size: int) -> bytes:
        nonlocal largest
        largest = max(largest, size)
        return read(self, position, size)

    monkeypatch.setattr(FileRecords, "read", reading)
    with FileRecords(path) as file, pytest.raises(recordpress.CorruptRecordError, match="stored checksum") as caught:
        list(file.chunks())
    assert (caught.value.file, caught.value.position, caught.value.offset) == (str(path), len(before), 1)
    assert caught.value.field_position == len(before) + (17 if magic == 2 else 12)
    assert largest <= 1000 + 1000 // 64  # a piece, and what may lie over its end


@pytest.mark.slow
def test_a_sparse_file_of_one_entry_takes_no_memory(path: Path) -> None:
    """1 GiB that is not there, under a header that claims it."""
    batch = with_length(recordpress.write_records([b"a"]), (1 << 30) - 12)
    path.write_bytes(batch)
    os.truncate(path, 1 << 30)
    script = """
import resource, sys
import recordpress, recordpress.log
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for complete in (False, True):
    try:
        with recordpress.log.FileRecords(sys.argv[1], complete=complete) as file:
            list(file.chunks())
    except recordpress.CorruptRecordError as error:
        assert error.field == "crc", error
    else:
        raise AssertionError
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    grown = subprocess.run([sys.executable, "-c", script, str(path)], check=True, capture_output=True, text=True)
    unit = 1 if sys.platform == "darwin" else 1024
    assert int(grown.stdout) * unit < 64 << 20


# ---- columns


def test_columns_that_end_before_the_tail_do_not_judge_it(path: Path) -> None:
    entries = batches()
    path.write_bytes(b"".join([*entries[:10], with_length(entries[10], 1 << 20), *entries[11:]]))
    for end in (100, 101, 115, 129):
        with FileRecords(path) as file:
            assert rows_and_error(file, end_offset=end) == (end - 100, None)
    with FileRecords(path) as file:
        rows, error = rows_and_error(file, end_offset=131)
        assert rows == 30 and isinstance(error, recordpress.CorruptRecordError)


@pytest.mark.parametrize("at", [0, 10, 25])
def test_columns_of_a_file_that_becomes_shorter(at: int, path: Path) -> None:
    entries = batches(3000)
    path.write_bytes(b"".join(entries))
    for end in (0, 1):
        os.truncate(path, 0)
        path.write_bytes(b"".join(entries))
        with FileRecords(path, complete=False) as file:
            results = file.columns(["offset"], batch_bytes=500)
            next(results)
            os.truncate(path, sum(map(len, entries[:at])) + end)
            with pytest.raises(recordpress.CorruptRecordError, match="truncated while it was read"):
                list(results)


def test_what_is_appended_meanwhile_is_not_read(path: Path) -> None:
    entries = batches()
    path.write_bytes(b"".join(entries[:20]))
    with FileRecords(path) as file, FileRecords(path) as again:
        with open(path, "ab") as writer:
            writer.write(b"".join(entries[20:])[:-1])
        assert sum(columns.num_rows for columns in file.columns(["offset"])) == 60
        assert sum(len(piece) for _, piece in again.chunks()) == sum(map(len, entries[:20]))


# ---- what is the last segment


def test_only_the_last_segment_of_a_partition_may_be_cut(tmp_path: Path) -> None:
    directory = tmp_path / "t-0"
    directory.mkdir()
    entries = batches()
    first, last = (directory / f"{base:020}.log" for base in (100, 145))
    first.write_bytes(b"".join(entries[:15]))
    last.write_bytes(b"".join(entries[15:])[:-1])
    [partition] = recordpress.open_log(directory).partitions
    assert [segment.is_last for segment in partition.segments] == [False, True]
    assert partition.last_stable_offset() is None
    for data in (b"".join(entries[:15])[:-1], b"".join(entries[:15]) + bytes(50)):
        first.write_bytes(data)
        with pytest.raises(recordpress.CorruptRecordError) as caught:
            partition.last_stable_offset()
        assert caught.value.file == str(first)
