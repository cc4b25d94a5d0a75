"""aiokafka and kafka-python read what recordpress writes, and recordpress reads what they write."""

from __future__ import annotations

import pytest

import recordpress
from peers import BUILDERS, READERS
from strategies import FORMATS, DrawnRecord

CODEC_IDS = {"none": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}
T = 1_700_000_000_000

CASES = [
    pytest.param(peer, magic, codec, id=f"{peer}-v{magic}-{codec}")
    for peer in READERS
    for magic, codec in FORMATS
    if (peer, magic, codec) != ("aiokafka", 0, "lz4")  # aiokafka refuses lz4 in v0
]


def _mix(magic: int) -> list[DrawnRecord]:
    """Null, empty, short and long fields; a value of several codec blocks; timestamps in disorder."""
    long_value = b"".join(b"%d," % number for number in range(40_000))
    rows = [
        (b"key", b"value", 0, [("a", b"1"), ("a", b"2")]),
        (None, b"value", 5, []),
        (b"key", None, -7, [("null", None)]),
        (b"", b"", 1000, [("", b""), ("\u20ac-\U0001f680", b"\xff")]),
        (b"k" * 300, long_value, 1, []),
        (None, None, 2, []),
    ]
    return [
        DrawnRecord(100 + i, T + delta if magic else -1, key, value, headers if magic == 2 else [])
        for i, (key, value, delta, headers) in enumerate(rows)
    ]


def _write(magic: int, codec: str, rows: list[DrawnRecord], **arguments: object) -> bytes:
    builder = recordpress.BatchBuilder(magic=magic, compression_type=codec, base_offset=rows[0].offset, **arguments)
    for row in rows:
        builder.append(row.value, key=row.key, timestamp=row.timestamp, headers=row.headers, offset=row.offset)
    return builder.build()


def _bytes(value: object) -> bytes | None:
    return None if value is None else bytes(value)  # type: ignore[call-overload]


def _read_with_peer(peer: str, data: bytes) -> list[DrawnRecord]:
    rows = []
    entries = READERS[peer](data)
    while entries.has_next():
        batch = entries.next_batch()
        assert batch.validate_crc()
        for r in batch:
            timestamp = -1 if r.timestamp is None else r.timestamp
            headers = [(key, _bytes(value)) for key, value in r.headers]
            rows.append(DrawnRecord(r.offset, timestamp, _bytes(r.key), _bytes(r.value), headers))
    return rows


@pytest.mark.parametrize(("peer", "magic", "codec"), CASES)
def test_peer_reads_what_we_write(peer: str, magic: int, codec: str) -> None:
    if (peer, magic, codec) == ("kafka-python", 0, "lz4"):
        pytest.importorskip("xxhash", reason="kafka-python needs it for lz4 in v0")
    rows = _mix(magic)
    assert _read_with_peer(peer, _write(magic, codec, rows)) == rows


@pytest.mark.parametrize("peer", READERS)
def test_peer_reads_our_header_fields(peer: str) -> None:
    fields = {"producer_id": 4242, "producer_epoch": 3, "base_sequence": 20, "is_transactional": True}
    batch = READERS[peer](_write(2, "lz4", _mix(2), **fields)).next_batch()
    assert batch.is_transactional
    assert not batch.is_control_batch
    assert (batch.producer_id, batch.producer_epoch, batch.base_sequence) == (4242, 3, 20)
    assert (batch.base_offset, batch.last_offset_delta, batch.next_offset) == (100, 5, 106)


def _write_with_peer(peer: str, magic: int, codec: str, rows: list[DrawnRecord]) -> bytes:
    legacy, v2 = BUILDERS[peer]
    if magic == 2:
        builder = v2(
            magic=2,
            compression_type=CODEC_IDS[codec],
            is_transactional=False,
            producer_id=-1,
            producer_epoch=-1,
            base_sequence=-1,
            batch_size=1 << 20,
        )
    else:
        builder = legacy(magic=magic, compression_type=CODEC_IDS[codec], batch_size=1 << 20)
    for i, row in enumerate(rows):
        timestamp = row.timestamp if magic else None
        builder.append(i, timestamp, row.key, row.value, row.headers)
    return bytes(builder.build())


@pytest.mark.parametrize(("peer", "magic", "codec"), CASES)
def test_we_read_what_a_peer_writes(peer: str, magic: int, codec: str) -> None:
    if (peer, magic, codec) == ("kafka-python", 0, "lz4"):
        pytest.importorskip("xxhash", reason="kafka-python needs it for lz4 in v0")
    rows = _mix(magic)
    found = [
        DrawnRecord(r.offset + 100, r.timestamp, r.key, r.value, r.headers)
        for batch in recordpress.read_batches(_write_with_peer(peer, magic, codec, rows))
        for r in batch
        if batch.is_valid() and r.is_valid()
    ]
    assert found == rows
