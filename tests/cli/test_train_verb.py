"""``recordpress train``: what is printed, written and returned."""

from __future__ import annotations

import json
import random
from pathlib import Path

import jsonschema
import pytest

import recordpress
from cli.conftest import Run
from recordpress.dictionaries import Dictionary, DictionaryStore

VALUES = [b'{"user": %d, "city": "%s"}' % (n * 7919 % 10007, (b"Paris", b"Lyon")[n % 2]) for n in range(3000)]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "orders-0"
    path.mkdir()
    (path / "00000000000000000000.log").write_bytes(recordpress.write_records(VALUES, batch_records=5))
    return path


def test_the_table(run: Run, log: Path) -> None:
    done = run("train", log, "--depth", 1, "--depth", 20)
    assert done.status == 0 and done.err == ""
    assert "dictionary " in done.lines[1] and "trained on" in done.lines[1]
    rows = [line.split() for line in done.lines[4:7]]
    assert [row[0] for row in rows] == ["1", "stored", "20"] and rows[1][1] == "5"
    assert any(line.startswith("a dictionary pays: at the stored depth of 5, ") for line in done.lines)


def test_what_does_not_pay_is_said_and_exits_1(run: Run, tmp_path: Path) -> None:
    noise = random.Random(1)
    path = tmp_path / "noise.txt"
    path.write_text("".join(f"{noise.getrandbits(400):0100x}\n" for _ in range(2000)))
    done = run("train", path, "--store", tmp_path / "store")
    assert done.status == 1
    assert any(line.startswith("a dictionary does not pay: at the stored depth of ") for line in done.lines)
    assert len(DictionaryStore(tmp_path / "store")) == 1


def test_what_is_written(run: Run, log: Path, tmp_path: Path) -> None:
    store, file = tmp_path / "store", tmp_path / "one.zdict"
    done = run("train", log, "--store", store, "-o", file, "--size", "1KiB", "--id", 70_000, "--json")
    assert done.status == 0
    jsonschema.validate(done.json, json.loads((Path(__file__).parents[2] / "docs" / "train.schema.json").read_text()))
    assert done.json["dictionary"]["id"] == 70_000 and done.json["pays"]
    dictionary = Dictionary(file.read_bytes())
    assert DictionaryStore(store)[70_000] == dictionary and len(dictionary) <= 1024
    assert "added dictionary 70000" in done.err and "wrote dictionary 70000" in done.err
    again = run("train", log, "--store", store, "--size", "2KiB", "--id", 70_000)
    assert again.status == 2 and "another dictionary with the id 70000" in again.err


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["--size", "1"], 2, "size must be from 256"),
        (["--level", "23"], 2, "--level"),
        (["--id", "5"], 2, "--id"),
        (["--depth", "0"], 2, "--depth"),
        (["-o", "/no/such/directory/one.zdict"], 3, "No such file"),
    ],
)
def test_arguments(run: Run, log: Path, arguments: list[str], status: int, message: str) -> None:
    done = run("train", log, *arguments)
    assert done.status == status and message in done.err


def test_too_few_values(run: Run, tmp_path: Path) -> None:
    (tmp_path / "few.txt").write_text("a\nb\n")
    done = run("train", tmp_path / "few.txt")
    assert done.status == 2 and "2 records are too few" in done.err


def test_analyze_says_whether_a_dictionary_pays(run: Run, log: Path) -> None:
    done = run("analyze", log, "-e", "none/zstd", "--depth", 1)
    assert done.status == 0 and any(line.startswith("a dictionary pays: ") for line in done.lines)
