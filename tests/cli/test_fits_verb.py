"""recordpress fits."""

import json
from pathlib import Path

import jsonschema
import pytest

import recordpress
from cli.conftest import Run
from cli.logs import partition

SCHEMA = Path(__file__).parents[2] / "docs" / "fits.schema.json"


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    path = tmp_path / "lines.txt"
    path.write_bytes(b"short\n" + b"x" * 1_200_000 + b"\n" + b"y" * 3000)
    return path


def test_what_is_too_large_is_a_finding(run: Run, lines: Path) -> None:
    done = run("fits", lines, "--codec", "zstd")
    assert (done.status, done.err) == (1, "")
    assert done.lines[0].startswith("stored: 2 of 3 records, in 1 batch of ")
    assert " ".join(done.lines[2].split()) == "limit bytes of each largest over rejected records checked by"
    rows = [line.split()[0] for line in done.lines[3:8]]
    assert rows == ["batch.size", "max.request.size", "buffer.memory", "max.message.bytes", "segment.bytes"]
    assert "record 1: max.request.size rejects 1,200,088 bytes (MESSAGE_TOO_LARGE)" in done.lines
    assert any(line.startswith("to send it: raise the producer's max.request.size") for line in done.lines)


def test_what_fits(run: Run, lines: Path) -> None:
    done = run(
        "fits", lines, "--codec", "zstd", "--level", 1, "--max-request-size", "2MiB", "-t", "max.message.bytes=5000"
    )
    assert (done.status, done.err) == (0, "")
    assert done.lines[0].startswith("stored: 3 of 3 records, in ")


def test_json_is_what_the_schema_says(run: Run, lines: Path, tmp_path: Path) -> None:
    schema = json.loads(SCHEMA.read_text())
    done = run("fits", lines, "--buffer-memory", 2000, "--json")
    assert done.status == 1
    jsonschema.validate(done.json, schema)
    assert [one["limit"] for one in done.json["rejections"]] == ["max.request.size", "buffer.memory"]
    log = partition(tmp_path)
    done = run("fits", log, "--json")
    assert done.status == 0
    jsonschema.validate(done.json, schema)
    assert done.json == recordpress.fits(log).to_dict()


def test_a_log_with_damage(run: Run, tmp_path: Path) -> None:
    log = partition(tmp_path, recordpress.write_records([b"x"], base_offset=0) + b"\xff" * 100)
    done = run("fits", log)
    assert done.status == 1 and done.err


@pytest.mark.parametrize(
    "arguments",
    [("--codec", "brotli"), ("-t", "max.message.bytes=x"), ("--batch-size", "x"), ("--broker-version", "x")],
)
def test_usage(run: Run, lines: Path, arguments: tuple[object, ...]) -> None:
    done = run("fits", lines, *arguments)
    assert (done.status, done.out) == (2, b"") and done.err


def test_a_file_that_is_not_there(run: Run, tmp_path: Path) -> None:
    assert run("fits", tmp_path / "nothing.txt").status in (2, 3)
