"""Every sample of the site runs: Python as doctests or as it stands, commands with what they print.

A page is read from top to bottom in its own directory, where ``logs`` is a log dir of a real broker. Pages about
Spark run in tests/spark, where a session is.
"""

from __future__ import annotations

import doctest
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recordpress.cli._verbs import VERBS

pytestmark = pytest.mark.build
ROOT = Path(__file__).parents[2]
FLAGS = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL | doctest.NORMALIZE_WHITESPACE
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.S | re.M)


def blocks(page: Path) -> Iterator[tuple[str, str, int]]:
    text = page.read_text(encoding="utf-8")
    for found in BLOCK.finditer(text):
        yield found[1], found[2], text.count("\n", 0, found.start()) + 1


PAGES = [page for page in sorted((ROOT / "docs").rglob("*.md")) if "spark" not in page.name and any(blocks(page))]
# A server; and what takes longest, of calls that other pages and tests have.
SLOW = ("s3", "recompress-a-topic", "choose-a-codec", "why-recompressed", "dictionaries")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(ROOT / "demo" / "logs", tmp_path / "logs")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("NO_COLOR", "1")
    return tmp_path


@pytest.fixture
def names(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    page: Path = request.getfixturevalue("page")
    if page.stem == "s3":
        monkeypatch.setenv("AWS_ENDPOINT_URL", request.getfixturevalue("store"))
    return {"__name__": "sample"}


@pytest.fixture
def store(place: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An S3 server that has the logs as s3://backup/kafka-logs."""
    pytest.importorskip("moto")
    import boto3
    from moto.server import ThreadedMotoServer

    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    client = boto3.client("s3", endpoint_url=f"http://{host}:{port}")
    client.create_bucket(Bucket="backup")
    for path in (place / "logs").rglob("*"):
        if path.is_file():
            client.upload_file(str(path), "backup", f"kafka-logs/{path.relative_to(place / 'logs')}")
    yield f"http://{host}:{port}"
    server.stop()


@pytest.mark.filterwarnings("ignore::DeprecationWarning:botocore")
@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=[pytest.mark.slow] if page.stem in SLOW else []) for page in PAGES],
    ids=lambda page: str(page.relative_to(ROOT / "docs")),
)
def test_samples(page: Path, place: Path, names: dict[str, Any], capfd: pytest.CaptureFixture[str]) -> None:
    for package in ("pyarrow", "pandas", "polars", "duckdb", "click"):
        if any(package in text for _, text, _ in blocks(page)) or package == "click":
            pytest.importorskip(package)
    for kind, text, line in blocks(page):
        where = f"{page.relative_to(ROOT)}:{line}"
        if kind == "console":
            run_commands(text, where, capfd)
        elif ">>>" in text:
            test = doctest.DocTestParser().get_doctest(text, names, where, str(page), line)
            test.globs = names  # the next block goes on
            assert doctest.DocTestRunner(optionflags=FLAGS, verbose=False).run(test, clear_globs=False).failed == 0
        else:
            exec(compile(text, where, "exec"), names)


def run_commands(text: str, where: str, capfd: pytest.CaptureFixture[str]) -> None:
    from recordpress.cli import main

    for command in re.split(r"^(?=\$ )", text, flags=re.M):
        if not command.startswith("$ "):
            continue
        typed, _, expected = command[2:].partition("\n")
        capfd.readouterr()
        arguments = shlex.split(typed)
        assert arguments[0] == "recordpress", where
        status = main(expanded(arguments[1:]))
        sys.stdout.flush()
        shown = capfd.readouterr()
        assert status in (0, 1), (where, typed, shown.err)
        agrees = doctest.OutputChecker().check_output(figureless(expected), figureless(shown.out), FLAGS)
        assert agrees, (where, typed, shown.out)


def figureless(text: str) -> str:
    """Sizes and times, which differ from one release of a codec's library and one machine to the next, are left out."""
    return re.sub(r"[-+]?\d[\d.,]* ?([KMG]iB|%|ms|s)(?!\w)", "N", text.strip()) + "\n"


def expanded(arguments: list[str]) -> list[str]:
    """As a shell does."""
    found: list[str] = []
    for argument in arguments:
        matches = sorted(str(path) for path in Path().glob(argument)) if "*" in argument else []
        found += matches or [argument]
    return found


def test_pages_have_samples() -> None:
    assert sum(1 for page in PAGES for _ in blocks(page)) > 40


@pytest.mark.parametrize("verb", VERBS)
def test_the_page_of_a_verb_has_a_sample_and_says_what_its_json_is(verb: str) -> None:
    click = pytest.importorskip("click")
    from recordpress.cli._app import program

    command = program.get_command(click.Context(program), verb)
    assert command is not None
    text = (ROOT / "docs" / "reference" / "command-line" / f"{verb}.md").read_text(encoding="utf-8")
    headings = re.findall("^## (.+)$", text, re.M)
    assert headings[:2] == ["Sample", "Options"] and re.search(rf"^\$ .*recordpress {verb}\b", text, re.M)
    assert ("JSON" in headings) is any("--json" in option.opts for option in command.params)
