"""Codecs of the user's own in Spark: executors import what the user names, and nothing that data names."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recordpress

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")
# mapInArrow warns of pandas 3, which nothing here uses
pytestmark = [
    pytest.mark.slow,
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
]

from pyspark.errors import PySparkException

from recordpress.spark import ReadOptions, WriteOptions

DEMO_LOGS = Path(__file__).resolve().parents[2] / "demo" / "logs"
MODULE = "codecs_of_a_spark_user"
CODEC = f"{MODULE}:Bzip2"
PROVIDER = f"{MODULE}:Strict"
NAME = "com.example.bzip2"
SOURCE = f"""
import bz2, gzip

class Bzip2:
    name = "{NAME}"
    def compress(self, data):
        return bz2.compress(data)
    def decompress(self, data, max_output):
        return bz2.BZ2Decompressor().decompress(data, max_output + 1)

class Strict:
    name = "gzip:strict"
    def compress(self, data):
        return gzip.compress(data)
    def decompress(self, data, max_output):
        data = gzip.decompress(data)
        if b".css" in data:
            raise ValueError("not for me")
        return data
"""


@pytest.fixture(scope="module", autouse=True)
def module(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A module that only users of Spark's own means have: the driver and the executors import it."""
    path = tmp_path_factory.mktemp("codecs") / f"{MODULE}.py"
    path.write_text(SOURCE)
    spark.sparkContext.addPyFile(str(path))
    yield
    sys.modules.pop(MODULE, None)


@pytest.fixture(scope="module")
def log(module: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """demo/logs/sessions with the codec; control batches have none."""
    codecs = recordpress.CodecRegistry()
    codecs.load(CODEC)
    path = tmp_path_factory.mktemp("log") / "copy"
    recordpress.transcode(str(DEMO_LOGS / "sessions-*"), path, NAME, min_gain=None, codecs=codecs)
    return path


def test_the_data_source_reads_them(spark: Any, log: Path) -> None:
    frame = spark.read.format("recordpress").option("codec.plugin", f" {CODEC}, ").load(str(log))
    assert sum(len(row.value) for row in frame.select("value").collect()) > 0 and frame.count() == 3600
    headers = spark.read.format("recordpress").option("rows", "batches").load(str(log))
    assert {row.compressionType for row in headers.collect()} == {"pluggable", "none"}


def test_a_stream_reads_them(spark: Any, log: Path) -> None:
    source = spark.readStream.format("recordpress").option("includeActiveSegment", "true")
    source = source.option("codec.plugin", "codec_of_streams:Bzip2")
    query = source.load(str(log)).writeStream.format("memory").queryName("own_codec").trigger(availableNow=True).start()
    query.awaitTermination(300)
    batch = spark.read.format("recordpress").option("codec.plugin", CODEC).load(str(log))
    columns = ("topic", "partition", "offset", "hex(value)")
    streamed, read = (sorted(rows.selectExpr(*columns).collect()) for rows in (spark.table("own_codec"), batch))
    assert streamed == read and len(read) == 3600


def test_a_provider_reads_what_it_implements(spark: Any, tmp_path: Path) -> None:
    """This one refuses the records, so that the error shows who read them."""
    path = tmp_path / "copy"
    recordpress.transcode(str(DEMO_LOGS / "sessions-*"), path, "gzip", min_gain=None)
    source = spark.read.format("recordpress").option("codec.plugin", PROVIDER)
    plain, provided = source.load(str(path)), source.option("codec.read.with", "gzip:strict").load(str(path))
    with pytest.raises(PySparkException, match="not for me"):
        provided.count()
    assert plain.count() == 3600


@pytest.mark.parametrize("given", [{}, {"codec.plugin": CODEC}, {"codec.plugin": PROVIDER}])
def test_a_reader_that_is_not_loaded_is_refused(given: dict[str, str]) -> None:
    with pytest.raises(recordpress.InvalidArgumentError, match="'gzip:isal' is not a registered provider") as caught:
        ReadOptions.parse({"path": "/logs", "codec.read.with": "gzip:isal"} | given)
    assert caught.value.field == "codec.read.with"


def test_without_the_option_the_error_names_the_codec(spark: Any, log: Path) -> None:
    with pytest.raises(PySparkException, match=f"'{NAME}'"):
        spark.read.format("recordpress").load(str(log)).count()


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("no.such.module:codec", "option codec.plugin: 'no.such.module:codec' cannot be imported: ModuleNotFoundError"),
        ("json", "option codec.plugin: a codec plug-in must have the form package.module:attribute, not 'json'"),
        ("json:loads,json:dumps", "option codec.plugin: 'json:loads' cannot be imported: TypeError"),
        ("sys:path", r"option codec.plugin: a codec must be an object with the methods compress\(data\)"),
    ],
)
def test_a_wrong_option_is_refused_at_once(path: str, message: str) -> None:
    with pytest.raises(recordpress.InvalidArgumentError, match=message) as caught:
        ReadOptions.parse({"path": "/logs", "codec.plugin": path})
    assert caught.value.field == "codec.plugin"


def test_jobs_take_them(spark: Any, log: Path, tmp_path: Path) -> None:
    found = recordpress.spark.transcode(
        spark, str(DEMO_LOGS / "sessions-*"), tmp_path / "own", NAME, min_gain=None, codecs=CODEC
    )
    assert {name for row in found.collect() for name in row.compressionTypesAfter} == {NAME}
    for ours in sorted(log.glob("*/*.log")):
        assert (tmp_path / "own" / ours.relative_to(log)).read_bytes() == ours.read_bytes()
    assert recordpress.spark.compare(spark, DEMO_LOGS / "sessions-0", log / "sessions-0", codecs=[CODEC]).first().isSame
    assert recordpress.spark.verify(spark, log, "record", codecs=CODEC).count() == 0
    assert recordpress.spark.verify(spark, log, "record").count() > 0
    rows = recordpress.spark.inventory(spark, log, codecs=CODEC).collect()
    assert all([*row.codecs] == ["pluggable"] and row.codecs["pluggable"].ratio > 1 for row in rows)
    recordpress.spark.to_parquet(spark, log, tmp_path / "parquet", codecs=CODEC)
    assert spark.read.parquet(str(tmp_path / "parquet")).count() == 3600


def test_the_sink_writes_them(spark: Any, tmp_path: Path) -> None:
    """Twice: the second write continues the first one's segments."""
    frame = spark.range(1000).selectExpr("cast(id as string) as value")
    options = {
        "topic": "t",
        "partitions": "1",
        "compression.type": "pluggable",
        "pluggable.factory.plugin": NAME,
        "codec.plugin": CODEC,
    }
    for _ in range(2):
        frame.write.format("recordpress").options(**options).mode("append").save(str(tmp_path / "out"))
    codecs = recordpress.CodecRegistry()
    codecs.load(CODEC)
    log = recordpress.open_log(tmp_path / "out", codecs=codecs)
    assert sorted(int(value) for value in log.read(["value"]).to_pyarrow()["value"].to_pylist()) == sorted(
        [*range(1000)] * 2
    )
    assert {batch.compression_type for batch in log.batches()} == {"pluggable"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"compression.type": "pluggable"}, "needs the option pluggable.factory.plugin"),
        ({"compression.type": "pluggable", "pluggable.factory.plugin": "x"}, "needs the option codec.plugin"),
        ({"pluggable.factory.plugin": "x"}, "needs compression.type=pluggable"),
        ({"compression.type": "pluggable", "pluggable.factory.plugin": "x", "codec.plugin": CODEC}, "'x'"),
        (
            {"compression.type": "pluggable", "pluggable.factory.plugin": "lz4", "codec.plugin": CODEC},
            "must name a codec other than Kafka's, not lz4",
        ),
    ],
)
def test_wrong_options_of_the_sink_are_refused(options: dict[str, str], message: str) -> None:
    with pytest.raises(recordpress.InvalidArgumentError, match=message):
        WriteOptions.parse({"path": "/logs", "topic": "t", "partitions": "1"} | options)


def test_estimates_measure_them(spark: Any, log: Path) -> None:
    """And decompress what is stored with them."""
    for source in (DEMO_LOGS / "sessions-0", log / "sessions-0"):
        rows = recordpress.spark.estimate(spark, source, f"{NAME}/lz4", codecs=CODEC).collect()
        assert [row.compressionType for row in rows] == [NAME, "lz4"] and rows[0].findings == []
        assert rows[0].ratio > rows[1].ratio > 1
    with pytest.raises(recordpress.InvalidArgumentError, match=NAME):
        recordpress.spark.estimate(spark, log, NAME)


def test_a_registry_is_taken_as_well(spark: Any, log: Path, tmp_path: Path) -> None:
    codecs = recordpress.CodecRegistry()
    codecs.load(CODEC)
    back = recordpress.spark.transcode(spark, log, tmp_path / "back", "zstd", min_gain=None, codecs=codecs).collect()
    assert {name for row in back for name in row.compressionTypesBefore} == {NAME}
    assert recordpress.spark.compare(spark, DEMO_LOGS / "sessions-0", tmp_path / "back" / "sessions-0").first().isSame
    with pytest.raises(recordpress.ArgumentTypeError, match="codecs must be"):
        recordpress.spark.verify(spark, log, codecs=5)  # type: ignore[arg-type]
