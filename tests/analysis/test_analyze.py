"""recordpress.analyze: what it names is what Java's producer makes, and what is stored is what Kafka stored."""

from __future__ import annotations

import contextlib
import itertools
import json
import shutil
import struct
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import oracle
import recordpress
from recordpress.analysis import Analysis, _analyze, _measure
from recordpress.typing import CompressionType
from together import THOROUGH, sampled, together

ROOT = Path(__file__).parents[2]
SEGMENT = "00000000000000000000.log"
NOW = 1_700_000_000_000
GRID = "none/snappy/lz4,9/gzip,6/zstd,3"


def lines(number: int, start: int = 0) -> list[bytes]:
    return [
        b'203.0.113.%d - - [17/May/2015:10:05:%02d] "GET /item/%d HTTP/1.1" 200 %d' % (n % 250, n % 60, n * n, n % 9999)
        for n in range(start, start + number)
    ]


def log_of(path: Path, batches: int = 40, depth: int = 25, codec: CompressionType = "snappy") -> Path:
    path.mkdir(parents=True, exist_ok=True)
    data = [
        recordpress.write_records(lines(depth, at), compression_type=codec, base_offset=at, timestamps=NOW + at)
        for at in range(0, batches * depth, depth)
    ]
    (path / SEGMENT).write_bytes(b"".join(data))
    return path


@pytest.fixture(autouse=True)
def no_dictionary(monkeypatch: pytest.MonkeyPatch) -> None:
    """To train one takes most of the time, and test_train.py looks at it. `monkeypatch.undo()` has it again."""
    monkeypatch.setattr(_analyze, "_dictionary", lambda sample: None)


@pytest.fixture
def partition(tmp_path: Path) -> Path:
    return log_of(tmp_path / "orders-0")


@pytest.fixture(scope="module")
def large_partition(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Several pieces of 256 KiB."""
    return log_of(tmp_path_factory.mktemp("large") / "orders-0", batches=400)


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_measure, "PIECE_BYTES", 1 << 18)


def sizes(found: Analysis) -> list[tuple[str, int | None, int | None, int, int]]:
    return [
        (cell.compression_type, cell.level, cell.batch_records, cell.input_bytes, cell.output_bytes)
        for cell in found.cells
    ]


# ---- cells


def as_a_stream(record_set: bytes, codec: CompressionType, level: int | None) -> int:
    """The size of uncompressed batches when each is compressed like that."""
    size = 0
    for batch in recordpress.read_batches(record_set):
        stream = recordpress.compressor(codec, level)
        size += batch.size - len(batch.payload) + len(stream.compress(batch.payload) + stream.flush())
    return size


def test_sizes_are_those_of_the_record_sets_that_are_written(partition: Path) -> None:
    found = recordpress.analyze(partition, GRID)
    rows = recordpress.open_log(partition).read(["timestamp", "value"]).to_pyarrow()
    assert {cell.batch_records for cell in found.cells} == {25, 250}
    for cell in found.cells:
        options = {"batch_bytes": None, "batch_records": cell.batch_records}
        plain = recordpress.write_columns(rows, **options)
        assert cell.input_bytes == len(plain)
        assert cell.output_bytes == as_a_stream(plain, cell.compression_type, cell.level)
        written = len(recordpress.write_columns(rows, cell.compression_type, cell.level, **options))
        is_of_blocks = cell.compression_type in ("none", "snappy", "lz4")  # of one size, however it is called
        assert cell.output_bytes == (written if is_of_blocks else pytest.approx(written, 0.05))
        assert cell.ratio == cell.input_bytes / cell.output_bytes
        assert cell.batch_bytes == round(len(plain) / (1000 // cell.batch_records))
        assert cell.speed.compress_mb_s > 0 and cell.speed.decompress_mb_s > 0
    assert [cell.ratio for cell in found.cells if cell.compression_type == "none"] == [1.0, 1.0]
    assert [cell.cpu_ratio for cell in found.cells if cell.compression_type == "none"] == [1.0, 1.0]
    for cell in found.cells:
        compressing = cell.input_bytes / 1e6 / cell.speed.compress_mb_s * (cell.compression_type != "none")
        assert cell.cpu_seconds_per_million == pytest.approx((cell.encode_seconds + compressing) / cell.records * 1e6)
        assert cell.cpu_ratio == pytest.approx(1 + compressing / cell.encode_seconds)


def test_sizes_at_a_depth_that_varies(tmp_path: Path) -> None:
    path = tmp_path / SEGMENT
    sets = [recordpress.write_records(lines(n, 10 * n), base_offset=10 * n, compression_type="lz4") for n in (3, 9, 4)]
    path.write_bytes(b"".join(sets))
    found = recordpress.analyze(path, "none/lz4")
    assert found.cells[0].batch_records is None and found.cells[2].batch_records == 53
    assert found.cells[0].input_bytes == sum(len(recordpress.recompress(one, "none")) for one in sets)
    assert found.cells[1].output_bytes == sum(map(len, sets)) == found.sample["stored_bytes"]
    assert found.baseline["batch_records"] is None and found.baseline["mean_batch_records"] == 16 / 3


def test_records_of_several_partitions_whose_offsets_are_the_same(tmp_path: Path) -> None:
    one, other = log_of(tmp_path / "orders-0", 1), log_of(tmp_path / "orders-1", 1)
    found = recordpress.analyze([one, other], "none")
    assert (found.cells[0].records, found.cells[0].batch_records) == (50, 25)
    assert found.cells[0].batch_bytes * 2 == found.cells[0].input_bytes
    assert found.cells[1].batch_records == 250


def test_a_codec_that_lies_is_found(partition: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from recordpress.analysis import _measure

    monkeypatch.setattr(_measure, "decompress", lambda data, codec, most, codecs: bytes(most))
    with pytest.raises(recordpress.CorruptRecordError, match="zstd differ after reading"):
        recordpress.analyze(partition, "zstd")


def test_the_pareto_front(partition: Path) -> None:
    found = recordpress.analyze(partition, GRID)
    for depth in (1, 10):
        row = [cell for cell in found.cells if cell.depth == depth]
        for cell in row:
            beaten = any(
                other is not cell
                and other.output_bytes <= cell.output_bytes
                and other.speed.compress_mb_s >= cell.speed.compress_mb_s
                for other in row
            )
            assert cell.is_best is not beaten
    assert found.recommendation["pareto"] == [number for number, cell in enumerate(found.cells) if cell.is_best]


def test_the_json_is_what_its_schema_says(partition: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    schema = json.loads((ROOT / "docs" / "analyze.schema.json").read_text())
    for options in ({}, {"rate": "20MB/s", "price_gb": 0.1}):
        found = json.loads(json.dumps(recordpress.analyze(partition, GRID, **options).to_dict()))
        jsonschema.validate(found, schema)
    assert list(found) == ["baseline", "cells", "recommendation", "savings", "sample", "measurement", "versions"]


def test_copies_with_what_is_recommended(tmp_path: Path) -> None:
    """Of real producers: small batches of one topic, and transactions of another."""
    logs = tmp_path / "logs"
    for name in ("access-log-0", "sessions-0"):
        shutil.copytree(ROOT / "demo" / "logs" / name, logs / name)
    found = recordpress.analyze(logs, "zstd,3", depths=(1,))
    estimate = recordpress.transcode(logs, tmp_path / "copy", "zstd", level=3, dry_run=True)
    assert found.savings is not None
    assert [one[:3] + tuple(saving and saving[:3] for saving in one[3:]) for one in found.savings.topics] == [
        one[:3] + tuple(saving and saving[:3] for saving in one[3:])
        for one in estimate.topics  # type: ignore[union-attr]
    ]


def test_lines_are_not_stored(tmp_path: Path) -> None:
    (tmp_path / "lines.txt").write_bytes(b"a line\n" * 1000)
    assert recordpress.analyze(tmp_path / "lines.txt", "zstd,3", depths=(1,)).savings is None


# ---- what is stored

# The smallest and the largest log of each partition: those between are alike.
ENDS = [
    end(logs, key=lambda log: log.entry["size"])
    for partition in oracle.PARTITIONS
    if (logs := [log for log in partition.logs if log.entry["size"]])
    for end in (min, max)[: len(logs)]
]


@oracle.each("log", [log for log in (oracle.LOGS if THOROUGH else ENDS) if log.entry["size"] < 1 << 18])
def test_the_baseline_of_logs_that_brokers_wrote(log: oracle.Vector, tmp_path: Path) -> None:
    data = log.data
    path = tmp_path / SEGMENT
    path.write_bytes(data)
    entries = [batch for batch in recordpress.read_batches(data) if not batch.is_control]
    rows = recordpress.read_columns(data).num_rows
    if not rows:
        with pytest.raises(recordpress.InvalidArgumentError, match="it has no intact record"):
            recordpress.analyze(path, "none")
        return
    found = recordpress.analyze(path, "none", depths=[1])
    assert found.baseline["bytes"] == len(data)
    assert found.sample["records"] == rows
    assert found.sample["stored_bytes"] == sum(batch.size for batch in entries if len(list(batch)))
    assert set(found.baseline["codecs"]) == {batch.compression_type for batch in entries}
    assert sum(one["bytes"] for one in found.baseline["codecs"].values()) == sum(b.size for b in entries)


def test_a_partition_under_magic_1(tmp_path: Path) -> None:
    values = lines(100)
    path = tmp_path / SEGMENT
    path.write_bytes(
        b"".join(
            recordpress.write_records(values[at : at + 10], magic=1, compression_type="gzip", base_offset=at)
            for at in range(0, 100, 10)
        )
    )
    found = recordpress.analyze(path, "none/gzip,6")
    assert (found.sample["records"], found.cells[0].batch_records) == (100, 10)
    assert found.baseline["codecs"]["gzip"]["batches"] == 10


# ---- samples


def test_a_sample_is_of_its_seed(tmp_path: Path) -> None:
    path = log_of(tmp_path / "orders-0", batches=200)
    whole = recordpress.analyze(path, "none", depths=[1])
    assert whole.sample["coverage"] == 1.0
    options = {"candidates": "none/zstd,3", "depths": [1], "sample_bytes": whole.sample["bytes"] // 10}
    one, again, other = (recordpress.analyze(path, seed=seed, **options) for seed in (7, 7, 8))
    assert sizes(one) == sizes(again) != sizes(other)
    assert one.sample["runs"] == 8 and 0.08 < one.sample["coverage"] < 0.13
    exact = recordpress.analyze(path, "zstd,3", depths=[1]).cells[0].ratio
    assert one.cells[1].ratio == pytest.approx(exact, rel=0.02)


@pytest.mark.usefixtures("small_pieces")
def test_threads_change_no_size(large_partition: Path) -> None:
    one, four = (recordpress.analyze(large_partition, "lz4", depths=[8], threads=threads) for threads in (1, 4))
    assert one.sample["bytes"] > 2 << 18
    assert sizes(one) == sizes(four)


@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
@pytest.mark.parametrize("is_last_ended", [True, False])
def test_a_file_of_lines(tmp_path: Path, ending: bytes, is_last_ended: bool) -> None:
    values = lines(1000)
    path = tmp_path / "access.log"
    path.write_bytes(ending.join(values) + ending * is_last_ended)
    found = recordpress.analyze(path, "none/zstd,3")
    assert found.baseline["kind"] == "lines" and found.baseline["codecs"] == {} and found.baseline["ratio"] == 1.0
    assert (found.sample["records"], found.sample["runs"]) == (1000, 1)
    assert found.sample["coverage"] == pytest.approx(1.0, abs=1e-4)
    assert found.cells[0].batch_bytes <= 16384
    rows = recordpress.read_columns(recordpress.write_records(values, timestamps=0), ["timestamp", "value"])
    depth = found.cells[3].batch_records
    plain = recordpress.write_columns(rows, batch_bytes=None, batch_records=depth)
    assert found.cells[3].output_bytes == as_a_stream(plain, "zstd", 3)


def test_a_part_of_a_file_of_lines(tmp_path: Path) -> None:
    path = tmp_path / "access.txt"
    path.write_bytes(b"\n".join(lines(40_000)))
    one, again, other = (
        recordpress.analyze(path, "none", depths=[1], sample_bytes=800_000, seed=seed) for seed in (1, 1, 2)
    )
    assert sizes(one) == sizes(again) != sizes(other)
    assert one.sample["runs"] == 8 and 0.2 < one.sample["coverage"] < 0.35


def test_runs_of_lines_begin_and_end_with_whole_ones(tmp_path: Path) -> None:
    from recordpress.analysis._lines import sample_lines
    from recordpress.files import LocalFileSystem

    values = lines(100_000)
    path = tmp_path / "access.txt"
    path.write_bytes(b"\n".join(values))
    with LocalFileSystem().open(str(path)) as file:
        sample = sample_lines(file, 4 << 20, seed=1)
    found = recordpress.read_columns(bytes(sample.data), ["value"])["value"].to_pylist()
    assert sample.runs == 8 and len(found) == sample.records
    place = {value: number for number, value in enumerate(values)}
    numbers = [place[value] for value in found]  # every one of them is a line
    assert sum(after - before != 1 for before, after in itertools.pairwise(numbers)) == 7  # where a run ends


def test_a_line_that_no_broker_takes(tmp_path: Path) -> None:
    path = tmp_path / "one.txt"
    path.write_bytes(b"x" * (3 << 20))
    assert recordpress.analyze(path, "none", depths=[1]).sample["records"] == 3


# ---- damage


def test_a_damaged_batch_is_a_finding(partition: Path) -> None:
    path = partition / SEGMENT
    data = bytearray(path.read_bytes())
    first = next(iter(recordpress.read_batches(bytes(data)))).size
    data[first + 70] ^= 1
    path.write_bytes(data)
    found = recordpress.analyze(partition, "none")
    assert [(one.position, one.rule) for one in found.findings] == [(first, "checksum")]
    assert found.sample["records"] == 975 and found.sample["findings"] == [found.findings[0].to_dict()]


def test_framing_that_is_broken_ends_the_segment_once(partition: Path) -> None:
    path = partition / SEGMENT
    data = bytearray(path.read_bytes())
    sizes_ = [batch.size for batch in recordpress.read_batches(bytes(data))]
    position = sum(sizes_[:4])
    struct.pack_into(">i", data, position + 8, 3)
    path.write_bytes(data)
    found = recordpress.analyze(partition, "none")
    assert len(found.findings) == 1 and found.findings[0].position is not None
    assert found.sample["records"] == 100


@pytest.mark.parametrize("data", [b"", bytes(100), b"\0" * 16 + b"\2" + b"\xff" * 100])
def test_nothing_intact(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / SEGMENT
    path.write_bytes(data)
    with pytest.raises(recordpress.InvalidArgumentError, match="no intact record"):
        recordpress.analyze(path)


@pytest.mark.parametrize("codec", ["none", "zstd"])
@pytest.mark.parametrize("is_empty", [True, False])
def test_a_batch_that_is_larger_than_the_sample(is_empty: bool, codec: CompressionType, tmp_path: Path) -> None:
    """No batch begins where the sample looks: the batch around that place is taken."""
    values, headers = ([b""] * 30_000, None) if is_empty else ([b"x"], [[("h", b"")] * 30_000])
    path = tmp_path / SEGMENT
    path.write_bytes(recordpress.write_records(values, headers=headers, compression_type=codec))
    found = recordpress.analyze(path, "none", depths=[1], sample_bytes=1024)
    assert found.sample["records"] == len(values) and not found.findings


@together("at", sampled(range(0, 1400, 13), 4))
def test_no_byte_of_a_log_crashes_it(tmp_path: Path, at: int) -> None:
    path = log_of(tmp_path / "orders-0", batches=3, depth=5, codec="lz4") / SEGMENT
    data = bytearray(path.read_bytes())
    data[at % len(data)] ^= 0xFF
    path.write_bytes(data)
    with contextlib.suppress(recordpress.InvalidArgumentError):  # nothing is intact
        assert recordpress.analyze(path, "none", depths=[1]).sample["records"] <= 15


# ---- advice


def test_shallow_batches_are_told(tmp_path: Path) -> None:
    found = recordpress.analyze(log_of(tmp_path / "orders-0", batches=500, depth=1), "none/zstd,3")
    advice = found.recommendation
    assert any("too small" in warning for warning in advice["warnings"])
    assert [one["depth"] for one in advice["by_depth"]] == [1, 2, 10, 100]
    ratios = [one["ratio"] for one in advice["by_depth"]]
    assert ratios == sorted(ratios) and advice["depth"] == 10
    assert advice["settings"]["compression.type"] == "zstd" and advice["settings"]["compression.zstd.level"] == 3


def test_deep_batches_are_not_shallow(tmp_path: Path) -> None:
    found = recordpress.analyze(log_of(tmp_path / "orders-0", batches=3, depth=1000), "zstd,3")
    assert found.recommendation["depth"] == 1
    assert not any("too small" in warning for warning in found.recommendation["warnings"])


def test_bytes_that_no_codec_makes_smaller(tmp_path: Path) -> None:
    from random import Random

    values = [Random(seed).randbytes(1000) for seed in range(100)]
    path = tmp_path / SEGMENT
    path.write_bytes(recordpress.write_records(values))
    found = recordpress.analyze(path)
    assert found.recommendation["lines"][0] == "compression.type=none"
    assert found.recommendation["saves"]["bytes"] == 0
    assert recordpress.analyze(path, "lz4").recommendation["compression_type"] == "lz4"


def test_the_bill(partition: Path) -> None:
    """Three copies, of which two go to followers, and four consumers."""
    options: dict[str, Any] = {"depths": [1], "rate": "1000records/s", "replication": 3, "consumers": 4}
    prices = {"price_gb": 2.0, "price_network_gb": 0.5, "price_consumer_gb": 0.25}
    saves = recordpress.analyze(partition, "zstd,3", **options, **prices).recommendation["saves"]
    a_day = saves["bytes_a_day"]
    assert (saves["network_bytes_a_day"], saves["consumer_bytes_a_day"]) == pytest.approx(
        (2 * a_day, 4 * a_day), rel=1e-6
    )
    assert saves["price"] == pytest.approx(3 * saves["bytes"] / 1e9 * 2.0)
    assert saves["price_a_day"] == pytest.approx(3 * a_day / 1e9 * 2.0, rel=1e-6)
    assert saves["network_price_a_day"] == pytest.approx(2 * a_day / 1e9 * 0.5, rel=1e-6)
    assert saves["consumer_price_a_day"] == pytest.approx(4 * a_day / 1e9 * 0.25, rel=1e-6)
    unpriced = recordpress.analyze(partition, "zstd,3", **options).recommendation["saves"]
    assert not [name for name in unpriced if "price" in name]


def test_what_is_saved(partition: Path) -> None:
    found = recordpress.analyze(partition, "zstd,3", depths=[1], rate="1000records/s", price_gb=2.0)
    [cell] = found.cells
    saves = found.recommendation["saves"]
    stored = (partition / SEGMENT).stat().st_size
    assert saves["bytes"] == stored - cell.output_bytes and saves["share"] == 1 - cell.output_bytes / stored
    assert saves["price"] == saves["bytes"] / 1e9 * 2.0
    rate = 1000 * cell.input_bytes / cell.records
    assert found.rate_bytes == rate
    assert saves["compress_cpu_seconds_a_day"] == pytest.approx(rate * 86400 / 1e6 / cell.speed.compress_mb_s)
    assert saves["bytes_a_day"] == pytest.approx(86_400_000 * saves["bytes"] / cell.records, rel=1e-6)
    assert found.recommendation["settings"]["linger.ms"] == 25  # 25 records of 1000 a second
    both = [partition, log_of(partition.parent / "orders-1")]
    several = recordpress.analyze(both, "zstd,3", depths=[1], rate="1000records/s")
    assert several.recommendation["settings"]["linger.ms"] == 50


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"codecs": "zstd,99"}, "codecs"),
        ({"codecs": "brotli"}, "codecs"),
        ({"codecs": ""}, "codecs"),
        ({"codecs": "zstd,,3"}, "codecs"),
        ({"codecs": 3}, "codecs"),
        ({"depths": [0]}, "depths"),
        ({"depths": "10"}, "depths"),
        ({"sample_bytes": 10}, "sample_bytes"),
        ({"seed": -1}, "seed"),
        ({"timing": "slowest"}, "timing"),
        ({"rate": "fast"}, "rate"),
        ({"rate": "0MB/s"}, "rate"),
        ({"rate": float("nan")}, "rate"),
        ({"price_gb": -1.0}, "price_gb"),
        ({"price_gb": "1"}, "price_gb"),
        ({"price_network_gb": 0}, "price_network_gb"),
        ({"price_consumer_gb": float("nan")}, "price_consumer_gb"),
        ({"replication": 0}, "replication"),
        ({"consumers": -1}, "consumers"),
        ({"max_seconds": 0}, "max_seconds"),
        ({"threads": 0}, "threads"),
        ({"progress": 1}, "progress"),
    ],
)
def test_arguments_that_are_refused(partition: Path, options: dict[str, object], field: str) -> None:
    with pytest.raises((recordpress.InvalidArgumentError, recordpress.ArgumentTypeError)) as caught:
        recordpress.analyze(partition, **options)  # type: ignore[arg-type]
    assert caught.value.field == field


@pytest.mark.usefixtures("small_pieces")
def test_progress_comes_to_its_end(large_partition: Path) -> None:
    seen: list[tuple[int, int]] = []
    recordpress.analyze(
        large_partition, "none/lz4", depths=[8], progress=lambda now: seen.append((now.bytes_done, now.bytes_total))
    )
    assert seen == sorted(seen) and all(0 < done <= total for done, total in seen)
