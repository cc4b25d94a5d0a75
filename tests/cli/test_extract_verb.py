"""recordpress extract."""

from pathlib import Path

from cli.conftest import Run
from cli.logs import damaged, partition
from recordpress.analysis import extract


def test_one_batch(run: Run, tmp_path: Path) -> None:
    log, target = partition(tmp_path), tmp_path / "batch.bin"
    done = run("extract", log, "--offset", 15, "-o", target)
    data = extract(log, 15).data
    assert (done.status, done.err, target.read_bytes()) == (0, "", data)
    assert done.text == f"wrote 10 records of 1 batch to {target}: {len(data) / 1024:.1f} KiB\n"


def test_a_sample_with_damage(run: Run, tmp_path: Path) -> None:
    log, target = damaged(tmp_path), tmp_path / "sample.bin"
    done = run("extract", log, "--output", target)
    assert done.status == 1 and "checksum" in done.err
    assert target.read_bytes() == extract(log).data
    assert done.text.startswith("wrote 40 records of 4 batches to ") and done.text.endswith(" per batch on average\n")


def test_a_file_is_written_only_if_there_are_records(run: Run, tmp_path: Path) -> None:
    log, target = partition(tmp_path), tmp_path / "batch.bin"
    done = run("extract", log, "--offset", 50, "-o", target)
    assert done.status == 2 and "no batch with records ends at offset 50" in done.err
    assert not target.exists()
