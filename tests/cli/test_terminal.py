"""Control characters of a log never reach a terminal; a pipe gets JSON that is valid and CSV as it is."""

import csv
import io
import json
import os
import pty
import re
import subprocess
import sys
import termios
from pathlib import Path
from typing import Any

import pytest

import recordpress
from cli.conftest import environment
from recordpress.cli._app import run

pytest.importorskip("pyarrow")

ODD = "red \x1b[31m, CSI \x9b31m, bell \a, back \b\r, delete \x7f, bidi \u202e\u2066, line \u2028, byte order \ufeff"
# What a terminal must not get: all controls but a line's end and a tab, and what reorders or hides text.
CONTROL = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|\r(?!\n)"
)
STYLE = re.compile(r"\x1b\[(0|1|1;31)m")  # of our own headers and findings
FORMATS = ("table", "json", "jsonl", "csv", "kafka")
MORE = {"table": ["--values", "utf8"], "kafka": ["--print-data-log"]}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A partition with odd records in a directory with an odd name; the last batch is damaged."""
    directory = tmp_path / ODD / "orders-0"
    directory.mkdir(parents=True)
    batches = [
        recordpress.write_records(
            [ODD.encode(), b"\x9b31m\xff"],
            keys=[ODD.encode(), None],
            headers=[[(ODD, ODD.encode())], []],
            base_offset=base,
        )
        for base in (0, 2, 4)
    ]
    (directory / f"{0:020}.log").write_bytes(b"".join(batches[:2]))
    return directory


class Terminal(io.BytesIO):
    def isatty(self) -> bool:
        return True


def printed(arguments: list[str], monkeypatch: pytest.MonkeyPatch, terminal: bool = True) -> tuple[str, str]:
    """The output of a run and its messages."""
    kind = Terminal if terminal else io.BytesIO
    streams = [io.TextIOWrapper(kind(), "utf-8", write_through=True) for _ in range(2)]
    below = [stream.buffer for stream in streams]
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", streams[0])
        patched.setattr(sys, "stderr", streams[1])
        run(arguments)
        sys.stdout.flush()
        sys.stderr.flush()
        output, messages = (one.getvalue() for one in below)
    return output.decode(errors="backslashreplace" if terminal else "surrogateescape"), messages.decode()


def check(text: str) -> None:
    assert not CONTROL.findall(STYLE.sub("", text)), text


@pytest.mark.parametrize("format_", FORMATS)
def test_records_on_a_terminal(format_: str, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output, messages = printed(["dump", "-f", format_, *MORE.get(format_, []), str(log)], monkeypatch)
    assert "\\u001b[31m" in output or "\\x1b[31m" in output
    check(output)
    check(messages)
    if format_ == "json":
        assert json.loads(output)["records"][0]["value"] == ODD
    elif format_ == "jsonl":
        assert json.loads(output.splitlines()[0])["headers"][0][0] == ODD


def test_records_in_a_pipe(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output, _ = printed(["dump", "-f", "json", str(log)], monkeypatch, terminal=False)
    assert json.loads(output)["records"][0]["key"] == ODD
    output, _ = printed(["dump", "-f", "csv", str(log)], monkeypatch, terminal=False)
    assert next(csv.DictReader(io.StringIO(output, newline="")))["value"] == ODD
    output, _ = printed(
        ["dump", "-f", "kafka", "--print-data-log", str(log / f"{0:020}.log")], monkeypatch, terminal=False
    )
    assert ODD in output


COMMANDS: list[list[Any]] = [
    *([verb, *more, ...] for verb in ("ls", "stats", "verify", "scan", "tail", "fits") for more in ([], ["--json"])),
    *(["find", "--value", "red*", *more, ...] for more in ([], ["-f", "csv"])),
    ["explain", ...],
    ["explain", "--json", ...],
    ["dump", "--batches", ...],
    ["dump", "--batches", "--json", ...],
    ["reindex", ...],
    ["analyze", "--candidates", "none", "--depths", "1", "--sample", "1k", ...],
    ["train", "--size", "256", ...],
    ["transcode", "--codec", "zstd", "--dry-run", ...],
    ["convert", "--magic", "1", "--codec", "gzip", ...],
    ["repair", ...],
    ["ls", "there is no \x1b[31m"],
    ["dump", "--columns", "\x1b[31m", ...],
    ["no\x9bverb"],
]


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: " ".join(map(str, arguments[:3])))
@pytest.mark.parametrize("is_damaged", [False, True])
def test_every_verb_on_a_terminal(
    arguments: list[Any], is_damaged: bool, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_damaged:
        segment = log / f"{0:020}.log"
        data = bytearray(segment.read_bytes())
        data[100] ^= 1
        segment.write_bytes(data)
    given = [str(log) if one is ... else one for one in arguments]
    if arguments[0] in ("transcode", "convert", "repair"):
        given.append(str(tmp_path / f"copy {ODD}" / "orders-0"))
    for text in printed(given, monkeypatch):
        check(text)


def in_a_pseudo_terminal(arguments: list[str], columns: int) -> tuple[int, str]:
    """Return the exit status of a run on a terminal of this width, and all that it printed."""
    main, side = pty.openpty()
    termios.tcsetwinsize(side, (50, columns))
    with subprocess.Popen(
        [sys.executable, "-m", "recordpress", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=side,
        stderr=side,
        env=environment(TERM="xterm"),
    ) as process:
        os.close(side)
        found = b""
        while data := _read(main):
            found += data
    os.close(main)
    return process.returncode, found.decode(errors="backslashreplace").replace("\r\n", "\n")


@pytest.mark.slow
@pytest.mark.parametrize("format_", FORMATS)
def test_in_a_pseudo_terminal(format_: str, log: Path) -> None:
    status, output = in_a_pseudo_terminal(["dump", "-f", format_, *MORE.get(format_, []), str(log)], 80)
    assert status == 0 and "31m" in output
    check(output)  # of CSV's two characters at the end of a line one is left


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:  # EIO: the other side is closed
        return b""
