"""The digest of records: PyPI's xxhash over the canonical form of docs/digest.md, written in plain Python."""

import itertools
import re
import struct
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import oracle
import recordpress

xxhash = pytest.importorskip("xxhash")

from recordpress.log import RecordDigest

T = 1_700_000_000_000
PRODUCER = {"producer_id": 1, "producer_epoch": 0, "base_sequence": 5}


def length(value: bytes | None) -> int:
    return -1 if value is None else len(value)


def canonical(batch: recordpress.Batch, record: recordpress.Record) -> bytes:
    form = struct.pack(
        ">qqbBhqiiiii",
        record.offset,
        record.timestamp,
        record.timestamp_type,
        batch.is_transactional | batch.is_control << 1,
        batch.producer_epoch,
        batch.producer_id,
        record.sequence,
        batch.partition_leader_epoch,
        len(record.headers),
        length(record.key),
        length(record.value),
    )
    form += (record.key or b"") + (record.value or b"")
    for name, value in record.headers:
        key = name.encode()
        form += struct.pack(">i", len(key)) + key + struct.pack(">i", length(value)) + (value or b"")
    return form


def expected(data: bytes) -> tuple[str, int]:
    forms = [canonical(batch, record) for batch in recordpress.read_batches(data) for record in batch]
    return xxhash.xxh3_128(b"".join(forms)).hexdigest(), len(forms)


def digest(*pieces: bytes) -> str:
    found = RecordDigest()
    for piece in pieces:
        found.update(piece)
    return found.hexdigest()


def whole_entries(data: bytes) -> bytes:
    entries = recordpress.read_batches(data)
    with suppress(recordpress.RecordpressError):
        for _ in entries:
            pass
    return data[: entries.valid_bytes]


@oracle.each("vector", oracle.EVERYTHING)
def test_what_kafka_wrote(vector: oracle.Vector) -> None:
    """Records that cannot be read have no digest."""
    data = whole_entries(vector.data)
    found = RecordDigest()
    try:
        wanted = expected(data)
    except recordpress.RecordpressError:
        with pytest.raises(recordpress.RecordpressError):
            found.update(data)
        return
    found.update(data)
    # header keys count as bytes; of one that is not UTF-8, objects have another text
    assert (found.hexdigest() == wanted[0]) == ("bad_utf8" not in str(vector))
    assert found.records == wanted[1]


def test_where_batches_end_does_not_show() -> None:
    values = [b"v%d" % i * (i % 50) for i in range(1000)]
    headers = [[(f"h{i}", None if i % 2 else b"x" * i)] * (i % 4) for i in range(1000)]
    keys = [None if i % 3 else b"k%d" % i for i in range(1000)]
    times = [T + i for i in range(1000)]
    digests = set()
    for codec, records in itertools.product(("none", "gzip", "snappy", "lz4", "zstd"), (1, 7, 1000)):
        data = recordpress.write_records(
            values, keys, times, headers, compression_type=codec, batch_records=records, base_offset=3, **PRODUCER
        )
        ends = [batch.position for batch in recordpress.read_batches(data)]
        cut = ends[len(ends) // 2]
        digests |= {digest(data), digest(data[:cut], b"", data[cut:])}
    assert digests == {expected(data)[0]}


def test_a_batch_larger_than_what_is_hashed_at_a_time() -> None:
    data = recordpress.write_records([bytes([i]) * 100_000 for i in range(20)], compression_type="lz4")
    data += recordpress.write_records([b"x"] * 30_000, base_offset=20) + recordpress.empty_batch(30_020, 30_030)
    assert digest(data) == expected(data)[0]


def one(values: tuple[bytes | None, ...] = (b"a", b"b"), **options: Any) -> bytes:
    return recordpress.write_records(values, **{"timestamps": [T, T], "keys": [b"k", None], **PRODUCER, **options})


def marker(kind: str, **options: Any) -> bytes:
    builder = recordpress.BatchBuilder(is_control=True, is_transactional=True, producer_id=1, producer_epoch=0)
    builder.append_control(kind, bytes(6), T)
    return builder.build()


# pairs that differ in one thing
DIFFERENT = {
    "offset": tuple(recordpress.write_records([b"v"] * 3, offsets=[0, middle, 5]) for middle in (2, 3)),
    "timestamp": (one(), one(timestamps=[T, T + 1])),
    "timestamp type": (one(timestamps=[T, T]), one(timestamp_type=1, log_append_time=T)),
    "key": (one(), one(keys=[b"k", b""])),
    "value": (one(), one((b"a", b"c"))),
    "null value": (one((b"", b"b")), one((None, b"b"))),
    "where the key ends": (one(keys=[b"k", b"kb"]), one((b"a", b"bb"), keys=[b"k", b"k"])),
    "header": (one(), one(headers=[None, [("h", b"")]])),
    "null header": (one(headers=[None, [("h", b"")]]), one(headers=[None, [("h", None)]])),
    "where a header ends": (one(headers=[[("ab", b"c")], None]), one(headers=[[("a", b"bc")], None])),
    "order of headers": (
        one(headers=[[("a", b""), ("b", b"")], None]),
        one(headers=[[("b", b""), ("a", b"")], None]),
    ),
    "producer id": (one(), one(producer_id=2)),
    "producer epoch": (one(), one(producer_epoch=1)),
    "sequence": (one(), one(base_sequence=6)),
    "leader epoch": (one(), one(partition_leader_epoch=0)),
    "transactional": (one(), one(is_transactional=True)),
    "marker": (marker("COMMIT"), marker("ABORT")),
    "magic 0 and 1": tuple(recordpress.write_records([b"v"], magic=magic) for magic in (0, 1)),
    "magic 1": tuple(recordpress.write_records([b"v"], timestamps=[time], magic=1) for time in (T, T + 1)),
    "order of records": (one((b"a", b"b"), keys=None), one((b"b", b"a"), keys=None)),
    "one record more": (one(), one((b"a", b"b", b"c"), timestamps=[T] * 3, keys=[b"k", None, None])),
}


@pytest.mark.parametrize("what", DIFFERENT)
def test_every_difference_shows(what: str) -> None:
    first, second = DIFFERENT[what]
    assert digest(first) != digest(second)
    assert [digest(first), digest(second)] == [expected(first)[0], expected(second)[0]]


def test_control_records_are_counted_apart() -> None:
    found = RecordDigest()
    found.update(one() + marker("COMMIT"))
    assert (found.records, found.control_records) == (3, 1)


def test_no_record() -> None:
    empty = xxhash.xxh3_128(b"").hexdigest()
    assert digest() == digest(b"") == digest(recordpress.empty_batch(0, 9)) == empty
    assert empty in (Path(__file__).parents[2] / "docs" / "digest.md").read_text()


def test_damage_is_an_error_with_its_place() -> None:
    data = bytearray(one() + one(base_offset=2))
    at = len(data) // 2
    data[at + 70] ^= 1
    with pytest.raises(recordpress.CorruptRecordError, match="checksum") as caught:
        digest(bytes(data))
    assert (caught.value.position, caught.value.offset) == (at, 2)
    with pytest.raises(recordpress.CorruptRecordError, match="truncated"):
        digest(one()[:-1])


def test_records_are_read_by_the_rules_of_all_readers() -> None:
    """Bytes after the last record, a record too few, a length that lies: what read_batches refuses."""
    good = recordpress.write_records([b"a", b"b"])
    for change in ({57: 0, 60: 1}, {57: 0, 60: 3}, {57: 0x7F, 60: 0}, {61: 0x7E}):
        data = bytearray(good)
        for at, byte in change.items():
            data[at] = byte
        data[17:21] = recordpress.crc32c(data[21:]).to_bytes(4, "big")
        with pytest.raises(recordpress.RecordpressError) as ours:
            digest(bytes(data))
        with pytest.raises(recordpress.RecordpressError) as theirs:
            expected(bytes(data))
        assert str(ours.value) == str(theirs.value)


def test_the_cap_counts() -> None:
    data = recordpress.write_records([bytes(100_000)], compression_type="zstd")
    with pytest.raises(recordpress.OutputTooLargeError):
        RecordDigest().update(data, max_decompressed_bytes=10_000)


def test_the_example_of_the_documentation() -> None:
    """Its code, on records that have the attributes it asks for."""
    text = (Path(__file__).parents[2] / "docs" / "digest.md").read_text()
    names: dict[str, Any] = {}
    exec(re.search(r"```python\n(.*?)```", text, re.DOTALL)[1], names)  # type: ignore[index]

    class Whole:
        def __init__(self, batch: recordpress.Batch, record: recordpress.Record) -> None:
            self.__dict__ |= {name: getattr(record, name) for name in ("offset", "timestamp", "timestamp_type")}
            self.__dict__ |= {name: getattr(record, name) for name in ("sequence", "key", "value")}
            self.headers = [(name.encode(), value) for name, value in record.headers]
            for name in ("is_transactional", "is_control", "producer_epoch", "producer_id", "partition_leader_epoch"):
                setattr(self, name, getattr(batch, name))

    data = (
        one(headers=[[("h", b"1"), ("n", None)], None]) + marker("ABORT") + recordpress.write_records([None], magic=0)
    )
    records = [Whole(batch, record) for batch in recordpress.read_batches(data) for record in batch]
    assert names["digest"](records) == digest(data)


@pytest.mark.parametrize("magic", [0, 1, 2])
@pytest.mark.parametrize("codec", ["none", "gzip"])
def test_a_digest_from_an_offset_on(codec: Any, magic: Any) -> None:
    """In the middle of a batch, too."""
    expected, found = RecordDigest(), RecordDigest()
    expected.update(recordpress.write_records([b"c", b"d"], magic=magic, base_offset=2))
    data = recordpress.write_records([b"a", b"b", b"c", b"d"], magic=magic, compression_type=codec)
    found.update(data, start_offset=2)
    assert found.hexdigest() == expected.hexdigest() and found.records == 2
    found.update(data, start_offset=4)
    assert found.records == 2
    with pytest.raises(recordpress.ArgumentTypeError):
        found.update(data, start_offset="2")  # type: ignore[arg-type]
