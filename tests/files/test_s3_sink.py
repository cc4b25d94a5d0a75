"""df.write.format("recordpress") to an object store, which cannot rename: the same log, and nothing besides."""

from contextlib import suppress
from typing import Any

import pytest

import recordpress
from files.conftest import S3Server
from recordpress.files import resolve

pytest.importorskip("pyspark", reason="pyspark is not installed")
pa: Any = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.spark]

from pyspark import cloudpickle

from recordpress.files import _arrow
from recordpress.log import verify
from recordpress.log.publish import _roll_forward, commit_staged as _publish, lease as _lease
from recordpress.spark import KafkaLogDataSource
from recordpress.spark.schema import spark_schema


def started(path: str, *tasks: int, overwrite: bool = False) -> tuple[Any, list[Any]]:
    """A job whose tasks are done: each has 300 rows of which the first byte is its number."""
    options = {"path": path, "topic": "t", "partitions": "2", "batch.size": "2000"}
    made: Any = KafkaLogDataSource(options).writer(spark_schema(["value"]), overwrite)
    writer = cloudpickle.loads(cloudpickle.dumps(made))
    rows = [pa.record_batch({"value": [b"%d %d" % (task, number) for number in range(300)]}) for task in tasks]
    return writer, [writer.write(iter([batch])) for batch in rows]


def values(path: str) -> list[bytes]:
    found = [pa.table(columns)["value"].to_pylist() for columns in recordpress.open_log(path).read(["value"])]
    return sorted(value for part in found for value in part)


def expected(*tasks: int) -> list[bytes]:
    return sorted(b"%d %d" % (task, number) for task in tasks for number in range(300))


def test_a_log_in_a_store(s3: S3Server) -> None:
    path = s3.url("logs/a")
    writer, messages = started(path, 1, 2)
    assert all("/.recordpress-staging/" in key for key in s3.keys("logs") if key.endswith(".log"))
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


def test_what_the_store_damaged_is_not_committed(s3: S3Server) -> None:
    """A staged segment is read before the job is committed: after that nothing could be taken back."""
    path = s3.url("logs/d")
    writer, messages = started(path, 1)
    [key, *_] = [key for key in s3.keys("logs") if key.endswith(".log")]
    data = bytearray(s3.get(f"logs/{key}"))
    data[-1] ^= 1
    s3.put(f"logs/{key}", bytes(data))
    with pytest.raises(recordpress.CorruptRecordError, match="is read back") as caught:
        writer.commit(messages)
    assert not hasattr(caught.value, "__notes__")
    writer.abort(messages)
    writer, messages = started(path, 2)
    writer.commit(messages)
    assert values(path) == expected(2)
    assert not [key for key in s3.keys("logs") if "/." in key]


def test_a_segment_that_is_gone_is_not_passed_over(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    path = s3.url("logs/e")
    monkeypatch.setattr(_lease, "COUNTS_FOR", 0.0)
    writer, messages = started(path, 1)
    with monkeypatch.context() as patch:
        patch.setattr(_publish, "roll_forward", killed)
        with pytest.raises(Killed):
            writer.commit(messages)
    for key in s3.keys("logs"):
        if key.endswith(".log"):
            s3.client.delete_object(Bucket="logs", Key=key)
    with pytest.raises(recordpress.StorageError, match="a segment of a committed job is gone"):
        started(path, 2)[0].commit([])


class Killed(BaseException):
    pass


def killed(*arguments: Any) -> None:
    raise Killed


def test_a_driver_that_died_in_the_commit(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the journal is there, nothing was written; after that, the next job finishes it first. All files of the
    log are made before."""
    path = s3.url("logs/b")
    monkeypatch.setattr(_lease, "COUNTS_FOR", 0.0)
    committed = []
    move = type(resolve(path)[0]).move

    def killed_after(call: int) -> Any:
        left = [call]

        def moving(files: Any, source: str, target: str) -> None:
            if "/ready/" in source and "/ready/" not in target:
                left[0] -= 1
                if left[0] < 0:
                    raise Killed
            move(files, source, target)

        return moving

    steps: list[tuple[Any, str, Any]] = [(_roll_forward._Partition, name, killed) for name in ("_join", "_beside")]
    steps += [(_publish, "write_journal", killed), (_publish, "roll_forward", killed)]
    steps += [(_arrow.ArrowFileSystem, "move", killed_after(moved)) for moved in (0, 1, 5)]
    for number, (place, name, fault) in enumerate(steps, 1):
        writer, messages = started(path, number)
        with monkeypatch.context() as patch:
            patch.setattr(_roll_forward, "_AT_ONCE", 1)
            patch.setattr(place, name, fault)
            with suppress(Killed):
                writer.commit(messages)
        writer.abort(messages)
        if number > 3:
            committed.append(number)
        started(path, 99)[0].commit([])
    assert values(path) == expected(*committed)
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
