"""transcode: a log dir recompressed with another codec, all of it or nothing; digest: are two the same?"""

from pathlib import Path
from typing import Any

import pytest

import kpress
import oracle

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

import kpress.spark

STILL_VALID = {".snapshot", ".txnindex"}
NAMES = ("txn_topic-0", "headers-v2-0", "headers-v2-1")


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A log dir of three partitions with transactions, headers and several segments."""
    root = tmp_path / "logs"
    for partition in oracle.PARTITIONS:
        if partition.entry["dir"] in [f"kafka-4.3.1/{name}" for name in NAMES]:
            partition.write_to(root)
    return root


def digests(spark: Any, path: Path) -> list[tuple[Any, ...]]:
    df = spark.read.format("kpress").option("includeHeaders", True).load(str(path))
    return sorted(tuple(row) for row in kpress.spark.digest(df).collect())


def segments(path: Path) -> dict[str, bytes]:
    return {str(file.relative_to(path)): file.read_bytes() for file in sorted(path.rglob("*.log"))}


def test_every_record_is_found_again(spark: Any, logs: Path, tmp_path: Path) -> None:
    results = kpress.spark.transcode(spark, logs, tmp_path / "copy", "lz4", batch_bytes=1 << 20)
    before, after = segments(logs), segments(tmp_path / "copy")
    assert before.keys() == after.keys()
    assert digests(spark, logs) == digests(spark, tmp_path / "copy")
    assert [(row.topic, row.partition) for row in results] == [("headers-v2", 0), ("headers-v2", 1), ("txn_topic", 0)]
    for row in results:
        name = f"{row.topic}-{row.partition}/"
        assert row.bytes_before == sum(len(data) for path, data in before.items() if path.startswith(name))
        assert row.bytes_after == sum(len(data) for path, data in after.items() if path.startswith(name))
        assert row.bytes_after <= row.bytes_before
        assert row.batches_after <= row.batches_before
        assert len(row.digests) == sum(path.startswith(name) for path in before)
    assert not [path for path in tmp_path.iterdir() if path.name not in ("logs", "copy")]


def test_one_partition_gets_a_directory_with_the_name_of_one(spark: Any, logs: Path, tmp_path: Path) -> None:
    """Also where the destination has another name: what is written can be read."""
    before = segments(logs / "headers-v2-0")
    for dst, directory in (("cold", "cold/headers-v2-0"), ("renamed-7", "renamed-7")):
        [row] = kpress.spark.transcode(spark, logs / "headers-v2-0", tmp_path / dst, "gzip")
        assert (row.topic, row.partition) == ("headers-v2", 0)
        assert segments(tmp_path / directory).keys() == before.keys()
        [found] = kpress.log.list_partitions(tmp_path / dst)
        assert found.path == tmp_path / directory


def test_files_that_stay_valid_are_copied(spark: Any, logs: Path, tmp_path: Path) -> None:
    directory = logs / "txn_topic-0"
    kpress.spark.transcode(spark, directory, tmp_path / "txn_topic-0", "gzip", 1)
    copied = {path.name: path.read_bytes() for path in (tmp_path / "txn_topic-0").iterdir() if path.suffix != ".log"}
    expected = {
        path.name: path.read_bytes()
        for path in directory.iterdir()
        if path.suffix in STILL_VALID or path.name in ("leader-epoch-checkpoint", "partition.metadata")
    }
    assert copied == expected
    assert {path.suffix for path in directory.iterdir()} > {".index", ".timeindex", ".log"}


def test_the_digest_sees_one_byte(spark: Any, tmp_path: Path) -> None:
    values = [b"value %d" % i for i in range(100)]
    for name, written in (("a", values), ("b", [*values[:50], b"valuE 50", *values[51:]])):
        directory = tmp_path / name / "t-0"
        directory.mkdir(parents=True)
        (directory / "00000000000000000000.log").write_bytes(kpress.write_records(written))
    [one], [other] = digests(spark, tmp_path / "a"), digests(spark, tmp_path / "b")
    assert one[:5] == other[:5] == ("t", 0, 100, 0, 99)
    assert one[5] != other[5]


def test_the_digest_names_a_missing_column(spark: Any) -> None:
    df = spark.read.format("kpress").load(str(Path(__file__).resolve().parents[2] / "demo" / "logs"))
    with pytest.raises(kpress.InvalidArgumentError, match=r"missing: headers \(option includeHeaders=true\)"):
        kpress.spark.digest(df)


def test_a_damaged_source_leaves_nothing(spark: Any, logs: Path, tmp_path: Path) -> None:
    from pyspark.errors import PySparkException

    path = sorted((logs / "txn_topic-0").glob("*.log"))[2]
    data = bytearray(path.read_bytes())
    last = [batch.position for batch in kpress.read_batches(bytes(data))][-1]
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(PySparkException, match=rf"CorruptRecordError: stored checksum .*file {path}, byte {last + 17}"):
        kpress.spark.transcode(spark, logs, tmp_path / "copy")
    assert list(tmp_path.iterdir()) == [logs]


def test_what_follows_the_last_entry_is_reported(spark: Any, logs: Path, tmp_path: Path) -> None:
    """Of the last segment. In another one nothing may follow."""
    from pyspark.errors import PySparkException

    first, *_, last = sorted((logs / "txn_topic-0").glob("*.log"))
    with open(last, "ab") as file:
        file.write(bytes(100))
    results = kpress.spark.transcode(spark, logs, tmp_path / "copy", "gzip")
    assert {f"{row.topic}-{row.partition}": row.trailing_bytes for row in results} == {
        "headers-v2-0": 0,
        "headers-v2-1": 0,
        "txn_topic-0": 100,
    }
    assert digests(spark, logs) == digests(spark, tmp_path / "copy")
    with open(first, "ab") as file:
        file.write(bytes(100))
    with pytest.raises(PySparkException, match=f"100 zero bytes follow the last entry .*file {first}"):
        kpress.spark.transcode(spark, logs, tmp_path / "copy2")
    assert {path.name for path in tmp_path.iterdir()} == {"logs", "copy"}


def test_zstd_for_old_messages_is_refused(spark: Any, tmp_path: Path) -> None:
    from pyspark.errors import PySparkException

    old = next(found for found in oracle.PARTITIONS if str(found).startswith("kafka-0.10.2.2/"))
    old.write_to(tmp_path / "logs")
    with pytest.raises(PySparkException, match="it needs magic 2"):
        kpress.spark.transcode(spark, tmp_path / "logs", tmp_path / "copy", "zstd")
    assert [path.name for path in tmp_path.iterdir()] == ["logs"]


# ---- refused before Spark is asked for anything


def test_a_destination_that_is_there_is_refused(logs: Path, tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name in ("copy", "link", "logs"):
        with pytest.raises(kpress.InvalidArgumentError, match="exists"):
            kpress.spark.transcode(None, logs, tmp_path / name)  # type: ignore[arg-type]
    with pytest.raises(kpress.InvalidArgumentError, match="lies inside the source"):
        kpress.spark.transcode(None, logs, logs / "copy")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("brotli",), kpress.InvalidArgumentError),
        (("zstd", 99), kpress.InvalidArgumentError),
        (("zstd", None, 0), kpress.InvalidArgumentError),
        (("zstd", None, "1m"), kpress.ArgumentTypeError),
    ],
)
def test_arguments(arguments: tuple[Any, ...], error: type[Exception], logs: Path, tmp_path: Path) -> None:
    with pytest.raises(error):
        kpress.spark.transcode(None, logs, tmp_path / "copy", *arguments)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == [logs]


def test_what_is_odd_in_the_source_is_refused(logs: Path, tmp_path: Path) -> None:
    directory = logs / "headers-v2-0"
    for make in (lambda path: path.symlink_to("/etc/hostname"), Path.mkdir):
        make(directory / "x.snapshot")
        with pytest.raises(kpress.InvalidArgumentError, match=r"x\.snapshot is a"):
            kpress.spark.transcode(None, logs, tmp_path / "copy")  # type: ignore[arg-type]
        assert list(tmp_path.iterdir()) == [logs]
        (directory / "x.snapshot").unlink() if (directory / "x.snapshot").is_symlink() else None


def test_what_a_killed_job_left_is_removed(logs: Path, tmp_path: Path) -> None:
    """By the next job with that destination; what another destination's job left is none of its business."""
    for name in (f".copy.{'0' * 32}", f".copy2.{'0' * 32}"):
        (tmp_path / name / "headers-v2-0").mkdir(parents=True)
    (logs / "headers-v2-0" / "x.snapshot").mkdir()
    with pytest.raises(kpress.InvalidArgumentError, match=r"x\.snapshot is a directory"):
        kpress.spark.transcode(None, logs, tmp_path / "copy")  # type: ignore[arg-type]
    assert {path.name for path in tmp_path.iterdir()} == {"logs", f".copy2.{'0' * 32}"}
