"""``recordpress compact``."""

import json
import re
from pathlib import Path

import jsonschema

import recordpress
from cli.conftest import Run


def test_a_part_of_a_log_dir(run: Run, tmp_path: Path) -> None:
    for name in ("t-0", "t-1", "u-0"):
        (tmp_path / name).mkdir()
        for number in range(3):
            data = recordpress.write_records([b"%d of some words" % number], base_offset=number)
            (tmp_path / name / f"{number:020}.log").write_bytes(data)
    done = run("compact", tmp_path, "--topic", "t", "--partition", "1", "--include-active-segment", "--json")
    assert [(one["topic"], one["partition"]) for one in done.json["partitions"]] == [("t", 1)]
    assert [len(list((tmp_path / name).glob("*.log"))) for name in ("t-0", "t-1", "u-0")] == [3, 1, 3]
    assert run("compact", tmp_path, tmp_path).status == run("compact", tmp_path, "--topic", "w").status == 2


def test_the_verb(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t-0").mkdir()
    for number in range(20):
        data = recordpress.write_records([b"%d of some words" % number], base_offset=number)
        (tmp_path / "t-0" / f"{number:020}.log").write_bytes(data)
    done = run("compact", tmp_path, "--json")
    schema = json.loads((Path(__file__).parents[2] / "docs" / "compact.schema.json").read_text())
    jsonschema.validate(done.json, schema)
    assert done.status == 0 and done.json["partitions"][0]["segmentsBefore"] == 19
    done = run("compact", tmp_path, "--include-active-segment", "--codec", "zstd", "--level", "3")
    assert done.status == 0 and b"2 segments merged into 1" in done.out and b"t-0" in done.out
    header = re.split(" {2,}", done.lines[0].strip())
    assert len({*header}) == len(header) == 9
    assert b"0 segments merged into 0" in run("compact", tmp_path).out
    assert run("compact", tmp_path, "--level", "3").status == 2
    assert recordpress.open_log(tmp_path).count() == 20
