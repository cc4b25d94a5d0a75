"""recordpress scan."""

from pathlib import Path

from cli.conftest import Run
from cli.logs import SEGMENT, batches, damaged, files_of, partition


def test_a_log_without_damage(run: Run, tmp_path: Path) -> None:
    path = partition(tmp_path)
    done = run("scan", path)
    size = (path / SEGMENT).stat().st_size
    assert (done.status, done.err) == (0, "")
    assert done.text == f"no findings: 5 intact batches in 1 segment, {size / 1024:.1f} KiB\n"


def test_damage_is_a_line_with_file_position_offset_and_rule(run: Run, tmp_path: Path) -> None:
    path = damaged(tmp_path)
    first, second = map(len, batches()[:2])
    done = run("scan", path)
    assert done.status == 1
    assert done.lines[:3] == ["lost: up to 10 records", "  orders-0 offsets 10 to 19 (10)", ""]
    assert done.lines[3].startswith(f"{path / SEGMENT}: byte {first}, offset 10: stored checksum ")
    assert done.lines[3].endswith(" (checksum)")
    assert f"offset 10 was expected at these {second} bytes, offset 20 follows" in done.lines[3]
    assert done.lines[-1].startswith("1 finding: 4 intact batches in 1 segment, ")
    assert done.err == f"try: recordpress repair {path} TARGET\n"


def test_a_table_says_what_is_intact_and_what_recovery_keeps(run: Run, tmp_path: Path) -> None:
    whole = partition(tmp_path, name="orders-1")
    path = damaged(tmp_path)
    done = run("scan", tmp_path)
    header, row = done.lines[5:7]
    assert header.startswith("segment  ")
    cells = [cell.strip() for cell in row.split("  ") if cell]
    assert [cells[0], *cells[3:]] == [str(path / SEGMENT), "4", f"{len(batches()[0])} B", "offset 10"]
    assert str(whole) not in done.text


def test_json(run: Run, tmp_path: Path) -> None:
    path = damaged(tmp_path)
    first, second = map(len, batches()[:2])
    done = run("scan", path, "--json")
    assert done.status == 1
    [finding] = done.json["findings"]
    assert list(finding) == ["file", "position", "size", "offset", "rule", "message", "fieldPosition"]
    assert finding["file"] == str(path / SEGMENT)
    assert [finding[name] for name in ("position", "size", "offset", "rule")] == [first, second, 10, "checksum"]
    assert done.json["segments"][0]["recoveryBytes"] == first


def test_json_of_a_log_without_damage(run: Run, tmp_path: Path) -> None:
    done = run("scan", partition(tmp_path), "--json")
    assert (done.status, done.err) == (0, "")
    assert done.json["findings"] == []


def test_several_paths_and_a_pattern(run: Run, tmp_path: Path) -> None:
    for name in ("a-0", "b-0", "b-1"):
        partition(tmp_path, name=name)
    assert len(run("scan", tmp_path / "a-0", tmp_path / "b-1", "--json").json["segments"]) == 2
    assert len(run("scan", f"{tmp_path}/b-*", "--json").json["segments"]) == 2


def test_a_name_with_control_characters_does_not_reach_the_terminal(run: Run, tmp_path: Path) -> None:
    done = run("scan", damaged(tmp_path / "a\x1b[31mb"))
    assert done.status == 1
    assert "\x1b" not in done.text + done.err


def test_scan_changes_nothing(run: Run, tmp_path: Path) -> None:
    damaged(tmp_path)
    before = files_of(tmp_path)
    run("scan", tmp_path)
    assert files_of(tmp_path) == before


def test_what_is_not_there_is_not_damage(run: Run, tmp_path: Path) -> None:
    done = run("scan", tmp_path / "nothing")
    assert (done.status, done.text) == (3, "")
    assert done.err == f"recordpress: {tmp_path / 'nothing'}: No such file or directory\n"


def test_a_directory_without_a_partition_is_a_usage_error(run: Run, tmp_path: Path) -> None:
    done = run("scan", tmp_path, "--json")
    assert (done.status, done.text) == (2, "")
    assert "no partition found" in done.err
