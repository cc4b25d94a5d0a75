"""Jobs by reference: what one process finds, all executors find; and a copy is there as a whole or not at all."""

import os
from pathlib import Path
from typing import Any

import pytest

import oracle
import recordpress

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

from spark_processes import writer_killed

import recordpress.spark
from recordpress.log import Share
from recordpress.spark._run import run

STILL_VALID = {".snapshot", ".txnindex"}
MADE_AGAIN = {".index", ".timeindex"}
NAMES = ("txn_topic-0", "headers-v2-0", "headers-v2-1")


T = 1_700_000_000_000


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A log dir of three partitions with transactions, headers and several segments."""
    root = tmp_path / "logs"
    for partition in oracle.PARTITIONS:
        if partition.entry["dir"] in [f"kafka-4.3.1/{name}" for name in NAMES]:
            partition.write_to(root)
    return root


def segments(path: Path) -> dict[str, bytes]:
    return {str(file.relative_to(path)): file.read_bytes() for file in sorted(path.rglob("*.log"))}


def differing(spark: Any, left: Path, right: Path) -> list[tuple[Any, ...]]:
    return [tuple(row)[:6] for row in recordpress.spark.compare(spark, left, right).where("NOT isSame").collect()]


# ---- transcode, compare


def test_every_record_is_found_again(spark: Any, logs: Path, tmp_path: Path) -> None:
    results = recordpress.spark.transcode(spark, logs, tmp_path / "copy", "lz4", batch_bytes=1 << 20).collect()
    before, after = segments(logs), segments(tmp_path / "copy")
    assert before.keys() == after.keys()
    assert recordpress.spark.compare(spark, logs, tmp_path / "copy").count() == 3
    assert differing(spark, logs, tmp_path / "copy") == []
    assert [(row.topic, row.partition) for row in results] == [("headers-v2", 0), ("headers-v2", 1), ("txn_topic", 0)]
    for row in results:
        name = f"{row.topic}-{row.partition}/"
        assert row.bytesBefore == sum(len(data) for path, data in before.items() if path.startswith(name))
        assert row.bytesAfter == sum(len(data) for path, data in after.items() if path.startswith(name))
        assert row.bytesAfter <= row.bytesBefore
        assert row.batchesAfter <= row.batchesBefore
        assert len(row.digests) == row.segments == sum(path.startswith(name) for path in before)
    assert {path.name for path in tmp_path.iterdir()} == {"logs", "copy"}
    assert {path.name for path in (tmp_path / "copy").iterdir()} == {*NAMES, "recordpress-manifest.jsonl", "_SUCCESS"}
    assert recordpress.log.verify(tmp_path / "copy", "record").findings == []


def test_it_is_the_copy_of_one_process(spark: Any, logs: Path, tmp_path: Path) -> None:
    """Byte for byte, indexes and manifest included; the second job finds it done."""
    recordpress.spark.transcode(spark, logs, tmp_path / "copy", "gzip", level=1)
    recordpress.transcode(logs, tmp_path / "other", "gzip", level=1)
    files = [
        {
            str(path.relative_to(root)): path.read_bytes()
            for path in root.rglob("*")
            if path.is_file() and path.name != "_SUCCESS"
        }
        for root in (tmp_path / "copy", tmp_path / "other")
    ]
    assert files[0] == files[1]
    assert {path.suffix for path in (tmp_path / "copy" / "txn_topic-0").iterdir()} >= STILL_VALID | MADE_AGAIN
    again = recordpress.spark.transcode(spark, logs, tmp_path / "copy", "gzip", level=1).collect()
    assert len(again) == 3
    with pytest.raises(recordpress.InvalidArgumentError, match="other options"):
        recordpress.spark.transcode(spark, logs, tmp_path / "copy", "lz4")


def test_one_large_segment_is_done_in_parts(spark: Any, tmp_path: Path) -> None:
    """Of 16 MiB here, by two tasks at a time, and the result is that of one process."""
    directory = tmp_path / "logs" / "t-0"
    directory.mkdir(parents=True)
    values = [os.urandom(1000) for _ in range(1000)]
    producers = [{"producer_id": 7, "producer_epoch": 0, "base_sequence": 1000 * number} for number in range(18)]
    batches = [
        recordpress.write_records(values, base_offset=1000 * number, **more)
        for number, more in enumerate([*producers, *[{}] * 18])
    ]
    (directory / f"{0:020d}.log").write_bytes(b"".join(batches))
    joined: dict[str, Any] = {"batch_bytes": 1 << 21, "max_message_bytes": 1 << 21, "min_gain": None}
    jobs = spark.sparkContext.statusTracker()
    spark.sparkContext.setJobGroup("parts", "")
    recordpress.spark.transcode(spark, tmp_path / "logs", tmp_path / "copy", "lz4", **joined)
    stages = [
        jobs.getStageInfo(stage) for job in jobs.getJobIdsForGroup("parts") for stage in jobs.getJobInfo(job).stageIds
    ]
    spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)
    assert max(stage.numTasks for stage in stages if stage) == 3
    recordpress.transcode(tmp_path / "logs", tmp_path / "other", "lz4", **joined)
    assert 18 < len(list(recordpress.open_log(tmp_path / "copy").batches())) < 25
    for path in (tmp_path / "other").rglob("*.*"):
        assert (tmp_path / "copy" / path.relative_to(tmp_path / "other")).read_bytes() == path.read_bytes()
    assert not list(tmp_path.rglob(".*"))


def test_producers_that_expired_are_joined(spark: Any, tmp_path: Path) -> None:
    """By the headers of all segments, which executors read; the copy is that of one process."""
    directory = tmp_path / "logs" / "t-0"
    directory.mkdir(parents=True)
    for start in range(0, 900, 300):
        data = [
            recordpress.write_records(
                [b"value"] * 10, timestamps=T, base_offset=at, producer_id=7, producer_epoch=0, base_sequence=at
            )
            for at in range(start, start + 300, 10)
        ]
        (directory / f"{start:020d}.log").write_bytes(b"".join(data))
    for now_ms, producers, batches in (
        (T + 999, "keep", [300, 300, 250, *[10] * 5]),
        (T + 1000, "keep", [300] * 3),
        (T + 998, "settle", [300, 300, 250, *[10] * 5]),
    ):
        joined: dict[str, Any] = {"batch_records": 1000, "now_ms": now_ms, "producer_id_expiration_ms": 1000}
        joined["producers"] = producers
        recordpress.spark.transcode(spark, tmp_path / "logs", tmp_path / f"copy-{now_ms}", "lz4", **joined).collect()
        recordpress.transcode(tmp_path / "logs", tmp_path / f"other-{now_ms}", "lz4", **joined)
        assert [b.header.records_count for b in recordpress.open_log(tmp_path / f"copy-{now_ms}").batches()] == batches
        for path in (tmp_path / f"other-{now_ms}").rglob("*.*"):
            copy = tmp_path / f"copy-{now_ms}" / path.relative_to(tmp_path / f"other-{now_ms}")
            assert copy.read_bytes() == path.read_bytes()


def test_an_estimate_writes_nothing(spark: Any, logs: Path, tmp_path: Path) -> None:
    [row] = recordpress.spark.transcode(spark, logs, tmp_path / "copy", "zstd", dry_run=True).collect()
    expected = recordpress.transcode(logs, tmp_path / "copy", "zstd", dry_run=True)
    assert (row.bytesBefore, row.bytesAfter, row.segments) == (
        expected.bytes_before,  # type: ignore[union-attr]
        expected.bytes_after,  # type: ignore[union-attr]
        expected.segments,  # type: ignore[union-attr]
    )
    assert list(tmp_path.iterdir()) == [logs]


def test_one_partition_gets_a_directory_with_the_name_of_one(spark: Any, logs: Path, tmp_path: Path) -> None:
    """Also where the destination has another name: what is written can be read."""
    before = segments(logs / "headers-v2-0")
    for dst, directory in (("cold", "cold/headers-v2-0"), ("renamed-7", "renamed-7")):
        [row] = recordpress.spark.transcode(spark, logs / "headers-v2-0", tmp_path / dst, "gzip").collect()
        assert (row.topic, row.partition) == ("headers-v2", 0)
        assert segments(tmp_path / directory).keys() == before.keys()
        [found] = recordpress.open_log(tmp_path / dst).partitions
        assert found.url == str(tmp_path / directory)


def test_a_worker_that_is_killed_changes_nothing(spark: Any, tmp_path: Path) -> None:
    """SIGKILL while it writes: the task is tried again, and its unfinished file is gone."""
    directory = tmp_path / "logs" / "t-0"
    directory.mkdir(parents=True)
    values = [os.urandom(40).hex().encode() * 4 for _ in range(100)]
    batches = [recordpress.write_records(values, base_offset=100 * number) for number in range(300)]
    for first in (0, 150):
        (directory / f"{100 * first:020d}.log").write_bytes(b"".join(batches[first : first + 150]))
    with writer_killed(f"{tmp_path}/.copy.unfinished/"):
        recordpress.spark.transcode(spark, tmp_path / "logs", tmp_path / "copy", "zstd", level=19)
    assert differing(spark, tmp_path / "logs", tmp_path / "copy") == []
    assert {path.name for path in tmp_path.iterdir()} == {"logs", "copy"}
    assert not list((tmp_path / "copy").rglob(".*"))


def test_a_difference_is_found(spark: Any, tmp_path: Path) -> None:
    """Also where the segments are others; and a partition that only one has."""
    values = [b"value %d" % number for number in range(100)]
    for name, written in (("a", values), ("b", [*values[:50], b"valuE 50", *values[51:]])):
        for partition in (0, 1):
            path = tmp_path / name / f"t-{partition}"
            path.mkdir(parents=True)
            (path / f"{0:020d}.log").write_bytes(recordpress.write_records(written[:50]))
            given = written[50:] if partition == 0 else values[50:]
            (path / f"{50:020d}.log").write_bytes(recordpress.write_records(given, base_offset=50))
    assert differing(spark, tmp_path / "a", tmp_path / "b") == [("t", 0, False, 100, 100, 50)]
    other = tmp_path / "a" / "t-1"
    data = b"".join(path.read_bytes() for path in sorted(other.iterdir()))
    for path in other.iterdir():
        path.unlink()
    (other / f"{0:020d}.log").write_bytes(data)
    (tmp_path / "a" / "t-0").rename(tmp_path / "a" / "t-2")
    assert differing(spark, tmp_path / "a", tmp_path / "b") == [
        ("t", 0, False, None, 100, None),
        ("t", 2, False, 100, None, None),
    ]


def test_a_damaged_source_leaves_nothing(spark: Any, logs: Path, tmp_path: Path) -> None:
    path = sorted((logs / "txn_topic-0").glob("*.log"))[2]
    data = bytearray(path.read_bytes())
    last = [batch.position for batch in recordpress.read_batches(bytes(data))][-1]
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(recordpress.CorruptRecordError, match=rf"^stored checksum .*file {path}, byte {last}"):
        recordpress.spark.transcode(spark, logs, tmp_path / "copy")
    assert list(tmp_path.iterdir()) == [logs]
    [row] = recordpress.spark.verify(spark, logs).collect()
    assert (row.topic, row.partition, row.file, row.position, row.rule) == ("txn_topic", 0, str(path), last, "checksum")


def test_a_damaged_segment_is_put_aside(spark: Any, logs: Path, tmp_path: Path) -> None:
    """If that is asked for: the rest is copied, and the result says what is missing."""
    path = sorted((logs / "txn_topic-0").glob("*.log"))[2]
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    rows = recordpress.spark.transcode(spark, logs, tmp_path / "copy", on_corrupt="quarantine").collect()
    assert [len(row.quarantined) for row in rows] == [0, 0, 1]
    [name] = rows[2].quarantined
    assert (tmp_path / "copy" / name).read_bytes() == bytes(data)
    assert name == f"txn_topic-0/{path.name}.quarantined"
    assert "stored checksum" in rows[2].findings[0]
    assert rows[2].segments == len(list((logs / "txn_topic-0").glob("*.log"))) - 1
    left, right = (segments(root) for root in (logs, tmp_path / "copy"))
    assert left.keys() - right.keys() == {f"txn_topic-0/{path.name}"}


def test_manifests_are_compared_without_reading(spark: Any, logs: Path, tmp_path: Path) -> None:
    """As long as the files are those that they list; and the answer is that of all records."""
    for name, codec in (("a", "zstd"), ("b", "gzip")):
        recordpress.transcode(logs, tmp_path / name, codec)
    left, right = tmp_path / "a", tmp_path / "b"
    rows = recordpress.spark.compare(spark, left, right).collect()
    assert [row.byManifest for row in rows] == [True, True, True]
    read = recordpress.spark.compare(spark, left, right, by="records").collect()
    assert [row[:6] for row in rows] == [row[:6] for row in read]
    assert [row.byManifest for row in read] == [False, False, False]
    with open(max((left / "txn_topic-0").glob("*.log")), "ab") as file:  # a broker went on
        file.write(recordpress.write_records([b"more"], base_offset=1000))
    manifest = (right / "recordpress-manifest.jsonl").read_text()
    digest = next(recordpress.log.Manifest.read(right).segments).digest
    (right / "recordpress-manifest.jsonl").write_text(manifest.replace(digest, "0" * 32))
    found = {(row.topic, row.partition): row for row in recordpress.spark.compare(spark, left, right).collect()}
    txn, first = found["txn_topic", 0], found["headers-v2", 0]
    assert (txn.isSame, txn.byManifest, txn.recordsLeft - txn.recordsRight) == (False, False, 1)
    assert (first.isSame, first.byManifest) == (False, True)  # nothing was read
    assert recordpress.spark.compare(spark, [left], right).where("byManifest").count() == 0
    with pytest.raises(recordpress.InvalidArgumentError, match="by must be one of manifests, records"):
        recordpress.spark.compare(None, left, right, by="size")  # type: ignore[arg-type]


def test_damage_is_compared_if_asked(spark: Any, logs: Path, tmp_path: Path) -> None:
    """Its partition differs, and says why; the others are compared."""
    recordpress.transcode(logs, tmp_path / "copy", "zstd")
    path = min((logs / "txn_topic-0").glob("*.log"))
    data = bytearray(path.read_bytes())
    data[40] ^= 1
    path.write_bytes(data)
    with pytest.raises(recordpress.CorruptRecordError, match=r"^stored checksum"):
        recordpress.spark.compare(spark, logs, tmp_path / "copy")
    rows = recordpress.spark.compare(spark, logs, tmp_path / "copy", on_corrupt="skip").collect()
    assert [(row.topic, row.isSame, len(row.findings)) for row in rows] == [
        ("headers-v2", True, 0),
        ("headers-v2", True, 0),
        ("txn_topic", False, 1),
    ]
    assert str(path) in rows[2].findings[0] and "stored checksum" in rows[2].findings[0]
    assert (rows[2].recordsLeft, rows[2].recordsRight > 0) == (None, True)
    both = recordpress.spark.compare(spark, logs, logs, on_corrupt="skip").collect()
    assert [(row.isSame, len(row.findings)) for row in both] == [(True, 0), (True, 0), (False, 2)]
    with pytest.raises(recordpress.InvalidArgumentError, match="on_corrupt must be one of raise, skip"):
        recordpress.spark.compare(None, logs, logs, on_corrupt="quarantine")  # type: ignore[arg-type]


def test_what_overlaps_is_compared_once(spark: Any, tmp_path: Path) -> None:
    """A segment that reaches beyond three others holds the same records as one that holds all."""
    left, right = tmp_path / "left" / "t-0", tmp_path / "right" / "t-0"
    for directory, ranges in ((left, ((0, 100), (10, 20), (20, 30), (30, 120))), (right, ((0, 120),))):
        directory.mkdir(parents=True)
        for first, end in ranges:
            data = recordpress.write_records([b"%d" % at for at in range(first, end)], base_offset=first)
            (directory / f"{first:020d}.log").write_bytes(data)
    for other in (left, right):
        [row] = recordpress.spark.compare(spark, left.parent, other.parent).collect()
        assert (row.isSame, row.recordsLeft, row.recordsRight) == (True, 120, 120)


def test_what_follows_the_last_entry_is_reported(spark: Any, logs: Path, tmp_path: Path) -> None:
    last = max((logs / "txn_topic-0").glob("*.log"))
    with open(last, "ab") as file:
        file.write(bytes(100))
    results = recordpress.spark.transcode(spark, logs, tmp_path / "copy", "gzip").collect()
    assert [row.trailingBytes for row in results] == [0, 0, 100]
    assert differing(spark, logs, tmp_path / "copy") == []


# ---- inventory, verify


def test_an_inventory_has_what_statistics_have(spark: Any, logs: Path) -> None:
    found = {(row.topic, row.partition): row for row in recordpress.spark.inventory(spark, logs).collect()}
    for partition in recordpress.open_log(logs).partitions:
        stats, row = recordpress.log.stats_of(partition), found[partition.topic, partition.partition]
        assert (row.segments, row.bytes, row.batches, row.records) == (
            stats.segments,
            stats.size,
            stats.seen.batches,
            stats.seen.records,
        )
        codecs = {name: Share(share.batches, share.bytes, share.records) for name, share in row.codecs.items()}
        assert codecs == stats.codecs
        assert {name: share.ratio for name, share in row.codecs.items()} == {
            name: stats.ratio(name) for name in stats.codecs
        }
        assert {depth: share.batches for depth, share in row.depths.items()} == {
            depth: share.batches for depth, share in stats.depths.items()
        }
        assert row.controlBatches == stats.control.batches
    assert len(found) == 3
    full = recordpress.spark.inventory(spark, [logs / "txn_topic-0", logs / "headers-v2-*"], full=True)
    assert sorted(full.select("topic", "partition", "batches").collect()) == sorted(
        (row.topic, row.partition, row.batches) for row in found.values()
    )


@pytest.mark.parametrize("check", ["file", "batch", "record"])
def test_findings_are_those_of_one_process(check: Any, spark: Any, logs: Path) -> None:
    first, second, *_ = sorted((logs / "txn_topic-0").glob("*.log"))
    (logs / "headers-v2-0" / f"{0:020d}.index").write_bytes(b"odd")
    (logs / "headers-v2-1" / "leader-epoch-checkpoint").write_text("nonsense")
    (logs / "txn_topic-0" / second.name).write_bytes(first.read_bytes())
    expected = [finding.to_dict() for finding in recordpress.log.verify(logs, check).findings]
    rows = recordpress.spark.verify(spark, logs, check).drop("topic", "partition").collect()
    assert sorted(map(str, (row.asDict() for row in rows))) == sorted(map(str, expected))
    assert expected


# ---- refused before Spark is asked for anything


def test_a_destination_that_is_there_is_refused(logs: Path, tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name in ("copy", "logs"):
        with pytest.raises(recordpress.InvalidArgumentError, match=r"exists|lies inside"):
            recordpress.spark.transcode(None, logs, tmp_path / name)  # type: ignore[arg-type]
    with pytest.raises(recordpress.InvalidArgumentError, match="lies inside the source"):
        recordpress.spark.transcode(None, logs, logs / "copy")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"compression_type": "brotli"}, recordpress.InvalidArgumentError),
        ({"level": 99}, recordpress.InvalidArgumentError),
        ({"batch_bytes": 0}, recordpress.InvalidArgumentError),
        ({"batch_bytes": "1m"}, recordpress.ArgumentTypeError),
        ({"on_corrupt": "skip"}, recordpress.InvalidArgumentError),
        ({"on_corrupt": "quarantine", "producers": "settle", "batch_bytes": 9999}, recordpress.InvalidArgumentError),
    ],
)
def test_arguments(arguments: dict[str, Any], error: type[Exception], logs: Path, tmp_path: Path) -> None:
    with pytest.raises(error):
        recordpress.spark.transcode(None, logs, tmp_path / "copy", **arguments)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == [logs]
    with pytest.raises(recordpress.InvalidArgumentError, match="check must be one of file, batch, record"):
        recordpress.spark.verify(None, logs, "deep")  # type: ignore[arg-type]


# ---- to_parquet


def test_parquet_has_every_record(spark: Any, logs: Path, tmp_path: Path) -> None:
    """Topic and partition are directories; statistics tell which row groups have an offset."""
    with open(max((logs / "headers-v2-0").glob("*.log")), "ab") as file:
        file.write(bytes(100))
    parquet = pytest.importorskip("pyarrow.parquet")
    files = recordpress.spark.to_parquet(spark, logs, tmp_path / "parquet", isolation_level="read_committed").collect()
    found = spark.read.parquet(str(tmp_path / "parquet"))
    options = {"includeHeaders": "true", "isolation.level": "read_committed"}
    expected = spark.read.format("recordpress").options(**options).load(str(logs))
    names = ["topic", "partition", "offset", "timestamp", "timestampType", "key", "value", "headers"]
    assert sorted(map(str, found.select(names).collect())) == sorted(map(str, expected.select(names).collect()))
    assert found.count() == sum(row.records for row in files)
    [tail] = [finding for row in files for finding in row.findings]
    assert "100 zero bytes" in tail
    for row in files:
        path = tmp_path / "parquet" / row.file
        assert path.stat().st_size == row.bytes
        metadata = parquet.read_metadata(path)
        groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
        statistics = {
            group.column(at).path_in_schema: group.column(at).statistics
            for group in groups
            for at in range(group.num_columns)
            if group.column(at).is_stats_set
        }
        assert statistics.keys() == {"offset", "timestamp"}
        assert (statistics["offset"].min, statistics["offset"].max) == (row.firstOffset, row.lastOffset)
    assert {path.name for path in tmp_path.iterdir()} == {"logs", "parquet"}
    with pytest.raises(recordpress.InvalidArgumentError, match="exists"):
        recordpress.spark.to_parquet(spark, logs, tmp_path / "parquet")


def test_parquet_of_a_damaged_log_is_not_there(spark: Any, logs: Path, tmp_path: Path) -> None:
    path = sorted((logs / "txn_topic-0").glob("*.log"))[2]
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(recordpress.CorruptRecordError, match=r"^stored checksum"):
        recordpress.spark.to_parquet(spark, logs, tmp_path / "parquet", columns=["value"])
    assert list(tmp_path.iterdir()) == [logs]


def test_parquet_without_what_is_damaged(spark: Any, logs: Path, tmp_path: Path) -> None:
    """If that is asked for: the batch is reported, and all others are there."""
    path = sorted((logs / "headers-v2-0").glob("*.log"))[0]
    data = bytearray(path.read_bytes())
    lost = [batch.records_count for batch in recordpress.read_batches(bytes(data))][-1]
    data[-1] ^= 1
    path.write_bytes(data)
    rows = recordpress.spark.to_parquet(spark, logs, tmp_path / "parquet", on_corrupt="skip").collect()
    [finding] = [finding for row in rows for finding in row.findings]
    assert str(path) in finding
    assert "stored checksum" in finding
    expected = spark.read.format("recordpress").option("mode", "DROPMALFORMED").load(str(logs)).count()
    assert spark.read.parquet(str(tmp_path / "parquet")).count() == expected
    assert lost > 0


def test_a_plan_of_parquet_writes_nothing(spark: Any, logs: Path, tmp_path: Path) -> None:
    planned = recordpress.spark.to_parquet(spark, logs, tmp_path / "parquet", dry_run=True).collect()
    assert list(tmp_path.iterdir()) == [logs]
    done = recordpress.spark.to_parquet(spark, logs, tmp_path / "parquet").collect()
    assert {row.file for row in done} == {row.file for row in planned}
    assert sum(row.sourceBytes for row in planned) == sum(map(len, segments(logs).values()))
    with pytest.raises(recordpress.InvalidArgumentError, match="exists"):
        recordpress.spark.to_parquet(spark, logs, tmp_path / "parquet", dry_run=True)


# ---- the description of a job in Spark's UI


def test_jobs_have_a_description(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    context, seen = spark.sparkContext, []
    context.setLocalProperty("spark.job.description", None)  # other tests of the session may have left one
    monkeypatch.setattr(type(context), "setJobDescription", lambda self, text: seen.append(text))
    assert run(spark, "waiting", len, ["a", "bc"]) == [1, 2]
    assert seen == ["recordpress: waiting, 2 tasks"]
    context.setLocalProperty("spark.job.description", "the caller's")
    run(spark, "waiting", len, ["a"])
    assert seen == ["recordpress: waiting, 2 tasks"]
    assert context.getLocalProperty("spark.job.description") == "the caller's"
    context.setLocalProperty("spark.job.description", None)


@pytest.mark.parametrize("columns", [["topic"], [], ["value", "value"]])
def test_parquet_of_other_columns_is_refused(columns: list[str], logs: Path, tmp_path: Path) -> None:
    with pytest.raises(recordpress.InvalidArgumentError):
        recordpress.spark.to_parquet(None, logs, tmp_path / "parquet", columns=columns)  # type: ignore[arg-type]
    for option in ("compression", "isolation_level", "on_corrupt"):
        with pytest.raises(recordpress.InvalidArgumentError, match=f"{option} must be one of"):
            recordpress.spark.to_parquet(None, logs, tmp_path / "parquet", **{option: "x"})  # type: ignore[arg-type]
