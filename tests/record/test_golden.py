"""The worked examples: small batches whose every byte is known, read and written."""

from __future__ import annotations

from typing import Any

import pytest

import recordpress

T = 1_700_000_000_000
LZ4_FRAME = "04224d186040"


def _hex(text: str) -> bytes:
    return bytes.fromhex(text.replace("|", " "))


EXAMPLES: dict[str, tuple[bytes, dict[str, Any], list[tuple[Any, ...]]]] = {
    # name: bytes, arguments of BatchBuilder, records (value, key, timestamp, headers, offset)
    "v2": (
        _hex("""0000000000000000 0000003a ffffffff 02 e99b8dd8 0000 00000000 0000018bcfe56800 0000018bcfe56800
                ffffffffffffffff ffff ffffffff 00000001 10 00 00 00 02 6b 02 76 00"""),
        {},
        [(b"v", b"k", T, [], 0)],
    ),
    "v2 transactional, sequence wraps": (
        _hex("""0000000000000064 0000004e 00000007 02 22e084eb 0010 00000001 0000018bcfe56800 0000018bcfe56800
                0000000000001092 0003 7fffffff 00000002
                2a 00 00 00 06 6b6579 0a 76616c7565 04 02 68 02 78 02 6e 01
                0c 00 09 02 01 00 00"""),
        {
            "base_offset": 100,
            "producer_id": 4242,
            "producer_epoch": 3,
            "base_sequence": 2**31 - 1,
            "partition_leader_epoch": 7,
            "is_transactional": True,
        },
        [(b"value", b"key", T, [("h", b"x"), ("n", None)], 100), (b"", None, T - 5, [], 101)],
    ),
    "COMMIT marker": (
        _hex("""000000000000002a 00000042 00000007 02 3c61aa38 0030 00000000 0000018bcfe56800 0000018bcfe56800
                0000000000001092 0003 ffffffff 00000001 20 00 00 00 08 00000001 0c 000000 00000f 00"""),
        {
            "base_offset": 42,
            "producer_id": 4242,
            "producer_epoch": 3,
            "partition_leader_epoch": 7,
            "is_transactional": True,
            "is_control": True,
        },
        [(_hex("0000 0000000f"), _hex("0000 0001"), T, [], 42)],
    ),
    "v2 tombstone with a delete horizon": (
        _hex("""0000000000000000 0000003a ffffffff 02 3a7f46b2 0040 00000000 0000018bcfe56be8 0000018bcfe56800
                ffffffffffffffff ffff ffffffff 00000001 10 00 cf0f 00 02 6b 01 00"""),
        {"delete_horizon_ms": T + 1000},
        [(None, b"k", T, [], 0)],
    ),
    "v0": (
        _hex("0000000000000005 00000010 1fecd70a 00 00 00000001 6b 00000001 76"),
        {"magic": 0, "base_offset": 5},
        [(b"v", b"k", -1, [], 5)],
    ),
    "v1": (
        _hex("0000000000000005 00000018 39268c33 01 00 0000018bcfe56800 00000001 6b 00000001 76"),
        {"magic": 1, "base_offset": 5},
        [(b"v", b"k", T, [], 5)],
    ),
    "v1 LogAppendTime, null key": (
        _hex("0000000000000005 00000017 d63684c9 01 08 0000018bcfe56800 ffffffff 00000001 76"),
        {"magic": 1, "base_offset": 5, "timestamp_type": 1, "log_append_time": T},
        [(b"v", None, T, [], 5)],
    ),
    "v1 lz4 wrapper": (
        _hex(f"""000000000000000a 0000006d 287bdf26 01 03 0000018bcfe56801 ffffffff 00000057 {LZ4_FRAME} 82 48000080
                 0000000000000000 00000018 70057b66 01 00 0000018bcfe56800 00000001 61 00000001 31
                 0000000000000001 00000018 ae1687b2 01 00 0000018bcfe56801 00000001 62 00000001 32 00000000"""),
        {"magic": 1, "base_offset": 9, "compression_type": "lz4"},
        [(b"1", b"a", T, [], 9), (b"2", b"b", T + 1, [], 10)],
    ),
    "v0 lz4 wrapper, the old header checksum": (
        _hex(f"""0000000000000009 00000038 4ea5ac35 00 03 ffffffff 0000002a {LZ4_FRAME} 1a 1b000080
                 0000000000000009 0000000f d20cbff5 00 00 ffffffff 00000001 76 00000000"""),
        {"magic": 0, "base_offset": 9, "compression_type": "lz4"},
        [(b"v", None, -1, [], 9)],
    ),
}

EMPTY_BATCH = _hex("""000000000000000a 00000031 00000007 02 e92982d4 0000 00000004 ffffffffffffffff 0000018bcfe56800
                      0000000000001092 0003 00000014 00000000""")

LOG_APPEND_TIME = _hex("""0000000000000000 0000003a ffffffff 02 f749f8a9 0008 00000000 0000018bcfe56800
                          0000018bcfe56863 ffffffffffffffff ffff ffffffff 00000001 10 00 00 00 02 6b 02 76 00""")


def _records(batch: recordpress.Batch) -> list[tuple[Any, ...]]:
    return [(r.value, r.key, r.timestamp, r.headers, r.offset) for r in batch]


def _build(arguments: dict[str, Any], records: list[tuple[Any, ...]]) -> bytes:
    builder = recordpress.BatchBuilder(**arguments)
    for value, key, timestamp, headers, offset in records:
        if arguments.get("is_control"):
            assert builder.append_end_txn_marker(True, coordinator_epoch=15, timestamp=timestamp)
            continue
        assert builder.append(value, key=key, timestamp=timestamp, headers=headers, offset=offset)
    return builder.build()


@pytest.mark.parametrize("name", EXAMPLES)
def test_read(name: str) -> None:
    data, _, records = EXAMPLES[name]
    (batch,) = recordpress.read_batches(data)
    assert batch.is_valid()
    assert _records(batch) == records


# The lz4 blocks above are stored although they could be compressed: legal to read, but not what Kafka writes.
@pytest.mark.parametrize("name", [name for name in EXAMPLES if "lz4" not in name])
def test_write(name: str) -> None:
    data, arguments, records = EXAMPLES[name]
    assert _build(arguments, records).hex() == data.hex()


def test_record_sequences_wrap() -> None:
    (batch,) = recordpress.read_batches(EXAMPLES["v2 transactional, sequence wraps"][0])
    assert [record.sequence for record in batch] == [2**31 - 1, 0]
    assert (batch.base_sequence, batch.last_sequence) == (2**31 - 1, 0)


def test_commit_marker() -> None:
    (batch,) = recordpress.read_batches(EXAMPLES["COMMIT marker"][0])
    control = recordpress.control_record(next(iter(batch)))
    assert (control.type, control.coordinator_epoch) == ("COMMIT", 15)


def test_empty_batch_keeps_its_offsets_and_sequence() -> None:
    (batch,) = recordpress.read_batches(EMPTY_BATCH)
    assert batch.is_valid()
    assert list(batch) == []
    assert batch.records_count == 0
    assert (batch.base_offset, batch.last_offset, batch.next_offset) == (10, 14, 15)
    assert (batch.base_sequence, batch.last_sequence, batch.max_timestamp) == (20, 24, T)


def test_log_append_time_is_every_records_timestamp() -> None:
    (batch,) = recordpress.read_batches(LOG_APPEND_TIME)
    assert batch.is_valid()
    assert int(batch.timestamp_type) == 1
    assert [record.timestamp for record in batch] == [T + 99]


# Pinned by Kafka's own MemoryRecordsTest.testChecksum: two records, base offset 0, the first batch's stored CRC.
CHECKSUMS = {
    (0, "none"): 1978725405,
    (0, "lz4"): 66944826,
    (1, "none"): 109425508,
    (1, "lz4"): 1407303399,
    (2, "none"): 3851219455,
    (2, "lz4"): 2745969314,
}


@pytest.mark.parametrize(("magic", "compression_type"), CHECKSUMS)
def test_checksums_pinned_by_kafka(magic: int, compression_type: str) -> None:
    builder = recordpress.BatchBuilder(magic=magic, compression_type=compression_type)
    builder.append(b"value1", key=b"key1", timestamp=283843 if magic else -1)
    builder.append(b"value2", key=b"key2", timestamp=1234 if magic else -1)
    batch = next(iter(recordpress.read_batches(builder.build())))
    assert batch.crc == CHECKSUMS[magic, compression_type]
    assert batch.is_valid()
