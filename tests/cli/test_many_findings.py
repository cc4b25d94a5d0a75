"""Findings by the thousand: a text has the first of them and the number of the rest, JSON all."""

from pathlib import Path

import recordpress
from cli.conftest import Run

LOG = "00000000000000000000.log"


def test_many_findings(run: Run, tmp_path: Path) -> None:
    batches = [bytearray(recordpress.write_records([b"a"], base_offset=i)) for i in range(2200)]
    for batch in batches[::2]:
        batch[-1] ^= 1
    (tmp_path / "a-0").mkdir()
    (tmp_path / "a-0" / LOG).write_bytes(b"".join(batches))
    for verb in ("scan", "verify"):
        found = run(verb, tmp_path / "a-0", "--json").json["findings"]
        done = run(verb, tmp_path / "a-0")
        assert done.status == 1
        assert f"and {len(found) - 1000:,} more findings" in done.text
        assert len([line for line in done.lines if line.startswith(str(tmp_path)) and line.endswith(")")]) == 1000
    skipped = run("dump", tmp_path / "a-0", "--on-corrupt", "skip", "--format", "jsonl")
    assert (len(skipped.lines), skipped.status) == (1100, 1)
    assert "and 100 more findings" in skipped.err
