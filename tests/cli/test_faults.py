"""What the system refuses: a disk that is full, files of others, and a kill between any two steps."""

import os
import random
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

import recordpress
from cli.conftest import COMMAND, environment
from patience import HANG
from recordpress.log import repair, verify
from segments import read_content
from together import THOROUGH

pytestmark = pytest.mark.slow

LOG = "00000000000000000000.log"
WRITERS = {
    "transcode": ["transcode", "--codec", "gzip"],
    "convert": ["convert", "--magic", "2"],
    "repair": ["repair"],
}


def make_log(directory: Path, segments: int = 3, size: int = 2000) -> Path:
    """Records that no codec makes smaller."""
    directory.mkdir(parents=True)
    draw = random.Random(5)
    for number in range(segments):
        batches = [
            recordpress.write_records(
                [draw.randbytes(size)] * 5, base_offset=50 * number + 5 * i, compression_type="lz4"
            )
            for i in range(10)
        ]
        (directory / f"{50 * number:020}.log").write_bytes(b"".join(batches))
    return directory


def everything(directory: Path) -> list[str]:
    return sorted(str(path.relative_to(directory)) for path in directory.rglob("*"))


# ---- a full disk


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("format_", ["jsonl", "csv", "table", "json", "kafka"])
def test_lines_that_do_not_fit_on_the_disk(tmp_path: Path, format_: str, unbuffered: str) -> None:
    directory = make_log(tmp_path / "topic-0", segments=1)
    written = tmp_path / "written"
    dump = [*COMMAND, "dump", str(directory), "--format", format_, "--values", "hex"]
    dump += ["--print-data-log"] if format_ == "kafka" else []
    with written.open("wb") as file:
        done = subprocess.run(
            ["sh", "-c", 'ulimit -f 64 && exec "$@"', "sh", *dump],
            stdout=file,
            stderr=subprocess.PIPE,
            env=environment(PYTHONUNBUFFERED=unbuffered),
            timeout=HANG,
        )
    assert done.returncode == 3
    assert done.stderr.decode().splitlines()[-1] == "recordpress: File too large"
    assert written.stat().st_size == 64 * 512


def test_a_stream_that_is_closed(tmp_path: Path) -> None:
    def ls(path: Path, streams: str) -> subprocess.CompletedProcess[bytes]:
        command = ["sh", "-c", f'exec "$@" {streams}', "sh", *COMMAND, "ls", str(path)]
        return subprocess.run(command, capture_output=True, env=environment(), timeout=HANG)

    directory = make_log(tmp_path / "topic-0", segments=1)
    done = ls(directory, ">&-")
    assert (done.returncode, done.stdout, done.stderr) == (3, b"", b"recordpress: standard output is closed\n")
    done = ls(directory, "2>&-")
    assert (done.returncode, done.stderr) == (0, b"") and b"topic" in done.stdout
    done = ls(tmp_path / "missing", "2>&-")  # what is said there is not among the results
    assert (done.returncode, done.stdout, done.stderr) == (3, b"", b"")


MOUNTED = 'mount -t tmpfs -o size=%s tmpfs "$1" && shift && "$@"; status=$?; find "%s" -mindepth 1; exit $status'


def on_small_disk(size: str, directory: Path, command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run it with a file system of that size at `directory`; what it left there follows what it printed."""
    script = MOUNTED % (size, directory)
    return subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh", str(directory), *command],
        capture_output=True,
        text=True,
        env=environment(),
        timeout=HANG,
    )


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    directory = tmp_path / "disk"
    directory.mkdir()
    if not shutil.which("unshare") or on_small_disk("64k", directory, ["true"]).returncode:
        pytest.skip("the system mounts no file system for us")
    return directory


@pytest.mark.parametrize("size", ["4k", "12k", "100k", "200k", "260k"])
@pytest.mark.parametrize("verb", WRITERS)
def test_a_full_disk_is_one_error(verb: str, size: str, disk: Path, tmp_path: Path) -> None:
    """Each size is too small for the copy: it is full at its first file, in its middle, or at its end."""
    source = make_log(tmp_path / "orders-0", size=10000)
    name, *options = WRITERS[verb]
    done = on_small_disk(size, disk, [*COMMAND, name, str(source), str(disk / "cold-0"), *options])
    assert done.returncode == 3, done.stderr
    assert re.fullmatch(r"recordpress: \S+: No space left on device\n", done.stderr)
    left = done.stdout.split()
    assert not [path for path in left if path.startswith(str(disk / "cold-0"))]
    if verb == "repair":
        assert left == []
    assert not [path for path in left if re.search(r"\.[0-9a-f]{32}$", path)]


# ---- files of others


def without_privileges(*arguments: object) -> subprocess.CompletedProcess[str]:
    """The command as somebody to whom the modes of files apply: root may do everything, but for these capabilities."""
    command = [*COMMAND, *map(str, arguments)]
    if os.getuid() == 0:
        if not shutil.which("setpriv"):
            pytest.skip("root may do everything")
        command = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search", *command]
    return subprocess.run(command, capture_output=True, text=True, env=environment(), timeout=HANG)


READERS = {
    "ls": ["ls"],
    "stats": ["stats"],
    "dump": ["dump"],
    "tail": ["tail", "-n", "100"],
    "verify": ["verify"],
    "scan": ["scan"],
}


@pytest.mark.parametrize("verb", READERS)
@pytest.mark.parametrize("closed", ["directory", "segment"])
def test_what_may_not_be_read_is_one_error(closed: str, verb: str, tmp_path: Path) -> None:
    source = make_log(tmp_path / "orders-0")
    blocked = source if closed == "directory" else source / f"{50:020}.log"
    blocked.chmod(0)
    done = without_privileges(*READERS[verb], source)
    if verb == "ls" and closed == "segment":  # it opens no segment
        assert (done.returncode, done.stderr) == (0, "")
        return
    assert done.returncode == 3, done.stderr
    assert done.stderr == f"recordpress: {blocked}: Permission denied\n"


@pytest.mark.parametrize("verb", WRITERS)
@pytest.mark.parametrize("closed", ["source", "segment", "target", "working directory"])
def test_a_copy_of_what_may_not_be_read_or_written(closed: str, verb: str, tmp_path: Path) -> None:
    source = make_log(tmp_path / "orders-0")
    target = tmp_path / "out"
    target.mkdir()
    target.chmod(0o777)
    name, *options = WRITERS[verb]
    blocked = {"source": source, "segment": source / f"{50:020}.log", "target": target}.get(closed)
    if blocked is None:
        blocked = target / ".cold-0.unfinished"
        if verb == "repair":
            pytest.skip("it has no directory that stays")
        blocked.mkdir()
    blocked.chmod(0o555 if closed in ("target", "working directory") else 0)
    before = everything(tmp_path)
    done = without_privileges(name, source, target / "cold-0", *options)
    assert done.returncode == 3, done.stderr
    assert re.fullmatch(rf"recordpress: {re.escape(str(blocked))}\S*: Permission denied\n", done.stderr)
    for path in (source, target):
        path.chmod(0o755)
    left = [path for path in everything(tmp_path) if path not in before and not path.startswith("orders-0/")]
    if closed == "segment" and verb != "repair":  # what was done stays for the next call, hidden
        assert all(path.startswith("out/.cold-0.unfinished") for path in left)
    else:
        assert left == []


# ---- killed between any two steps

KILLED_AT = """
import os, signal, sys
import recordpress, recordpress.log
from recordpress.log import repair

step, made, wanted, sent = 0, sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
EVENTS = ("open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.listdir", "os.scandir")

def note():
    global step
    step += 1
    if step == wanted:
        os.kill(os.getpid(), sent)

def hook(event, arguments):
    if event in EVENTS and os.path.dirname(made) in str(arguments[0]):
        note()

def counted(function):
    def call(*arguments):
        note()
        return function(*arguments)
    return call

os.fsync, os.replace = counted(os.fsync), counted(os.replace)
sys.addaudithook(hook)
WORK
print(step)
"""
WORKS: dict[str, tuple[str, Callable[[Path, Path], object]]] = {
    "transcode": (
        "recordpress.transcode(sys.argv[1], made, 'zstd')",
        lambda source, target: recordpress.transcode(source, target, "zstd"),
    ),
    "convert": (
        "recordpress.convert(sys.argv[1], made, 1)",
        lambda source, target: recordpress.convert(source, target, 1),
    ),
    "repair": ("repair(sys.argv[1], made)", repair),
}


def killed_at(
    step: int, work: str, source: Path, target: Path, sent: signal.Signals
) -> subprocess.CompletedProcess[str]:
    script = KILLED_AT.replace("WORK", WORKS[work][0])
    return subprocess.run(
        [sys.executable, "-c", script, str(source), str(target), str(step), str(int(sent))],
        capture_output=True,
        text=True,
        env=environment(),
        timeout=HANG,
    )


def digests_in(directory: Path) -> list[str]:
    return [read_content(path).digest for path in sorted(directory.glob("*.log"))]


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT], ids=["killed", "interrupted"])
@pytest.mark.parametrize("work", WORKS)
def test_killed_between_any_two_steps(work: str, sent: signal.Signals, tmp_path: Path) -> None:
    """Of those that the system is asked for: opening, renaming, syncing and removing. Nothing half has a final name,
    and the next call does all that is left."""
    source = make_log(tmp_path / "orders-0", segments=2)
    done = killed_at(0, work, source, tmp_path / "whole" / "cold-0", sent)
    assert done.returncode == 0, done.stderr
    digests = digests_in(tmp_path / "whole" / "cold-0")
    assert work == "convert" or digests == digests_in(source)
    steps = int(done.stdout)
    assert steps > 20
    every = 1 if THOROUGH else max(steps // 8, 1)
    for step in range(1, steps + 1, every):
        out = tmp_path / f"{step}"
        target = out / "cold-0"
        out.mkdir()
        done = killed_at(step, work, source, target, sent)
        is_last = step > 0.9 * steps  # threads may take a step more or less
        assert done.returncode == -sent or (is_last and done.returncode == 0), (step, done.stderr)
        is_done = target.exists()  # then a call does nothing, whether that is an error or not
        assert not is_done or digests_in(target) == digests, step
        with pytest.raises(recordpress.InvalidArgumentError) if is_done and work == "repair" else nullcontext():
            WORKS[work][1](source, target)
        assert os.listdir(out) == ["cold-0"], step
        assert digests_in(target) == digests, step
        assert verify(target).findings == [], step
        assert not [name for name in everything(out) if re.search(r"\.[0-9a-f]{32}$", name)], step
        shutil.rmtree(out)
