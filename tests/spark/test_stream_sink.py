"""df.writeStream.format("recordpress"): each batch of a query is written once, whatever is killed on the way."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

import pytest

import recordpress
from together import THOROUGH

pytest.importorskip("pyspark", reason="pyspark is not installed")
pa: Any = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

import sink_faults
from pyspark import cloudpickle

import recordpress.spark
from recordpress.log import scan, verify
from recordpress.spark import KafkaLogDataSource, _stream_sink
from recordpress.spark.schema import spark_schema

TEN = 10  # records of a batch


def grow(root: Path, place: str, *bases: int) -> None:
    """Segments of ten records by their first offsets."""
    (root / place).mkdir(parents=True, exist_ok=True)
    for base in bases:
        values = [b"%s %d" % (place.encode(), offset) for offset in range(base, base + TEN)]
        keys = [b"%d" % offset for offset in range(base, base + TEN)]
        data = recordpress.write_records(values, keys=keys, base_offset=base)
        (root / place / f"{base:020}.log").write_bytes(data)


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """Three closed segments of one partition, and one of another."""
    grow(tmp_path / "logs", "t-0", 0, 10, 20, 30)
    grow(tmp_path / "logs", "t-1", 0, 10)
    return tmp_path / "logs"


class Copy:
    """A query that copies a log, from its checkpoint."""

    def __init__(self, spark: Any, logs: Path, sink: str = "recordpress") -> None:
        self.spark, self.logs, self.sink = spark, logs, sink
        self.path, self.checkpoint = logs.parent / "copy", logs.parent / "checkpoint"

    def run(self, **options: str) -> None:
        rows = self.spark.readStream.format("recordpress").load(str(self.logs))
        rows = rows.select("key", "value", "topic", "partition", "timestamp")
        query = rows.writeStream.format(self.sink).options(**options)
        query = query.option("checkpointLocation", str(self.checkpoint)).trigger(availableNow=True)
        query.start(str(self.path)).awaitTermination(300)

    def forget_commit(self) -> int:
        """As if Spark had died before it wrote the commit of the last batch to its checkpoint."""
        commits = self.checkpoint / "commits"
        last = max(int(path.name) for path in commits.glob("[0-9]*"))
        for name in (str(last), f".{last}.crc"):
            (commits / name).unlink()
        return last

    def values(self) -> dict[str, list[bytes]]:
        """Those of each partition in order. The offsets leave nothing out."""
        found = {}
        for partition in recordpress.open_log(self.path).partitions:
            columns = recordpress.open_log(self.path / str(partition)).read(["offset", "value"]).to_pyarrow()
            assert columns["offset"].to_pylist() == list(range(columns.num_rows))
            found[str(partition)] = columns["value"].to_pylist()
        return found

    def check(self, **ends: int) -> None:
        """The partitions, whose names have an underscore here, are there up to these offsets, and nothing else."""
        places = {name.replace("_", "-"): end for name, end in ends.items()}
        assert self.values() == {
            place: [b"%s %d" % (place.encode(), offset) for offset in range(end)] for place, end in places.items()
        }
        names = {path.name for path in self.path.iterdir()}
        assert names == {*places, "_SUCCESS", "_recordpress-streams.json"}
        assert scan(self.path).findings == [] and verify(self.path, "record").findings == []


# ---- without Spark


class Query:
    """What Spark does with the batches of one query."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch, overwrite: bool = False) -> None:
        self.root, self.id, self.overwrite, self.patch = root, str(uuid.uuid4()), overwrite, monkeypatch

    def writer(self) -> Any:
        given = {"path": str(self.root), "topic": "t", "partitions": "1", "checkpointlocation": "x", "queryname": "q"}
        made = KafkaLogDataSource(given).streamWriter(spark_schema(("value",)), self.overwrite)
        return cloudpickle.loads(cloudpickle.dumps(made))

    def started(self, *tasks: list[bytes]) -> list[Any]:
        """The messages of the tasks of a batch."""
        self.patch.setattr(_stream_sink, "_query_id", lambda: self.id)
        writer = self.writer()
        written = [writer.write(iter([pa.record_batch({"value": pa.array(values, pa.binary())})])) for values in tasks]
        return [cloudpickle.loads(cloudpickle.dumps(one)) for one in written]

    def run(self, number: int, *tasks: list[bytes]) -> None:
        self.writer().commit(self.started(*tasks), number)


def written(root: Path) -> list[bytes]:
    values: list[bytes] = recordpress.open_log(root).read(["value"]).to_pyarrow()["value"].to_pylist()
    return values


def test_batches_of_queries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch is written once, and none before one that was; each query has its own numbers."""
    query, other = Query(tmp_path, monkeypatch), Query(tmp_path, monkeypatch)
    query.run(0, [b"0"], [b"1"])
    query.run(0, [b"0"], [b"1"])
    query.run(3, [b"2"])
    query.run(2, [b"0"])
    other.run(0, [b"3"])
    query.run(4, [])
    query.writer().commit([], 5)
    query.run(3, [b"2"])
    assert written(tmp_path) == [b"0", b"1", b"2", b"3"]
    assert json.loads((tmp_path / "_recordpress-streams.json").read_text()) == {query.id: 3, other.id: 0}
    assert {path.name for path in tmp_path.iterdir()} == {"t-0", "_SUCCESS", "_recordpress-streams.json"}
    for text in ("[]", '{"a": "b"}', '{"a": true}', "[" * 100000):
        (tmp_path / "_recordpress-streams.json").write_text(text)
        with pytest.raises(recordpress.CorruptRecordError, match="batches by stream"):
            query.run(5, [b"5"])


def test_a_batch_replaces_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Output mode complete."""
    query = Query(tmp_path, monkeypatch, overwrite=True)
    query.run(0, [b"0"])
    query.run(1, [b"0", b"1"])
    query.run(1, [b"2"])
    assert written(tmp_path) == [b"0", b"1"]


def test_what_a_batch_left_goes_with_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark gives abort no message of a task that failed: its driver lives, and so do its other queries."""
    query, other = Query(tmp_path, monkeypatch), Query(tmp_path, monkeypatch)
    messages = query.started([b"0"], [b"0"])
    beside = other.started([b"1"])
    query.writer().abort([None, None], 0)
    assert len(list((tmp_path / ".recordpress-staging").iterdir())) == 2
    query.run(0, [b"0"])
    assert len(list((tmp_path / ".recordpress-staging").iterdir())) == 1
    with pytest.raises(recordpress.StorageError, match="is gone"):
        query.writer().commit(messages, 1)
    other.writer().commit(beside, 0)
    query.writer().abort([None, *query.started([b"2"])], 1)
    assert written(tmp_path) == [b"0", b"1"]
    assert {path.name for path in tmp_path.iterdir()} == {"t-0", "_SUCCESS", "_recordpress-streams.json"}


def test_a_task_of_no_query(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(recordpress.RecordpressError, match="Spark did not set property"):
        Query(tmp_path, monkeypatch).writer().write(iter([]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"writeId": "a"}, "option writeId is not accepted for a stream"),
        ({"partitions": "0"}, "option partitions must be a number from 1"),
        (
            {"checkpoint": "x"},
            "unknown option checkpoint .did you mean 'checkpointLocation'.*; options for writing: .*checkpointLocation",
        ),
        ({"path": ""}, "path is missing"),
    ],
)
def test_what_a_stream_does_not_take(options: dict[str, str], message: str, tmp_path: Path) -> None:
    given = {"path": str(tmp_path), "topic": "t", "partitions": "1", "checkpointLocation": "x"} | options
    with pytest.raises(recordpress.InvalidArgumentError, match=message):
        KafkaLogDataSource(given)


# ---- with Spark


def test_a_stream_is_written_once(spark: Any, logs: Path) -> None:
    """Also a batch that was committed to the log but not to the checkpoint; recordpress and Spark read the same."""
    copy = Copy(spark, logs)
    copy.run()
    copy.check(t_0=30, t_1=10)
    last = copy.forget_commit()
    grow(logs, "t-0", 40)
    grow(logs, "t-1", 20, 30)
    copy.run(**{"compression.type": "lz4", "batch.size": "1000"})
    copy.check(t_0=40, t_1=30)
    [(query, batch)] = json.loads((copy.path / "_recordpress-streams.json").read_text()).items()
    assert query == json.loads((copy.checkpoint / "metadata").read_text())["id"] and batch > last
    rows = spark.read.format("recordpress").load(str(copy.path)).select("topic", "partition", "offset").collect()
    assert sorted(map(tuple, rows)) == [("t", number, o) for number, end in ((0, 40), (1, 30)) for o in range(end)]


def test_a_wrong_option_is_told_when_the_query_is_started(spark: Any, logs: Path) -> None:
    with pytest.raises(Exception, match="option partitions must be a number from 1"):
        Copy(spark, logs).run(partitions="0")
    assert not (logs.parent / "copy").exists()


@pytest.mark.skipif(not THOROUGH, reason="takes long: make full")
@pytest.mark.parametrize("point", sink_faults.POINTS)
def test_a_stream_that_is_killed(point: str, spark: Any, logs: Path) -> None:
    """SIGKILL of a task is Spark's to repeat; of what commits a batch the query ends, and is started again."""
    spark.dataSource.register(sink_faults.FaultySource)
    copy = Copy(spark, logs, "recordpressfaulty")
    copy.run()
    grow(logs, "t-0", 40)
    grow(logs, "t-1", 20)
    (logs.parent / "fault").write_text(point)
    try:
        copy.run()
    except Exception:
        assert point in sink_faults.IN_COMMIT
    else:
        assert point in sink_faults.IN_TASKS
    assert not (logs.parent / "fault").exists()
    grow(logs, "t-1", 30)
    copy.run()
    copy.check(t_0=40, t_1=30)


@pytest.mark.parametrize("point", sink_faults.POINTS if THOROUGH else ["last file", "second partition"])
def test_a_write_that_is_killed(point: str, spark: Any, logs: Path) -> None:
    """The same of a batch write, which is run again by its id."""
    spark.dataSource.register(sink_faults.FaultySource)
    rows = spark.createDataFrame([(f"{n}", n % 2) for n in range(20)], "value string, partition int").repartition(2)
    path = logs.parent / "copy"

    def write(name: str) -> None:
        how = {"topic": "t", "writeId": name, "compression.type": "none"}
        rows.write.format("recordpressfaulty").mode("append").options(**how).save(str(path))

    write("before")
    (logs.parent / "fault").write_text(point)
    try:
        write("killed")
    except Exception:
        assert point in sink_faults.IN_COMMIT
    else:
        assert point in sink_faults.IN_TASKS
    assert not (logs.parent / "fault").exists()
    write("killed")
    found = Copy(spark, logs).values()
    expected = {f"t-{number}": 2 * [b"%d" % n for n in range(number, 20, 2)] for number in range(2)}
    assert {place: sorted(values) for place, values in found.items()} == {k: sorted(v) for k, v in expected.items()}
    assert {one.name for one in path.iterdir()} == {"t-0", "t-1", "_SUCCESS", "_recordpress-writes.json"}
    assert scan(path).findings == [] and verify(path, "record").findings == []
