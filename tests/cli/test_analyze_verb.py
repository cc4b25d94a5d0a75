"""recordpress analyze."""

import csv
import json
from pathlib import Path

import jsonschema
import pytest

import recordpress
from cli.conftest import Run
from cli.logs import SEGMENT, batches, damaged, partition

ROOT = Path(__file__).parents[2]
CELL = [
    "compressionType",
    "level",
    "batchRecords",
    "batchBytes",
    "inputBytes",
    "outputBytes",
    "ratio",
    "compressMbS",
    "decompressMbS",
    "cpuSecondsPerMillion",
    "cpuRatio",
    "decoderBytes",
]


def test_the_interface_that_others_rely_on(run: Run, tmp_path: Path) -> None:
    done = run("analyze", partition(tmp_path), "-e", "zstd,1,3/lz4/gzip,6/snappy", "--json")
    assert (done.status, done.err) == (0, "")
    found = done.json
    jsonschema.validate(found, json.loads((ROOT / "docs" / "analyze.schema.json").read_text()))
    assert all(list(cell) == CELL for cell in found["cells"])
    grid = [("zstd", 1), ("zstd", 3), ("lz4", None), ("gzip", 6), ("snappy", None)]
    assert [(cell["compressionType"], cell["level"]) for cell in found["cells"]] == 2 * grid
    assert [cell["batchRecords"] for cell in found["cells"]] == [10] * 5 + [100] * 5
    stored = sum(map(len, batches()))  # by libdeflate; Java has zlib
    assert found["cells"][3]["outputBytes"] == pytest.approx(stored, rel=0.02)
    assert found["versions"]["recordpress"] == recordpress.__version__ and found["versions"]["zstd"]


def test_the_default_grid(run: Run, tmp_path: Path) -> None:
    done = run("analyze", partition(tmp_path), "--json", "--seed", 3, "-p", "median", "--threads", 2)
    assert [(cell["compressionType"], cell["level"]) for cell in done.json["cells"][:8]] == [
        ("none", None), ("snappy", None), ("lz4", None), ("gzip", 1), ("gzip", 6), ("zstd", 1), ("zstd", 3), ("zstd", 6)
    ]  # fmt: skip
    assert (done.json["sample"]["seed"], done.json["sample"]["speed"]["timing"]) == (3, "median")


def test_the_table(run: Run, tmp_path: Path) -> None:
    path = partition(tmp_path)
    done = run("analyze", path, "-e", "none/zstd,3", "--rate", "20MB/s", "--price-gb", "0.1")
    assert (done.status, done.err) == (0, "")
    stored = (path / SEGMENT).stat().st_size / 1024
    assert done.lines[0].startswith(f"today: {stored:.1f} KiB (gzip 100 %), 10.0 records per batch, ratio ")
    assert done.lines[1].startswith("sample: 50 records, ") and done.lines[1].endswith("100.0 % of the data, seed 0")
    header = "codec level depth per batch batch ratio bytes/record write MB/s ± read MB/s ± CPU s/day"
    assert done.lines[3].split() == header.split()
    assert done.lines[5].split()[:5] == ["*", "zstd", "3", "1x", "10"]
    assert "memcpy" in done.text and "zstd 1." in done.text
    assert "    compression.type=zstd" in done.lines and "    compression.zstd.level=3" in done.lines
    assert any(" a day" in line and "CPU time to compress" in line for line in done.lines)


def test_csv(run: Run, tmp_path: Path) -> None:
    done = run("analyze", partition(tmp_path), "-e", "none/zstd,3", "--csv", "--depth", "1", "--rate", "5records/s")
    rows = list(csv.DictReader(done.lines))
    assert list(rows[0])[: len(CELL)] == CELL
    assert [row["compressionType"] for row in rows] == ["none", "zstd"]
    assert rows[1]["level"] == "3" and float(rows[1]["compressCpuSecondsADay"]) > 0


def test_a_file_of_lines(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    path.write_bytes(b"a line of text\n" * 1000)
    done = run("analyze", path, "-e", "lz4")
    assert done.status == 0 and done.lines[0].startswith("today: 14.6 KiB of lines, ")


def test_damage_is_told_and_left_out(run: Run, tmp_path: Path) -> None:
    done = run("analyze", damaged(tmp_path), "-e", "none", "--json")
    assert done.status == 1 and "(checksum)" in done.err
    assert done.json["sample"]["records"] == 40 and len(done.json["sample"]["findings"]) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-e", "brotli"), "brotli"),
        (("-e", "zstd,99"), "level of zstd must be between -131072 and 22, not 99"),
        (("--rate", "fast"), "rate='fast' is not a rate: 20MB/s, 50000records/s"),
        (("--depth", "0"), "--depth"),
        (("--price-gb", "-1"), "--price-gb"),
        (("--json", "--csv"), "--json and --csv cannot be combined"),
        (("-p", "slowest"), "slowest"),
    ],
)
def test_usage(run: Run, tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    done = run("analyze", partition(tmp_path), *arguments)
    assert (done.status, done.out) == (2, b"") and message in done.err


def test_a_path_that_is_not_there(run: Run, tmp_path: Path) -> None:
    assert run("analyze", tmp_path / "none").status == 3


def test_an_empty_log(run: Run, tmp_path: Path) -> None:
    done = run("analyze", partition(tmp_path, b""))
    assert done.status == 2 and "it has no intact record" in done.err


def test_the_report(run: Run, tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    done = run("analyze", partition(tmp_path), "-e", "none/zstd,3", "--report", report)
    assert done.status == 0
    page = report.read_text()
    assert page.startswith("<!DOCTYPE html>") and "compression.zstd.level=3" in page
    assert sorted(path.name for path in tmp_path.iterdir()) == ["orders-0", "report.html"]


def test_a_report_that_cannot_be_written(run: Run, tmp_path: Path) -> None:
    done = run("analyze", partition(tmp_path), "-e", "none", "--report", tmp_path / "none" / "report.html")
    assert (done.status, done.out) == (3, b"")
