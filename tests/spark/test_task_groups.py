"""Small segments of tasks are joined by the last task of a group to end; the driver only gives files their names."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest

import recordpress
from patience import HANG

pytest.importorskip("pyspark", reason="pyspark is not installed")
pa: Any = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.spark]

from recordpress.files import LocalFileSystem, resolve
from recordpress.log import verify
from recordpress.log.publish import lease, staging, task_group
from recordpress.spark import KafkaLogDataSource, _sink, _sink_rows
from recordpress.spark.schema import spark_schema


class Job:
    """A job whose tasks run when a test says so."""

    def __init__(self, path: str, monkeypatch: pytest.MonkeyPatch, columns: str = "value", **options: str) -> None:
        given = {"path": path, "topic": "t", "partitions": "2", **options}
        self.path, self.patch, self.columns = path, monkeypatch, columns.split()
        self.writer: Any = KafkaLogDataSource(given).writer(spark_schema(self.columns), False)

    def task(self, number: int, rows: int = 40, attempt: str = "", first: Callable[[], object] | None = None) -> Any:
        """Run a task, whose rows are computed `first`."""
        self.patch.setattr(_sink, "_task_number", lambda: number)
        values = [b"%d %d%s" % (number, row, attempt.encode()) for row in range(rows)]
        columns = {"value": values, "offset": [1000 * (9 - number) + row for row in range(rows)]}
        columns["partition"] = [(row % 20) if row % 20 < 3 else 0 for row in range(rows)]
        batch = pa.record_batch({name: pa.array(columns[name]) for name in self.columns})

        def computed() -> Iterator[Any]:
            if first is not None:
                first()
            yield from [batch] if rows else []

        return self.writer.write(computed())

    def commit(self, *messages: Any) -> list[str]:
        """Commit; return the paths of the files that the driver opened."""
        kind, opened = type(self.writer.stage.files), []
        original = kind.open
        with self.patch.context() as patch:
            patch.setattr(kind, "open", lambda files, path: opened.append(path) or original(files, path))
            self.writer.commit(list(messages))
        assert verify(self.path, "record").findings == []
        files, root = resolve(self.path)
        assert not [info.name for info in files.list(root) if info.name.startswith(".")]
        return [path for path in opened if path.endswith(".log") and ".recordpress-staging" in path]

    def values(self) -> list[bytes]:
        return [
            value for part in recordpress.open_log(self.path).read(["value"]) for value in part["value"].to_pylist()
        ]

    def bases(self) -> dict[str, list[int]]:
        log = recordpress.open_log(self.path)
        return {str(one): [segment.base_offset for segment in one.segments] for one in log.partitions}


def expected(*tasks: int, rows: int = 40) -> list[bytes]:
    return sorted(b"%d %d" % (task, row) for task in tasks for row in range(rows))


def sleep_by(monkeypatch: pytest.MonkeyPatch, wait: Callable[[float], object]) -> None:
    """Let a task wait by this call; other threads of the process sleep as before."""
    monkeypatch.setattr(task_group, "time", SimpleNamespace(sleep=wait))


@pytest.fixture(params=["disk", "store"])
def job(request: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Job]:
    """Jobs in a new log dir; fsspec's memory is a store."""
    monkeypatch.setattr(lease, "COUNTS_FOR", 0.0)
    monkeypatch.setattr(task_group, "_LINGER", 0.0)
    monkeypatch.setattr(task_group, "_LEAST", 0)
    path = f"memory://logs/{uuid4().hex}" if request.param == "store" else f"{tmp_path}/logs"
    return lambda **options: Job(path, monkeypatch, **options)


def test_the_driver_reads_no_rows(job: Callable[..., Job]) -> None:
    """In the order of the tasks' numbers, without gaps, whatever the order in which they end."""
    for number in range(2):
        one = job(partitions="1")
        messages = {task: one.task(task) for task in (2, 0, 3, 1)}
        assert one.commit(*(messages[task] for task in range(4))) == []
        assert one.values() == [
            b"%d %d" % (task, row) for _ in range(number + 1) for task in range(4) for row in range(40)
        ]
    assert one.bases() == {"t-0": [0, 160]}


def test_rows_that_have_offsets(job: Callable[..., Job]) -> None:
    one = job(columns="value offset", partitions="1")
    messages = [one.task(task) for task in range(3)]
    assert one.commit(*messages) == []
    assert one.bases() == {"t-0": [7000]} and sorted(one.values()) == expected(0, 1, 2)


def test_a_task_writes_one_file_of_small_segments(job: Callable[..., Job], monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the number of its partitions, also if it had to write before it had all rows."""
    monkeypatch.setattr(_sink_rows, "_MOST_BYTES", 1000)
    monkeypatch.setattr(_sink_rows, "_MOST_FILES", 10)
    one = job(partitions="20")
    messages = [one.task(task, 200) for task in range(3)]
    stage = one.writer.stage
    files = [info.name for info in stage.files.list(stage.files.join(stage.path, "files-0"))]
    assert [name.partition(".")[2] for name in files if ".shared." in name] == ["shared.log"] * 3
    of_task = [segment for segment in messages[0].segments if segment.partition == 0]
    assert all(segment.is_shared for segment in of_task) and len(of_task) >= 1
    assert one.commit(*messages) == []
    assert sorted(one.values()) == expected(0, 1, 2, rows=200)


def test_large_and_small_segments_of_a_task(job: Callable[..., Job], monkeypatch: pytest.MonkeyPatch) -> None:
    """A large one keeps its own file, and the small ones share one."""
    monkeypatch.setattr(staging, "KEPT_BYTES", 2000)
    one = job(columns="value partition", partitions="3", **{"compression.type": "none"})
    messages = [one.task(task, 400) for task in range(2)]
    kept = {segment.partition: segment.has_indexes for segment in messages[0].segments}
    assert kept == {0: True, 1: False, 2: False}
    assert [segment.is_shared for segment in messages[0].segments] == [False, True, True]
    assert one.commit(*messages) == []
    assert sorted(one.values()) == expected(0, 1, rows=400)


@pytest.mark.parametrize("joins", [False, True])
def test_a_shared_file_that_is_truncated(job: Callable[..., Job], joins: bool) -> None:
    one = job()
    messages = [one.task(task) for task in range(2)]
    for message in messages:
        message.joined *= joins
    stage = one.writer.stage
    path = stage.files.join(stage.path, messages[0].segments[-1].file)
    with stage.files.open(path) as file:
        data = file.read_exactly(0, file.size)
    stage.files.write_file(path, data[:-1])
    if joins:  # nobody needs the file
        assert one.commit(*messages) == [] and sorted(one.values()) == expected(0, 1)
        return
    with pytest.raises(recordpress.StorageError, match=f"{len(data)} bytes here, but the file has {len(data) - 1}"):
        one.writer.commit(messages)


def test_groups_and_tasks_without_rows(job: Callable[..., Job], monkeypatch: pytest.MonkeyPatch) -> None:
    """Each group has its own range of offsets, as each task has whose segments are large."""
    monkeypatch.setattr(task_group, "_TASKS", 3)
    one = job(partitions="1")
    messages = [one.task(task, 0 if task in (1, 4) else 40) for task in range(8)]
    stage = one.writer.stage
    assert [info.name for info in stage.files.list(stage.path)] == sorted(
        f"{kind}-{group}" for kind in ("files", "tasks") for group in range(3)
    )
    assert one.commit(*messages) == []
    assert one.bases() == {"t-0": [0, 3 << 26, 6 << 26]}
    assert sorted(one.values()) == expected(0, 2, 3, 5, 6, 7)


def test_groups_of_few_bytes(job: Callable[..., Job], monkeypatch: pytest.MonkeyPatch) -> None:
    """Their segments would be small: the driver joins those of all groups, without gaps between the offsets."""
    monkeypatch.setattr(task_group, "_TASKS", 2)
    monkeypatch.setattr(task_group, "_LEAST", 1 << 20)
    one = job(partitions="1")
    messages = [one.task(task) for task in range(6)]
    assert not any(message.joined for message in messages)
    assert len(one.commit(*messages)) >= 6
    assert one.bases() == {"t-0": [0]} and sorted(one.values()) == expected(*range(6))


def test_a_task_that_died(job: Callable[..., Job], monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for it: the driver joins what is there, unless it is repeated."""
    for again in (False, True):
        one = job()
        with monkeypatch.context() as patch:
            patch.setattr(task_group.TaskGroup, "end", lambda *_: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                one.task(1)
        messages = [one.task(0), one.task(2), *([one.task(1)] if again else [])]
        assert [len(message.joined) for message in messages] == ([0, 0, 2] if again else [0, 0])
        in_order = [messages[0], *messages[2:], messages[1]]
        assert bool(one.commit(*in_order)) is not again
    assert sorted(one.values()) == sorted(expected(0, 2) + expected(0, 1, 2))


def test_attempts_that_do_not_count(job: Callable[..., Job]) -> None:
    """An executor died before the driver heard of its task; or of two attempts of a task the first one counts."""
    one = job()
    lost = one.task(0, attempt=" lost")
    messages = [one.task(1), one.task(2)]
    assert lost.joined and messages[-1].joined
    assert one.commit(one.task(0), *messages) == []
    one = job()
    first, late = one.task(0), one.task(0, attempt=" late")
    messages = [one.task(1), one.task(2)]
    assert late.joined and messages[-1].joined
    assert one.commit(first, *messages) != []
    assert sorted(one.values()) == sorted(2 * expected(0, 1, 2))


def test_a_segment_is_joined_with_others_once(job: Callable[..., Job], monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks that run one after another, each of which may be the last."""
    monkeypatch.setattr(task_group, "_LITTLE", 0)
    one = job(partitions="1")
    messages = [one.task(task) for task in range(9)]
    parts = [[segment.parts for segment in message.joined] for message in messages]
    assert parts == [[1], [2], [1], [4], [1], [2], [1], [8], [1]]
    assert one.commit(*messages) == []
    assert sorted(one.values()) == expected(*range(9)) and one.bases() == {"t-0": [0, 8 << 26]}


def test_tasks_that_run_one_after_another(job: Callable[..., Job], monkeypatch: pytest.MonkeyPatch) -> None:
    """None of them can be followed by another while it waits: the first ones do, and join all; then no byte is joined
    more often than the tasks double."""
    one = job(partitions="1")
    waits: list[float] = []
    sleep_by(monkeypatch, waits.append)
    messages = [one.task(task) for task in range(40)]
    parts = [segment.parts for message in messages for segment in message.joined]
    assert len(waits) == 8 and parts[:8] == [*range(1, 9)] and sum(parts[8:]) <= 40 * 5
    assert one.commit(*messages) == []
    assert one.values() == [b"%d %d" % (task, row) for task in range(40) for row in range(40)]
    assert len(one.bases()["t-0"]) <= 3


@pytest.mark.parametrize("rows", [40, 0])
def test_a_task_that_computes_its_first_rows(job: Callable[..., Job], rows: int) -> None:
    """Others of its group leave the join to it, also if it has no rows in the end."""
    one = job(partitions="1")
    messages: list[Any] = []

    def others() -> None:
        messages.extend(one.task(task) for task in (0, 2))

    last = one.task(1, rows, first=others)
    assert [len(message.joined) for message in (*messages, last)] == [0, 0, 1]
    assert one.commit(messages[0], last, messages[1]) == []
    assert sorted(one.values()) == expected(0, *([1] if rows else []), 2)


def test_a_task_that_fails_without_a_segment(job: Callable[..., Job]) -> None:
    """Nothing of it is left, even if the driver gave the job up before; and others of its group do not wait for it."""
    one = job(partitions="1")
    with pytest.raises(ZeroDivisionError):
        one.task(0, first=lambda: 1 // 0)
    files, root = one.writer.stage.files, one.writer.stage.root
    if isinstance(files, LocalFileSystem):
        assert not Path(root).exists()
    else:
        assert not files.list(files.join(one.writer.stage.path, "tasks-0"))
    messages = [one.task(1)]
    assert len(messages[0].joined) == 1
    messages = [one.task(0), *messages]
    assert one.commit(*messages) == [] and sorted(one.values()) == expected(0, 1)


def test_one_task_waits_for_the_next(job: Callable[..., Job], monkeypatch: pytest.MonkeyPatch) -> None:
    """Another that ends in the meantime leaves the join to it: the next task may need its place."""
    one = job(partitions="1")
    messages: list[Any] = []
    waits: list[int] = []

    def wait(_: float) -> None:
        waits.append(len(messages))
        if len(waits) == 1:
            messages.append(one.task(1))

    sleep_by(monkeypatch, wait)
    messages.insert(0, one.task(0))
    assert waits == [0, 1] and [[segment.parts for segment in message.joined] for message in messages] == [[2], []]
    assert one.commit(*messages) == [] and sorted(one.values()) == expected(0, 1)


def test_a_task_that_begins_while_another_waits(job: Callable[..., Job], monkeypatch: pytest.MonkeyPatch) -> None:
    """It gets the join."""
    one = job(partitions="1")
    with monkeypatch.context() as patch:
        sleep_by(patch, lambda _: task_group.TaskGroup(one.writer.stage, 1))
        messages = [one.task(0)]
    messages.append(one.task(1))
    assert [[segment.parts for segment in message.joined] for message in messages] == [[], [2]]
    assert one.commit(*messages) == [] and sorted(one.values()) == expected(0, 1)


def test_a_task_that_ends_while_another_joins(job: Callable[..., Job], monkeypatch: pytest.MonkeyPatch) -> None:
    """It frees its place, and the other one looks again."""
    one = job(partitions="1")
    join, messages = task_group.TaskGroup._join, list[Any]()

    def slow(group: Any, *rest: Any) -> Any:
        if not messages:
            messages.append(one.task(1))
        return join(group, *rest)

    monkeypatch.setattr(task_group.TaskGroup, "_join", slow)
    messages.insert(0, one.task(0))
    assert [[segment.parts for segment in message.joined] for message in messages] == [[1, 2], []]
    assert one.commit(*messages) == [] and sorted(one.values()) == expected(0, 1)


def test_two_that_end_at_once(job: Callable[..., Job], monkeypatch: pytest.MonkeyPatch) -> None:
    """One of them joins."""
    one = job(partitions="1")
    end, ended = task_group.TaskGroup.end, list[Any]()
    with monkeypatch.context() as patch:
        patch.setattr(task_group.TaskGroup, "end", lambda group, *rest: ended.append((group, rest)) or [])
        messages = [one.task(0), one.task(1)]
        listed = task_group.TaskGroup._listed
        patch.setattr(task_group.TaskGroup, "_listed", lambda group: [])
        for group, rest in ended:
            end(group, *rest)
        patch.setattr(task_group.TaskGroup, "_listed", listed)
        for message, (group, rest) in zip(messages, ended, strict=True):
            message.joined = end(group, *rest)
    assert [[segment.parts for segment in message.joined] for message in messages] == [[2], []]
    assert one.commit(*messages) == []
    assert sorted(one.values()) == expected(0, 1)


def test_two_that_take_the_same_turn(job: Callable[..., Job], monkeypatch: pytest.MonkeyPatch) -> None:
    """In a store that cannot create exclusively. Both join, and the driver uses one segment."""
    one = job(partitions="1")
    group_of, ended = task_group.TaskGroup, list[Any]()
    with monkeypatch.context() as patch:
        patch.setattr(group_of, "end", lambda group, *rest: ended.append((group, rest)) or [])
        messages = [one.task(0), one.task(1)]
    with monkeypatch.context() as patch:
        patch.setattr(group_of, "_listed", lambda group: [])
        for group, rest in ended:
            group.end(*rest)
    names, create, left_to_join = group_of._names, group_of._create, group_of._left_to_join
    both = Barrier(2, timeout=HANG)

    def at_once(group: Any, own: Any = ()) -> list[str]:
        """Both have done the same when they look, and do nothing before both have looked."""
        both.wait()
        found = left_to_join(group, own)
        both.wait()
        return found

    with monkeypatch.context() as patch, ThreadPoolExecutor() as pool:
        patch.setattr(group_of, "_names", lambda group: (*names(group)[:2], names(group)[2] | {"turn": set()}))
        patch.setattr(group_of, "_create", lambda *it: create(*it) or it[-1] == "turn")
        patch.setattr(group_of, "_left_to_join", at_once)
        found = [pool.submit(group.end, *rest) for group, rest in ended]
        for message, future in zip(messages, found, strict=True):
            message.joined = future.result(HANG)
    assert [[segment.parts for segment in message.joined] for message in messages] == [[2], [2]]
    assert one.commit(*messages) == []
    assert sorted(one.values()) == expected(0, 1)
