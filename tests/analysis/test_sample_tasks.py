"""Samples that other processes measure: what a copy then takes is what was estimated."""

import pickle
import random
from pathlib import Path
from typing import Any

import pytest

import recordpress
from recordpress.analysis import parse_candidates
from recordpress.analysis.sample_tasks import SampleTask, TopicEstimate, measured, placed
from recordpress.typing import CompressionType

CODECS = "none/gzip,6/lz4/snappy/zstd,1,3"


def write_segment(
    path: Path, values: list[bytes], base_offset: int = 0, depth: int = 50, codec: CompressionType = "lz4"
) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    batches = [
        recordpress.write_records(values[at : at + depth], compression_type=codec, base_offset=base_offset + at)
        for at in range(0, len(values), depth)
    ]
    path.write_bytes(b"".join(batches))


def lines(number: int, seed: int = 0) -> list[bytes]:
    chosen = random.Random(seed)
    return [b"user %d bought item %d for %d" % tuple(chosen.choices(range(9999), k=3)) for _ in range(number)]


def estimated(
    path: Path, codecs: str = CODECS, sample_bytes: int = 1 << 20, seed: int = 0, task_bytes: int = 1 << 20
) -> tuple[dict[str | None, TopicEstimate], list[SampleTask]]:
    found, tasks = placed(
        recordpress.open_log(path), parse_candidates(codecs), sample_bytes, seed, lambda total: task_bytes
    )
    for task in pickle.loads(pickle.dumps(tasks)):
        for topic, one in measured(task):
            found[topic].merge(one)
    return {topic: one for (topic, _), one in found.items()}, tasks


def test_of_a_small_log_it_is_what_a_copy_takes(tmp_path: Path) -> None:
    """Byte for byte, where each batch is written: nothing is estimated then."""
    for number in range(3):
        write_segment(tmp_path / "logs" / f"t-{number}" / f"{0:020d}.log", lines(500, number))
    write_segment(tmp_path / "logs" / "other-0" / f"{0:020d}.log", lines(100), codec="none")
    found, _ = estimated(tmp_path / "logs")
    for setting, size, other in zip(parse_candidates(CODECS), found["t"].sizes, found["other"].sizes, strict=True):
        target = tmp_path / str(setting)
        copy = recordpress.transcode(
            tmp_path / "logs", target, setting.compression_type, level=setting.level, min_gain=None
        )
        taken = {"t": 0, "other": 0}
        for partition in copy.partitions:
            taken[str(partition.topic)] += sum(segment.bytes for segment in partition.segments)
        assert found["t"].bytes_after(size) == taken["t"]
        assert found["other"].bytes_after(other) == taken["other"]
        assert found["t"].cpu_seconds(size) > 0


def test_samples_are_spread_over_a_large_log(tmp_path: Path) -> None:
    """Half of it compresses well and the other half not at all; segments are of many sizes."""
    chosen = random.Random(1)
    offset = 0
    for number in range(12):
        count = chosen.choice((2000, 4000, 6000))
        values = lines(count, number) if number % 2 else [chosen.randbytes(30) for _ in range(count)]
        write_segment(tmp_path / "t-0" / f"{offset:020d}.log", values, offset, codec="none")
        offset += count
    found, tasks = estimated(tmp_path / "t-0", "zstd,3/lz4", sample_bytes=512 << 10, task_bytes=100 << 10)
    [one] = found.values()
    assert len(tasks) >= 5
    assert one.input_bytes < one.size / 2
    taken_from = {part.segment.url for task in tasks for _, run in task.runs for part in run.ranges}
    assert len(taken_from) >= 8
    for setting, size in zip(parse_candidates("zstd,3/lz4"), one.sizes, strict=True):
        copy = recordpress.transcode(
            tmp_path / "t-0", tmp_path / setting.compression_type, setting.compression_type, level=setting.level
        )
        taken = copy.totals["bytes"]
        assert one.bytes_after(size) == pytest.approx(taken, rel=0.15)
    again, _ = estimated(tmp_path / "t-0", "zstd,3/lz4", sample_bytes=512 << 10)
    assert [size[:3] for size in again["t"].sizes] == [size[:3] for size in one.sizes]
    other, _ = estimated(tmp_path / "t-0", "zstd,3/lz4", sample_bytes=512 << 10, seed=1)
    assert [size[:3] for size in other["t"].sizes] != [size[:3] for size in one.sizes]


def test_damage_is_left_out_and_told(tmp_path: Path) -> None:
    path = tmp_path / "t-0" / f"{0:020d}.log"
    write_segment(path, lines(500))
    whole, _ = estimated(tmp_path / "t-0")
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    found, _ = estimated(tmp_path / "t-0")
    [finding] = found["t"].findings
    assert finding.rule == "checksum"
    assert found["t"].records == whole["t"].records - 50
    path.write_bytes(bytes(61))
    nothing, _ = estimated(tmp_path / "t-0")
    assert nothing["t"].sizes == []
    assert nothing["t"].size == 61


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"sample_bytes": 100}, recordpress.InvalidArgumentError),
        ({"sample_bytes": "1m"}, recordpress.ArgumentTypeError),
        ({"seed": -1}, recordpress.InvalidArgumentError),
        ({"codecs": "brotli"}, recordpress.InvalidArgumentError),
    ],
)
def test_arguments(arguments: dict[str, Any], error: type[Exception], tmp_path: Path) -> None:
    write_segment(tmp_path / "t-0" / f"{0:020d}.log", lines(1))
    with pytest.raises(error):
        estimated(tmp_path / "t-0", **arguments)
