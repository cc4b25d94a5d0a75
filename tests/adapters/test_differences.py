"""The table of docs/adapters.md: where a client differs from Kafka, what it does and what its adapter does instead."""

from __future__ import annotations

import re
import struct
from pathlib import Path
from typing import Any

import pytest
from clients import AIOKAFKA, CLIENTS, KAFKA_PYTHON, Client

import recordpress

clients = pytest.mark.parametrize("client", CLIENTS, ids=str)
ROOT = Path(__file__).parents[2]
aiokafka, kafka_python = AIOKAFKA.adapter, KAFKA_PYTHON.adapter


def row(number: int) -> Any:
    """The test of a row: the last test of this file compares the numbers."""
    return lambda test: test


def values(memory_records: Any, data: bytes) -> list[Any]:
    records = memory_records(data)
    return [record.value for batch in iter(records.next_batch, None) for record in batch]


def builder(source: Any, codec: int = 0, limit: int = 10_000) -> Any:
    return source.DefaultRecordBatchBuilder(2, codec, 0, -1, -1, -1, limit)


def wrapper(magic: int, offset: int, inner: list[int]) -> bytes:
    """A compressed set whose messages and wrapper have these offsets."""
    messages = b""
    for at in inner:
        message = bytearray(recordpress.write_records([b"v%d" % at], magic=magic, timestamps=5))
        message[:8] = struct.pack(">q", at)
        messages += message
    whole = bytearray(recordpress.write_records([recordpress.compress(messages, "gzip")], magic=magic, timestamps=5))
    whole[:8] = struct.pack(">q", offset)
    whole[17] |= 1
    whole[12:16] = struct.pack(">I", recordpress.crc32(whole[16:]))
    return bytes(whole)


@row(1)
def test_each_entry_has_its_own_magic() -> None:
    data = recordpress.write_records([b"old"], magic=1) + recordpress.write_records([b"new"])
    with pytest.raises(Exception, match=r".*"):
        assert values(AIOKAFKA.memory.MemoryRecords, data) == [b"old", b"new"]
    assert values(aiokafka.MemoryRecords, data) == [b"old", b"new"]


@row(2)
def test_lz4_in_v0() -> None:
    data = recordpress.write_records([b"v"] * 5, magic=0, compression_type="lz4")
    with pytest.raises(AIOKAFKA.default.UnsupportedCodecError):
        values(AIOKAFKA.memory.MemoryRecords, data)
    assert values(aiokafka.MemoryRecords, data) == [b"v"] * 5
    built = aiokafka.LegacyRecordBatchBuilder(0, 3, 1000)
    built.append(0, None, None, b"v")
    assert values(KAFKA_PYTHON.memory.MemoryRecords, bytes(built.build())) == [b"v"]


@row(3)
@clients
def test_bytes_after_the_last_record_are_found_before_it_is_given(client: Client) -> None:
    data = bytearray(recordpress.write_records([b"a", b"b"]))
    data[57:61] = struct.pack(">i", 1)
    for source, given in ((client.default, 1), (client.adapter, 0)):
        got: list[Any] = []
        with pytest.raises(client.corrupt):
            got.extend(source.DefaultRecordBatch(bytes(data)))
        assert len(got) == given


@row(4)
@clients
@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_a_damaged_payload_is_the_clients_corrupt_record(client: Client, codec: str) -> None:
    data = bytearray(recordpress.write_records([b"value"] * 50, compression_type=codec))
    data[61:65] = b"nope"
    with pytest.raises(Exception, match=r".*") as caught:
        list(client.default.DefaultRecordBatch(bytes(data)))
    assert not isinstance(caught.value, client.corrupt)
    with pytest.raises(client.corrupt) as caught:
        list(client.adapter.DefaultRecordBatch(bytes(data)))
    assert isinstance(caught.value.__cause__, recordpress.CorruptRecordError)


@row(5)
@clients
def test_linked_blocks_of_lz4_are_refused(client: Client) -> None:
    frame = pytest.importorskip("lz4.frame")
    rows = [b"%d" % i * 20_000 for i in range(9)]  # more than one block of 64 KiB
    [batch] = recordpress.read_batches(recordpress.write_records(rows))
    linked = frame.compress(bytes(batch.payload), block_linked=True)
    data = recordpress.write_records(rows, compression_type="lz4")[:61] + linked
    assert len(list(client.default.DefaultRecordBatch(data))) == 9
    with pytest.raises(client.corrupt):
        list(client.adapter.DefaultRecordBatch(data))


@row(6)
@clients
def test_a_headers_key_that_is_not_utf8(client: Client) -> None:
    data = recordpress.write_records([b"v"], headers=[[("key", b"x")]]).replace(b"key", b"k\xffy")
    with pytest.raises((UnicodeDecodeError, client.corrupt)):
        list(client.default.DefaultRecordBatch(data))
    [record] = client.adapter.DefaultRecordBatch(data)
    assert record.headers == [("k\ufffdy", b"x")]


@row(7)
@clients
def test_a_count_of_zero(client: Client) -> None:
    data = bytearray(recordpress.write_records([b"v"]))
    data[57:61] = bytes(4)
    with pytest.raises(client.corrupt):
        list(client.default.DefaultRecordBatch(bytes(data)))
    assert list(client.adapter.DefaultRecordBatch(bytes(data))) == []


@row(8)
@clients
def test_a_batch_too_short_for_its_header(client: Client) -> None:
    data = recordpress.write_records([b"v"])[:40]
    if client is KAFKA_PYTHON:
        with pytest.raises(struct.error):
            client.default.DefaultRecordBatch(data)
    with pytest.raises(client.corrupt, match=r"smaller|size|length"):
        client.adapter.DefaultRecordBatch(data)


@row(9)
@clients
@pytest.mark.parametrize("magic", [3, 127, -1])
def test_a_magic_that_is_none(client: Client, magic: int) -> None:
    data = bytearray(recordpress.write_records([b"v"]))
    data[16] = magic & 255
    with pytest.raises(client.corrupt, match="magic"):
        client.adapter.MemoryRecords(bytes(data)).next_batch()


@row(10)
def test_records_without_a_timestamp() -> None:
    times = []
    for source in (AIOKAFKA.default, aiokafka):
        built = builder(source)
        for offset, time in enumerate((-1, 1000, 2000)):
            built.append(offset, time, None, b"v", [])
        times.append([record.timestamp for record in aiokafka.DefaultRecordBatch(bytes(built.build()))])
    assert times == [[1000, 1000, 2000], [-1, 1000, 2000]]


@row(11)
@clients
@pytest.mark.parametrize("wrong", [(0, 5), (1, -7), (2**31, 5)], ids=["offset", "timestamp", "delta"])
def test_what_no_producer_may_write(client: Client, wrong: tuple[int, int]) -> None:
    built = builder(client.default), builder(client.adapter)
    for one in built:
        one.append(0, 5, None, b"v", [])
    if wrong[0] < 2**31:
        assert built[0].append(*wrong, None, b"v", []) is not None
    with pytest.raises(ValueError, match=r"offset|timestamp"):
        built[1].append(*wrong, None, b"v", [])
    assert len(list(client.default.DefaultRecordBatch(bytes(built[1].build())))) == 1


@row(12)
@clients
def test_a_wrapper_has_the_last_offset_and_the_largest_timestamp(client: Client) -> None:
    headers = []
    for source in (client.legacy, client.adapter):
        built = source.LegacyRecordBatchBuilder(1, 1, 10_000)
        for offset in range(3):
            built.append(offset, 1000 + offset, None, b"v")
        data = bytes(built.build())
        headers.append((struct.unpack(">q", data[:8])[0], struct.unpack(">q", data[18:26])[0]))
    assert headers == [(0, 0), (2, 1002)]


@row(13)
@clients
def test_offsets_inside_of_a_wrapper_of_v1(client: Client) -> None:
    zero = wrapper(1, 0, [0, 1, 2])
    assert [record.offset for record in client.adapter.LegacyRecordBatch(zero, 1)] == [0, 1, 2]
    before = wrapper(1, 1, [0, 1, 2])
    with pytest.raises(client.corrupt):
        list(client.adapter.LegacyRecordBatch(before, 1))
    assert [record.offset for record in client.legacy.LegacyRecordBatch(before, 1)] in ([0, 1, 2], [-1, 0, 1])


@row(14)
def test_the_leader_epoch_of_a_producer() -> None:
    epochs = []
    for source in (KAFKA_PYTHON.default, kafka_python):
        built = builder(source)
        built.append(0, 5, None, b"v", [])
        epochs.append(KAFKA_PYTHON.default.DefaultRecordBatch(bytes(built.build())).leader_epoch)
    assert epochs == [0, -1]


@row(15)
@clients
def test_levels_are_those_of_kafkas_producer(client: Client) -> None:
    data = b"".join(b"line %d of a log, status %d\n" % (i, i % 7) for i in range(400))
    functions = client.adapter
    for codec in ("gzip", "lz4", "zstd"):
        encode = getattr(functions, f"{codec}_encode")
        assert encode(data) == recordpress.compress(data, codec)
        assert getattr(client.codec, f"{codec}_decode")(encode(data)) == data
    assert functions.gzip_encode(data, 1) == recordpress.compress(data, "gzip", 1)


@row(16)
def test_the_size_of_a_record() -> None:
    data = recordpress.write_records([b"v" * 100])
    records = [next(iter(source.DefaultRecordBatch(data))) for source in (KAFKA_PYTHON.default, kafka_python)]
    sizes = [record.size_in_bytes for record in records]
    assert sizes == [107, 109] and len(data) == 61 + 109


@row(17)
def test_keys_of_control_records() -> None:
    def control(key: bytes) -> bytes:
        data = bytearray(recordpress.write_records([b"v"], keys=[key]))
        data[22] |= 0x20
        return bytes(data)

    for key in (b"\0\0\0\1more", b"\0\1"):
        with pytest.raises(struct.error):
            list(KAFKA_PYTHON.default.DefaultRecordBatch(control(key)))
    [record] = kafka_python.DefaultRecordBatch(control(b"\0\0\0\1more"))
    assert (record.version, record.type, record.commit) == (0, 1, True)
    with pytest.raises(KAFKA_PYTHON.corrupt, match="4 bytes"):
        list(kafka_python.DefaultRecordBatch(control(b"\0\1")))


@row(18)
def test_valid_bytes_before_a_size_that_is_none() -> None:
    bad = bytearray(26)
    bad[8:12] = struct.pack(">i", -12)  # kafka-python would look at the same place for ever
    with pytest.raises(KAFKA_PYTHON.corrupt):
        kafka_python.MemoryRecords(recordpress.write_records([b"v"]) + bad).valid_bytes()


@row(19)
@clients
def test_a_compressed_message_inside_of_a_wrapper(client: Client) -> None:
    inner = wrapper(1, 0, [0])
    whole = bytearray(recordpress.write_records([recordpress.compress(inner, "gzip")], magic=1, timestamps=5))
    whole[17] |= 1
    with pytest.raises(AssertionError):
        list(client.legacy.LegacyRecordBatch(bytes(whole), 1))
    with pytest.raises(client.corrupt):
        list(client.adapter.LegacyRecordBatch(bytes(whole), 1))


@row(20)
def test_a_timestamp_delta_beyond_64_bits() -> None:
    last = 2**63 - 1
    data = recordpress.write_records([b"a", b"b"], timestamps=[-1, last])

    def timestamps(source: Any) -> list[int]:
        return [record.timestamp for record in source.MemoryRecords(data).next_batch()]

    assert timestamps(KAFKA_PYTHON.memory) == [-1, last - 2**64]
    for client in CLIENTS:
        assert timestamps(client.adapter) == [-1, last]


@row(21)
@clients
def test_there_is_a_limit_of_output(client: Client) -> None:
    bomb = recordpress.compress(bytes((64 << 20) + 1), "zstd")
    with pytest.raises(recordpress.OutputTooLargeError):
        client.adapter.zstd_decode(bomb)


@row(22)
@clients
def test_a_batch_is_read_twice(client: Client) -> None:
    batch = client.adapter.LegacyRecordBatch(recordpress.write_records([b"v"], magic=1, compression_type="gzip"), 1)
    assert [len(list(batch)), len(list(batch)), batch.validate_crc()] == [1, 1, True]
    if client is AIOKAFKA:
        data = recordpress.write_records([b"v"])
        theirs, ours = client.default.DefaultRecordBatch(data), aiokafka.DefaultRecordBatch(data)
        assert [len(list(theirs)), len(list(ours)), len(list(ours))] == [1, 1, 1]
        with pytest.raises(client.corrupt):
            list(theirs)


@row(23)
@clients
def test_a_batch_is_built_once(client: Client) -> None:
    built = builder(client.adapter, codec=4)
    built.append(0, 5, None, b"v" * 100, [])
    assert built.build() is built.build()
    assert values(client.memory.MemoryRecords, bytes(built.build())) == [b"v" * 100]


@row(24)
@clients
def test_a_header_that_is_no_pair(client: Client) -> None:
    for header in (("k",), (None, b"v"), (b"k", b"v")):
        with pytest.raises(recordpress.ArgumentTypeError):
            builder(client.adapter).append(0, 5, None, b"v", [header])


def test_every_row_of_the_table_has_a_test_and_every_test_a_row() -> None:
    text = (ROOT / "docs" / "adapters.md").read_text(encoding="utf-8")
    rows = [int(number) for number in re.findall(r"^\| (\d+) \|", text, flags=re.MULTILINE)]
    source = Path(__file__).read_text(encoding="utf-8")
    assert rows == sorted(int(number) for number in re.findall(r"^@row\((\d+)\)", source, flags=re.MULTILINE))
    assert rows == list(range(1, len(rows) + 1))
