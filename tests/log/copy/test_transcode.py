"""One segment under another codec: nothing is lost, nothing half is left."""

from pathlib import Path
from typing import Any

import pytest

import facts
import oracle
import recordpress

pytest.importorskip("pyarrow")

from recordpress.log import RecordDigest, _file_records
from recordpress.log.copy._recompress_threads import RecompressThreads
from segments import read_content, transcode_segment
from together import thinned


def joined(data: bytes, codec: str, level: int | None, batch_bytes: int, **options: Any) -> bytes:
    """The record set with its small batches joined, however large that makes them."""
    out = bytearray()
    recompressor = RecompressThreads(codec, level, batch_bytes=batch_bytes, min_gain=None, **options)
    recompressor.feed(data, 0, out.extend)
    recompressor.finish(out.extend)
    assert recompressor.after.bytes == len(out) and recompressor.before.bytes == len(data)
    assert recompressor.crc32c == recordpress.crc32c(out)
    return bytes(out)


SEGMENTS = [
    log
    for log in oracle.LOGS
    if not log.expected.get("trailing_bytes") and log.entry["valid_bytes"] == log.entry["size"]
]


def rows(data: bytes) -> list[facts.Facts]:
    found = []
    for batch in recordpress.read_batches(data):
        for record in batch:
            row = facts.record_facts(record, batch.magic) | {"type": record.timestamp_type}
            found.append({name: value for name, value in row.items() if name not in ("size", "valid")})
    return found


@pytest.mark.parametrize("batch_bytes", thinned([None, 100_000], 2))  # test_transcode_log joins a log of each kind
@oracle.each("log", SEGMENTS)
def test_every_segment_of_the_brokers(log: oracle.Vector, batch_bytes: int | None, tmp_path: Path) -> None:
    source, target = tmp_path / "source.log", tmp_path / "target.log"
    source.write_bytes(log.data)
    is_old = any(batch.magic < 2 for batch in recordpress.read_batches(log.data))
    codec = "gzip" if is_old else "zstd"
    before, after = transcode_segment(source, target, codec, None, batch_bytes)
    assert rows(target.read_bytes()) == rows(log.data)
    assert (before.records, before.next_offset) == (after.records, after.next_offset)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source.log", "target.log"]


def digest(data: bytes) -> str:
    found = RecordDigest()
    found.update(data)
    return found.hexdigest()


def shallow(records: int = 1000, **header: object) -> bytes:
    return b"".join(
        recordpress.write_records(
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
    copy = joined(data, "zstd", None, 10_000)
    batches = list(recordpress.read_batches(copy))
    assert 3 <= len(batches) < 10
    assert all(batch.is_valid() and batch.compression_type == "zstd" for batch in batches)
    assert {batch.partition_leader_epoch for batch in batches} == {3}
    assert rows(copy) == rows(data)
    assert all(len(recordpress.recompress(batch.data, "none")) <= 10_000 for batch in batches)


@pytest.mark.parametrize(
    "header",
    [
        {"producer_id": 1, "producer_epoch": 0, "base_sequence": 5},
        {"producer_id": 1, "producer_epoch": 0, "base_sequence": 5, "is_transactional": True},
        {"delete_horizon_ms": 1_700_000_000_000},
        {"magic": 1},
        {"base_sequence": 5},
    ],
    ids=str,
)
def test_batches_that_mean_something_stay_what_they_are(header: dict[str, object]) -> None:
    data = recordpress.write_records([b"value"] * 10, compression_type="gzip", **header)
    data += recordpress.write_records([b"value"] * 10, compression_type="gzip", base_offset=10, **header)
    assert joined(data, "lz4", None, 1 << 20) == recordpress.recompress(data, "lz4")


def test_leader_epochs_are_borders_and_gaps_are_not() -> None:
    def batch(offset: int, epoch: int) -> bytes:
        return recordpress.write_records([b"v"] * 5, base_offset=offset, partition_leader_epoch=epoch)

    data = batch(0, 1) + batch(5, 1) + batch(10, 2) + batch(15, 2) + batch(30, 2) + batch(35, 2)
    copy = list(recordpress.read_batches(joined(data, "none", None, 1 << 20)))
    assert [(b.base_offset, b.last_offset, b.partition_leader_epoch) for b in copy] == [
        (0, 9, 1),
        (10, 39, 2),
    ]
    assert rows(b"".join(b.data for b in copy)) == rows(data)


def test_header_keys_that_are_not_utf8_are_packed_as_they_are() -> None:
    data = recordpress.write_records([b"v"], headers=[[("kk", b"")]]) + recordpress.write_records([b"v"], base_offset=1)
    at = data.index(b"kk")
    broken = data[:at] + b"\xff\xfe" + data[at + 2 :]
    first = next(batch.size for batch in recordpress.read_batches(data))
    broken = broken[:17] + recordpress.crc32c(broken[21:first]).to_bytes(4, "big") + broken[21:]
    copy = joined(broken, "none", None, 1 << 20)
    assert len(list(recordpress.read_batches(copy))) == 1 and b"\xff\xfe" in copy
    assert digest(copy) == digest(broken)


def test_a_damaged_source_leaves_nothing(tmp_path: Path) -> None:
    data = bytearray(shallow(100))
    at = [batch.position for batch in recordpress.read_batches(bytes(data))][50]
    data[at + 70] ^= 0x40
    source, target = tmp_path / "source.log", tmp_path / "target.log"
    source.write_bytes(data)
    for batch_bytes in (None, 10_000):
        with pytest.raises(recordpress.CorruptRecordError, match="checksum") as caught:
            transcode_segment(source, target, "zstd", None, batch_bytes)
        assert (caught.value.file, caught.value.position) == (str(source), at)
        assert list(tmp_path.iterdir()) == [source]


def test_a_cut_source_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_file_records, "CHUNK_BYTES", 500)
    data = shallow(100)
    source = tmp_path / "source.log"
    source.write_bytes(data[:-3])
    last = [batch.position for batch in recordpress.read_batches(data)][-1]
    with pytest.raises(recordpress.CorruptRecordError, match="the last entry is truncated") as caught:
        transcode_segment(source, tmp_path / "target.log", "zstd")
    assert (caught.value.file, caught.value.position) == (str(source), last)


def test_pieces_do_not_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "source.log"
    source.write_bytes(shallow(100))
    whole = read_content(source)
    monkeypatch.setattr(_file_records, "CHUNK_BYTES", 40)  # less than an entry
    assert read_content(source) == whole


T = 1_700_000_000_000
PRODUCER = {"producer_id": 1, "producer_epoch": 0, "base_sequence": 5}


def built(values: list[bytes], key: bytes | None = None, last_offset: int | None = None, **options: object) -> bytes:
    builder = recordpress.BatchBuilder(**options)
    for value in values:
        builder.append(value, key=key, timestamp=T)
    if last_offset is not None:
        builder.last_offset = last_offset
    return builder.build()


def test_only_a_run_of_batches_that_are_all_shallow_is_packed() -> None:
    """One that is not stays as it is also where a shallow one follows, and the other way round."""
    plain = [b"v"] * 5
    large = [b"v" * 50] * 40
    for other, options in ((plain, PRODUCER), (large, {})):
        for data in (
            built(other, **options) + built(plain, base_offset=len(other)),
            built(plain) + built(other, base_offset=5, **options),
        ):
            assert joined(data, "none", None, 1000) == data


def test_the_last_offset_is_kept_where_compaction_took_the_last_records() -> None:
    data = built([b"v"] * 3, last_offset=4) + built([b"v"] * 3, base_offset=5, last_offset=9)
    [batch] = recordpress.read_batches(joined(data, "none", None, 1 << 20))
    assert (batch.base_offset, batch.last_offset) == (0, 9) and rows(batch.data) == rows(data)


def test_offsets_that_no_batch_can_hold_are_a_border() -> None:
    """Deltas end at 2^31 - 1; and the header of a batch may say less than its records do."""
    far = built([b"v"]) + built([b"v"], base_offset=1 << 31)
    assert joined(far, "none", None, 1 << 20) == far
    near = joined(built([b"v"]) + built([b"v"], base_offset=(1 << 31) - 1), "none", None, 1 << 20)
    assert [(b.base_offset, b.last_offset) for b in recordpress.read_batches(near)] == [(0, (1 << 31) - 1)]
    last = built([b"v"], base_offset=(1 << 63) - 2, last_offset=(1 << 63) - 1)
    assert joined(last + last, "none", None, 1 << 20) == last + last
    short = bytearray(built([b"v"] * 5))
    short[23:27] = (2).to_bytes(4, "big")
    short[17:21] = recordpress.crc32c(short[21:]).to_bytes(4, "big")
    both = bytes(short) + built([b"v"], base_offset=3)
    assert joined(both, "none", None, 1 << 20) == both


def test_negative_timestamps_are_not_packed() -> None:
    def shifted(batch: bytes) -> bytes:
        batch = batch[:27] + (-5).to_bytes(8, "big", signed=True) + batch[35:]
        return batch[:17] + recordpress.crc32c(batch[21:]).to_bytes(4, "big") + batch[21:]

    data = shifted(built([b"a"])) + shifted(built([b"b"], base_offset=1))
    assert [row["timestamp"] for row in rows(data)] == [-5, -5]
    assert joined(data, "none", None, 1 << 20) == data


def test_damage_in_a_later_run_is_told_by_its_position() -> None:
    data = bytearray(built([b"v"] * 9, **PRODUCER) + built([b"v"], base_offset=9) + built([b"v"], base_offset=10))
    at = [batch.position for batch in recordpress.read_batches(bytes(data))][2]
    data[at + 65] ^= 1
    with pytest.raises(recordpress.CorruptRecordError) as caught:
        joined(bytes(data), "zstd", None, 1 << 20)
    assert caught.value.position == at


def test_the_level_arrives(tmp_path: Path) -> None:
    values = [b"%d" % (i * i) * 9 for i in range(500)]
    one = built(values)
    two = one + built(values, base_offset=500)
    source, target = tmp_path / "source.log", tmp_path / "target.log"
    for data, batch_bytes in ((one, None), (one, 1 << 20), (two, 1 << 20)):
        source.write_bytes(data)
        sizes = [transcode_segment(source, target, "zstd", level, batch_bytes)[1].bytes for level in (1, 19)]
        assert sizes[0] > sizes[1]


def snapshot(is_control: bool) -> bytes:
    """A control record, or an ordinary one of the same bytes."""
    builder = recordpress.BatchBuilder(is_control=is_control)
    if is_control:
        builder.append_control("SNAPSHOT_FOOTER", bytes(3), T)
    else:
        builder.append(bytes(3), key=bytes([0, 0, 0, 4]), timestamp=T)
    return builder.build()


def one(values: tuple[bytes, ...] = (b"a", b"b"), **options: object) -> bytes:
    return recordpress.write_records(values, **{"timestamps": [T, T], "keys": [b"k", None], **PRODUCER, **options})


def test_what_a_segment_holds(tmp_path: Path) -> None:
    """Markers and emptied batches are neither records nor batches, and their codec is none of the segment's."""
    source = tmp_path / "source.log"
    data = recordpress.write_records([b"v"] * 5, compression_type="gzip")
    data += built([b"v"] * 2, base_offset=5, compression_type="lz4")
    data += recordpress.empty_batch(7, 9) + snapshot(True)[:7] + b"\x0a" + snapshot(True)[8:]
    source.write_bytes(data)
    content = read_content(source)
    assert (content.records, content.batches, content.bytes) == (7, 2, len(data))
    assert (content.compression_types, content.next_offset) == (("gzip", "lz4"), 11)


def test_damage_behind_the_first_piece_is_told_by_its_position(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_file_records, "CHUNK_BYTES", 500)
    data = bytearray(shallow(100))
    at = [batch.position for batch in recordpress.read_batches(bytes(data))][50]
    data[at + 70] ^= 0x40
    source = tmp_path / "source.log"
    source.write_bytes(data)
    for call in (read_content, lambda path: transcode_segment(path, tmp_path / "target.log", "zstd")):
        with pytest.raises(recordpress.CorruptRecordError, match="checksum") as caught:
            call(source)
        assert (caught.value.file, caught.value.position) == (str(source), at)
