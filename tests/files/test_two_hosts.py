"""Two hosts that write to one place: a directory of NFS, or one whose locks are as there (nfs_flock).

`make -f labs.mk nfs NFS="/mnt/a /mnt/b"` tries two mounts of the same export, the second with `nosharecache`, as two
hosts have.
"""

import itertools
import os
import re
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import recordpress
from patience import HANG
from recordpress.files import LocalFileSystem, only_one
from recordpress.files._unfinished import unfinished_file
from recordpress.log.publish.commit_staged import commit_staged
from recordpress.log.publish.staging import Stage, StagedPartition

pytestmark = pytest.mark.slow

pytest.importorskip("pyarrow")

MOUNTS = os.environ.get("RECORDPRESS_NFS", "").split()
OTHER = """
import contextlib, sys
if sys.argv[3] == "like":
    import nfs_flock
    nfs_flock.install()
from pathlib import Path
import recordpress.log
from recordpress.files import LocalFileSystem
from recordpress.files._unfinished import unfinished_file
from recordpress.log.publish.commit_staged import _locked as publishing
from recordpress.log.publish.staging import Stage
from recordpress.log.publish.work_directory import locked_work

@contextlib.contextmanager
def work(path):
    with locked_work(LocalFileSystem(), str(path)) as place:
        (Path(place.path) / "half").write_bytes(b"done")
        yield

def publish(path):
    return publishing(Stage.new(LocalFileSystem(), str(path)))

with globals()[sys.argv[1]](Path(sys.argv[2])):
    print("ready", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """The same directory, as this host and another one see it."""
    if not MOUNTS:
        import nfs_flock

        monkeypatch.setattr("fcntl.flock", nfs_flock.flock)
        return tmp_path, tmp_path
    name = uuid.uuid4().hex
    (Path(MOUNTS[0]) / name).mkdir()
    return Path(MOUNTS[0]) / name, Path(MOUNTS[1]) / name


@contextmanager
def another_host(what: str, path: Path) -> Iterator[subprocess.Popen[str]]:
    """It works on `path` until its standard input is closed."""
    command = [sys.executable, "-c", OTHER, what, str(path), "real" if MOUNTS else "like"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        yield process


def kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()


def names(path: Path) -> set[str]:
    """What is there, without what NFS keeps of a deleted file for as long as somebody has it open."""
    return {found.name for found in path.iterdir() if not found.name.startswith(".nfs")}


def log_at(path: Path) -> Path:
    partition = path / "logs" / "t-0"
    partition.mkdir(parents=True)
    (partition / f"{0:020}.log").write_bytes(recordpress.write_records([b"value" * 20] * 100))
    return path / "logs"


def test_what_another_host_writes_stays_until_that_host_is_done(places: tuple[Path, Path]) -> None:
    here, there = places
    with another_host("unfinished_file", there / "copy") as process:
        living = names(here)
        with unfinished_file(here / "copy"):
            assert living < names(here)
        assert names(here) == living
        kill(process)
        with unfinished_file(here / "copy"):
            assert not living & names(here)
    assert names(here) == set()


def test_two_hosts_do_not_make_the_same_copy(places: tuple[Path, Path]) -> None:
    here, there = places
    logs = log_at(here)
    with another_host("work", there / "copy") as process:
        with pytest.raises(recordpress.InvalidArgumentError, match="another call is writing"):
            recordpress.transcode(logs, here / "copy", "zstd")
        assert [path.read_bytes() for path in here.glob(".copy.unfinished/*/half")] == [b"done"]
        kill(process)
        recordpress.transcode(logs, here / "copy", "zstd")
    assert recordpress.open_log(here / "copy").count() == 100
    assert names(here) == {"logs", "copy"}


def staged(target: Path) -> tuple[Stage, Any]:
    stage = Stage.new(LocalFileSystem(), str(target))
    limits = {"segment_bytes": 1 << 20, "index_interval_bytes": 4096}
    partition = StagedPartition(stage, stage.attempt(), itertools.count(), "t", 0, 0, **limits)
    partition.write(recordpress.write_records([b"value"] * 10))
    partition.close()
    return stage, partition.segments


def test_two_hosts_do_not_publish_at_once(places: tuple[Path, Path], caplog: pytest.LogCaptureFixture) -> None:
    """The second one says at once whom it waits for, and goes on when that one is dead."""
    here, there = places
    stage, segments = staged(here / "dst")
    with another_host("publish", there / "dst") as process, ThreadPoolExecutor() as pool:
        with caplog.at_level("WARNING"):
            job = pool.submit(commit_staged, stage, segments, segment_bytes=1 << 20, index_interval_bytes=4096)
            deadline = time.monotonic() + HANG
            while not caplog.messages and not job.done():
                assert time.monotonic() < deadline
                time.sleep(0.01)
        assert re.fullmatch(
            rf"waiting to publish: another call is writing to .*/dst: process {process.pid} on .+ has held "
            r".*/dst/\.recordpress-staging\.lock for \d+ seconds",
            caplog.messages[0],
        )
        time.sleep(0.3)
        assert not job.done() and len(caplog.messages) == 1
        kill(process)
        job.result(HANG)
    assert recordpress.open_log(here / "dst").count() == 10
    assert names(here / "dst") == {"t-0", "_SUCCESS"}


def test_a_lock_that_was_given_up_meanwhile_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between opening its file and locking it: another process deletes it, and a third one makes it again."""
    import fcntl

    flock, path, locked = fcntl.flock, tmp_path / ".lock", []

    def given_up(descriptor: int, operation: int) -> None:
        if not locked:
            path.unlink()
        locked.append(descriptor)
        flock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", given_up)
    with only_one(path):
        assert len(locked) == 2
        with pytest.raises(BlockingIOError, match="another process holds the lock"), only_one(path):
            pass
    assert not path.exists()
