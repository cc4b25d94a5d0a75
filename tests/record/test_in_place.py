"""The three changes that a broker makes in place: made to the batch that it got, they give the one it stored."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator
from typing import Any

import pytest

import oracle
import recordpress
from together import together

T = 1_700_000_000_000
LOG_APPEND_TIME = recordpress.TimestampType.LogAppendTime
CREATE_TIME = recordpress.TimestampType.CreateTime


def _bytes(entry: dict[str, Any], what: str) -> bytes | None:
    """`sent` or `stored` of a case; None where the archive has only a digest or another case has the bytes."""
    if f"{what}_file" in entry:
        return oracle.read_shipped(entry[f"{what}_file"].removesuffix(".gz"))
    text = entry.get(what)
    if not text or text == "same as sent":
        return None
    data = base64.b64decode(text)
    return zlib.decompress(data) if entry.get(f"{what}_encoding") == "zlib" else data


def _appended() -> Iterator[Any]:
    """Batches that a broker 4.3.1 kept, but for their header, with what it stored."""
    for case in json.loads(oracle.read_shipped("acceptance-small.json")):
        answers = case["results"]["4.3.1"]["answers"]
        if len(answers) != 1 or answers[0]["relation"] not in ("kept", "header rewritten"):
            continue
        sent = _bytes(case["requests"][0], "sent") or _bytes(answers[0], "sent")
        stored = _bytes(answers[0], "stored")
        if sent and stored and len(list(recordpress.read_batches(sent))) == 1:
            yield case["name"], sent, stored


APPENDED = list(_appended())


def test_there_are_such_batches() -> None:
    assert len(APPENDED) > 50


@together("name, sent, stored", APPENDED, lambda case: case[0])
def test_a_batch_becomes_what_the_broker_stored(name: str, sent: bytes, stored: bytes) -> None:
    data = bytearray(sent)
    [batch], [wanted] = recordpress.read_batches(data), recordpress.read_batches(stored)
    batch.set_last_offset(wanted.last_offset)
    if batch.magic == 2:
        batch.set_partition_leader_epoch(wanted.partition_leader_epoch)
    if batch.magic > 0:
        batch.set_max_timestamp(wanted.timestamp_type, wanted.max_timestamp)
    assert data.hex() == stored.hex()


@pytest.mark.parametrize(("magic", "codec"), [(1, "none"), (2, "none"), (2, "lz4")])
def test_log_append_time_and_back(magic: int, codec: str) -> None:
    """As if it had been built so; the object shows the new header."""
    records = [b"value"] if codec == "none" else [b"value", b"another"]

    def built(**options: int) -> bytes:
        builder = recordpress.BatchBuilder(magic=magic, compression_type=codec, base_offset=7, **options)
        for i, value in enumerate(records):
            builder.append(value, timestamp=T + i)
        return builder.build()

    data = bytearray(built())
    [batch] = recordpress.read_batches(data)
    batch.set_max_timestamp(LOG_APPEND_TIME, T + 99)
    assert data == built(timestamp_type=1, log_append_time=T + 99)
    assert (batch.timestamp_type, batch.max_timestamp, batch.is_valid()) == (LOG_APPEND_TIME, T + 99, True)
    assert batch.crc == next(iter(recordpress.read_batches(bytes(data)))).crc
    batch.set_max_timestamp(CREATE_TIME, T + len(records) - 1)
    assert data == built()


def _sound(data: bytearray) -> Iterator[recordpress.Batch]:
    """The batches with a timestamp whose checksum is right and whose attributes Kafka knows."""
    try:
        for batch in recordpress.read_batches(data):
            known = 0x0F if batch.magic == 1 else 0x7F
            if batch.magic > 0 and batch.max_timestamp >= -1 and batch.is_valid() and not batch.attributes & ~known:
                yield batch
    except recordpress.CorruptRecordError:
        pass


def test_everything_kafka_wrote_there_and_back() -> None:
    """A stamp keeps the checksum right; reversed, it leaves the original bytes."""
    stamped = 0
    for vector in oracle.EVERYTHING:
        data = bytearray(vector.data)
        before = bytes(data)
        for batch in _sound(data):
            was = batch.timestamp_type, batch.max_timestamp
            batch.set_max_timestamp(CREATE_TIME if was[0] else LOG_APPEND_TIME, T + 12345)
            assert batch.is_valid()
            batch.set_max_timestamp(*was)
            stamped += 1
        assert data == before, vector
    assert stamped > 1000


def test_two_objects_of_one_batch() -> None:
    """Each starts from what the other left."""
    data = bytearray(recordpress.write_records([b"value"], timestamps=[T]))
    [one], [other] = recordpress.read_batches(data), recordpress.read_batches(data)
    one.set_max_timestamp(LOG_APPEND_TIME, T + 1)
    other.set_max_timestamp(LOG_APPEND_TIME, T + 2)
    assert other.is_valid()


def test_a_wrong_checksum_stays_wrong() -> None:
    """Java computes the checksum again, which makes a damaged batch look intact."""
    data = bytearray(recordpress.write_records([b"value"], timestamps=[T]))
    data[-3] ^= 1
    [batch] = recordpress.read_batches(data)
    batch.set_max_timestamp(LOG_APPEND_TIME, T + 1)
    assert not batch.is_valid()


def test_unknown_attribute_bits_are_cleared_with_a_change_only() -> None:
    data = bytearray(recordpress.write_records([b"value"], timestamps=[T]))
    data[21] = 0x80
    [batch] = recordpress.read_batches(data)
    batch.set_max_timestamp(CREATE_TIME, T)
    assert data[21] == 0x80
    batch.set_max_timestamp(CREATE_TIME, T + 1)
    assert data[21] == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda batch: batch.set_last_offset(0), "at least last_offset_delta, 1"),
        (lambda batch: batch.set_last_offset(-1), "offset"),
        (lambda batch: batch.set_max_timestamp(-1, 0), "timestamp_type"),
        (lambda batch: batch.set_max_timestamp(1, -2), "max_timestamp"),
        (lambda batch: batch.set_partition_leader_epoch(-2), "epoch"),
        (lambda batch: batch.set_partition_leader_epoch(2**31), "epoch"),
    ],
)
def test_what_is_refused_changes_nothing(call: Any, message: str) -> None:
    data = bytearray(recordpress.write_records([b"a", b"b"]))
    before = bytes(data)
    [batch] = recordpress.read_batches(data)
    with pytest.raises(recordpress.InvalidArgumentError, match=message):
        call(batch)
    assert data == before


@pytest.mark.parametrize(
    "call",
    [
        lambda batch: batch.set_last_offset(9),
        lambda batch: batch.set_max_timestamp(1, T),
        lambda batch: batch.set_partition_leader_epoch(1),
    ],
)
def test_read_only_data_is_refused(call: Any) -> None:
    data = recordpress.write_records([b"a"])
    for view in (data, memoryview(bytearray(data)).toreadonly()):
        [batch] = recordpress.read_batches(view)
        with pytest.raises(recordpress.InvalidArgumentError, match="read-only"):
            call(batch)


def test_old_messages_lack_fields() -> None:
    for magic in (0, 1):
        [batch] = recordpress.read_batches(bytearray(recordpress.write_records([b"a"], magic=magic)))
        with pytest.raises(recordpress.InvalidArgumentError, match="leader epoch"):
            batch.set_partition_leader_epoch(1)
    [batch] = recordpress.read_batches(bytearray(recordpress.write_records([b"a"], magic=0)))
    with pytest.raises(recordpress.InvalidArgumentError, match="no timestamp"):
        batch.set_max_timestamp(CREATE_TIME, T)
