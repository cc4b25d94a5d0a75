"""Readers while a job publishes its files one by one, or after it was interrupted: they see none of it, or all."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

import recordpress
from together import THOROUGH

pytest.importorskip("pyspark", reason="pyspark is not installed")
pa: Any = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.spark]

from recordpress.files import FileSystem, resolve
from recordpress.log.publish import _roll_forward, commit_staged as _publish, lease as _lease, staging, task_group
from recordpress.spark import KafkaLogDataSource
from recordpress.spark._stream import GrowingLog
from recordpress.spark.datasource import KafkaLogReader
from recordpress.spark.schema import spark_schema


class Killed(BaseException):
    pass


@pytest.fixture(params=["disk", "store"])
def place(request: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], str]:
    """New log dirs; fsspec's memory is a store."""
    monkeypatch.setattr(_lease, "COUNTS_FOR", 0.0)  # of a job that was killed
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    monkeypatch.setattr(_roll_forward, "_AT_ONCE", 1)
    monkeypatch.setattr(_roll_forward, "CALLS_AT_ONCE", 1)
    base = "memory://logs/" if request.param == "store" else f"{tmp_path}/"
    return lambda: f"{base}{uuid4().hex}"


def started(path: str, rows: list[tuple[int, bytes]], overwrite: bool = False) -> tuple[Any, list[Any]]:
    """A job of two tasks that have staged rows: numbers of partitions, and values. The second has large segments."""
    schema = spark_schema(["partition", "value"])
    writer: Any = KafkaLogDataSource({"path": path, "topic": "t"}).writer(schema, overwrite)
    messages, half = [], len(rows) // 2
    for part in (rows[:half], rows[half:]):
        columns = {"partition": pa.array([one for one, _ in part], pa.int32()), "value": [value for _, value in part]}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(task_group, "_LINGER", 0.0)
            if messages and part:
                patch.setattr(staging, "KEPT_BYTES", 1)
            messages.append(writer.write(iter([pa.record_batch(columns)])))
            messages[-1].joined.clear()  # of a group in which a task died: the driver joins
    return writer, messages


def drawn(job: int, partitions: int) -> list[tuple[int, bytes]]:
    return [(number % partitions, b"%d %d" % (job, number)) for number in range(4 * partitions)]


def seen(path: str) -> list[tuple[int, bytes]]:
    """The rows that each way to read shows, which must be the same."""
    found = []
    log = recordpress.open_log(path)
    for part in log.read(["partition", "value"]):
        table = pa.table(part)
        found += zip(table["partition"].to_pylist(), table["value"].to_pylist(), strict=True)
    one_by_one = sum(recordpress.open_log(f"{path}/{partition}").count() for partition in log.partitions)
    reader: Any = KafkaLogDataSource({"path": path, "includeActiveSegment": "true"}).streamReader(
        spark_schema(["partition", "value"])
    )
    batch: Any = KafkaLogDataSource({"path": path}).reader(spark_schema(["partition", "value"]))
    rows = [rows for task in batch.partitions() for rows in batch.read(task)]
    assert isinstance(batch, KafkaLogReader) and isinstance(reader._log, GrowingLog)
    ends = reader._log.ends()
    assert set(ends) == {("t", one.partition) for one in log.partitions}
    assert sum(one.num_rows for one in rows) == one_by_one == len(found)
    return sorted(found)


def killed_at(call: int, monkeypatch: pytest.MonkeyPatch, kind: type[FileSystem]) -> None:
    """The process dies before a call to the file system, while files get their names."""
    roll_forward, left = _publish.roll_forward, [call]

    def counted(function: Any) -> Any:
        def before(*arguments: Any, **named: Any) -> Any:
            left[0] -= 1
            if left[0] <= 0:
                raise Killed
            return function(*arguments, **named)

        return before

    def armed(*arguments: Any) -> None:
        with pytest.MonkeyPatch.context() as patch:
            for name in ("copy", "move", "delete", "write_file", "create", "make_directory", "list", "open"):
                patch.setattr(kind, name, counted(getattr(kind, name)))
            roll_forward(*arguments)

    monkeypatch.setattr(_publish, "roll_forward", armed)


@pytest.mark.parametrize("overwrite", [False, True])
def test_no_reader_sees_a_part(overwrite: bool, place: Callable[[], str], monkeypatch: pytest.MonkeyPatch) -> None:
    before, new, call, interrupted, refused, shown = sorted(drawn(1, 2)), drawn(2, 3), 0, 0, 0, 0
    after = sorted(new) if overwrite else sorted(before + new)
    while True:
        call += 1 if THOROUGH else 3
        path = place()
        writer, messages = started(path, before)
        writer.commit(messages)
        writer, messages = started(path, new, overwrite)
        with monkeypatch.context() as patch:
            killed_at(call, patch, type(resolve(path)[0]))
            try:
                writer.commit(messages)
                break
            except Killed:
                interrupted += 1
        try:
            rows = seen(path)
        except recordpress.StorageError as error:
            refused += overwrite and "a job has not published all of its files" in str(error)
        else:
            assert rows in (before, after), call
            shown += 1
        writer, messages = started(path, [])
        writer.commit(messages)
        assert recordpress.open_log(path).count() == len(after)
    assert interrupted > 20 // 3 and refused + shown == interrupted
    assert bool(refused) == overwrite
    assert seen(path) == after


def test_a_job_that_publishes_while_a_log_is_listed(place: Callable[[], str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The listing begins before the job, and ends in the middle of it."""
    path = place()
    for job in (1, 2):
        writer, messages = started(path, drawn(job, 2))
        if job == 1:
            writer.commit(messages)
    files, target = resolve(path)
    kind, listing, write = type(files), type(files).list, type(files).write_file
    begun = []

    def listed(self: Any, directory: str) -> Any:
        found = listing(self, directory)
        if directory == target and not begun:
            begun.append(True)
            with pytest.raises(Killed):
                writer.commit(messages)
        return found

    def written(self: Any, file: str, data: bytes) -> None:
        if file.endswith("_SUCCESS"):
            raise Killed
        write(self, file, data)

    monkeypatch.setattr(kind, "list", listed)
    monkeypatch.setattr(kind, "write_file", written)
    log = recordpress.open_log(path)
    assert begun and log.count() == 8
    assert [one.offset for one in log.skipped if "has not published" in one.message] == [4, 4]
