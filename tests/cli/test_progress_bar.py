"""Progress on a terminal, and what an interrupted command leaves."""

import os
import pty
import re
import subprocess
import sys
import termios
import threading
from pathlib import Path

import pytest

from cli.conftest import AT_ONCE, COMMAND, Run, environment
from cli.logs import SEGMENT, files_of, many_batches, partition
from patience import HANG
from recordpress.cli._progress import Progress

PROGRAM = "import sys, recordpress.cli; sys.exit(recordpress.cli.main())"


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return many_batches(tmp_path_factory.mktemp("many"))


def on_a_terminal(*arguments: object, command: list[str]) -> tuple[int, str, str]:
    """Exit status, stdout, and what the terminal that stderr is got."""
    terminal, stderr = pty.openpty()
    termios.tcsetwinsize(stderr, (24, 100))
    process = subprocess.Popen(
        [*command, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=stderr,
        env=environment(TERM="xterm", COLUMNS="100"),
    )
    os.close(stderr)
    shown = b""
    try:
        while piece := os.read(terminal, 1 << 16):
            shown += piece
    except OSError:  # EIO: the other side has closed it
        pass
    os.close(terminal)
    assert process.stdout is not None
    with process.stdout as stdout:
        out = stdout.read()
    return process.wait(HANG), out.decode(), shown.decode()


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["scan", "verify"])
def test_a_terminal_shows_bytes_and_the_time_that_is_left(verb: str, log: Path) -> None:
    _, out, shown = on_a_terminal(verb, log, command=[sys.executable, "-c", AT_ONCE])
    size = (log / SEGMENT).stat().st_size
    pattern = r"(scann|verify)ing  ━* *  [\d.]+ MiB of {:.1f} MiB  [\d.]+ MiB/s  ETA \d+:\d\d:\d\d *"
    shown = shown.partition("try: ")[0]
    lines = [line for line in shown.split("\r") if line.strip()]
    assert lines and all(re.fullmatch(pattern.format(size / (1 << 20)), one) for one in lines)
    assert shown.endswith(f"\r{'':{len(lines[-1])}}\r")
    assert "20,000 intact batches" in out
    assert "━" not in out


def test_the_bar_moves_while_nothing_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rate falls and the remaining time grows while one chunk of the work takes long."""
    monkeypatch.setattr("recordpress.cli._progress.PATIENCE", 0)
    monkeypatch.setattr("recordpress.cli._progress._INTERVAL", 0)
    monkeypatch.setattr("recordpress.cli._progress._TICK", 0.001)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    lines: list[str] = []
    moved = threading.Event()

    def write(self: Progress, line: str) -> None:
        lines.append(line)
        if len(set(lines)) > 4:
            moved.set()

    monkeypatch.setattr(Progress, "_write", write)
    with Progress("reading", 1 << 30) as progress:
        progress.at(1 << 20)
        assert moved.wait(HANG)
    count = len(lines)
    assert all(line.startswith("reading") for line in lines[:-1])
    assert not progress._ticker.is_alive() and len(lines) == count


@pytest.mark.slow
def test_what_takes_less_time_than_its_patience_shows_nothing(tmp_path: Path) -> None:
    patient = [sys.executable, "-c", AT_ONCE.replace("PATIENCE = 0", "PATIENCE = 1e6")]
    status, out, shown = on_a_terminal("scan", partition(tmp_path), command=patient)
    assert (status, shown) == (0, "")
    assert out.startswith("no findings")


@pytest.mark.slow
def test_what_is_no_terminal_gets_no_progress(log: Path) -> None:
    done = subprocess.run([sys.executable, "-c", AT_ONCE, "scan", log], capture_output=True, env=environment())
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["scan", "verify", "reindex"])
def test_ctrl_c_ends_a_command_that_reads(verb: str, log: Path) -> None:
    before = files_of(log)
    command = [sys.executable, "-c", interrupted(1, "recordpress.cli._progress.Progress._write", AT_ONCE)]
    status, out, shown = on_a_terminal(verb, log, command=command)
    assert (status, out) == (130, "")
    assert shown.endswith(" \rrecordpress: interrupted\r\n")
    assert "Traceback" not in shown
    assert files_of(log) == before


def interrupted(call: int, of: str, program: str) -> str:
    """A program for `python -c` that gets SIGINT, as by Ctrl-C, after a call of a method."""
    where, name = of.rsplit(".", 1)
    return f"""
import itertools, os, recordpress.cli, recordpress.cli._progress, recordpress.files._local, signal
whole, calls = {of}, itertools.count(1)
def method(*given, **named):
    result = whole(*given, **named)
    if next(calls) == {call}:
        os.kill(os.getpid(), signal.SIGINT)
    return result
{where}.{name} = method
{program}"""


def interrupt(arguments: list[object], call: int, of: str) -> None:
    """Ctrl-C after a call of a method."""
    command = [sys.executable, "-c", interrupted(call, of, PROGRAM), *map(str, arguments)]
    quiet = environment(PYTHONWARNINGS="ignore")  # of a file that was opened when the signal came, before it had a name
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=quiet, timeout=HANG)
    said = done.stderr.decode()
    assert (done.returncode, said.splitlines()[-1:]) == (130, ["recordpress: interrupted"])
    assert 'File "' not in said or "Exception ignored" in said  # Python has its own finalizers


@pytest.mark.slow
def test_ctrl_c_leaves_nothing_of_a_repaired_log(log: Path, tmp_path: Path) -> None:
    interrupt(["repair", log, tmp_path / "copy" / "orders-0"], 1, "recordpress.files._local._LocalWriter.write")
    assert files_of(tmp_path) == {}


@pytest.mark.slow
def test_a_transcode_that_was_interrupted_goes_on(run: Run, log: Path, tmp_path: Path) -> None:
    source, target = tmp_path / "logs", tmp_path / "copy"
    for number in range(8):
        (source / f"orders-{number}").mkdir(parents=True)
        (source / f"orders-{number}" / SEGMENT).hardlink_to(log / SEGMENT)
    arguments = ["transcode", source, target, "--codec", "zstd"]
    finished = f".copy.unfinished/*/*/{SEGMENT}"
    interrupt(arguments, 10, "recordpress.files._local._LocalWriter.publish")
    assert not target.exists()
    assert 0 < len(list(tmp_path.glob(finished))) < 8
    done = run(*arguments)
    assert done.status == 0
    assert "segment finished by an earlier run" in done.err or "segments finished by an earlier run" in done.err
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["copy", "logs"]


@pytest.mark.slow
def test_a_reader_that_has_seen_enough_of_many_findings(run: Run, tmp_path: Path) -> None:
    path = partition(tmp_path)
    for number in range(3000):
        (path / f"{number:020}.log.deleted").touch()
    process = subprocess.Popen(
        [*COMMAND, "scan", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    )
    assert process.stdout is not None and process.stderr is not None
    assert process.stdout.readline().endswith(b"awaits deletion (file name)\n")
    process.stdout.close()
    with process.stderr as stderr:
        assert stderr.read() == b""
    assert process.wait(HANG) == 141
