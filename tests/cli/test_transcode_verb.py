"""recordpress transcode."""

import json
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

import recordpress
from cli.conftest import Run, environment
from cli.logs import SEGMENT, batches, damaged, files_of, partition
from recordpress.log import Manifest

T = 1_700_000_000_000


def offsets(path: Path) -> list[int]:
    return [record.offset for batch in recordpress.read_batches(path.read_bytes()) for record in batch]


def test_a_partition_under_another_codec(run: Run, tmp_path: Path) -> None:
    source, target = partition(tmp_path), tmp_path / "cold" / "orders-0"
    before = files_of(source)
    done = run("transcode", source, target, "--codec", "zstd", "--level", "9")
    assert (done.status, done.err) == (0, "")
    assert {batch.compression_type for batch in recordpress.read_batches((target / SEGMENT).read_bytes())} == {"zstd"}
    assert offsets(target / SEGMENT) == list(range(50))
    assert done.lines[0].split() == ["partition", "segments", "records", "batches", "before", "after", "change"]
    assert done.lines[1].split()[:4] == ["orders-0", "1", "50", "5"]
    assert done.lines[3].startswith(f"{target}: 50 records, ")
    assert files_of(source) == before


def test_a_copy_is_as_a_broker_would_have_left_it(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "cold" / "orders-0"
    run("transcode", partition(tmp_path), target, "--codec", "zstd")
    done = run("verify", target, "--check", "record")
    assert (done.status, done.err) == (0, "")
    assert done.lines[-1].startswith("no findings: ")


def test_json_is_the_manifest(run: Run, tmp_path: Path) -> None:
    source, target = partition(tmp_path), tmp_path / "cold" / "orders-0"
    done = run("transcode", source, target, "--codec", "zstd", "--level", "9", "--json")
    assert (done.status, done.err) == (0, "")
    assert done.json == json.loads(Manifest.read(target).to_json())
    manifest = Manifest.from_json(done.out)
    assert manifest.complete
    assert manifest.options["compression_type"] == "zstd"
    assert manifest.totals["records"] == 50


@pytest.mark.parametrize("name", ["cold", "cold-0x"])
def test_a_target_with_another_name_gets_the_partition_s_directory(run: Run, tmp_path: Path, name: str) -> None:
    source, target = partition(tmp_path), tmp_path / name
    assert run("transcode", source, target, "--codec", "lz4").status == 0
    assert (target / "orders-0" / SEGMENT).exists()


def test_several_sources(run: Run, tmp_path: Path) -> None:
    sources = [partition(tmp_path, name=name) for name in ("a-0", "b-1")]
    done = run("transcode", *sources, tmp_path / "cold", "--codec", "lz4")
    assert done.status == 0
    assert sorted(path.parent.name for path in tmp_path.glob("cold/*/*.log")) == ["a-0", "b-1"]


def test_small_batches_are_joined(run: Run, tmp_path: Path) -> None:
    source, target = partition(tmp_path), tmp_path / "cold-0"
    assert run("transcode", source, target, "--codec", "zstd", "--batch-bytes", "1MiB").status == 0
    assert len(list(recordpress.read_batches((target / SEGMENT).read_bytes()))) == 1
    assert offsets(target / SEGMENT) == list(range(50))


def test_depth_in_records_and_the_last_batches_of_producers(run: Run, tmp_path: Path) -> None:
    data = b"".join(
        recordpress.write_records(
            [b"value" * 20] * 10, timestamps=T, base_offset=at, producer_id=7, producer_epoch=0, base_sequence=at
        )
        for at in range(0, 200, 10)
    )
    source = partition(tmp_path, data)
    options = ["--codec", "zstd", "--batch-records", "40"]
    for name, more, depths in (
        ("a-0", [], [40] * 3 + [30] + [10] * 5),
        ("b-0", ["--now", str(T + 1000), "--producer-id-expiration-ms", "1000"], [40] * 5),
        ("c-0", ["--now", str(T + 999), "--producer-id-expiration-ms", "1000"], [40] * 3 + [30] + [10] * 5),
        ("d-0", ["--now", "2030-01-01", "--max-message-bytes", "3000"], [20] * 10),
    ):
        assert run("transcode", source, tmp_path / name, *options, *more).status == 0
        found = recordpress.read_batches((tmp_path / name / SEGMENT).read_bytes())
        assert [batch.records_count for batch in found] == depths
    assert (
        run("transcode", source, tmp_path / "f-0", *options, "--producers", "settle", "--now", "2030-01-01").status == 0
    )
    found = list(recordpress.read_batches((tmp_path / "f-0" / SEGMENT).read_bytes()))
    assert [(batch.records_count, batch.producer_id) for batch in found] == [(40, -1)] * 5
    done = run("transcode", source, tmp_path / "e-0", "--codec", "zstd", "--batch-bytes", "2MiB")
    assert done.status == 2
    assert "--batch-bytes 2097152 is more than --max-message-bytes 1048576" in done.err


def test_batches_that_would_not_become_smaller_stay(run: Run, tmp_path: Path) -> None:
    source = partition(tmp_path, recordpress.write_records([b"x"]))
    done = run("transcode", source, tmp_path / "a-0", "--codec", "gzip")
    assert done.lines[-1] == "unchanged: 1 batch, which gzip would not make smaller"
    done = run("transcode", source, tmp_path / "b-0", "--codec", "gzip", "--even-if-larger")
    assert "unchanged" not in done.text
    done = run("transcode", tmp_path / "b-0", tmp_path / "c-0", "--codec", "gzip")
    assert done.lines[-1] == "unchanged: 1 batch, which already had codec gzip"


@pytest.mark.parametrize("share", ["99%", "0.99"])
def test_a_gain_that_is_wanted(run: Run, tmp_path: Path, share: str) -> None:
    done = run("transcode", partition(tmp_path), tmp_path / "cold-0", "--codec", "zstd", "--min-gain", share)
    assert done.lines[-1] == "unchanged: 5 batches, which zstd would not make smaller"


@pytest.mark.parametrize(("producers", "text"), [
    (0, r"with --batch-bytes 256KiB: about \S+ KiB, -[78]\d.\d %"),
    (1, r"with --batch-bytes 256KiB: about \S+ KiB, -[78]\d.\d %"),
    (8, r"with --batch-bytes 256KiB --producers settle: about \S+ KiB, -[67]\d.\d %"),
])  # fmt: skip
def test_what_deeper_batches_would_have_saved(run: Run, tmp_path: Path, producers: int, text: str) -> None:
    data = b""
    for offset in range(0, 8000, 10):
        number, of = offset // 10, {}
        if producers:
            of = {"producer_id": number % producers, "producer_epoch": 0, "base_sequence": number // producers * 10}
        values = [b"GET /articles/%d 200 %d" % (row * 31 % 977, row) for row in range(offset, offset + 10)]
        data += recordpress.write_records(values, base_offset=offset, compression_type="snappy", **of)
    source = partition(tmp_path, data)
    done = run("transcode", source, tmp_path / "a-0", "--codec", "zstd")
    [line] = [line for line in done.lines if "--batch-bytes" in line]
    assert re.fullmatch(text, line) and len(line) <= 80, line
    joined = ["--batch-bytes", "256KiB", "--producers", "settle" if producers > 1 else "keep"]
    copy = run("transcode", source, tmp_path / "c-0", "--codec", "zstd", *joined)
    [total] = [line for line in copy.lines if " records, " in line]
    assert line.rpartition(", ")[2] == total.rpartition(", ")[2]  # a small log is measured as a whole
    joined = ["--batch-bytes", "256KiB", "--producers", "settle", "--now", "2100-01-01"]
    for n, more in enumerate((joined, ["--json"], ["--max-message-bytes", "100KiB"])):
        assert "--batch-bytes" not in run("transcode", source, tmp_path / f"{n}-0", "--codec", "zstd", *more).text
    assert "--batch-bytes" not in run("transcode", source, tmp_path / "a-0", "--codec", "zstd").text  # it is there
    assert "--batch-bytes" not in run("transcode", tmp_path / "0-0", tmp_path / "b-0", "--codec", "gzip").text  # deep
    assert (tmp_path / "1-0" / SEGMENT).read_bytes() == (tmp_path / "a-0" / SEGMENT).read_bytes()


def test_a_dry_run_writes_nothing(run: Run, tmp_path: Path) -> None:
    source = partition(tmp_path)
    done = run("transcode", source, tmp_path / "cold", "--codec", "zstd", "--dry-run")
    assert (done.status, done.err) == (0, "")
    assert "nothing was written" in done.lines[-1]
    assert max(map(len, done.lines)) <= 80
    estimate = run("transcode", source, tmp_path / "cold", "--codec", "zstd", "--dry-run", "--json").json
    assert estimate["bytesBefore"] == (source / SEGMENT).stat().st_size
    assert [path.name for path in tmp_path.iterdir()] == ["orders-0"]


def test_nothing_is_overwritten(run: Run, tmp_path: Path) -> None:
    source = partition(tmp_path)
    (tmp_path / "cold").mkdir()
    (tmp_path / "cold" / "file").touch()
    before = files_of(tmp_path)
    for target in (source, tmp_path / "cold", source / "cold"):
        done = run("transcode", source, target, "--codec", "zstd")
        assert (done.status, done.text) == (2, ""), target
    assert files_of(tmp_path) == before


def test_a_second_run_finds_the_copy(run: Run, tmp_path: Path) -> None:
    source, target = partition(tmp_path), tmp_path / "cold"
    run("transcode", source, target, "--codec", "zstd")
    before = files_of(target)
    done = run("transcode", source, target, "--codec", "zstd")
    assert (done.status, done.err) == (0, "1 segment finished by an earlier run\n")
    assert files_of(target) == before


def test_damage_is_an_error_with_the_next_command(run: Run, tmp_path: Path) -> None:
    source = damaged(tmp_path)
    done = run("transcode", source, tmp_path / "cold", "--codec", "zstd")
    assert (done.status, done.text) == (1, "")
    assert done.err.startswith(f"recordpress: {source / SEGMENT}: byte ")
    assert done.err.endswith(f" (checksum)\ntry: recordpress scan {source}\n")
    assert not (tmp_path / "cold").exists()


def test_what_follows_the_last_batch_is_a_finding(run: Run, tmp_path: Path) -> None:
    whole = b"".join(batches())
    source = partition(tmp_path, whole[:-10])
    done = run("transcode", source, tmp_path / "cold", "--codec", "zstd")
    size = len(batches()[-1]) - 10
    assert done.status == 1
    assert done.lines[0] == (
        f"{source / SEGMENT}: byte {len(whole) - 10 - size}: "
        f"the last {size} bytes have no complete entry, and are not in "
        "the copy (record set framing)"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Missing option '--compression-type' / '--codec'"),
        (["--codec", "brotli"], "'brotli' is not a codec; must be one of none"),
        (["--codec", "zstd", "--level", "23"], "23"),
        (["--codec", "zstd", "--min-gain", "200%"], "'200%' is not a share"),
        (["--codec", "zstd", "--batch-bytes", "much"], "'much' is not a size"),
        (["--codec", "zstd", "--threads", "0"], "0 is not in the range"),
    ],
)
def test_usage(run: Run, tmp_path: Path, arguments: list[str], message: str) -> None:
    done = run("transcode", partition(tmp_path), tmp_path / "cold", *arguments)
    assert (done.status, done.text) == (2, "")
    assert message in done.err
    assert not (tmp_path / "cold").exists()


@pytest.mark.slow
def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """The system names no file if a disk is full or a file exceeds its limit."""
    source = partition(tmp_path, recordpress.write_records([random.Random(1).randbytes(1 << 20)]))
    limited = "import resource, sys, recordpress.cli; resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)); "
    code = f"{limited} sys.exit(recordpress.cli.main())"
    for verb, *options in (["transcode", "--codec", "zstd"], ["repair"]):
        target = tmp_path / verb / "cold-0"
        command = [sys.executable, "-c", code, verb, source, target, *options]
        done = subprocess.run(command, capture_output=True, text=True, env=environment())
        assert (done.returncode, done.stdout) == (3, "")
        assert re.fullmatch(r"recordpress: \S+/0{20}\.log: File too large\n", done.stderr)
        assert not target.exists()
