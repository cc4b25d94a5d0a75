"""The options that say where an S3 is and who asks it: as Hadoop's S3A connector has them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import recordpress
from files.conftest import S3Server, s3, s3_server  # noqa: F401

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

from pyspark import cloudpickle

from recordpress.spark import KafkaLogDataSource, ReadOptions, WriteOptions

SESSIONS = Path("demo/logs/sessions-0")
KEYS = {"fs.s3a.access.key": "AKIDOFOPTIONS", "fs.s3a.secret.key": "secret of options"}


@pytest.fixture
def given(s3: S3Server) -> dict[str, str]:  # noqa: F811
    for path in SESSIONS.iterdir():
        s3.put(f"logs/kafka logs/sessions-0/{path.name}", path.read_bytes())
    s3.requests.clear()
    s3.askers.clear()
    return KEYS | {"fs.s3a.endpoint": s3.endpoint, "fs.s3a.endpoint.region": "us-east-1"}


def askers(server: S3Server) -> set[str]:
    return {asker.partition("Credential=")[2].partition("/")[0] for asker in server.askers}


@pytest.mark.parametrize("scheme", ["s3", "s3a"])
def test_a_query(scheme: str, spark: Any, s3: S3Server, given: dict[str, str]) -> None:  # noqa: F811
    """The driver and the workers ask with the options' key, whatever the environment has."""
    frame = spark.read.format("recordpress").options(**given)
    assert frame.load(f"{scheme}://logs/kafka logs/sessions-*").count() == recordpress.open_log(SESSIONS).count()
    assert s3.asked("GET") and askers(s3) == {"AKIDOFOPTIONS"}


def test_a_stream(s3: S3Server, given: dict[str, str]) -> None:  # noqa: F811
    source = KafkaLogDataSource({"path": "s3://logs/kafka%20logs"} | given)
    reader = cloudpickle.loads(cloudpickle.dumps(source.streamReader(source.schema())))
    start = reader.initialOffset()
    end = reader.latestOffset(start) if not hasattr(reader, "getDefaultReadLimit") else reader.reportLatestOffset()
    rows = [batch for task in reader.partitions(start, end) for batch in reader.read(task)]
    assert start == {"sessions": {"0": 0}} and rows
    assert askers(s3) == {"AKIDOFOPTIONS"}


def test_a_write_and_its_findings(spark: Any, s3: S3Server, given: dict[str, str]) -> None:  # noqa: F811
    rows = spark.range(0, 300, 1, 2).selectExpr("CAST(id AS STRING) AS value")
    write = rows.write.format("recordpress").mode("append").options(topic="t", partitions="1", **given)
    write.save("s3://logs/written")
    key = next(key for key in s3.keys("logs") if key.endswith(".log") and key.startswith("written/"))
    s3.put(f"logs/{key}", s3.get(f"logs/{key}")[:-5])
    asked = {"mode": "PERMISSIVE"}
    read = spark.read.format("recordpress").options(**given, **asked).load("s3://logs/written")
    reported = read.where("_corrupt_record IS NOT NULL").count()
    assert reported == 1 and read.count() < 301
    assert askers(s3) == {"AKIDOFOPTIONS", "key"}  # the second is this test
    left = [key for key in s3.keys("logs") if key.startswith("written/")]
    assert not [key for key in left if key.rpartition("/")[2].startswith(".")]


@pytest.mark.parametrize(
    ("path", "options", "message"),
    [
        ("/logs", KEYS, r"option fs\.s3a\.access\.key needs paths in s3://, not /logs"),
        ("gs://logs", {"fs.s3a.endpoint": "localhost:9000"}, r"fs\.s3a\.endpoint needs paths in s3://, not gs://logs"),
        ("s3://logs?region=eu", KEYS, "the path and the option fs.s3a.access.key both describe the store"),
        ("s3://key:secret@logs/a", KEYS, "both describe the store"),
        ("s3://logs", {"fs.s3a.access.key": "k"}, "fs.s3a.access.key needs the option fs.s3a.secret.key"),
        ("s3://logs", {"fs.s3a.secret.key": "k"}, "fs.s3a.secret.key needs the option fs.s3a.access.key"),
        ("s3://logs", {"fs.s3a.session.token": "k"}, "fs.s3a.session.token needs the option fs.s3a.access.key"),
        (
            "s3://logs",
            {"fs.s3a.key": "k"},
            "unknown option fs.s3a.key .did you mean 'fs.s3a.secret.key'.*; must be one of path",
        ),
    ],
)
def test_options_that_are_not_accepted(path: str, options: dict[str, str], message: str) -> None:
    for parse, rest in ((ReadOptions.parse, {}), (WriteOptions.parse, {"topic": "t", "partitions": "1"})):
        with pytest.raises(recordpress.InvalidArgumentError, match=message) as caught:
            parse({"path": path} | options | rest)
        assert caught.value.field in options


def test_a_repr_shows_no_secret() -> None:
    options = ReadOptions.parse({"path": "s3://logs", "fs.s3a.session.token": "token of options"} | KEYS)
    shown = repr(options) + str(options)
    assert "Store(" in shown and "OPTIONS" not in shown and "of options" not in shown
