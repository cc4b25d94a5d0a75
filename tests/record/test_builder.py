"""BatchBuilder: the bytes of Java's builder, its rules, and a limit that is exact."""

import struct

import pytest

import kpress

T = 1_700_000_000_000

# Worked examples of the format's description (spec record-formats 13), computed by another program.
GOLDEN = {
    "A one record": (
        {},
        [dict(value=b"v", key=b"k", timestamp=T)],
        """0000000000000000 0000003a ffffffff 02 e99b8dd8 0000 00000000 0000018bcfe56800 0000018bcfe56800
           ffffffffffffffff ffff ffffffff 00000001 10 00 00 00 02 6b 02 76 00""",
    ),
    "B transactional, the sequence wraps": (
        dict(base_offset=100, producer_id=4242, producer_epoch=3, base_sequence=2**31 - 1, partition_leader_epoch=7,
             is_transactional=True),
        [dict(value=b"value", key=b"key", timestamp=T, headers=[("h", b"x"), ("n", None)]),
         dict(value=b"", timestamp=T - 5)],
        """0000000000000064 0000004e 00000007 02 22e084eb 0010 00000001 0000018bcfe56800 0000018bcfe56800
           0000000000001092 0003 7fffffff 00000002
           2a 00 00 00 06 6b6579 0a 76616c7565 04 02 68 02 78 02 6e 01 0c 00 09 02 01 00 00""",
    ),
    "E tombstone and delete horizon": (
        dict(delete_horizon_ms=T + 1000),
        [dict(value=None, key=b"k", timestamp=T)],
        """0000000000000000 0000003a ffffffff 02 3a7f46b2 0040 00000000 0000018bcfe56be8 0000018bcfe56800
           ffffffffffffffff ffff ffffffff 00000001 10 00 cf0f 00 02 6b 01 00""",
    ),
    "F LogAppendTime": (
        dict(timestamp_type=1, log_append_time=T + 99),
        [dict(value=b"v", key=b"k", timestamp=T)],
        """0000000000000000 0000003a ffffffff 02 f749f8a9 0008 00000000 0000018bcfe56800 0000018bcfe56863
           ffffffffffffffff ffff ffffffff 00000001 10 00 00 00 02 6b 02 76 00""",
    ),
    "G v0": (
        dict(magic=0, base_offset=5),
        [dict(value=b"v", key=b"k")],
        "0000000000000005 00000010 1fecd70a 00 00 00000001 6b 00000001 76",
    ),
    "H v1": (
        dict(magic=1, base_offset=5),
        [dict(value=b"v", key=b"k", timestamp=T)],
        "0000000000000005 00000018 39268c33 01 00 0000018bcfe56800 00000001 6b 00000001 76",
    ),
    "I v1 LogAppendTime": (
        dict(magic=1, base_offset=5, timestamp_type=1, log_append_time=T),
        [dict(value=b"v", timestamp=3)],
        "0000000000000005 00000017 d63684c9 01 08 0000018bcfe56800 ffffffff 00000001 76",
    ),
}


def build(records, **options):
    builder = kpress.BatchBuilder(**options)
    for record in records:
        assert builder.append(**record)
    return builder.build()


@pytest.mark.parametrize(("options", "records", "expected"), GOLDEN.values(), ids=GOLDEN)
def test_golden_bytes(options, records, expected):
    assert build(records, **options).hex() == "".join(expected.split())


def test_golden_marker():
    builder = kpress.BatchBuilder(base_offset=42, producer_id=4242, producer_epoch=3, partition_leader_epoch=7,
                                  is_transactional=True, is_control=True)
    assert builder.append_end_txn_marker(True, 15, T)
    assert builder.build().hex() == (
        "000000000000002a000000420000000702" "3c61aa38" "0030000000000000018bcfe568000000018bcfe56800"
        "00000000000010920003ffffffff00000001" "20000000080000000" "10c00000000000f00")


def test_golden_empty_batch():
    data = kpress.empty_batch(10, 14, max_timestamp=T, producer_id=4242, producer_epoch=3, base_sequence=20,
                              partition_leader_epoch=7)
    assert data.hex() == (
        "000000000000000a000000310000000702e92982d4000000000004ffffffffffffffff0000018bcfe56800"
        "0000000000001092000300000014" "00000000")


@pytest.mark.parametrize(("magic", "codec", "crc"), [
    (0, "none", 1978725405), (1, "none", 109425508), (2, "none", 3851219455),
    (0, "lz4", 66944826), (1, "lz4", 1407303399), (2, "lz4", 2745969314),
])
def test_checksums_pinned_by_kafkas_own_test(magic, codec, crc):
    """MemoryRecordsTest.testChecksum."""
    data = build([dict(value=b"value1", key=b"key1", timestamp=283843), dict(value=b"value2", key=b"key2", timestamp=1234)],
                 magic=magic, compression_type=codec)
    assert struct.unpack_from(">I", data, 17 if magic == 2 else 12)[0] == crc
