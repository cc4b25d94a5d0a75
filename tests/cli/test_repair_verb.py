"""recordpress repair and recordpress reindex."""

from pathlib import Path

from cli.conftest import Run
from cli.logs import SEGMENT, batches, damaged, files_of, partition


def test_repair_copies_what_is_intact(run: Run, tmp_path: Path) -> None:
    source, target = damaged(tmp_path), tmp_path / "copy" / "orders-0"
    before = files_of(source)
    done = run("repair", source, target)
    parts = batches()
    assert done.status == 1
    assert (target / SEGMENT).read_bytes() == b"".join(parts[:1] + parts[2:])
    assert done.lines[:3] == ["lost: up to 10 records", "  orders-0 offsets 10 to 19 (10)", ""]
    assert done.lines[3].startswith(f"{source / SEGMENT}: byte {len(parts[0])}, offset 10: ")
    assert done.lines[-1].startswith("1 finding: 4 intact batches copied, ")
    assert done.err == f"try: recordpress verify {target} --check record\n"
    assert files_of(source) == before
    assert run("scan", target).status == 0


def test_repair_of_a_log_dir_makes_a_directory_for_each_partition(run: Run, tmp_path: Path) -> None:
    partition(tmp_path / "logs", name="orders-0")
    damaged(tmp_path / "logs", "orders-1")
    done = run("repair", tmp_path / "logs", tmp_path / "copy", "--json")
    assert done.status == 1
    assert [finding["rule"] for finding in done.json["findings"]] == ["checksum"]
    assert [segment["batches"] for segment in done.json["segments"]] == [5, 4]
    assert (tmp_path / "copy" / "orders-0" / SEGMENT).read_bytes() == b"".join(batches())


def test_repair_of_what_is_whole_finds_nothing(run: Run, tmp_path: Path) -> None:
    done = run("repair", partition(tmp_path), tmp_path / "copy")
    assert done.status == 0
    assert done.text.startswith("no findings: 5 intact batches copied, ")


def test_repair_writes_to_no_directory_that_is_there(run: Run, tmp_path: Path) -> None:
    source = damaged(tmp_path)
    before = files_of(tmp_path)
    for target, problem in (
        (source, f" lies inside the source {source}"),
        (tmp_path, " exists: nothing is overwritten"),
    ):
        done = run("repair", source, target)
        assert (done.status, done.text) == (2, "")
        assert done.err == f"recordpress: {target}{problem}\n"
    assert files_of(tmp_path) == before


def test_repair_needs_a_target(run: Run, tmp_path: Path) -> None:
    done = run("repair", damaged(tmp_path))
    assert (done.status, done.text) == (2, "")
    assert "PATH" in done.err


def test_reindex_makes_the_files_beside_a_log(run: Run, tmp_path: Path) -> None:
    path = partition(tmp_path)
    done = run("reindex", path)
    assert done.status == 1
    names = ["00000000000000000000.index", "00000000000000000000.timeindex", "00000000000000000050.snapshot"]
    assert [line.partition(": ")[0] for line in done.lines[:-1]] == [
        str(path / name) for name in [*names, "leader-epoch-checkpoint"]
    ]
    assert done.lines[-1] == "4 findings: 4 files written"
    again = run("reindex", path)
    assert (again.status, again.text) == (0, "no findings: every file is correct\n")


def test_reindex_elsewhere(run: Run, tmp_path: Path) -> None:
    path, target = partition(tmp_path), tmp_path / "indexes"
    target.mkdir()
    done = run("reindex", path, "--target", target, "--json")
    assert (done.status, done.err) == (0, "")
    assert done.json["findings"] == []
    assert sorted(map(Path, done.json["files"])) == sorted(target.iterdir())
    assert [entry.name for entry in path.iterdir()] == [SEGMENT]


def test_reindex_refuses_a_damaged_log_and_names_the_next_command(run: Run, tmp_path: Path) -> None:
    path = partition(tmp_path, b"".join(batches()) + b"\xff" * 100)
    done = run("reindex", path)
    assert (done.status, done.text) == (1, "")
    assert done.err.startswith(f"recordpress: {path / SEGMENT}: byte ")
    assert done.err.endswith(f"try: recordpress scan {path}\n")
    assert [entry.name for entry in path.iterdir()] == [SEGMENT]
