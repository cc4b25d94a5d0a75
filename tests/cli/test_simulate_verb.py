"""recordpress simulate."""

import json
from pathlib import Path

import jsonschema

from cli.conftest import Run
from cli.logs import damaged, partition
from recordpress.analysis import simulate

SCHEMA = Path(__file__).parents[2] / "docs" / "simulate.schema.json"


def test_the_table(run: Run, tmp_path: Path) -> None:
    log = partition(tmp_path)
    done = run("simulate", log, "--batch-size", "1KiB", "--codec", "lz4")
    assert (done.status, done.err) == (0, "")
    assert done.lines[0].startswith("50 records, ") and done.lines[0].endswith("1,024, max.message.bytes 1,024")
    assert done.lines[2].split() == ["policy", "batches", "splits", "of", "sent", "bytes", "fill", "CPU", "ms"]
    assert [line.split()[0] for line in done.lines[3:]] == ["damped", "kip-126", "uncompressed", "packed"]


def test_json_is_what_the_schema_says(run: Run, tmp_path: Path) -> None:
    log = damaged(tmp_path)
    done = run("simulate", log, "--max-message-bytes", 500, "--json")
    assert done.status == 1 and done.err
    jsonschema.validate(done.json, json.loads(SCHEMA.read_text()))
    found, expected = done.json, simulate(log, max_message_bytes=500).to_dict()
    for policy in (*found["policies"], *expected["policies"]):
        del policy["cpuSeconds"]
    assert found == json.loads(json.dumps(expected))
