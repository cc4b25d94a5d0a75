"""One segment under another codec: nothing is lost, nothing half is left, the digest can tell."""

import hashlib
from pathlib import Path

import pytest

import facts
import kpress
import oracle

pa = pytest.importorskip("pyarrow")

from kpress.log import _transcode
from kpress.log._digest import RecordDigest
from kpress.log._pack import pack
from kpress.log._transcode import read_content, transcode_segment

SEGMENTS = [
    log
    for log in oracle.LOGS
    if not log.expected.get("trailing_bytes") and log.entry["valid_bytes"] == log.entry["size"]
]


def rows(data: bytes) -> list[facts.Facts]:
    found = []
    for batch in kpress.read_batches(data):
        for record in batch:
            row = facts.record_facts(record, batch.magic) | {"type": record.timestamp_type}
            found.append({name: value for name, value in row.items() if name not in ("size", "valid")})
    return found


@pytest.mark.parametrize("batch_bytes", [None, 100_000])
@pytest.mark.parametrize("log", SEGMENTS, ids=str)
def test_every_segment_of_the_brokers(log: oracle.Vector, batch_bytes: int | None, tmp_path: Path) -> None:
    source, target = tmp_path / "source.log", tmp_path / "target.log"
    source.write_bytes(log.data)
    is_old = any(batch.magic < 2 for batch in kpress.read_batches(log.data))
    codec = "gzip" if is_old else "zstd"
    before, after = transcode_segment(source, target, codec, None, batch_bytes)
    assert rows(target.read_bytes()) == rows(log.data)
    assert (before.records, before.next_offset) == (after.records, after.next_offset)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source.log", "target.log"]


def shallow(records: int = 1000, **header: object) -> bytes:
    return b"".join(
        kpress.write_records(
            [b"value %d" % i],
            [b"key" if i % 3 else None],
            1_700_000_000_000 + i,
            [[("h", b"%d" % i), ("h", None)]] if i % 2 else None,
            base_offset=i,
            compression_type="snappy",
            **header,
        )
        for i in range(records)
    )


def test_shallow_batches_are_packed() -> None:
    data = shallow(partition_leader_epoch=3)
    packed = pack(data, "zstd", None, 10_000)
    batches = list(kpress.read_batches(packed))
    assert 3 <= len(batches) < 10
    assert all(batch.is_valid() and batch.compression_type == "zstd" for batch in batches)
    assert {batch.partition_leader_epoch for batch in batches} == {3}
    assert rows(packed) == rows(data)
    assert all(len(kpress.recompress(batch.data, "none")) <= 10_000 for batch in batches)


@pytest.mark.parametrize(
    "header",
    [
        {"producer_id": 1, "producer_epoch": 0, "base_sequence": 5},
        {"producer_id": 1, "producer_epoch": 0, "base_sequence": 5, "is_transactional": True},
        {"timestamp_type": 1, "log_append_time": 1_700_000_000_000},
        {"delete_horizon_ms": 1_700_000_000_000},
        {"magic": 1},
    ],
    ids=str,
)
def test_batches_that_mean_something_stay_what_they_are(header: dict[str, object]) -> None:
    data = kpress.write_records([b"value"] * 10, compression_type="gzip", **header)
    data += kpress.write_records([b"value"] * 10, compression_type="gzip", base_offset=10, **header)
    assert pack(data, "lz4", None, 1 << 20) == kpress.recompress(data, "lz4")


def test_gaps_and_leader_epochs_are_borders() -> None:
    def batch(offset: int, epoch: int) -> bytes:
        return kpress.write_records([b"v"] * 5, base_offset=offset, partition_leader_epoch=epoch)

    data = batch(0, 1) + batch(5, 1) + batch(10, 2) + batch(15, 2) + batch(30, 2) + batch(35, 2)
    packed = list(kpress.read_batches(pack(data, "none", None, 1 << 20)))
    assert [(b.base_offset, b.last_offset, b.partition_leader_epoch) for b in packed] == [
        (0, 9, 1),
        (10, 19, 2),
        (30, 39, 2),
    ]


def test_what_columns_cannot_hold_is_not_packed() -> None:
    """A header key that is not UTF-8 becomes another key in a column of strings."""
    data = kpress.write_records([b"v"], headers=[[("kk", b"")]]) + kpress.write_records([b"v"], base_offset=1)
    at = data.index(b"kk")
    broken = data[:at] + b"\xff\xfe" + data[at + 2 :]
    first = next(batch.size for batch in kpress.read_batches(data))
    broken = broken[:17] + kpress.crc32c(broken[21:first]).to_bytes(4, "big") + broken[21:]
    assert pack(broken, "none", None, 1 << 20) == broken


def test_a_damaged_source_leaves_nothing(tmp_path: Path) -> None:
    data = bytearray(shallow(100))
    at = [batch.position for batch in kpress.read_batches(bytes(data))][50]
    data[at + 70] ^= 0x40
    source, target = tmp_path / "source.log", tmp_path / "target.log"
    source.write_bytes(data)
    for batch_bytes in (None, 10_000):
        with pytest.raises(kpress.CorruptRecordError, match="checksum") as caught:
            transcode_segment(source, target, "zstd", None, batch_bytes)
        assert (caught.value.file, caught.value.position) == (str(source), at + 17)
        assert list(tmp_path.iterdir()) == [source]


def test_a_cut_source_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_transcode, "_PIECE_BYTES", 500)
    data = shallow(100)
    source = tmp_path / "source.log"
    source.write_bytes(data[:-3])
    last = [batch.position for batch in kpress.read_batches(data)][-1]
    with pytest.raises(kpress.CorruptRecordError, match="the last entry is cut") as caught:
        transcode_segment(source, tmp_path / "target.log", "zstd")
    assert (caught.value.file, caught.value.position) == (str(source), last)


def test_pieces_do_not_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "source.log"
    source.write_bytes(shallow(100))
    whole = read_content(source)
    monkeypatch.setattr(_transcode, "_PIECE_BYTES", 40)  # less than an entry
    assert read_content(source) == whole


def test_a_copy_that_differs_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_transcode, "recompress", lambda data, codec, level: kpress.recompress(shallow(99), codec))
    source = tmp_path / "source.log"
    source.write_bytes(shallow(100))
    with pytest.raises(kpress.CorruptRecordError, match="other records"):
        transcode_segment(source, tmp_path / "target.log", "zstd")
    assert list(tmp_path.iterdir()) == [source]


def digest(**columns: object) -> str:
    found = RecordDigest(columns)
    found.update(pa.record_batch(columns))
    return found.hexdigest()


HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))


def test_every_difference_shows_in_the_digest() -> None:
    def headers(*lists: object) -> pa.Array:
        return pa.array(lists, HEADERS)

    different = [
        digest(key=pa.array(values, pa.binary()))
        for values in ([b"ab", b"c"], [b"a", b"bc"], [b"c", b"ab"], [None, b"abc"], [b"", b"abc"], [b"abc"])
    ]
    different += [digest(n=pa.array(values, pa.int64())) for values in ([1, 2], [2, 1], [None, 1], [0, 1])]
    different += [digest(m=pa.array([1, 2]))]
    different += [
        digest(headers=headers(*lists))
        for lists in (
            ([], [("a", b"1")]),
            ([("a", b"1")], []),
            ([("a", b"1")], None),
            ([("a", None)], []),
            ([("a1", b"")], []),
            ([("a", b""), ("", b"1")], []),
        )
    ]
    assert len(set(different)) == len(different)


def test_batches_do_not_show_in_the_digest() -> None:
    batch = pa.record_batch(
        {
            "key": pa.array([b"a", None, b"", b"bcd", b"e"], pa.binary()),
            "time": pa.array([1, None, 3, 4, 5], pa.timestamp("ms", "UTC")),
            "flag": pa.array([True, False, True, None, False]),
            "headers": pa.array([[("a", b"1")], [], None, [("b", None), ("c", b"")], []], HEADERS),
        }
    )
    digests = set()
    for cut in range(6):
        found = RecordDigest(batch.schema.names)
        found.update(batch[:cut])
        found.update(batch[cut:])
        digests.add(found.hexdigest())
    assert len(digests) == 1


def test_the_digest_is_one_of_values(tmp_path: Path) -> None:
    """Written out by hand for one column: a stream of lengths, one of bytes."""
    lengths = (1).to_bytes(4, "little") + (-1).to_bytes(4, "little", signed=True) + (2).to_bytes(4, "little")
    streams = {"k": b"abc", "k length": lengths}
    whole = hashlib.blake2b(b"3 k", digest_size=16)
    for name in sorted(streams):
        whole.update(name.encode() + b"\0" + hashlib.blake2b(streams[name], digest_size=16).digest())
    assert digest(k=pa.array([b"a", None, b"bc"], pa.binary())) == whole.hexdigest()
