"""df.write.format("recordpress") to an object store, which cannot rename: the same log, and nothing besides."""

import os
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any
from uuid import uuid4

import pytest

import recordpress
from files.conftest import S3Server
from patience import HANG
from recordpress.files import resolve
from together import sampled

pytest.importorskip("pyspark", reason="pyspark is not installed")
pa: Any = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.spark]

from pyspark import cloudpickle

from recordpress.files import _arrow, _interface
from recordpress.log import _commits, verify
from recordpress.log.publish import (
    _journal,
    _roll_forward,
    commit_staged as _publish,
    lease as _lease,
    staging,
    task_group,
)
from recordpress.spark import KafkaLogDataSource, _sink
from recordpress.spark.schema import spark_schema


def started(path: str, *tasks: int, overwrite: bool = False, joins: bool = False) -> tuple[Any, list[Any]]:
    """A job whose tasks are done: each has 300 rows of which the first byte is its number. Unless a task joins their
    segments, the driver does."""
    options = {"path": path, "topic": "t", "partitions": "2", "batch.size": "2000"}
    made: Any = KafkaLogDataSource(options).writer(spark_schema(["value"]), overwrite)
    writer = cloudpickle.loads(cloudpickle.dumps(made))
    rows = [pa.record_batch({"value": [b"%d %d" % (task, number) for number in range(300)]}) for task in tasks]
    messages = []
    for number, batch in enumerate(rows):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_sink, "_task_number", lambda number=number: number)
            patch.setattr(task_group, "_LINGER", 0.0)
            patch.setattr(task_group, "_LEAST", 0)
            messages.append(writer.write(iter([batch])))
        messages[-1].joined *= joins
    return writer, messages


def values(path: str) -> list[bytes]:
    found = [pa.table(columns)["value"].to_pylist() for columns in recordpress.open_log(path).read(["value"])]
    return sorted(value for part in found for value in part)


def expected(*tasks: int) -> list[bytes]:
    return sorted(b"%d %d" % (task, number) for task in tasks for number in range(300))


@pytest.mark.parametrize("joins", [False, True])
def test_a_log_in_a_store(joins: bool, s3: S3Server) -> None:
    path = s3.url("logs/a")
    writer, messages = started(path, 1, 2, joins=joins)
    assert all("/.recordpress-staging/" in key for key in s3.keys("logs") if key.endswith(".log"))
    writer.write(iter([pa.record_batch({"value": [b"of an attempt that does not count"]})]))
    s3.requests.clear()
    writer.commit(messages)
    assert joins == (not [name for name, _ in s3.asked("GET") if name.endswith(".log") and "/." in name])
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


def offsets(path: str) -> dict[str, list[int]]:
    return {
        str(one): [segment.base_offset for segment in one.segments] for one in recordpress.open_log(path).partitions
    }


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each segment is large enough to keep its file."""
    monkeypatch.setattr(staging, "KEPT_BYTES", 1)


@pytest.mark.usefixtures("large")
def test_large_segments_are_not_read_again(s3: S3Server) -> None:
    """Tasks write all bytes of the log; the driver only has them copied."""
    path, size = s3.url("logs/k"), 1 << 26
    for job in range(2):
        writer, messages = started(path, 2 * job, 2 * job + 1)
        staged = {s3.get(f"logs/{key}") for key in s3.keys("logs") if key.endswith((".log", "index")) and "/." in key}
        s3.requests.clear()
        writer.commit(messages)
        assert not [name for name, _ in s3.asked("GET") if "/.recordpress-staging/" in name and "index" in name]
        assert not [name for name, _ in s3.asked("GET") if name.endswith(".log") and "/." in name]
        assert {s3.get(f"logs/{key}") for key in s3.keys("logs") if key.endswith((".log", "index"))} >= staged
    for first, second, third, last in offsets(path).values():
        assert (first, second, last) == (0, size, third + size) and size < third < size + 300
    assert values(path) == expected(0, 1, 2, 3)
    assert verify(path, "record").findings == [] and not [key for key in s3.keys("logs") if "/." in key]


@pytest.mark.usefixtures("large")
def test_offsets_that_tasks_cannot_keep(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another job committed in the meantime, or a task has more records than its range: the driver assigns them."""
    path = s3.url("logs/m")
    first, of_first = started(path, 0, 1)
    second, of_second = started(path, 2, 3)
    second.commit(of_second)
    first.commit(of_first)
    of_two_jobs = offsets(path)
    for bases in of_two_jobs.values():
        assert bases[:2] == [0, 1 << 26] and (1 << 26) < bases[2] < (1 << 26) + 300 and len(bases) == 3
    monkeypatch.setattr(staging, "_OFFSETS_OF_TASK", 5)
    third, of_third = started(path, 4, 5)
    third.commit(of_third)
    assert values(path) == expected(*range(6))
    assert verify(path, "record").findings == []
    for name, bases in offsets(path).items():
        assert bases[:3] == of_two_jobs[name] and bases[4] - bases[3] < 300 and len(bases) == 5
    fourth, of_fourth = started(path, 6, 7, overwrite=True)
    fourth.commit(of_fourth)
    assert values(path) == expected(6, 7)
    assert verify(path, "record").findings == [] and not [key for key in s3.keys("logs") if "/." in key]


def test_what_the_store_damaged_is_not_committed(s3: S3Server) -> None:
    """A staged segment is read before the job is committed: after that nothing could be taken back."""
    path = s3.url("logs/d")
    writer, messages = started(path, 1)
    [key] = [key for key in s3.keys("logs") if key.endswith(".shared.log")]
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
    copy = _arrow.ArrowFileSystem.copy

    def killed_after(call: int) -> Any:
        left = [call]

        def copying(files: Any, source: str, target: str) -> bool:
            left[0] -= 1
            if left[0] < 0:
                raise Killed
            return copy(files, source, target)

        return copying

    steps: list[tuple[Any, str, Any]] = [(_roll_forward._Partition, name, killed) for name in ("_join", "_write")]
    steps += [(_journal.Journal, "write", killed), (_publish, "roll_forward", killed)]
    steps += [(_arrow.ArrowFileSystem, "copy", killed_after(copied)) for copied in (0, 1, 5)]
    for number, (place, name, fault) in enumerate(steps, 1):
        writer, messages = started(path, number)
        with monkeypatch.context() as patch:
            patch.setattr(_roll_forward, "CALLS_AT_ONCE", 1)
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


# ---- two writers, one of which stalls


def interrupted(place: Any, name: str, is_after: bool, other: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before or after the first call of a function, others work."""
    function, is_stalled = getattr(place, name), []

    def stalling(*arguments: Any, **named: Any) -> Any:
        result = function(*arguments, **named) if is_after else None
        if not is_stalled:
            is_stalled.append(True)
            other()
        return result if is_after else function(*arguments, **named)

    monkeypatch.setattr(place, name, stalling)


STALLS: list[tuple[Any, str]] = [
    (_publish, "prepare"),
    (_roll_forward._Partition, "_join"),
    (_journal.Journal, "write"),
    (_publish, "add_commit"),
    (_publish, "roll_forward"),
    (_roll_forward._Move, "run"),
]


@pytest.mark.parametrize(
    ("place", "name", "is_after"),
    sampled(((*one, is_after) for one in STALLS for is_after in (False, True)), 3),
    ids=str,
)
def test_a_writer_that_stalls_past_its_lease(
    place: Any, name: str, is_after: bool, s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another job takes its place in the meantime. Each row of a job that reports success is there once."""
    path = s3.url("logs/f")
    monkeypatch.setattr(_arrow, "s3_client", lambda filesystem: None)
    monkeypatch.setattr(_lease, "COUNTS_FOR", 0.0)  # and no renewal comes in time
    monkeypatch.setattr(_publish, "_CHECKS_COUNT_FOR", 0.0)
    first, of_first = started(path, 1)
    second, of_second = started(path, 2)
    interrupted(place, name, is_after, lambda: second.commit(of_second), monkeypatch)
    with pytest.raises(recordpress.StorageError) as caught:
        first.commit(of_first)
    first.abort(of_first)
    is_committed = "the rows are committed" in "".join(getattr(caught.value, "__notes__", ()))
    assert is_committed == (name in ("roll_forward", "run") or (name == "add_commit" and is_after))
    started(path, 9)[0].commit([])
    assert values(path) == expected(*([1, 2] if is_committed else [2]))
    assert verify(path, "record").findings == []
    assert not [key for key in s3.keys("logs") if "/." in key]


@pytest.mark.parametrize("others", sampled([1, 2], 2))
@pytest.mark.parametrize("store", ["boto3", "plain", "501"])
def test_one_commit_of_each_number(store: str, others: int, s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if the fence was there when the writer looked for it the last time."""
    path = s3.url("logs/g")
    if store == "plain":
        monkeypatch.setattr(_arrow, "s3_client", lambda filesystem: None)
    monkeypatch.setattr(_lease, "COUNTS_FOR", 0.0)
    monkeypatch.setattr(_interface.Fence, "check", lambda *arguments: None)
    jobs = [started(path, 10 + number) for number in range(others)]
    first, of_first = started(path, 2)

    def other() -> None:
        for writer, messages in jobs:
            writer.commit(messages)
        if store == "501":
            s3.refuses_conditions = True

    # of boto3, the request itself is late
    place, name = (_arrow.ArrowFileSystem, "create_new") if store == "boto3" else (_publish, "add_commit")
    interrupted(place, name, False, other, monkeypatch)
    with pytest.raises(recordpress.StorageError, match="another job committed since this job read the log"):
        first.commit(of_first)
    first.abort(of_first)
    s3.refuses_conditions = False
    started(path, 9)[0].commit([])
    assert values(path) == expected(*range(10, 10 + others))
    assert [key for key in s3.keys("logs") if "commit" in key] == [f"g/_recordpress-commit-{others:020}"]


def test_a_commit_whose_answer_was_lost(s3: S3Server) -> None:
    """The library sends it again, and the file is there: it is ours."""
    files, path = resolve(s3.url("logs/h"))
    s3.put(f"{path}/_recordpress-commit-{4:020}", b"a")
    last = _commits.last_commit(files, path)
    s3.put(f"{path}/_recordpress-commit-{5:020}", b"b")
    _commits.add_commit(files, path, last, "b")
    assert (last, _commits.last_commit(files, path)) == ((4, "a"), (5, "b"))
    with pytest.raises(recordpress.StorageError, match="another job committed"):
        _commits.add_commit(files, path, last, "c")
    assert [key for key in s3.keys("logs") if "commit" in key] == [f"h/_recordpress-commit-{5:020}"]


def test_a_lease_that_ends(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its object is gone, or cannot be renewed in time: an error of the job."""
    monkeypatch.setattr(_publish, "_CHECKS_COUNT_FOR", 0.0)
    monkeypatch.setattr(_lease, "RENEWED_EVERY", 0.02)
    for case in ("gone", "late"):
        path = s3.url(f"logs/{case}")
        writer, messages = started(path, 1)

        def end(case: str = case) -> None:
            if case == "late":
                monkeypatch.setattr(_lease, "COUNTS_FOR", 0.0)
            for key in [key for key in s3.keys("logs") if "at-work" in key and case == "gone"]:
                s3.client.delete_object(Bucket="logs", Key=key)
            deadline = time.monotonic() + HANG
            while any("at-work" in key for key in s3.keys("logs")):
                assert time.monotonic() < deadline

        with monkeypatch.context() as patch:
            interrupted(_publish, "prepare", True, end, patch)
            with pytest.raises(recordpress.StorageError, match="another job has taken its place"):
                writer.commit(messages)
        writer.abort(messages)
        monkeypatch.setattr(_lease, "COUNTS_FOR", 60.0)
    assert not [key for key in s3.keys("logs") if key.endswith(".log")]


def test_a_writer_waits_for_as_long_as_another_one_lives(
    s3: S3Server, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It says at once whom it waits for; of one on another host it waits for the end of its lease."""
    monkeypatch.setattr(_lease, "_LOOK_EVERY", 0.02)
    monkeypatch.setattr(_lease, "RENEWED_EVERY", HANG)
    path = s3.url("logs/w")
    first, of_first = started(path, 1)
    second, of_second = started(path, 2)
    files, target = resolve(path)
    looks: list[None] = []
    leases = _lease._leases
    monkeypatch.setattr(_lease, "_leases", lambda *given: (looks.append(None), leases(*given))[1])

    def reports() -> list[str]:
        return [one.getMessage() for one in caplog.records if one.name == "recordpress.log"]

    def until(condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + HANG
        while not condition():
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def wait(writer: Any, messages: list[Any], number: int) -> None:
        """Until the commit has said whom it waits for, and has looked again."""
        job.append(pool.submit(writer.commit, messages))
        until(lambda: len(reports()) == number)
        looked = len(looks)
        until(lambda: len(looks) > looked + 10)
        assert not job[0].done()

    job: list[Any] = []
    with ThreadPoolExecutor() as pool, monkeypatch.context() as patch, caplog.at_level("WARNING"):
        interrupted(_publish, "prepare", True, lambda: wait(second, of_second, 1), patch)
        first.commit(of_first)
        job.pop().result(HANG)
        said = f"process {os.getpid()} on {socket.gethostname()} has held s3://{target}/.recordpress-staging/"
        assert len(reports()) == 1 and said in reports()[0]
        third, of_third = started(path, 3)
        foreign = files.join(target, f".recordpress-staging/.recordpress-at-work-{uuid4().hex}")
        s3.put(foreign, b'{"host": "a", "system": "another", "process": 1}')
        wait(third, of_third, 2)
        monkeypatch.setattr(_lease, "COUNTS_FOR", 0.0)
        job.pop().result(HANG)
        assert "process 1 on a has held" in reports()[1]
    assert values(path) == expected(1, 2, 3)
    assert not [key for key in s3.keys("logs") if "/." in key]


def test_no_object_is_written_again_by_each_task(s3: S3Server) -> None:
    """Google's store refuses the second change of an object in a second."""
    path = s3.url("logs/o")
    s3.requests.clear()
    started(path, *range(4))
    written = [name for name, _ in s3.asked("PUT")]
    assert len(written) >= 8 and len(set(written)) == len(written)


def test_another_program_that_writes(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """While files are prepared, or after the commit: its segment is not replaced."""
    for name, message in (("prepare", "changed a partition"), ("roll_forward", "move it away")):
        path = s3.url(f"logs/{name}")
        writer, messages = started(path, 1)
        theirs = recordpress.write_records([b"x"])
        place = f"logs/{name}/t-0/{0:020}.log"
        with monkeypatch.context() as patch:
            interrupted(_publish, name, False, lambda place=place, data=theirs: s3.put(place, data), patch)
            with pytest.raises(recordpress.StorageError, match=message):
                writer.commit(messages)
        writer.abort(messages)
        assert s3.get(place) == theirs
        if name == "roll_forward":
            s3.client.delete_object(Bucket="logs", Key=place.removeprefix("logs/"))
            started(path, 9)[0].commit([])
            assert values(path) == expected(1)


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
