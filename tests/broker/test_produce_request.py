"""Captured Produce requests, as kafka-python's generated protocol writes them."""

from __future__ import annotations

import pytest

import recordpress
from recordpress.broker._produce_request import LAST_VERSION, Captured, read_captured

producer = pytest.importorskip("kafka.protocol.producer")

BATCH = recordpress.write_records([b"one", b"two"], timestamps=1_700_000_000_000, compression_type="lz4")
VERSIONS = [version for version in range(LAST_VERSION + 1) if version <= producer.ProduceRequest.max_version]


def request(version: int, *, transactional_id: str | None = None, header: bool = True) -> bytes:
    data = producer.ProduceRequest.TopicProduceData
    partition = data.PartitionProduceData
    topics = [
        data(name=name, partition_data=[partition(index=index, records=BATCH) for index in indexes])
        for name, indexes in (("orders", (0, 3)), ("payments", (7,)))
    ]
    for topic in topics:
        topic.topic_id = "00010203-0405-0607-0809-0a0b0c0d0e0f"
    made = producer.ProduceRequest(
        version=version, transactional_id=transactional_id, acks=-1, timeout_ms=1500, topic_data=topics
    )
    if header:
        made.with_header(correlation_id=5, client_id="client-1")
    return bytes(made.encode(version=version, header=header, framed=False))


def read(data: bytes) -> Captured | None:
    return read_captured(memoryview(data))


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("header", [True, False])
def test_every_version(version: int, header: bool) -> None:
    data = request(version, transactional_id="t" if version >= 3 else None, header=header)
    captured = read(data)
    assert captured is not None and captured.others == 0
    [found] = captured.requests
    layout = next(last for last in (2, 8, 12, 13) if version <= last)
    assert found.version == (version if header else layout)
    assert (found.has_header, found.client_id) == ((True, "client-1") if header else (False, None))
    assert (found.acks, found.timeout_ms) == (-1, 1500)
    assert found.transactional_id == ("t" if version >= 3 else None)
    names = ("orders", "payments") if version < 13 else ("00010203-0405-0607-0809-0a0b0c0d0e0f",) * 2
    assert [(one.topic, one.partition) for one in found.partitions] == [(names[0], 0), (names[0], 3), (names[1], 7)]
    for one in found.partitions:
        assert bytes(one.records or b"") == BATCH
        assert data[one.position :].startswith(BATCH)


# By version: ProduceRequest.serializeWithHeader of kafka-clients 4.3.1, two records under gzip.
JAVA = {
    3: (
        "000000030000000700066a6176612d31000374786effff000005dc0000000100066f72646572730000000100000003000000"
        "61000000000000000000000055ffffffff02bd9309fd0001000000010000018bcfe568000000018bcfe56800ffffffffffff"
        "ffffffffffffffff000000021f8b08000000000000ff1362606060ca66293364100232402c2306001ca6069714000000"
    ),
    9: (
        "000000090000000700066a6176612d31000474786effff000005dc02076f7264657273020000000362000000000000000000"
        "000055ffffffff02bd9309fd0001000000010000018bcfe568000000018bcfe56800ffffffffffffffffffffffffffff0000"
        "00021f8b08000000000000ff1362606060ca66293364100232402c2306001ca6069714000000000000"
    ),
    13: (
        "0000000d0000000700066a6176612d31000474786effff000005dc02000102030405060708090a0b0c0d0e0f020000000362"
        "000000000000000000000055ffffffff02bd9309fd0001000000010000018bcfe568000000018bcfe56800ffffffffffffff"
        "ffffffffffffff000000021f8b08000000000000ff1362606060ca66293364100232402c2306001ca6069714000000000000"
    ),
}


@pytest.mark.parametrize("version", JAVA)
def test_what_kafka_s_own_client_sends(version: int) -> None:
    captured = read(bytes.fromhex(JAVA[version]))
    assert captured is not None
    [found] = captured.requests
    assert (found.version, found.client_id, found.transactional_id, found.acks) == (version, "java-1", "txn", -1)
    [one] = found.partitions
    assert (one.topic, one.partition) == ("orders" if version < 13 else "00010203-0405-0607-0809-0a0b0c0d0e0f", 3)
    [batch] = recordpress.read_batches(one.records or b"")
    assert [record.value for record in batch] == [b"v1", b"v2"] and batch.compression_type == "gzip"


def test_a_connection_has_requests_of_other_kinds_too() -> None:
    frames = [request(9), b"\0\x12\0\0\0\0\0\x01\xff\xff", request(3)]
    captured = read(b"".join(len(frame).to_bytes(4, "big") + frame for frame in frames))
    assert captured is not None
    assert ([one.version for one in captured.requests], captured.others) == ([9, 3], 1)
    assert captured.requests[1].partitions[0].position > len(frames[0])


@pytest.mark.parametrize("version", VERSIONS)
def test_a_request_that_is_cut_says_where(version: int) -> None:
    data = request(version)
    header = data.index(b"client-1") + 8 + (version >= 9)
    for end in range(header, len(data)):
        with pytest.raises(recordpress.CorruptRecordError) as caught:
            read(data[:end])
        at = caught.value.field_position
        assert caught.value.field and at is not None and at <= end


def test_what_is_no_request() -> None:
    assert read(b"") is None
    assert read(BATCH) is None
    assert read(b"\0" * 100) is None
    assert read(request(3, header=False) + b"x") is None
    with pytest.raises(recordpress.CorruptRecordError, match="1 bytes after them"):
        read(request(3) + b"x")


def test_a_length_that_lies_is_not_believed() -> None:
    data = bytearray(request(3, header=False))
    at = data.index(b"orders") + 6  # the number of partitions
    data[at : at + 4] = (1 << 30).to_bytes(4, "big")
    assert read(bytes(data)) is None
