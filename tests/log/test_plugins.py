"""Logs whose batches name a plug-in: read, verified, copied, converted and dumped with it, and counted without it."""

from __future__ import annotations

import json
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest

import recordpress
from recordpress.log import DumpOptions, SegmentDump, stats_of, verify

MODULE = """
import zlib

class Codec:
    name = "org.example.Zlib"

    def compress(self, data):
        return zlib.compress(data)

    def decompress(self, data, max_output):
        return zlib.decompressobj().decompress(data, max_output + 1)
"""
NAME = "org.example.Zlib"
LINES = [b"line %d of the log" % (number % 9) for number in range(600)]


class Zlib:
    def compress(self, data: bytes) -> bytes:
        return zlib.compress(data)

    def decompress(self, data: bytes, max_output: int) -> bytes:
        return zlib.decompressobj().decompress(data, max_output + 1)


CODECS = recordpress.CodecRegistry()
CODECS.register(NAME, Zlib())


@pytest.fixture
def partition(tmp_path: Path) -> Path:
    """Two segments: of the plug-in, and of lz4 and the plug-in."""
    directory = tmp_path / "orders-0"
    directory.mkdir()
    codecs = (NAME, "lz4", NAME)
    pieces = [
        recordpress.write_records(
            LINES[at : at + 200],
            compression_type=codec,
            base_offset=at,
            timestamps=range(1000 + at, 1200 + at),
            batch_records=50,
            codecs=CODECS,
        )
        for at, codec in zip((0, 200, 400), codecs, strict=True)
    ]
    (directory / f"{0:020}.log").write_bytes(pieces[0])
    (directory / f"{200:020}.log").write_bytes(pieces[1] + pieces[2])
    for segment in directory.iterdir():
        segment.with_suffix(".index").write_bytes(b"")
    return directory


def values(path: Path, **options: Any) -> list[Any]:
    return recordpress.open_log(path, codecs=CODECS).read(["value"], **options).to_pyarrow()["value"].to_pylist()


def test_a_log_is_read(partition: Path) -> None:
    log = recordpress.open_log(partition, codecs=CODECS)
    assert values(partition) == LINES == values(partition, threads=3)
    assert values(partition, start_offset=417) == LINES[417:]
    assert values(partition, start_timestamp=1133, end_timestamp=1500) == LINES[133:500]
    assert log.count() == 600
    assert log.select(lambda one: True).read(["offset"]).to_pyarrow().num_rows == 600
    for reading in (
        recordpress.open_log(partition),
        recordpress.open_log(partition, codecs=recordpress.CodecRegistry()),
    ):
        assert reading.count() == 600
        with pytest.raises(recordpress.UnsupportedCompressionTypeError, match=NAME) as caught:
            list(reading.read(["value"]))
        assert (caught.value.file, caught.value.position) == (str(partition / f"{0:020}.log"), 0)
        assert caught.value.field_position == 62


def test_headers_say_pluggable(partition: Path) -> None:
    log = recordpress.open_log(partition)
    assert [batch.compression_type for batch in log.batches()] == ["pluggable"] * 4 + ["lz4"] * 4 + ["pluggable"] * 4
    for codecs, has_ratio in ((None, False), (CODECS, True)):
        [one] = recordpress.open_log(partition, codecs=codecs).partitions
        stats = stats_of(one)
        assert {name: share.batches for name, share in stats.codecs.items()} == {"pluggable": 8, "lz4": 4}
        assert (stats.ratio("pluggable") is not None) == has_ratio


def test_a_log_is_verified(partition: Path) -> None:
    report = verify(str(partition), "record", codecs=CODECS)
    assert (report.findings, report.records, report.batches) == ([], 600, 12)
    assert recordpress.open_log(partition, codecs=CODECS).verify("record").findings == []
    assert verify(str(partition), "batch").findings == []
    unknown = verify(str(partition), "record").findings
    assert len(unknown) == 8 and all(NAME in finding.message for finding in unknown)


@pytest.mark.parametrize("batch_bytes", [None, 100_000])
def test_a_log_is_copied_from_one_and_to_one(partition: Path, tmp_path: Path, batch_bytes: int | None) -> None:
    options: dict[str, Any] = {"batch_bytes": batch_bytes, "min_gain": None, "codecs": CODECS}
    manifest = recordpress.transcode(partition, tmp_path / "a" / "orders-0", "zstd", **options)
    assert manifest.partitions[0].segments[0].source.compression_types == (NAME,)
    assert manifest.partitions[0].segments[1].source.compression_types == ("lz4", NAME)
    assert manifest.partitions[0].segments[1].compression_types == ("zstd",)
    assert recordpress.open_log(tmp_path / "a").read(["value"]).to_pyarrow()["value"].to_pylist() == LINES
    again = recordpress.transcode(tmp_path / "a", tmp_path / "b", NAME, **options)
    assert {one.compression_types for one in again.partitions[0].segments} == {(NAME,)}
    assert values(tmp_path / "b") == LINES
    estimate = recordpress.transcode(partition, tmp_path / "c", NAME, dry_run=True, codecs=CODECS)
    assert estimate.bytes_before == sum(path.stat().st_size for path in partition.glob("*.log"))
    with pytest.raises(recordpress.UnsupportedCompressionTypeError, match=NAME):
        recordpress.transcode(partition, tmp_path / "d", "zstd")
    with pytest.raises(recordpress.InvalidArgumentError):
        recordpress.transcode(partition, tmp_path / "d", NAME)
    assert not (tmp_path / "d").exists()


def test_only_batches_of_the_same_name_stay(tmp_path: Path) -> None:
    codecs = recordpress.CodecRegistry()
    codecs.register(NAME, Zlib())
    codecs.register("other", Zlib())
    source = tmp_path / f"{0:020}.log"
    source.write_bytes(
        recordpress.write_records(LINES[:50], compression_type="other", codecs=codecs)
        + recordpress.write_records(LINES[50:], compression_type=NAME, base_offset=50, codecs=codecs)
    )
    manifest = recordpress.transcode(source, tmp_path / "copy.log", NAME, min_gain=None, codecs=codecs)
    assert (manifest.totals["already"], manifest.totals["batches"]) == (1, 2)
    batches = list(recordpress.read_batches((tmp_path / "copy.log").read_bytes()))
    assert [batch.plugin_name for batch in batches] == [NAME, NAME]


def test_a_log_is_converted(partition: Path, tmp_path: Path) -> None:
    old = recordpress.transcode(partition, tmp_path / "gzip", "gzip", min_gain=None, codecs=CODECS)
    assert old.complete
    recordpress.convert(tmp_path / "gzip", tmp_path / "v1", 1, allow_loss="all")
    recordpress.convert(tmp_path / "v1", tmp_path / "v2", 2, compression_type=NAME, codecs=CODECS)
    assert values(tmp_path / "v2") == LINES
    kept = recordpress.convert(partition, tmp_path / "kept", 2, codecs=CODECS)
    assert kept.partitions[0].segments[0].compression_types == (NAME,)
    for magic in (0, 1):
        with pytest.raises(recordpress.UnsupportedCompressionTypeError):
            recordpress.convert(partition, tmp_path / "old", magic, allow_loss="all", codecs=CODECS)
    recordpress.convert(partition, tmp_path / "old", 1, compression_type="lz4", allow_loss="all", codecs=CODECS)
    assert recordpress.open_log(tmp_path / "old").read(["value"]).to_pyarrow()["value"].to_pylist() == LINES


def test_a_segment_is_dumped(partition: Path) -> None:
    [one] = recordpress.open_log(partition, codecs=CODECS).partitions
    text = b"".join(SegmentDump(one.segments[0], DumpOptions(deep_iteration=True, print_data_log=True)))
    assert text.count(b"payload: line") == 200 and b"compresscodec: org.example.Zlib" in text


def test_a_lazy_frame(partition: Path) -> None:
    polars = pytest.importorskip("polars")
    from recordpress.polars import scan_log

    frame = scan_log(partition, codecs=CODECS).filter(polars.col("offset") >= 595).collect()
    assert frame["value"].to_list() == LINES[595:]


def test_codecs_is_checked_first(partition: Path, tmp_path: Path) -> None:
    for call in (
        lambda: recordpress.open_log(partition, codecs=Zlib()),  # type: ignore[arg-type]
        lambda: verify(str(partition), codecs="zlib"),  # type: ignore[arg-type]
        lambda: recordpress.transcode(partition, tmp_path / "x", "zstd", codecs=1),  # type: ignore[arg-type]
    ):
        with pytest.raises(recordpress.ArgumentTypeError, match="codecs must be"):
            call()


# ---- the command line


def run(*arguments: object, cwd: Path, fails: int = 0) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "recordpress", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        check=False,
    )
    assert done.returncode == fails, done.stderr
    return done.stdout + done.stderr


@pytest.mark.slow
def test_verbs_take_a_plug_in(partition: Path, tmp_path: Path) -> None:
    (tmp_path / "my_codecs.py").write_text(MODULE)
    plugin = ("--codec-plugin", "my_codecs:Codec")
    assert len(run("dump", partition, "--format", "jsonl", *plugin, cwd=tmp_path).splitlines()) == 600
    assert len(run("tail", partition, "-n", 5, "--format", "jsonl", *plugin, cwd=tmp_path).splitlines()) == 5
    assert "found" in run("find", partition, "--value-contains", "line 3", *plugin, cwd=tmp_path)
    assert "pluggable" in run("stats", partition, *plugin, cwd=tmp_path)
    run("verify", partition, "--check", "record", *plugin, cwd=tmp_path)
    run("transcode", partition, "zstd/orders-0", "--codec", "zstd", *plugin, cwd=tmp_path)
    run("transcode", "zstd/orders-0", "back/orders-0", "--codec", NAME, "--even-if-larger", *plugin, cwd=tmp_path)
    assert values(tmp_path / "back") == LINES
    run("convert", partition, "v1", "--magic", 1, "--codec", "lz4", "--allow-loss", "all", *plugin, cwd=tmp_path)
    run("fits", partition, "--codec", NAME, *plugin, cwd=tmp_path)
    settings = ("-t", "compression.type=pluggable", "-t", f"pluggable.factory.plugin={NAME}")
    shown = json.loads(run("explain", partition, *settings, *plugin, "--json", cwd=tmp_path, fails=1))
    assert {one["compressionType"]: one["verdict"] for one in shown} == {NAME: "kept", "lz4": "recompressed"}


@pytest.mark.slow
def test_a_plug_in_is_measured_as_it_is_stored(tmp_path: Path) -> None:
    partition = tmp_path / "users-0"
    partition.mkdir()
    values = [b'{"user": %d, "city": "Paris", "seen": %d}' % (n * n % 997, n % 31) for n in range(4000)]
    data = recordpress.write_records(
        values, compression_type=NAME, timestamps=range(4000), batch_records=100, codecs=CODECS
    )
    (partition / ("0" * 20 + ".log")).write_bytes(data)
    (tmp_path / "my_codecs.py").write_text(MODULE)
    plugin = ("--codec-plugin", "my_codecs:Codec")
    found = json.loads(run("analyze", partition, "-e", f"none/{NAME}", "--json", *plugin, cwd=tmp_path))
    assert (found["sample"]["records"], found["sample"]["findings"]) == (4000, [])
    stored = [cell for cell in found["cells"] if cell["batchRecords"] == 100]
    assert [cell["compressionType"] for cell in stored] == ["none", NAME]
    assert stored[1]["outputBytes"] == len(data)
    assert found["recommendation"]["lines"][:2] == ["compression.type=pluggable", f"pluggable.factory.plugin={NAME}"]
    trained = json.loads(run("train", partition, "--depth", 1, "--json", *plugin, cwd=tmp_path, fails=1))
    assert trained["sample"]["records"] == 4000

    for codecs, why in ((NAME, f"not {NAME!r}"), (f"{NAME},3", "level")):
        assert why in run("analyze", partition, "-e", codecs, *(plugin if "," in codecs else ()), cwd=tmp_path, fails=2)
    assert "no intact record" in run("analyze", partition, "-e", "lz4", cwd=tmp_path, fails=2)
    with pytest.raises(recordpress.errors.ArgumentTypeError, match="CodecRegistry"):
        recordpress.analyze(partition, codecs={})  # type: ignore[arg-type]
    with pytest.raises(recordpress.errors.ArgumentTypeError, match="CodecRegistry"):
        recordpress.train(partition, codecs={})  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_plug_in_that_is_not_given(partition: Path, tmp_path: Path) -> None:
    assert NAME in run("dump", partition, cwd=tmp_path, fails=1)
    said = run("transcode", partition, "x", "--codec", NAME, cwd=tmp_path, fails=2)
    assert f"'{NAME}' is not a codec" in said
    for path, why in (("nothing:x", "ModuleNotFoundError"), ("json", "module:attribute"), ("json:dumps", "TypeError")):
        assert why in run("dump", partition, "--codec-plugin", path, cwd=tmp_path, fails=2)
