"""Flips of single bits in every byte, and every cut, of a small record set of each format and codec.

The bytes lie against a page that cannot be read, so that a read past their end is seen without a sanitizer too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest
from hostile_sets import SMALL_SETS, V2_HEADER, exact, read_columns, read_objects, with_right_crc

import recordpress
from together import THOROUGH


def _bits(position: int) -> Iterable[int]:
    """All bits of a byte in a thorough run, else every third: others in the next byte."""
    return range(8) if THOROUGH else range(position % 3, 8, 3)


def _flips(data: bytes, start: int = 0) -> Iterator[tuple[int, memoryview]]:
    """Each flip in the same memory: flipped, handed out, flipped back."""
    view = exact(data)
    for position in range(start, len(data)):
        for bit in _bits(position):
            view[position] ^= 1 << bit
            yield position, view
            view[position] ^= 1 << bit


def _is_covered(magic: int, position: int) -> bool:
    """Whether a byte of the first entry is under its CRC (or is the CRC), and not what says where the entry ends."""
    return position >= 17 if magic == 2 else position >= 12 and position != 16


def _first_entry_size(data: bytes) -> int:
    return 12 + int.from_bytes(data[8:12], "big")


@pytest.mark.parametrize("name", SMALL_SETS)
def test_a_flipped_bit_is_read_or_refused(name: str) -> None:
    for _, view in _flips(SMALL_SETS[name]):
        read_objects(view)
        read_columns(view, check_crcs=False)


@pytest.mark.parametrize("name", SMALL_SETS)
def test_a_flipped_bit_under_the_crc_is_seen(name: str) -> None:
    data = SMALL_SETS[name]
    for position, view in _flips(data):
        if _is_covered(data[16], position) and position < _first_entry_size(data):
            assert type(read_columns(view)) is recordpress.CorruptRecordError, position
            batch = next(recordpress.read_batches(view))
            assert not batch.is_valid(), position
            with pytest.raises(recordpress.CorruptRecordError):
                batch.ensure_valid()


@pytest.mark.parametrize("name", SMALL_SETS)
def test_a_flipped_bit_behind_a_right_crc_is_read_or_refused(name: str) -> None:
    data = SMALL_SETS[name]
    for position in range(16, min(len(data), V2_HEADER + 40)):
        for bit in _bits(position):
            broken = bytearray(data)
            broken[position] ^= 1 << bit
            view = exact(with_right_crc(bytes(broken)))
            read_objects(view)
            read_columns(view)


@pytest.mark.parametrize("name", SMALL_SETS)
def test_a_cut_set_ends_before_the_cut_entry(name: str) -> None:
    data = SMALL_SETS[name]
    whole = [batch.position + batch.size for batch in recordpress.read_batches(data)]
    for length in range(len(data)):
        view = exact(data[:length])
        batches = recordpress.read_batches(view)
        assert [batch.position + batch.size for batch in batches] == [end for end in whole if end <= length]
        assert batches.valid_bytes == max((end for end in whole if end <= length), default=0)
        assert read_objects(view) == []
        assert read_columns(view) is None


@pytest.mark.parametrize("name", SMALL_SETS)
def test_a_batch_shorter_than_it_was_is_refused(name: str) -> None:
    """The entry's size and CRC agree with the cut; what is inside does not."""
    data = SMALL_SETS[name][: _first_entry_size(SMALL_SETS[name])]
    for length in range(26, len(data)):
        cut = with_right_crc(data[:8] + (length - 12).to_bytes(4, "big") + data[12:length])
        view = exact(cut)
        error = read_columns(view)
        assert isinstance(error, recordpress.CorruptRecordError | recordpress.InvalidRecordError), length
        read_objects(view)
