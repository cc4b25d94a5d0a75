"""Hidden names until the work is done: removed if it fails, swept if it was killed, left alone while it runs."""

import errno
import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import recordpress
from recordpress.files import LocalFileSystem
from recordpress.files._unfinished import sweep_directory, unfinished_file
from segments import transcode_segment

pytest.importorskip("pyarrow")

ATTEMPT = "0123456789abcdef" * 2
HOLD = """
import sys
from pathlib import Path
from recordpress.files._unfinished import unfinished_file

with unfinished_file(Path(sys.argv[1])):
    print("ready", flush=True)
    sys.stdin.read()
"""


@contextmanager
def another_process(target: Path) -> Iterator[subprocess.Popen[str]]:
    """One that works on `target` until its standard input is closed."""
    command = [sys.executable, "-c", HOLD, str(target)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        yield process


def names(path: Path) -> set[str]:
    return {one.name for one in path.iterdir()}


def test_nothing_is_left_of_work_that_failed(tmp_path: Path) -> None:
    def fail() -> None:
        with unfinished_file(tmp_path / "copy"):
            assert len(names(tmp_path)) == 1
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert names(tmp_path) == set()


@pytest.mark.slow
def test_a_killed_process_is_swept_and_a_living_one_is_not(tmp_path: Path) -> None:
    target = tmp_path / "copy"
    with another_process(target) as process:
        [living] = names(tmp_path)
        with unfinished_file(target):
            assert living in names(tmp_path) and len(names(tmp_path)) == 2
        assert names(tmp_path) == {living}
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert names(tmp_path) == {living}
        with unfinished_file(target):
            assert living not in names(tmp_path)
    assert names(tmp_path) == set()


def test_only_attempts_at_the_same_name_are_swept(tmp_path: Path) -> None:
    kept = {f".copy.{ATTEMPT}0", f".copy.{ATTEMPT[:-1]}", f"copy.{ATTEMPT}", f".copy2.{ATTEMPT}", ".copy", "copy"}
    for name in {*kept, f".copy.{ATTEMPT}"}:
        (tmp_path / name).touch()
    (tmp_path / "important").touch()
    (tmp_path / f".copy.{'f' * 32}").symlink_to("important")
    with unfinished_file(tmp_path / "copy"):
        pass
    assert names(tmp_path) == kept | {"important", f".copy.{'f' * 32}"}


@pytest.mark.slow
def test_a_directory_that_is_done_holds_no_attempt_at_all(tmp_path: Path) -> None:
    target = tmp_path / "00000000000000000000.log"
    with another_process(target):
        (tmp_path / f".x.log.{ATTEMPT}").touch()
        (tmp_path / ".hidden").touch()
        sweep_directory(tmp_path)
        assert names(tmp_path) == {".hidden"}


def test_an_attempt_that_is_swept_before_it_is_locked_starts_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked = []
    flock = fcntl.flock

    def swept_at_first(descriptor: int, operation: int) -> None:
        if not locked:
            [path] = tmp_path.iterdir()
            path.unlink()
        locked.append(descriptor)
        flock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", swept_at_first)
    with unfinished_file(tmp_path / "copy"):
        assert len(locked) == 2 and len(names(tmp_path)) == 1


def test_the_longest_names(tmp_path: Path) -> None:
    target = tmp_path / ("\N{SNOWMAN}" * 85)
    with unfinished_file(target) as (path, _):
        path.rename(target)
    with unfinished_file(target):
        assert len(names(tmp_path)) == 2


# ---- what is on disk before a name is given


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """What was synced and renamed, in order, by names."""
    seen = []
    fsync, replace = os.fsync, os.replace

    def synced(descriptor: int) -> None:
        seen.append(("fsync", os.readlink(f"/proc/self/fd/{descriptor}")))
        fsync(descriptor)

    def replaced(source: Path, target: Path) -> None:
        seen.append(("replace", str(target)))
        replace(source, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", replaced)
    return seen


linux = pytest.mark.skipif(sys.platform != "linux", reason="names of open files come from /proc")


@linux
def test_a_segment_is_on_disk_before_it_has_its_name(calls: list[tuple[str, str]], tmp_path: Path) -> None:
    source, target = tmp_path / "source.log", tmp_path / "target.log"
    source.write_bytes(recordpress.write_records([b"a"]))
    transcode_segment(source, target, "gzip")
    (first, unfinished), *rest = calls
    assert first == "fsync" and Path(unfinished).name.startswith(".target.log.")
    assert rest == [("replace", str(target)), ("fsync", str(tmp_path))]


@pytest.mark.parametrize("reads_back", [False, True])
def test_a_disk_that_cannot_keep_the_bytes_gives_no_file(
    reads_back: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Linux tells of a failed write to the disk once: what a thread is told must come to its caller."""
    told: list[int] = []

    def fsync(descriptor: int) -> None:
        told.append(descriptor)
        if len(told) == 1:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", fsync)
    with LocalFileSystem().create(str(tmp_path / "a")) as writer:
        writer.write(b"bytes")
        if reads_back:
            with writer.written() as file:
                assert file.read_at(0, 10) == b"bytes"
        with pytest.raises(OSError, match="Input/output error"):
            writer.publish()
    assert list(tmp_path.iterdir()) == []
    assert len(told) == 1


def test_bytes_after_reading_back_are_synced_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: told.append(os.fstat(descriptor).st_size))
    with LocalFileSystem().create(str(tmp_path / "a")) as writer:
        writer.write(b"bytes")
        writer.written().close()
        writer.write(b" and more")
        writer.publish()
    assert told[:2] == [5, 14]
    assert (tmp_path / "a").read_bytes() == b"bytes and more"


def test_an_upload_does_not_list_its_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks of a job write thousands of files with names of their own into one directory."""
    listed = []
    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: listed.append(path) or scandir(path))
    files = LocalFileSystem()
    for number in range(3):
        with files.upload(str(tmp_path / f"{number}.log")) as writer:
            writer.write(b"data")
            writer.publish()
    assert listed == []
    files.create_file(str(tmp_path / "3.log"), b"data")
    assert len(listed) == 1
