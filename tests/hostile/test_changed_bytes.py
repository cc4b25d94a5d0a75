"""Bytes that the caller writes to after they were read: the entry's bounds still hold, whatever lies in it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import recordpress


def _first(data: bytearray) -> recordpress.Batch:
    return next(iter(recordpress.read_batches(data)))


def test_a_header_that_became_longer_stays_inside_its_record() -> None:
    data = bytearray(recordpress.write_records([b"v" * 200_000], headers=[[("h", b"x" * 1000)]]))
    [record] = _first(data)
    at = data.rindex(b"h") + 1
    assert data[at : at + 2] == b"\xd0\x0f"  # 1000
    data[at : at + 3] = b"\xc0\x9a\x0c"  # 100,000, which the record's size would allow
    assert all(len(value or b"") <= 1000 for _, value in record.headers)


@pytest.mark.parametrize("magic", [0, 1])
def test_a_message_that_became_longer_is_refused(magic: int) -> None:
    data = bytearray(recordpress.write_records([b"v" * 10], magic=magic))
    [batch] = recordpress.read_batches(data, check_crcs=False)
    data[8:12] = (1 << 30).to_bytes(4, "big")
    at = data.index(b"vvv")
    data[at - 4 : at] = (1 << 29).to_bytes(4, "big")
    with pytest.raises(recordpress.CorruptRecordError, match="entry size 1073741824"):
        list(batch)


def test_a_message_of_another_magic_has_no_valid_checksum() -> None:
    data = bytearray(recordpress.write_records([b"v"], magic=1))
    [record] = _first(data)
    assert record.is_valid()
    data[16] = 2
    assert not record.is_valid()


@pytest.mark.parametrize("magic", [2, 7, 255])
@pytest.mark.parametrize(
    "change",
    [
        lambda batch: batch.set_last_offset(3),
        lambda batch: batch.set_max_timestamp(1, 3),
        lambda batch: batch.set_partition_leader_epoch(3),
    ],
    ids=["last offset", "max timestamp", "leader epoch"],
)
def test_another_magic_is_not_taken_over(magic: int, change: Callable[[recordpress.Batch], None]) -> None:
    data = bytearray(recordpress.write_records([b"v"], magic=1))
    batch = _first(data)
    data[16] = magic
    with pytest.raises(recordpress.CorruptRecordError, match="it was 1 when"):
        change(batch)
    assert batch.magic == 1
    data[16] = 1
    assert [record.value for record in batch] == [b"v"]
