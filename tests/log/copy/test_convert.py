"""recordpress.convert: kafka-python reads of a copy what Kafka read of the log, less what the other magic cannot
say."""

from __future__ import annotations

import functools
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import oracle
import recordpress
from facts import bytes_fact
from log.some_partitions import of_each_kind
from messages import message, wrapper
from recordpress.log import Manifest, scan, verify
from recordpress.log.sidecars import read_leader_epochs
from segments import read_content

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # in modules of kafka-python

T = 1_700_000_000_000
MANIFEST = "recordpress-manifest.jsonl"
LOG = f"{0:020d}.log"
TYPES = {"CreateTime": 0, "LogAppendTime": 1}
Row = tuple[Any, ...]


# ---- directories of brokers


def kafka_batches(partition: oracle.Partition) -> list[dict[str, Any]]:
    return _batches_of(str(partition))


@functools.lru_cache(1)  # each test asks several times
def _batches_of(name: str) -> list[dict[str, Any]]:
    [partition] = [one for one in oracle.PARTITIONS if str(one) == name]
    return [batch for log in partition.logs for batch in log.expected["batches"]]


def kafka_rows(partition: oracle.Partition, magic: int) -> list[Row]:
    """What Kafka read, less what the magic cannot say."""
    return [
        (
            record["offset"],
            record["timestamp"] if magic else -1,
            max(TYPES.get(batch["timestamp_type"], 0), 0) if magic else -1,
            record["key"],
            record["value"],
            [(key, value) for key, value in record["headers"]] if magic == 2 else [],
        )
        for batch in kafka_batches(partition)
        if not batch.get("is_control")
        for record in batch["records"]
    ]


def read_by_kafka_python(directory: Path) -> list[Row]:
    memory_records = pytest.importorskip("kafka.record.memory_records")
    rows = []
    for path in sorted(directory.glob("*.log")):
        records = memory_records.MemoryRecords(path.read_bytes())
        while (batch := records.next_batch()) is not None:
            if not getattr(batch, "is_control_batch", False):
                rows += [_row(record) for record in batch]
    return rows


def _row(record: Any) -> Row:
    timestamp = -1 if record.timestamp is None else record.timestamp
    kind = -1 if record.timestamp_type is None else record.timestamp_type
    headers = [(key, bytes_fact(value)) for key, value in record.headers]
    return (record.offset, timestamp, kind, bytes_fact(record.key), bytes_fact(record.value), headers)


def kafka_lost(partition: oracle.Partition, magic: int) -> dict[str, int]:
    """By what Kafka says of the batches."""
    lost: Counter[str] = Counter()
    for batch in kafka_batches(partition):
        records = batch["records"]
        if magic == 0 and batch["magic"] and not batch.get("is_control"):
            lost["timestamps"] += sum(record["timestamp"] != -1 for record in records)
        if batch["magic"] < 2 or magic == 2:
            continue
        if batch["is_control"]:
            lost["markers"] += len(records)
            continue
        lost["empty_batches"] += not records
        lost["headers"] += sum(len(record["headers"]) for record in records)
        lost["producers"] += len(records) * (batch["producer_id"] >= 0)
        lost["transactions"] += len(records) * batch["is_transactional"]
        lost["leader_epochs"] += len(records) * (batch["leader_epoch"] >= 0)
        lost["delete_horizons"] += batch["delete_horizon_ms"] is not None and bool(records)
    if lost["transactions"] and "read_uncommitted" in partition.entry:
        everything, committed = (partition.consumed(f"read_{what}committed") for what in ("un", ""))
        lost["aborted"] = len(everything) - len(committed)
    return {kind: count for kind, count in lost.items() if count}


CONVERTED = [
    partition
    for partition in oracle.PARTITIONS
    if "unclean" not in str(partition) and any(log.entry["size"] for log in partition.logs)
]


@oracle.each("partition", of_each_kind(CONVERTED))
def test_every_directory_of_the_brokers(partition: oracle.Partition, tmp_path: Path) -> None:
    check_conversion(partition, len(str(partition)) % 3, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("magic", [0, 1, 2])
@oracle.each("partition", CONVERTED)
def test_every_directory_of_the_brokers_in_every_magic(partition: oracle.Partition, magic: int, tmp_path: Path) -> None:
    check_conversion(partition, magic, tmp_path)


def check_conversion(partition: oracle.Partition, magic: int, tmp_path: Path) -> None:
    source = partition.write_to(tmp_path)
    copy = tmp_path / "copy" / source.name
    # kafka-python has the old lz4 of magic 0 only with one more package
    has_other_codec = magic == 0 or any(batch["codec"] == "zstd" for batch in kafka_batches(partition))
    codec = "gzip" if has_other_codec and magic < 2 else None
    manifest = recordpress.convert(source, copy, magic, compression_type=codec, allow_loss="all", threads=2)
    assert isinstance(manifest, Manifest) and manifest.complete
    assert manifest.lost == kafka_lost(partition, magic)
    assert {batch.magic for path in copy.glob("*.log") for batch in recordpress.read_batches(path.read_bytes())} <= {
        magic
    }
    assert read_by_kafka_python(copy) == kafka_rows(partition, magic)
    assert manifest.totals["records"] == len(kafka_rows(partition, magic))
    assert scan(copy).findings == verify(copy).findings == []
    assert {path.suffix for path in copy.iterdir()} >= {".log", ".index", ".timeindex", ".snapshot"}
    if magic < 2:
        assert read_leader_epochs(copy / "leader-epoch-checkpoint") == []
        assert not list(copy.glob("*.txnindex"))
    again = recordpress.convert(source, copy, magic, compression_type=codec, allow_loss="all")
    assert isinstance(again, Manifest) and again.resumed_segments == len(partition.logs)


def test_there_are_all_magics_and_kinds_of_loss() -> None:
    magics: set[int] = set()
    types: set[str] = set()
    kinds: set[str] = set()
    for partition in of_each_kind(CONVERTED):
        batches = kafka_batches(partition)
        magics |= {batch["magic"] for batch in batches}
        types |= {batch["timestamp_type"] for batch in batches if batch["magic"] == 1}
        kinds |= {*kafka_lost(partition, 0)}
    assert magics == {0, 1, 2}
    assert kinds >= {"headers", "timestamps", "producers", "transactions", "markers", "aborted", "leader_epochs"}
    assert kinds >= {"delete_horizons", "empty_batches"}
    assert types == {"CreateTime", "LogAppendTime"}


@pytest.mark.parametrize("name", ["kafka-0.10.2.2/old-lz4-0", "kafka-0.10.2.2-logappend/old-snappy-0"])
def test_there_and_back(name: str, tmp_path: Path) -> None:
    [partition] = [one for one in oracle.PARTITIONS if str(one) == name]
    source = partition.write_to(tmp_path)
    recordpress.convert(source, tmp_path / "new" / source.name, 2)
    recordpress.convert(tmp_path / "new", tmp_path / "old", 1)
    copies = [sorted((tmp_path / at / source.name).glob("*.log")) for at in (".", "new", "old")]
    digests = [[read_content(path).digest for path in paths] for paths in copies]
    assert digests[0] == digests[1] == digests[2]


# ---- what is lost


def batch(values: list[bytes], base_offset: int, **options: Any) -> bytes:
    return recordpress.write_records(values, base_offset=base_offset, **options)


def marker(commit: bool, offset: int, producer_id: int = 7) -> bytes:
    builder = recordpress.BatchBuilder(
        base_offset=offset, producer_id=producer_id, producer_epoch=0, is_control=True, is_transactional=True
    )
    builder.append_end_txn_marker(commit, 0, T)
    return builder.build()


PRODUCER = {"producer_id": 7, "producer_epoch": 0, "base_sequence": 0}
# what is in the log, and in magic 1 or 0 is lost
LOSSES: dict[str, tuple[int, bytes, dict[str, int]]] = {
    "headers": (1, batch([b"a", b"b"], 0, headers=[[("h", b"1"), ("i", None)], None]), {"headers": 2}),
    "timestamps": (0, batch([b"a", b"b", b"c"], 0, timestamps=[T, -1, 0]), {"timestamps": 2}),
    "append times": (0, batch([b"a"], 0, magic=1, timestamp_type=1, log_append_time=T), {"timestamps": 1}),
    "producers": (1, batch([b"a", b"b"], 0, **PRODUCER), {"producers": 2}),
    "committed": (
        1,
        batch([b"a"], 0, is_transactional=True, **PRODUCER) + marker(True, 1),
        {"producers": 1, "transactions": 1, "markers": 1},
    ),
    "aborted": (
        1,
        batch([b"a", b"b"], 0, is_transactional=True, **PRODUCER) + marker(False, 2) + batch([b"c"], 3),
        {"producers": 2, "transactions": 2, "markers": 1, "aborted": 2},
    ),
    "ongoing": (
        1,
        marker(False, 0) + batch([b"a", b"b", b"c"], 1, is_transactional=True, **PRODUCER),
        {"producers": 3, "transactions": 3, "markers": 1, "ongoing": 3},
    ),
    "leader_epochs": (1, batch([b"a", b"b"], 0, partition_leader_epoch=3), {"leader_epochs": 2}),
    "delete_horizons": (1, batch([b"a"], 0, timestamps=T, delete_horizon_ms=T + 5), {"delete_horizons": 1}),
    "empty_batches": (1, batch([b"a"], 0) + recordpress.empty_batch(1, 4), {"empty_batches": 1}),
}


def write_log(root: Path, data: bytes) -> Path:
    (root / "logs" / "orders-0").mkdir(parents=True)
    (root / "logs" / "orders-0" / LOG).write_bytes(data)
    return root / "logs"


@pytest.mark.parametrize("name", LOSSES)
def test_each_loss_is_refused_and_allowed(name: str, tmp_path: Path) -> None:
    magic, data, lost = LOSSES[name]
    logs = write_log(tmp_path, data)
    for kind, count in lost.items():
        others = [one for one in lost if one != kind]
        with pytest.raises(recordpress.InvalidArgumentError) as caught:
            recordpress.convert(logs, tmp_path / "copy", magic, allow_loss=others)
        assert caught.value.field == "allow_loss"
        assert f"{count} " in caught.value.message and f"({kind})" in caught.value.message
        assert not any(f"({other})" in caught.value.message for other in others)
    with pytest.raises(recordpress.InvalidArgumentError) as caught:
        recordpress.convert(logs, tmp_path / "copy", magic)
    assert all(f"({kind})" in caught.value.message for kind in lost)
    assert [path.name for path in tmp_path.iterdir()] == ["logs"]
    assert recordpress.convert(logs, tmp_path / "copy", magic, dry_run=True) == lost
    assert [path.name for path in tmp_path.iterdir()] == ["logs"]
    manifest = recordpress.convert(logs, tmp_path / "copy", magic, allow_loss=list(lost))
    assert isinstance(manifest, Manifest) and manifest.lost == lost
    before = [row for row in offsets_and_values(data) if row is not None]
    assert offsets_and_values((tmp_path / "copy" / "orders-0" / LOG).read_bytes()) == before
    assert Manifest.read(tmp_path / "copy").lost == lost


def offsets_and_values(data: bytes) -> list[tuple[int, bytes | None]]:
    return [
        (record.offset, record.value) for one in recordpress.read_batches(data) if not one.is_control for record in one
    ]


def test_record_attributes(tmp_path: Path) -> None:
    data = bytearray(batch([b"a", b"b"], 0))
    data[62] = 5  # of the first record, which Kafka writes as 0
    data[17:21] = recordpress.crc32c(bytes(data[21:])).to_bytes(4, "big")
    logs = write_log(tmp_path, bytes(data))
    with pytest.raises(recordpress.InvalidArgumentError, match=r"1 records with attributes \(record_attributes\)"):
        recordpress.convert(logs, tmp_path / "copy", 1)
    recordpress.convert(logs, tmp_path / "copy", 1, allow_loss="record_attributes")


def test_losses_of_all_segments_and_partitions_are_added(tmp_path: Path) -> None:
    logs = write_log(tmp_path, batch([b"a"], 0, partition_leader_epoch=0))
    (logs / "orders-0" / f"{5:020d}.log").write_bytes(batch([b"a"], 5, partition_leader_epoch=1))
    (logs / "orders-1").mkdir()
    (logs / "orders-1" / LOG).write_bytes(batch([b"a"], 0, partition_leader_epoch=0))
    assert recordpress.convert(logs, tmp_path / "copy", 0, dry_run=True) == {"leader_epochs": 3}


def test_transactions_end_in_later_segments(tmp_path: Path) -> None:
    logs = write_log(tmp_path, batch([b"a", b"b"], 0, is_transactional=True, **PRODUCER))
    (logs / "orders-0" / f"{2:020d}.log").write_bytes(marker(False, 2))
    lost = recordpress.convert(logs, tmp_path / "copy", 1, dry_run=True)
    assert lost == {"producers": 2, "transactions": 2, "markers": 1, "aborted": 2}


def test_a_source_that_gets_more_to_lose_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from recordpress.log.copy.convert import ConvertJob

    monkeypatch.setattr(ConvertJob, "count", lambda self, partitions: {})
    logs = write_log(tmp_path, LOSSES["headers"][1])
    for source, dst in ((logs, "copy"), (logs / "orders-0" / LOG, LOG)):
        with pytest.raises(recordpress.CorruptRecordError, match="headers: absent from the first pass"):
            recordpress.convert(source, tmp_path / dst, 1)
    assert [path.name for path in tmp_path.iterdir()] == ["logs"]


def old_message(magic: int, offset: int) -> bytes:
    timestamp = (5).to_bytes(8, "big") if magic else b""  # as the wrapper has it
    return message(magic, 0, timestamp + b"\xff\xff\xff\xff" + b"\0\0\0\1v", offset)


def old_wrapper(magic: int, last: int, *offsets: int) -> bytes:
    return wrapper(b"".join(old_message(magic, offset) for offset in offsets), last, magic)


# Offsets that MemoryRecordsBuilder refuses, and RecordsUtil.downConvert with it: they must ascend, and a batch has room
# for 2^31 of them.
REFUSED = {
    "v0, descending": (old_wrapper(0, 5, 5, 3, 4), 5),
    "v0, equal": (old_wrapper(0, 4, 3, 3, 4), 4),
    "v0, far apart": (old_wrapper(0, 1 << 33, 0, 1 << 33), 1 << 33),
    "v1, descending": (old_wrapper(1, 12, 2, 0, 1), 12),
    "v1, equal": (old_wrapper(1, 11, 0, 0, 1), 11),
    "v1, far apart": (old_wrapper(1, 1 << 34, 0, 1 << 33), 1 << 34),
}


@pytest.mark.parametrize("name", REFUSED)
def test_offsets_that_no_builder_takes_are_an_error_of_the_source(name: str, tmp_path: Path) -> None:
    first = old_wrapper(1, 0, 0)
    data, offset = REFUSED[name]
    logs = write_log(tmp_path, first + data)
    with pytest.raises(recordpress.InvalidRecordError) as caught:
        recordpress.convert(logs, tmp_path / "copy", 2, allow_loss="all")
    error = caught.value
    assert (error.file, error.position, error.offset) == (str(logs / "orders-0" / LOG), len(first), offset)
    assert "does not follow offset" in error.message or "more than 2147483647 above" in error.message
    assert [path.name for path in tmp_path.iterdir()] == ["logs"]


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_offsets_with_gaps_inside_of_a_wrapper_stay(magic: int, tmp_path: Path) -> None:
    logs = write_log(tmp_path, old_wrapper(1, 19, 0, 5, 9) + old_wrapper(1, 1 << 30, 0, 1 << 29))
    recordpress.convert(logs, tmp_path / "copy", magic, allow_loss="all")
    copied = (tmp_path / "copy" / "orders-0" / LOG).read_bytes()
    assert [offset for offset, _ in offsets_and_values(copied)] == [10, 15, 19, 1 << 29, 1 << 30]
    assert verify(tmp_path / "copy", "record").findings == []


# ---- how it is written


def test_zstd_is_refused_by_name(tmp_path: Path) -> None:
    logs = write_log(tmp_path, batch([b"a"], 0) + batch([b"b"], 1, compression_type="zstd"))
    with pytest.raises(recordpress.InvalidArgumentError, match="batches under zstd, which magic 1 does not support"):
        recordpress.convert(logs, tmp_path / "copy", 1)
    with pytest.raises(recordpress.InvalidArgumentError, match="magic 0 does not support zstd"):
        recordpress.convert(logs, tmp_path / "copy", 0, compression_type="zstd")
    assert [path.name for path in tmp_path.iterdir()] == ["logs"]
    recordpress.convert(logs, tmp_path / "copy", 1, compression_type="gzip")
    assert read_content(tmp_path / "copy" / "orders-0" / LOG).compression_types == ("gzip",)


def test_entries_of_the_magic_stay_as_they_are(tmp_path: Path) -> None:
    """A log of a broker that was told of a newer message format has both."""
    old = batch([b"a", b"b"], 0, timestamps=T, magic=1, compression_type="gzip")
    new = batch([b"c"], 2, compression_type="zstd", headers=[[("h", b"v")]], partition_leader_epoch=4, **PRODUCER)
    control = batch([b"d"], 3, is_transactional=True, **PRODUCER) + marker(False, 4)
    logs = write_log(tmp_path, old + new + control)
    manifest = recordpress.convert(logs, tmp_path / "copy", 2)
    assert isinstance(manifest, Manifest) and manifest.lost == {}
    copy = (tmp_path / "copy" / "orders-0" / LOG).read_bytes()
    assert copy.endswith(new + control)
    first = next(iter(recordpress.read_batches(copy)))
    assert (first.magic, first.compression_type, first.base_offset, first.last_offset) == (2, "gzip", 0, 1)
    [partition] = recordpress.open_log(tmp_path / "copy").partitions
    assert [(one.first_offset, one.last_offset) for one in partition.transactions()] == [(3, 4)]


def test_an_epoch_that_has_no_batch_yet_stays_in_magic_2(tmp_path: Path) -> None:
    logs = write_log(tmp_path, batch([b"a", b"b"], 0, magic=1))
    (logs / "orders-0" / "leader-epoch-checkpoint").write_text("0\n1\n5 2\n")
    for magic, epochs in ((2, [(5, 2)]), (0, [])):
        recordpress.convert(logs, tmp_path / f"copy{magic}", magic)
        copy = tmp_path / f"copy{magic}" / "orders-0"
        assert [tuple(entry) for entry in read_leader_epochs(copy / "leader-epoch-checkpoint")] == epochs


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4"])
@pytest.mark.parametrize("magic", [0, 1])
def test_gaps_of_compaction_stay(magic: int, codec: Any, tmp_path: Path) -> None:
    offsets = [5, 9, 1000, 70000]
    data = recordpress.write_records([b"v"] * 4, keys=[b"k", None, b"", b"x"], offsets=offsets, compression_type=codec)
    logs = write_log(tmp_path, data)
    manifest = recordpress.convert(logs, tmp_path / "copy", magic)
    assert isinstance(manifest, Manifest)
    copy = tmp_path / "copy" / "orders-0" / LOG
    assert [offset for offset, _ in offsets_and_values(copy.read_bytes())] == offsets
    batches = list(recordpress.read_batches(copy.read_bytes()))
    assert len(batches) == (4 if codec == "none" else 1)
    [segment] = manifest.segments
    assert segment.next_offset == 70001 and segment.digest == read_content(copy).digest
    if (magic, codec) != (0, "lz4"):  # kafka-python has the old lz4 only with one more package
        assert [row[0] for row in read_by_kafka_python(copy.parent)] == offsets


def test_what_threads_write_is_the_same(tmp_path: Path) -> None:
    data = b"".join(batch([b"line %d" % i] * 50, i * 50, compression_type="lz4", timestamps=T + i) for i in range(2000))
    logs = write_log(tmp_path, data)
    for threads in (1, 4):
        recordpress.convert(logs, tmp_path / f"copy{threads}", 1, threads=threads, compression_type="snappy")
    one, four = ((tmp_path / f"copy{threads}" / "orders-0" / LOG).read_bytes() for threads in (1, 4))
    assert one == four and len(one) > 1 << 18


def test_one_segment(tmp_path: Path) -> None:
    source = tmp_path / LOG
    source.write_bytes(LOSSES["timestamps"][1])
    with pytest.raises(recordpress.InvalidArgumentError, match="allow_loss"):
        recordpress.convert(source, tmp_path / "copy.log", 0)
    manifest = recordpress.convert(source, tmp_path / "copy.log", 0, allow_loss="timestamps")
    assert isinstance(manifest, Manifest) and manifest.lost == {"timestamps": 2}
    assert {path.name for path in tmp_path.iterdir()} == {LOG, "copy.log"}


def test_what_is_refused(tmp_path: Path) -> None:
    logs = write_log(tmp_path, batch([b"a"], 0))
    for field, options in {
        "allow_loss": {"allow_loss": "header"},
        "level": {"level": 3},
        "compression_type": {"compression_type": "brotli"},
        "magic": {"magic": 3},
    }.items():
        with pytest.raises(recordpress.InvalidArgumentError) as caught:
            recordpress.convert(logs, tmp_path / "copy", **{"magic": 1} | options)  # type: ignore[arg-type]
        assert caught.value.field == field
    with pytest.raises(recordpress.ArgumentTypeError):
        recordpress.convert(logs, tmp_path / "copy", 1, allow_loss=[1])  # type: ignore[list-item]
    recordpress.convert(logs, tmp_path / "copy", 1)
    with pytest.raises(recordpress.InvalidArgumentError, match="nothing is overwritten"):
        recordpress.convert(logs, tmp_path / "copy", 0)


def test_damage_of_the_source(tmp_path: Path) -> None:
    data = bytearray(batch([b"a"], 0, magic=1) + batch([b"b"], 1, magic=1))
    data[-1] ^= 1
    logs = write_log(tmp_path, bytes(data))
    with pytest.raises(recordpress.CorruptRecordError) as caught:
        recordpress.convert(logs, tmp_path / "copy", 2)
    assert caught.value.position == len(data) // 2 and LOG in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["logs"]


def test_the_manifest_is_what_its_schema_says(tmp_path: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    logs = write_log(tmp_path, LOSSES["aborted"][1])
    schema = json.loads((Path(__file__).parents[3] / "docs" / "manifest.schema.json").read_text())
    manifest = recordpress.convert(logs, tmp_path / "copy", 1, allow_loss="all")
    assert isinstance(manifest, Manifest)
    jsonschema.validate(json.loads(Manifest.read(tmp_path / "copy").to_json()), schema)
    assert Manifest.read(tmp_path / "copy") == manifest
