"""recordpress convert."""

import json
from pathlib import Path

import recordpress
from cli.conftest import Run
from cli.logs import SEGMENT


def log(root: Path) -> Path:
    directory = root / "logs" / "orders-0"
    directory.mkdir(parents=True)
    headers = [[("h", b"v")]] * 3
    data = recordpress.write_records([b"a", b"b", b"c"], headers=headers, partition_leader_epoch=2)
    (directory / SEGMENT).write_bytes(data)
    return directory


def test_what_would_be_lost_is_counted_refused_and_allowed(run: Run, tmp_path: Path) -> None:
    source, target = log(tmp_path), tmp_path / "old" / "orders-0"
    counted = run("convert", source, target, "--magic", "1", "--dry-run")
    assert counted.status == 0
    assert [line.split() for line in counted.lines] == [["lost", "count"], ["headers", "3"], ["leader_epochs", "3"]]
    assert run("convert", source, target, "--magic", "1", "--dry-run", "--json").json == {
        "headers": 3,
        "leaderEpochs": 3,
    }
    refused = run("convert", source, target, "--magic", "1", "--allow-loss", "headers")
    assert refused.status == 2
    assert "3 records with a leader epoch (leader_epochs)" in refused.err
    assert not target.exists()
    done = run("convert", source, target, "--magic", "1", "--allow-loss", "headers", "--allow-loss", "leader_epochs")
    assert (done.status, done.err) == (0, "")
    assert done.lines[0].startswith(f"{target}: 3 records, ")
    assert {batch.magic for batch in recordpress.read_batches((target / SEGMENT).read_bytes())} == {1}


def test_json_is_the_manifest(run: Run, tmp_path: Path) -> None:
    source, target = log(tmp_path), tmp_path / "old" / "orders-0"
    done = run("convert", source, target, "--magic", "0", "--codec", "gzip", "--allow-loss", "all", "--json")
    assert (done.status, done.err) == (0, "")
    assert done.json == json.loads(recordpress.log.Manifest.read(target).to_json())
    assert done.json["lost"] == {"headers": 3, "leaderEpochs": 3}


def test_nothing_is_lost_upwards(run: Run, tmp_path: Path) -> None:
    source = log(tmp_path)
    (source / SEGMENT).write_bytes(recordpress.write_records([b"a", b"b"], magic=0, compression_type="gzip"))
    done = run("convert", source, tmp_path / "new" / "orders-0", "--magic", "2")
    assert (done.status, done.err, done.lines[-1]) == (0, "", "nothing was lost")
    verified = run("verify", tmp_path / "new" / "orders-0", "--check", "record")
    assert verified.status == 0, verified.out
