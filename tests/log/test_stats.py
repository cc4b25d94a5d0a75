"""What is stored, and where a partition ends."""

from pathlib import Path
from typing import Any

import pytest

import oracle
import recordpress
from recordpress.files import RandomAccessFile
from recordpress.log import _stats as sampling, end_offset, stats_of


@oracle.each("partition", [p for p in oracle.PARTITIONS if "read_committed" in p.entry])
def test_real_directories(partition: oracle.Partition, tmp_path: Path) -> None:
    [found] = recordpress.open_log(partition.write_to(tmp_path)).partitions
    batches = [batch for log in partition.logs for batch in log.expected["batches"]]
    stats = stats_of(found)
    assert (stats.seen.batches, stats.seen.bytes) == (len(batches), sum(batch["size"] for batch in batches))
    assert sorted(stats.magics) == sorted({batch["magic"] for batch in batches})
    assert stats.findings == []
    ends = [batch["next_offset"] for batch in batches] or [0]
    last_base = found.segments[-1].base_offset
    assert end_offset(found) == max(ends[-1], last_base)


def test_the_end_without_an_index_and_after_a_cut_entry(tmp_path: Path) -> None:
    partition = next(p for p in oracle.PARTITIONS if str(p) == "kafka-4.3.1/lines-lz4-0")
    directory = partition.write_to(tmp_path)
    end = end_offset(recordpress.open_log(directory).partitions[0])
    for path in directory.glob("*.index"):
        path.write_bytes(b"\xff" * 16)
    assert end_offset(recordpress.open_log(directory).partitions[0]) == end
    for path in directory.glob("*.index"):
        path.unlink()
    last = max(directory.glob("*.log"))
    with last.open("ab") as file:
        file.write(recordpress.write_records([b"x" * 100], base_offset=end)[:-1])
    assert end_offset(recordpress.open_log(directory).partitions[0]) == end


def test_damage_ends_a_segment_and_is_told(tmp_path: Path) -> None:
    directory = tmp_path / "t-0"
    directory.mkdir()
    data = recordpress.write_records([b"a"]) + b"\x01" * 100 + recordpress.write_records([b"b"], base_offset=1)
    (directory / f"{0:020}.log").write_bytes(data)
    stats = stats_of(recordpress.open_log(directory).partitions[0])
    assert stats.seen.batches == 1
    assert len(stats.findings) == 1


def test_a_large_segment_that_is_far_away_is_sampled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    partition = next(p for p in oracle.PARTITIONS if str(p) == "kafka-4.3.1/lines-lz4-0")
    [found] = recordpress.open_log(partition.write_to(tmp_path)).partitions
    near = stats_of(found)
    with found.segments[0].open() as file:
        monkeypatch.setattr(type(file), "is_remote", True)
        assert isinstance(file, RandomAccessFile)
    monkeypatch.setattr(sampling, "SAMPLED_FROM", 10_000)
    monkeypatch.setattr(sampling, "RANGE_BYTES", 2_000)
    far = stats_of(found)
    assert far.sampled and not near.sampled
    assert 0 < far.seen.bytes < near.seen.bytes == far.size
    assert set(far.codecs) == set(near.codecs)
    assert far.ratio_of == {}  # no payload is read for it
    full = stats_of(found, full=True)
    assert (full.sampled, full.seen) == (False, near.seen)


def test_a_control_batch_that_claims_a_codec(tmp_path: Path) -> None:
    """No codec counts it: brokers never compress one."""
    data = bytearray(recordpress.write_records([b"value"], timestamps=0))
    data[22] |= 0x20 | 4
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(data)
    [partition] = recordpress.open_log(path).partitions
    stats = stats_of(partition)
    assert (stats.control.batches, stats.codecs, stats.ratio_of) == (1, {}, {})


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, (5, 9)),
        ({"compression_type": "zstd"}, (5, 9)),
        ({"timestamp_type": 1, "log_append_time": 12}, (12, 12)),  # the base timestamp is then the producer's
        ({"delete_horizon_ms": 3}, (9, 9)),  # it is then in the place of the base timestamp
        ({"magic": 1, "compression_type": "gzip"}, (9, 9)),  # a wrapper has its largest
        ({"magic": 1}, (5, 9)),
    ],
)
def test_times_of_the_first_and_the_last_record(
    tmp_path: Path, given: dict[str, Any], expected: tuple[int, int]
) -> None:
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(recordpress.write_records([b"a", b"b", b"c"], timestamps=[5, 9, 7], **given))
    [partition] = recordpress.open_log(path).partitions
    stats = stats_of(partition)
    assert (stats.first_timestamp, stats.last_timestamp) == expected
