"""Every verb on terminals of 80 and 120 columns: whole numbers and words, no column lost, no line too long."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.test_terminal import STYLE, in_a_pseudo_terminal, printed
from recordpress.cli._output import print_table
from recordpress.cli._verbs import VERBS
from together import thinned

pytest.importorskip("pyarrow")

ROOT = Path(__file__).parents[2]
LONG = "a-topic-whose-name-has-sixty-characters-as-long-as-they-come"
SHORT = ("access-log-0", "nginx-status-0", "sessions-1")
LOGS = ("demo", "long")

CALLS = {
    "ls": ["ls", "{log}"],
    "segments": ["ls", "--segments", "{log}"],
    "stats": ["stats", "{log}"],
    "savings": ["stats", "{log}", "--savings"],
    "explain": ["explain", "{log}", "--topic-config", "compression.type=lz4"],
    "extract": ["extract", "{one}", "-o", "{new}"],
    "fits": ["fits", "{log}", "--batch-size", "4000"],
    "scan": ["scan", "{damaged}"],
    "verify": ["verify", "{damaged}"],
    "compare": ["compare", "{log}", "{damaged}"],
    "repair": ["repair", "{damaged}", "{new}"],
    "reindex": ["reindex", "{one}", "--target", "{new}"],
    "transcode": ["transcode", "{log}", "{new}", "--codec", "zstd"],
    "dry run": ["transcode", "{log}", "{new}", "--codec", "zstd", "--dry-run"],
    "compact": ["compact", "{new}", "--include-active-segment"],
    "convert": ["convert", "{log}", "{new}", "--magic", "1", "--allow-loss", "all"],
    "dump": ["dump", "{log}", "--head", "7"],
    "batches": ["dump", "{log}", "--batches"],
    "find": ["find", "{log}", "--value-contains", "77"],
    "tail": ["tail", "{log}", "-n", "3"],
}
MEASURED = {
    "analyze": ["analyze", "{log}", "-e", "none/lz4", "--rate", "20MB/s", "--sample", "200kB"],
    "simulate": ["simulate", "{log}"],
    "train": ["train", "{log}", "--sample", "200kB"],
    "doctor": ["doctor"],
}


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The demo's logs; and one with a long name; each also with a damaged batch."""
    top = tmp_path_factory.mktemp("logs")
    for name in SHORT:
        shutil.copytree(ROOT / "demo" / "logs" / name, top / "demo" / "log" / name)
    for number, name in enumerate(SHORT):
        shutil.copytree(ROOT / "demo" / "logs" / name, top / "long" / "log" / f"{LONG}-{number}")
    for kind, name in (("demo", SHORT[0]), ("long", f"{LONG}-0")):
        shutil.copytree(top / kind / "log" / name, top / kind / "damaged" / name)
        segment = top / kind / "damaged" / name / f"{0:020}.log"
        data = bytearray(segment.read_bytes())
        data[254600] ^= 1
        segment.write_bytes(data)
    return {kind: top / kind for kind in LOGS}


def output_of(
    call: list[str], place: Path, new: Path, monkeypatch: pytest.MonkeyPatch, columns: int | None
) -> tuple[str, str]:
    shutil.rmtree(new, ignore_errors=True)
    if call[0] == "reindex":
        new.mkdir()
    if call[0] == "compact":
        shutil.copytree(place / "log", new)
    if columns:
        monkeypatch.setenv("COLUMNS", str(columns))
    names = {"log": place / "log", "damaged": place / "damaged", "new": new}
    names["one"] = min(names["log"].iterdir())
    out, messages = printed([one.format(**names) for one in call], monkeypatch, terminal=columns is not None)
    assert not re.match(f"recordpress {call[0]}:|recordpress: ", messages)
    return STYLE.sub("", out), STYLE.sub("", messages)


def table_cells(text: str) -> Iterator[str]:
    """The cells of lines that are in columns."""
    for line in text.splitlines():
        cells = re.split(r" {2,}", line.strip())
        if len(cells) > 2:
            yield from cells


def too_long(text: str, columns: int) -> list[str]:
    """Lines beyond the margin, except commands to copy."""
    return [one for one in text.splitlines() if len(one) > columns and not one.startswith("try: ")]


def is_path(word: str) -> bool:
    return "/" in word and not re.fullmatch(r"[a-zA-Z]+/[a-zA-Z]+", word)


# Long names in few columns are the hardest: `make test` has them for all calls, and each other place for one in ten.
PLACES = [("long", 80), ("demo", 80), ("demo", 120), ("long", 120)]
CASES = [
    pytest.param(call, *place, marks=[pytest.mark.slow] if other and number % 10 != other else [])
    for number, call in enumerate(CALLS)
    for other, place in enumerate(PLACES)
]


@pytest.mark.parametrize(("name", "kind", "columns"), CASES)
def test_no_cell_is_lost_or_broken(
    name: str, kind: str, columns: int, places: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wide, _ = output_of(CALLS[name], places[kind], tmp_path / "new", monkeypatch, None)
    narrow, messages = output_of(CALLS[name], places[kind], tmp_path / "new", monkeypatch, columns)
    assert narrow and not too_long(narrow, columns) and not too_long(messages, columns)
    words = set(narrow.split())
    records = name in ("dump", "find", "tail")  # texts of records are cut at a line's end
    cells = [cell for cell in table_cells(wide) if not records or re.fullmatch(r"[\d,.:TZ-]+", cell)]
    lost = {word for cell in cells for word in cell.split() if not is_path(word) and word not in words}
    assert not lost, narrow
    for path in (word for cell in cells for word in cell.split() if is_path(word)):
        names = path.split("/")
        assert "/".join(names[-2:] if kind == "demo" and path.endswith(".log") else names[-1:]) in narrow, path


@pytest.mark.parametrize(("kind", "columns"), thinned([("long", 80), ("demo", 120)], 2))
@pytest.mark.parametrize("name", MEASURED)
def test_measured_figures_fit(
    name: str, kind: str, columns: int, places: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    narrow, messages = output_of(MEASURED[name], places[kind], tmp_path / "new", monkeypatch, columns)
    assert narrow and not too_long(narrow, columns) and not too_long(messages, columns)
    assert "…" not in narrow


@pytest.mark.parametrize("columns", [80, 120])
def test_a_long_path_in_a_message_is_shortened_in_the_middle(
    columns: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    _, message = printed(["ls", str(tmp_path / LONG / f"{LONG}-0")], monkeypatch)
    first, _, last = message.partition("…")
    assert first.split()[-1].startswith(str(tmp_path)[:10])
    assert last.split()[0].endswith("they-come-0:") and not too_long(message, columns)


@pytest.mark.slow
@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("name", ["ls", "stats", "scan", "compare"])
def test_the_width_is_that_of_the_terminal(name: str, columns: int, places: dict[str, Path]) -> None:
    names = {"log": places["long"] / "log", "damaged": places["long"] / "damaged"}
    _, output = in_a_pseudo_terminal([one.format(**names) for one in CALLS[name]], columns)
    lines = [line for line in STYLE.sub("", output).splitlines() if not line.startswith("try: ")]
    assert columns - 20 < max(map(len, lines)) <= columns, output


def test_a_table_is_folded_before_its_rows_become_blocks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recordpress.cli._output.sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "22")
    rows = [("lz4", "113.2", "5,425", "2"), ("zstd", "95.5", "139", "2")]
    print_table(("codec", ">bytes/record", ">write MB/s", ">magic"), rows)
    assert capsys.readouterr().out.splitlines() == [
        "in each row:   magic 2",
        "       bytes/  write",
        "codec  record   MB/s",
        "lz4     113.2  5,425",
        "zstd     95.5    139",
    ]


def test_every_verb_is_tried() -> None:
    assert {call[0] for call in (*CALLS.values(), *MEASURED.values())} == {*VERBS} - {"completion"}


def test_a_finding_is_marked(places: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    call = ["scan", str(places["demo"] / "damaged")]
    out, _ = printed(call, monkeypatch)
    assert "\x1b[1;31m(checksum)\x1b[0m\n" in out and "\n\x1b[1m/" in out
    assert out.startswith("\x1b[1;31mlost: up to 8 records\x1b[0m\n")
    compared, _ = printed(["compare", str(places["demo"] / "log"), str(places["demo"] / "damaged")], monkeypatch)
    assert compared.count("\x1b[1;31m(checksum)\x1b[0m") == 1
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in printed(call, monkeypatch)[0]
