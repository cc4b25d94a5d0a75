"""df.write.format("recordpress") when something fails: tasks, jobs, drivers, workers. Each row is there once."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import recordpress
from together import THOROUGH

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

from sink_writes import arrow, drawn, is_clean, started, stored, table, write
from spark_processes import writer_killed

from recordpress.files import LocalFileSystem
from recordpress.log.publish import _join, _journal, _roll_forward, commit_staged as _publish, staging
from recordpress.spark import _sink


def test_attempts_that_do_not_count_leave_nothing(tmp_path: Path) -> None:
    """A task that was tried again, and one that ran twice at once."""
    writer, messages = started(tmp_path, [drawn(50, 1)], [drawn(50, 2)], topic="t", partitions="2")
    writer.write(iter([arrow(drawn(50, 1))]))

    def broken() -> Any:
        yield arrow(drawn(50, 2))
        raise RuntimeError("the task fails")

    with pytest.raises(RuntimeError):
        writer.write(broken())
    writer.commit(messages)
    assert sum(map(len, stored(tmp_path).values())) == 100
    assert is_clean(tmp_path)


def test_a_job_that_is_aborted_leaves_nothing(tmp_path: Path) -> None:
    writer, messages = started(tmp_path, [drawn(50)], topic="t", partitions="2")
    writer.abort([None, *messages])
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(recordpress.StorageError, match="the file is gone"):
        writer.commit(messages)
    assert not list(tmp_path.rglob("*.log"))


def died(root: Path) -> None:
    """A driver that is gone: no process has its number."""
    ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    for path in (root / ".recordpress-staging").rglob("*.owner.json"):
        path.write_text(json.dumps(json.loads(path.read_text()) | {"process": int(ended.stdout)}))


def test_a_driver_that_died_before_the_commit(tmp_path: Path) -> None:
    """What it left is gone after the next job; a job that runs next to it is left alone."""
    started(tmp_path, [drawn(50, 1)], topic="t", partitions="2")
    died(tmp_path)
    beside, messages = started(tmp_path, [drawn(50, 2)], topic="t", partitions="2")
    write(tmp_path, [drawn(50, 1)], topic="t", partitions="2")
    assert len(list((tmp_path / ".recordpress-staging").iterdir())) == 1
    beside.commit(messages)
    assert sum(map(len, stored(tmp_path).values())) == 100
    assert is_clean(tmp_path)


class Killed(BaseException):
    """Nothing of ours catches this, as nothing catches SIGKILL."""


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("joined", [False, True])
def test_a_driver_that_died_in_the_commit(
    overwrite: bool, joined: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At every step: before the journal is there, nothing was written; after that, the next job finishes it first."""
    steps = ["publish", "_join", "publish_checked", "_rename", "_end", "_write", "_remove", "_remember", "write"]
    if not joined:
        monkeypatch.setattr(staging, "KEPT_BYTES", 1)
    committed = 0
    for step in range(1, 60):
        root = tmp_path / str(step)
        write(root, [drawn(30, 1)], topic="t", partitions="1")
        old = [] if overwrite else list(zip(*drawn(30, 1).values(), strict=True))
        writer, messages = started(root, [drawn(30, 2)], [drawn(30, 3)], topic="t", partitions="1", overwrite=overwrite)
        with monkeypatch.context() as patch:
            left = [step]

            def counted(function: Any, left: list[int] = left) -> Any:
                def call(*arguments: Any, **named: Any) -> Any:
                    left[0] -= 1
                    if left[0] == 0:
                        raise Killed
                    return function(*arguments, **named)

                return call

            for name in steps:
                places: Any = (_roll_forward._Partition, _roll_forward, _journal.Journal, _join)
                place = next(one for one in places if name in vars(one))
                patch.setattr(place, name, counted(getattr(place, name)))
            patch.setattr(_roll_forward, "_AT_ONCE", 1)
            try:
                writer.commit(messages)
            except Killed:
                pass
            else:
                break
        is_committed = bool(list(root.rglob("journal.json")))
        committed += is_committed
        died(root)
        write(root, [drawn(30, 4)], topic="t", partitions="1")
        jobs = [2, 3] if is_committed else []
        before = old if is_committed or not overwrite else list(zip(*drawn(30, 1).values(), strict=True))
        expected = before + [row for seed in [*jobs, 4] for row in zip(*drawn(30, seed).values(), strict=True)]
        found = stored(root)
        assert sorted(map(repr, (row for rows in found.values() for row in rows))) == sorted(map(repr, expected))
        assert is_clean(root), step
        shutil.rmtree(root)
    assert step > 8 and committed > 5


def test_a_driver_that_died_when_it_cleaned_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In any order of files: the next job does not delete again what the job replaced."""
    write(tmp_path, [drawn(30, 1)], topic="t", partitions="1")
    writer, messages = started(tmp_path, [drawn(30, 2)], topic="t", partitions="1", overwrite=True)

    def killed(files: Any, path: str) -> None:
        (Path(path) / "removed").unlink()
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(LocalFileSystem, "delete_directory", killed)
        with pytest.raises(Killed):
            writer.commit(messages)
    died(tmp_path)
    write(tmp_path, [drawn(30, 3)], topic="t", partitions="1")
    assert stored(tmp_path) == {"t-0": [row for seed in (2, 3) for row in zip(*drawn(30, seed).values(), strict=True)]}
    assert is_clean(tmp_path)


def test_a_job_that_is_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it had been committed or not, its rows are there once."""
    for number, step in enumerate(("write", "_join", "_write", "remove_if_empty")):
        place: Any = next(
            one for one in (_roll_forward._Partition, _publish, _roll_forward, _journal.Journal) if step in vars(one)
        )
        writer, messages = started(tmp_path, [drawn(30, number)], topic="t", partitions="1", writeId=str(number))

        def killed(*arguments: Any, **named: Any) -> None:
            raise Killed

        with monkeypatch.context() as patch:
            patch.setattr(place, step, killed)
            with pytest.raises(Killed):
                writer.commit(messages)
        died(tmp_path)
        for _ in range(2):
            write(tmp_path, [drawn(30, number)], topic="t", partitions="1", writeId=str(number))
    rows = [row for number in range(4) for row in zip(*drawn(30, number).values(), strict=True)]
    assert stored(tmp_path) == {"t-0": rows}
    assert json.loads((tmp_path / "_recordpress-writes.json").read_text()) == ["0", "1", "2", "3"]
    assert is_clean(tmp_path)
    for text in ("{}", "[1]", "[" * 100000):
        (tmp_path / "_recordpress-writes.json").write_text(text)
        with pytest.raises(recordpress.CorruptRecordError, match="ids of writes"):
            write(tmp_path, [drawn(30)], topic="t", partitions="1", writeId="5")


# Each line of input is a job in a process of its own, a copy of the one that has imported everything.
SIGNALLED = """
import os, sys
from pathlib import Path
from sink_writes import drawn, write

step, sent = 0, int(sys.argv[1])
EVENTS = ("open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.listdir", "os.scandir")

def hook(event, arguments):
    global step
    if event in EVENTS and root in str(arguments[0]):
        step += 1
        if step == wanted:
            os.kill(os.getpid(), sent)

for line in sys.stdin:
    number, root = line.rstrip().split(" ", 1)
    wanted = int(number)
    process = os.fork()
    if not process:
        break
    print("ended", os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)
else:
    sys.exit()

sys.addaudithook(hook)
write(Path(root), [drawn(30, 2)], [drawn(30, 3)], topic="t", partitions="2", writeId="b")
print("steps", step, flush=True)
"""


@pytest.fixture
def signalled_at(sent: signal.Signals) -> Iterator[Callable[[int, Path], tuple[int, int]]]:
    """Run the job in a process that is signalled at a step; return how it ended, and its steps if it was not."""
    path = os.pathsep.join([*sys.path, str(Path(__file__).parent)])
    command = [sys.executable, "-W", "ignore", "-c", SIGNALLED, str(int(sent))]
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, text=True, env=os.environ | {"PYTHONPATH": path}, **pipes) as server:
        assert server.stdin is not None and server.stdout is not None

        def run(step: int, root: Path) -> tuple[int, int]:
            print(step, root, file=server.stdin, flush=True)
            said: dict[str, int] = {"steps": 0}
            while "ended" not in said:
                what, number = server.stdout.readline().split()
                said[what] = int(number)
            return said["ended"], said["steps"]

        yield run
        server.stdin.close()


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT], ids=["killed", "interrupted"])
def test_a_process_that_is_signalled_between_any_two_steps(
    sent: signal.Signals, signalled_at: Callable[[int, Path], tuple[int, int]], tmp_path: Path
) -> None:
    """While its tasks write, and while it commits: the same job again is there once, and nothing else is."""
    before = tmp_path / "before"
    write(before, [drawn(30, 1)], topic="t", partitions="2", writeId="a")
    whole = shutil.copytree(before, tmp_path / "whole")
    status, steps = signalled_at(0, whole)
    wanted = stored(whole)
    assert status == 0 and steps > 30
    ended, tried = 0, 30 if THOROUGH else 8
    for step in range(1, steps + 1, steps // tried):
        root = shutil.copytree(before, tmp_path / str(step))
        status, _ = signalled_at(step, root)
        assert status in (0, -sent), step
        ended += status == -sent
        died(root)
        for path in (root / ".recordpress-staging").glob("*"):
            if not list(path.rglob("*.owner.json")):  # whose job nobody knows: it is kept for a day
                assert not list(path.rglob("*.log")), step
                for one in (path, *path.rglob("*")):
                    os.utime(one, (0, 0))
        found = stored(root)  # whole segments only, whenever that was
        assert all(set(rows) <= set(wanted[name]) for name, rows in found.items()), step
        for _ in range(2):  # the second one does nothing
            write(root, [drawn(30, 2)], [drawn(30, 3)], topic="t", partitions="2", writeId="b")
        assert {name: sorted(map(repr, rows)) for name, rows in stored(root).items()} == {
            name: sorted(map(repr, rows)) for name, rows in wanted.items()
        }, step
        assert is_clean(root), step
        shutil.rmtree(root)
    assert ended > 0.8 * tried


def test_a_job_that_died_before_it_named_its_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its directory is deleted; a live job whose directory was deleted at that moment makes it again."""
    for name in ("1" * 32, "2" * 32):
        (tmp_path / ".recordpress-staging" / name).mkdir(parents=True)
    (tmp_path / ".recordpress-staging" / name / f".a.{'0' * 32}").touch()
    writes: list[str] = []
    write_file = LocalFileSystem.write_file

    def late(files: Any, path: str, data: bytes) -> None:
        if path.endswith(".owner.json"):
            writes.append(path)
            if len(writes) == 1:
                Path(path).parent.rmdir()
        write_file(files, path, data)

    monkeypatch.setattr(LocalFileSystem, "write_file", late)
    write(tmp_path, [drawn(50)], topic="t", partitions="2")
    assert len(writes) > 1 and writes[0] == writes[1]
    assert sum(map(len, stored(tmp_path).values())) == 50
    assert is_clean(tmp_path)


def test_two_jobs_at_once(tmp_path: Path) -> None:
    jobs = [started(tmp_path, [drawn(200, seed)], topic="t", partitions="3") for seed in range(6)]
    threads = [threading.Thread(target=writer.commit, args=(messages,)) for writer, messages in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(map(len, stored(tmp_path).values())) == 1200
    assert is_clean(tmp_path)


def test_offsets_of_large_segments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks choose them, so the driver reads and writes no batch, unless another job committed in the meantime."""
    tasks, size = count(), 1 << 26
    monkeypatch.setattr(staging, "KEPT_BYTES", 1)
    monkeypatch.setattr(_sink, "_task_number", lambda: next(tasks) % 2)
    with monkeypatch.context() as patch:
        patch.setattr(_roll_forward, "stamp_in_place", None)
        for seed in (1, 2):
            write(tmp_path, [drawn(50, seed)], [drawn(50, seed)], topic="t", partitions="1")
    late, of_late = started(tmp_path, [drawn(50, 3)], [drawn(50, 3)], topic="t", partitions="1")
    write(tmp_path, [drawn(50, 4)], [drawn(50, 4)], topic="t", partitions="1")
    late.commit(of_late)
    bases = sorted(int(path.stem) for path in tmp_path.rglob("*.log"))
    ends = [size + 50, 2 * size + 100, 3 * size + 150]
    assert bases == [0, size, *(base for end in ends[:2] for base in (end, end + size)), ends[2], ends[2] + 50]
    assert table(tmp_path, "value").num_rows == 400
    assert is_clean(tmp_path)


def test_a_staged_segment_that_changed(tmp_path: Path) -> None:
    writer, messages = started(tmp_path, [drawn(50)], [drawn(50)], topic="t", partitions="1")
    path = Path(writer.stage.path, messages[0].segments[0].file)
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(recordpress.CorruptRecordError, match="is read back") as caught:
        writer.commit(messages)
    assert "the rows are committed" in "".join(caught.value.__notes__)


def test_a_journal_from_elsewhere(tmp_path: Path) -> None:
    """It cannot name places outside of the log dir."""
    writer, messages = started(tmp_path / "logs", [drawn(50)], topic="t", partitions="1")
    good = '{"journal": 2, "index_interval_bytes": 4096, "write_id": null, "batch_id": null, "replaces": false, '
    good += '"merges": false}\n'
    place = good + '{"directory": "t-0", "end": null}\n'
    for text in (
        "", '{"x": 1}\n', "[]\n", "[" * 100000 + "\n", "[" * (2 << 20) + "\n", "\xff\n", good, good + '{"lines": 2}\n',
        good.replace("2", "1", 1), good[:-1], '{"has_offsets": false, "segments": [], "remove": ["../victim"]}',
        good + '{"directory": "../t-0", "end": null}\n{"lines": 2}\n', place + '"../victim"\n{"lines": 3}\n',
        place + '["../a", "a", 1]\n{"lines": 3}\n', place + f'["{"0" * 32}", "../victim", 1]\n{{"lines": 3}}\n',
        place + '["../a", 0, 1, 1, 1, 1, 1, false, false]\n{"lines": 3}\n', place + '[0, 1]\n["x"]\n{"lines": 4}\n',
        place + "7\n",
        place + '[0, 1]\n["../../victim", 0, 1, 1, 1, 1, 1, false, false]\n{"lines": 4}\n', good + "[0, 1]\n",
        place + '{"lines": 2}\n7\n',
    ):  # fmt: skip
        job = tmp_path / "logs" / ".recordpress-staging" / ("0" * 32)
        job.mkdir(exist_ok=True)
        (job / "journal.json").write_text(text, encoding="latin-1")
        (tmp_path / "victim").touch()
        with pytest.raises(recordpress.CorruptRecordError, match="journal of staged segments"):
            writer.commit(messages)
        assert (tmp_path / "victim").exists()


def test_a_worker_that_is_killed_changes_nothing(spark: Any, tmp_path: Path) -> None:
    """SIGKILL while it writes: the task is tried again, and nothing is there twice."""
    with writer_killed(f"{tmp_path}/logs/.recordpress-staging/"):
        rows = spark.range(0, 60_000, 1, 2).selectExpr("CONCAT(id, REPEAT(UUID(), 40)) AS value")
        how = {"topic": "t", "partitions": "2", "compression.level": "19", "batch.size": "20000"}
        rows.write.format("recordpress").mode("append").options(**how).save(str(tmp_path / "logs"))
    assert sum(map(len, stored(tmp_path / "logs").values())) == 60_000
    assert is_clean(tmp_path / "logs")
