"""df.write.format("kpress") to an object store, which cannot rename: the same log, and nothing besides."""

from typing import Any

import pytest

import kpress
from files.conftest import S3Server
from kpress.files import resolve

pytest.importorskip("pyspark", reason="pyspark is not installed")
pa: Any = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytestmark = pytest.mark.spark

from pyspark import cloudpickle

from kpress.log import _lease, _roll_forward, verify
from kpress.spark import KafkaLogDataSource
from kpress.spark.schema import spark_schema


def started(path: str, *tasks: int, overwrite: bool = False) -> tuple[Any, list[Any]]:
    """A job whose tasks are done: each has 300 rows of which the first byte is its number."""
    options = {"path": path, "topic": "t", "partitions": "2", "batch.size": "2000"}
    made: Any = KafkaLogDataSource(options).writer(spark_schema(["value"]), overwrite)
    writer = cloudpickle.loads(cloudpickle.dumps(made))
    rows = [pa.record_batch({"value": [b"%d %d" % (task, number) for number in range(300)]}) for task in tasks]
    return writer, [writer.write(iter([batch])) for batch in rows]


def values(path: str) -> list[bytes]:
    found = [pa.table(columns)["value"].to_pylist() for columns in kpress.open_log(path).read(["value"])]
    return sorted(value for part in found for value in part)


def expected(*tasks: int) -> list[bytes]:
    return sorted(b"%d %d" % (task, number) for task in tasks for number in range(300))


def test_a_log_in_a_store(s3: S3Server) -> None:
    path = s3.url("logs/a")
    writer, messages = started(path, 1, 2)
    assert all("/.kpress-staging/" in key for key in s3.keys("logs") if key.endswith(".log"))
    writer.write(iter([pa.record_batch({"value": [b"of an attempt that does not count"]})]))
    writer.commit(messages)
    assert values(path) == expected(1, 2)
    writer, messages = started(path, 3)
    writer.commit(messages)
    assert values(path) == expected(1, 2, 3)
    assert verify(path, "record").findings == []
    stray = [key for key in s3.keys("logs") if "/." in key]
    assert stray == []
    writer, messages = started(path, 4, overwrite=True)
    writer.commit(messages)
    assert values(path) == expected(4)
    writer, messages = started(path, 5)
    writer.abort([None, *messages])
    assert values(path) == expected(4) and not [key for key in s3.keys("logs") if "/." in key]


class Killed(BaseException):
    pass


def test_a_driver_that_died_in_the_commit(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it had decided on is finished by the next job, which is not committed if it dies before that is done."""
    path = s3.url("logs/b")
    monkeypatch.setattr(_lease, "COUNTS_FOR", 0.0)

    def killed(*arguments: Any) -> None:
        raise Killed

    for number, name in enumerate(("_join", "_sidecars", "_beside"), 1):
        writer, messages = started(path, number)
        with monkeypatch.context() as patch:
            patch.setattr(_roll_forward._Partition, name, killed)
            with pytest.raises(Killed):
                writer.commit(messages)
        writer.abort(messages)
        assert sum(key.endswith("journal.json") for key in s3.keys("logs")) == 1
    started(path, 7)[0].commit([])
    assert values(path) == expected(1)
    assert verify(path, "record").findings == []
    assert not [key for key in s3.keys("logs") if "/." in key]


def test_delete_directory(s3: S3Server) -> None:
    for url in (s3.url("logs/c"), "memory://c"):
        files, path = resolve(url)
        for name in ("x/1", "x/y/2", "z"):
            target = files.join(path, name)
            files.make_directory(files.parent(target))
            with files.create(target) as writer:
                writer.write(b"data")
                writer.publish()
        files.delete_directory(files.join(path, "x"))
        assert [info.name for info in files.list(path)] == ["z"]
        files.delete_directory(files.join(path, "x"))
