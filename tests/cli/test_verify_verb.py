"""recordpress verify."""

from pathlib import Path

import pytest

import recordpress
from cli.conftest import Run
from cli.logs import SEGMENT, batches, damaged, files_of, partition
from recordpress.log import reindex


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A partition with indexes."""
    path = partition(tmp_path)
    reindex(path)
    return path


@pytest.mark.parametrize(
    ("check", "looked_at"),
    [("file", ""), ("batch", ", 5 intact batches"), ("record", ", 5 intact batches, 50 records")],
)
def test_a_log_that_is_as_it_should_be(run: Run, log: Path, check: str, looked_at: str) -> None:
    size = (log / SEGMENT).stat().st_size
    done = run("verify", log, "--check", check)
    assert (done.status, done.err) == (0, "")
    assert done.text == f"no findings: 1 segment, {size / 1024:.1f} KiB{looked_at}\n"


def test_damage(run: Run, tmp_path: Path) -> None:
    path = damaged(tmp_path)
    reindex(path)
    done = run("verify", path)
    assert done.status == 1
    assert done.lines[:3] == ["lost: up to 10 records", "  orders-0 offsets 10 to 19 (10)", ""]
    assert done.lines[3].startswith(f"{path / SEGMENT}: byte {len(batches()[0])}, offset 10: stored checksum ")
    assert done.lines[-1].startswith("1 finding: 1 segment, ")
    assert done.err == f"try: recordpress scan {path}\n"


def test_indexes_are_made_again_where_the_log_itself_is_right(run: Run, log: Path) -> None:
    (log / SEGMENT).with_suffix(".index").unlink()
    done = run("verify", log)
    assert done.status == 1
    assert len(done.lines) == 2
    assert done.lines[0].startswith(f"{(log / SEGMENT).with_suffix('.index')}: ")
    assert done.err == f"try: recordpress reindex {log}\n"


def test_records_are_only_looked_at_where_that_is_asked_for(run: Run, tmp_path: Path) -> None:
    """A batch whose checksum is right, and whose records are not what its header says."""
    bad = bytearray(recordpress.write_records([b"value"] * 3))
    bad[57:61] = (2).to_bytes(4, "big")  # one record less than there are
    bad[17:21] = recordpress.crc32c(bytes(bad[21:])).to_bytes(4, "big")
    path = partition(tmp_path, bytes(bad))
    reindex(path)
    assert run("verify", path).status == 0
    done = run("verify", path, "--check", "record")
    assert done.status == 1
    assert done.lines[0].startswith(f"{path / SEGMENT}: byte ")


def test_json(run: Run, tmp_path: Path) -> None:
    path = damaged(tmp_path)
    reindex(path)
    done = run("verify", path, "--check", "record", "--json")
    first, second = map(len, batches()[:2])
    assert done.status == 1
    [finding] = done.json["findings"]
    assert list(finding) == ["file", "position", "size", "offset", "rule", "message", "fieldPosition"]
    assert [finding[name] for name in ("position", "size", "offset", "rule")] == [first, second, 10, "checksum"]
    assert {name: done.json[name] for name in ("check", "segments", "batches", "records")} == {
        "check": "record",
        "segments": 1,
        "batches": 4,
        "records": 40,
    }


def test_losses_are_counted_by_topic(run: Run, tmp_path: Path) -> None:
    for name in ("orders-0", "orders-3", "users-0"):
        damaged(tmp_path, name)
    partition(tmp_path, b"".join(batches())[:-7], "users-1")
    for verb in ("verify", "scan"):
        assert run(verb, tmp_path).lines[:7] == [
            "lost: up to 30 records and the records of a damaged end",
            "  orders: up to 20 records",
            "    orders-0 offsets 10 to 19 (10)",
            "    orders-3 offsets 10 to 19 (10)",
            "  users: up to 10 records and the records of a damaged end",
            "    users-0 offsets 10 to 19 (10)",
            f"    users-1 offsets from 40 on ({len(batches()[-1]) - 7} bytes)",
        ]


def test_an_unknown_check(run: Run, log: Path) -> None:
    done = run("verify", log, "--check", "bytes")
    assert (done.status, done.text) == (2, "")
    assert done.err.endswith("try: recordpress verify --help\n")


def test_verify_changes_nothing(run: Run, log: Path) -> None:
    before = files_of(log)
    run("verify", log, "--check", "record")
    assert files_of(log) == before
