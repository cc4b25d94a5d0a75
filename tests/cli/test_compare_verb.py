"""recordpress compare: the same records in other batches, and the place of the first that differs."""

import json
import shutil
from pathlib import Path

import jsonschema
import pytest

import recordpress
from cli.conftest import Run
from cli.logs import SEGMENT, damaged, partition

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "compare.schema.json").read_text())
LINES = [b"line %d" % number for number in range(3000)]


def log(root: Path, lines: list[bytes] = LINES, **options: object) -> Path:
    path = root / "orders-0"
    path.mkdir(parents=True)
    given = {"compression_type": "zstd", "batch_records": 100, "timestamps": 1700000000000} | options
    (path / SEGMENT).write_bytes(recordpress.write_records(lines, **given))  # type: ignore[arg-type]
    return root


def test_codecs_and_batches_do_not_count(run: Run, tmp_path: Path) -> None:
    left = log(tmp_path / "a")
    right = log(tmp_path / "b", compression_type="lz4", batch_records=7)
    done = run("compare", left, right)
    assert (done.status, done.err, done.lines) == (0, "", ["no difference: 1 partition, 3,000 records"])
    found = run("compare", left, right, "--json").json
    jsonschema.validate(found, SCHEMA)
    assert found["isSame"] and found["firstDifference"] is None
    assert (found["partitions"][0]["recordsLeft"], found["partitions"][0]["recordsRight"]) == (3000, 3000)


@pytest.mark.parametrize(
    ("lines", "options", "offset", "field"),
    [
        ([*LINES[:1500], b"other", *LINES[1501:]], {}, 1500, "value"),
        (LINES, {"keys": [None] * 2999 + [b"k"]}, 2999, "key"),
        (LINES, {"timestamps": 1700000000001}, 0, "timestamp"),
        (LINES, {"headers": [[]] * 2000 + [[("h", b"x")]] + [[]] * 999}, 2000, "headers"),
        (LINES[:2990], {}, 2990, "offset"),
        (LINES, {"producer_id": 7, "producer_epoch": 0, "base_sequence": 0}, 0, "producerId"),
    ],
)
def test_the_first_difference(
    run: Run, tmp_path: Path, lines: list[bytes], options: dict[str, object], offset: int, field: str
) -> None:
    left, right = log(tmp_path / "a"), log(tmp_path / "b", lines, **options)
    done = run("compare", left, right)
    assert (done.status, done.err) == (1, "")
    assert done.lines[:2] == [f"orders-0, offset {offset}: {field} differs", "1 partition of 1 differ"]
    found = run("compare", right, left, "--json").json
    jsonschema.validate(found, SCHEMA)
    assert found["firstDifference"] == {"topic": "orders", "partition": 0, "offset": offset, "field": field}


def test_a_part_of_both_logs(run: Run, tmp_path: Path) -> None:
    left, right = log(tmp_path / "a"), log(tmp_path / "b")
    log(tmp_path / "c", LINES[1:])
    (tmp_path / "c" / "orders-0").rename(right / "orders-1")
    assert run("compare", left, right).status == 1
    for chosen in (["--partition=0", "--topic=ord*"], ["--partition=0"]):
        assert run("compare", left, right, *chosen).lines == ["no difference: 1 partition, 3,000 records"]
    for paths in ([left], [left, right, left]):
        done = run("compare", *paths)
        assert done.status == 2
        assert f"compare takes two logs, LEFT and RIGHT, not {len(paths)}" in done.err


def test_a_partition_on_one_side(run: Run, tmp_path: Path) -> None:
    left, right = log(tmp_path / "a"), log(tmp_path / "b")
    shutil.copytree(left / "orders-0", left / "orders-1")
    done = run("compare", left, right)
    assert (done.status, done.lines[0]) == (1, "orders-1: only on one side")


def test_damage_is_a_difference(run: Run, tmp_path: Path) -> None:
    whole = partition(tmp_path / "whole")
    done = run("compare", whole, damaged(tmp_path / "damaged"), "--json")
    assert done.status == 1
    jsonschema.validate(done.json, SCHEMA)
    assert done.json["firstDifference"]["offset"] == 10 and done.json["partitions"][0]["findings"]


def test_two_trees_of_one_partition_are_not_verified_as_one(run: Run, tmp_path: Path) -> None:
    left, right = log(tmp_path / "a"), log(tmp_path / "b")
    done = run("verify", left, right)
    assert done.status == 2
    assert "orders-0 is in " in done.err and "recordpress compare LEFT RIGHT" in done.err
