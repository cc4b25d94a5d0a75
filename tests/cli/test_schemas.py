"""What the verbs print with --json, next to the schemas of docs/; those of other verbs are with their tests."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from cli.conftest import Run
from cli.logs import damaged, partition

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(
    ("name", "verb", "more", "status"),
    [
        ("verify", "verify", ["--check", "file"], 1),
        ("verify", "verify", ["--check", "record"], 1),
        ("scan", "scan", [], 1),
        ("repair", "repair", ["copy"], 1),
        ("reindex", "reindex", [], 1),
        ("estimate", "transcode", ["copy", "--codec", "lz4", "--dry-run"], 0),
    ],
)
def test_json_is_what_the_schema_says(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, verb: str, more: list[str], status: int
) -> None:
    log = damaged(tmp_path) if status else partition(tmp_path)
    log.joinpath("00000000000000000000.index").write_bytes(b"123")
    monkeypatch.chdir(tmp_path)
    done = run(verb, log, *more, "--json")
    assert done.status == status, done.err
    schema = json.loads((DOCS / f"{name}.schema.json").read_text())
    jsonschema.validate(done.json, schema)
    found: dict[str, Any] = done.json
    assert found.get("findings") != []  # it has something to be right about


def test_every_schema_is_on_a_page() -> None:
    page = (DOCS / "reference" / "schemas.rst").read_text()
    assert [path.name for path in sorted(DOCS.glob("*.schema.json")) if path.name not in page] == []
