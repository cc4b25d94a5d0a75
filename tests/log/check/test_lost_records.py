"""What is lost: every record that damage took is in a range, and no record that is still there."""

import random
from pathlib import Path

import pytest

import recordpress
from recordpress.cli import main
from recordpress.log import LostRecords, repair, scan, verify
from together import sampled

BATCHES, RECORDS = 40, 5


def damaged_log(directory: Path, draw: random.Random) -> set[int]:
    """Two segments, some of whose batches are damaged, and perhaps the end is cut; return the offsets that are lost."""
    directory.mkdir(parents=True)
    lost: set[int] = set()
    for segment in range(2):
        base = segment * BATCHES * RECORDS
        batches = []
        for number in range(BATCHES):
            first = base + number * RECORDS
            batch = bytearray(recordpress.write_records([b"value"] * RECORDS, base_offset=first))
            if draw.random() < 0.15:
                batch[draw.randrange(17, len(batch))] ^= 1 << draw.randrange(8)
                lost |= {*range(first, first + RECORDS)}
            batches.append(bytes(batch))
        data = b"".join(batches)
        if segment and draw.random() < 0.5:
            data = data[: -draw.randrange(1, len(batches[-1]) - 12)]  # more than zeros is left
            lost |= {*range(base + (BATCHES - 1) * RECORDS, base + BATCHES * RECORDS)}
        (directory / f"{base:020}.log").write_bytes(data)
    return lost


def offsets_of(ranges: list[LostRecords], end: int) -> list[int]:
    return [offset for one in ranges for offset in range(one.start_offset, one.end_offset or end)]


@pytest.mark.parametrize("seed", sampled(range(20), 2))
def test_every_lost_record_is_in_a_range_and_no_other(seed: int, tmp_path: Path) -> None:
    lost = damaged_log(tmp_path / "orders-0", random.Random(seed))
    end = 2 * BATCHES * RECORDS
    reports = scan(tmp_path), verify(tmp_path), repair(tmp_path, tmp_path.parent / f"{tmp_path.name}-copy")
    for report in reports:
        assert sorted(offsets_of(report.lost, end)) == sorted(lost)
        assert all((one.topic, one.partition) == ("orders", 0) for one in report.lost)
        assert sum(one.most is None for one in report.lost) <= 1
    assert verify(tmp_path, "file").lost == []


def test_an_intact_batch_that_is_left_out_is_lost_unless_another_has_its_offsets(tmp_path: Path) -> None:
    batches = [recordpress.write_records([b"value"] * 5, base_offset=base) for base in (0, 5, 10, 40, 15, 5, 20, 25)]
    (tmp_path / "orders-0").mkdir()
    (tmp_path / "orders-0" / f"{0:020}.log").write_bytes(b"".join(batches))
    report = repair(tmp_path / "orders-0", tmp_path / "copy" / "orders-0")
    assert [(one.start_offset, one.end_offset) for one in report.lost] == [(40, 45)]


@pytest.mark.parametrize(
    ("lost", "text"), [((7, 8), "7 (1)"), ((0, 1200), "0 to 1199 (1,200)"), ((7, None), "from 7 on (61 bytes)")]
)
def test_text(lost: tuple[int, int | None], text: str) -> None:
    assert str(LostRecords("orders", 0, *lost, "file", 0, 61)) == text


def test_the_shell_says_first_what_is_lost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("click")
    for topic, seed in (("orders-0", 2), ("users-3", 3)):
        damaged_log(tmp_path / "logs" / topic, random.Random(seed))
    for call in (["scan"], ["verify"], ["repair"]):
        more = [str(tmp_path / call[0])] if call == ["repair"] else []
        assert main([*call, str(tmp_path / "logs"), *more]) == 1
        lines = capsys.readouterr().out.splitlines()
        names = [line.split()[0] for line in lines[1:5]]
        assert lines[0].startswith("lost: up to ") and names == ["orders:", "orders-0", "users:", "users-3"]


def test_a_repair_that_loses_no_record_succeeds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("click")
    (tmp_path / "orders-0").mkdir()
    data = recordpress.write_records([b"value"] * 5) + bytes(500)  # zeros of a file system after a crash
    (tmp_path / "orders-0" / f"{0:020}.log").write_bytes(data)
    assert main(["scan", str(tmp_path / "orders-0")]) == 1
    assert main(["repair", str(tmp_path / "orders-0"), str(tmp_path / "copy" / "orders-0")]) == 0
    assert "lost" not in capsys.readouterr().out
