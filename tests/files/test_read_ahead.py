"""A file that is read from start to end, local or remote, as `recordpress.iter_columns` uses it."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, strategies as st

import recordpress
from recordpress.files import RandomAccessFile, read_ahead
from together import thinned

MIB = 1 << 20
DATA = bytes(range(251)) * 40


class Stored(RandomAccessFile):
    def __init__(self, data: bytes, is_remote: bool) -> None:
        self.name, self.size, self.is_remote = "stored", len(data), is_remote
        self.data, self.largest = data, 0

    def read_at(self, position: int, length: int) -> bytes:
        self.largest = max(self.largest, length)
        return self.data[position : position + length]

    def close(self) -> None:
        pass


@given(
    st.booleans(),
    st.integers(1, 999),
    st.lists(st.one_of(st.integers(0, 600).map(lambda n: ("read", n)), st.integers(0, 9000).map(lambda n: ("go", n)))),
)
def test_it_is_read_and_moved_as_a_plain_file(is_remote: bool, piece: int, steps: list[tuple[str, int]]) -> None:
    plain = io.BytesIO(DATA[:9000])
    plain.seek(100)
    with read_ahead(Stored(DATA, is_remote), 100, 9000, piece) as file:
        for step, number in steps:
            if step == "go":
                assert file.seek(number) == plain.seek(number)
            else:
                buffer = bytearray(number)
                count = file.readinto(buffer)
                assert count <= number and bool(count) == bool(number and plain.tell() < 9000)
                assert bytes(buffer[:count]) == plain.read(count)
                assert file.seek(-count, io.SEEK_CUR) == plain.seek(-count, io.SEEK_CUR)
                assert file.seek(count, io.SEEK_CUR) == plain.seek(count, io.SEEK_CUR)
            assert (file.tell(), file.bytes_left) == (plain.tell(), 9000 - plain.tell())


@pytest.mark.parametrize(
    ("is_remote", "magic"), thinned([(False, 2), (True, 2), (True, 0), (False, 0), (False, 1), (True, 1)], 2)
)
def test_a_large_entry_is_read_if_it_is_sound(is_remote: bool, magic: int) -> None:
    def entry(value: bytes, offset: int) -> bytes:
        return recordpress.write_records([value], base_offset=offset, magic=magic)

    value = bytes(20 * MIB)
    log = entry(b"a", 0) + entry(value, 1) + entry(b"b", 2)
    with read_ahead(Stored(log, is_remote)) as file:
        found = [
            value for columns in recordpress.iter_columns(file, ["value"]) for value in columns["value"].to_pylist()
        ]
    assert found == [b"a", value, b"b"]
    damaged = bytearray(log)
    damaged[10 * MIB] ^= 1
    stored = Stored(bytes(damaged), is_remote)
    with read_ahead(stored) as file:
        pieces = recordpress.iter_columns(file, ["value"], on_corrupt="skip")
        found = [value for columns in pieces for value in columns["value"].to_pylist()]
    assert found == [b"a", b"b"] and [error.field for error in pieces.errors] == ["crc"]
    assert stored.largest <= 8 * MIB
    with read_ahead(Stored(bytes(damaged), is_remote)) as file:  # who asks for no checksums gets it
        [columns] = recordpress.iter_columns(file, ["value"], check_crcs=False, start_offset=1, end_offset=2)
    [found] = columns["value"].to_pylist()
    assert len(found) == len(value) and found.count(0) == len(value) - 1
