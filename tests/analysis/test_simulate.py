"""Four policies on the same records: nothing is lost, nothing is above the limit, and each follows its rule."""

import random
from pathlib import Path

import pytest

import recordpress
from recordpress.analysis import Policy, Simulation, simulate

NAMES = ["damped", "kip-126", "uncompressed", "packed"]
HEADER = 61


def log_of(path: Path, values: list[bytes], first_ms: int = 0, step_ms: int = 1) -> None:
    path.mkdir(parents=True)
    times = [first_ms + step_ms * n for n in range(len(values))]
    (path / f"{0:020}.log").write_bytes(recordpress.write_records(values, timestamps=times))


def policies_of(found: Simulation) -> dict[str, Policy]:
    return {policy.name: policy for policy in found.policies}


def compressible(number: int) -> bytes:
    return b"GET /index.html HTTP/1.1 200 %d " % number * 4


def noise(count: int, size: int, seed: int = 1) -> list[bytes]:
    draw = random.Random(seed)
    return [draw.randbytes(size) for _ in range(count)]


def test_the_exact_size_is_the_fullest(tmp_path: Path) -> None:
    log_of(tmp_path / "lines-0", [compressible(n) for n in range(5000)])
    found = simulate(tmp_path, 4096)
    by_name = policies_of(found)
    assert list(by_name) == NAMES and found.records == 5000
    fills = [by_name[name].fill for name in ("uncompressed", "kip-126", "damped", "packed")]
    assert fills == sorted(fills)
    sizes = [by_name[name].bytes for name in ("uncompressed", "kip-126", "damped", "packed")]
    assert sizes == sorted(sizes, reverse=True)
    packed = by_name["packed"]
    rows = recordpress.open_log(tmp_path).read(["timestamp", "value"]).to_pyarrow()
    whole = list(recordpress.producer.pack(rows, limit=4096, compression_type="zstd"))
    assert (packed.batches, packed.bytes, packed.splits) == (len(whole), sum(map(len, whole)), 0)
    assert all(policy.cpu_seconds > 0 for policy in found.policies)


def test_uncompressed_bytes_end_a_batch(tmp_path: Path) -> None:
    log_of(tmp_path / "zeros-0", [bytes(1000)] * 100)
    assert policies_of(simulate(tmp_path, 10_000))["uncompressed"].batches == pytest.approx(100 / 9, abs=1)


def test_kafkas_producer_is_the_accumulator(tmp_path: Path) -> None:
    values = [compressible(n) for n in range(3000)]
    log_of(tmp_path / "lines-0", values)
    producer = recordpress.producer.BatchAccumulator(batch_size=2048, compression_type="gzip", linger_ms=1)
    sizes: list[int] = []
    for number, value in enumerate(values):
        producer.append(value, timestamp=number, topic="lines")
        producer.run(lambda batch: sizes.append(len(batch.records)))
    producer.run(lambda batch: sizes.append(len(batch.records)), flush=True)
    found = policies_of(simulate(tmp_path, 2048, compression_type="gzip"))["kip-126"]
    assert (found.batches, found.bytes) == (len(sizes), sum(sizes))


def test_two_topics_of_different_ratio_split_under_the_damped_estimate(tmp_path: Path) -> None:
    """The example of KIP-126: a ratio that one topic trained is applied to another."""
    draw = random.Random(2)
    log_of(tmp_path / "good-0", [f"{draw.getrandbits(1000):01000b}".encode() for _ in range(2000)])
    log_of(tmp_path / "poor-0", noise(300, 1000), first_ms=2000, step_ms=3)
    by_name = policies_of(simulate(tmp_path, 16_384, compression_type="gzip"))
    assert by_name["damped"].splits > 5
    assert by_name["kip-126"].splits == by_name["uncompressed"].splits == by_name["packed"].splits == 0
    assert by_name["damped"].split_share == by_name["damped"].splits / (
        by_name["damped"].splits + by_name["damped"].batches
    )


def test_the_damped_average(tmp_path: Path) -> None:
    """0.9 of the average and 0.1 of the batch, from 0.5 on: the batches of a stream whose ratio is known."""
    log_of(tmp_path / "noise-0", noise(200, 100))
    found = policies_of(simulate(tmp_path, 1024, compression_type="lz4", max_message_bytes=2**30))["damped"]
    first = recordpress.write_records(noise(18, 100), compression_type="lz4", timestamps=range(18))
    assert found.fill > 1 and found.splits == 0  # half of the size was expected of the first batches
    assert len(first) > 1024


def test_a_limit_above_batch_size(tmp_path: Path) -> None:
    log_of(tmp_path / "noise-0", noise(200, 100))
    assert policies_of(simulate(tmp_path, 1024, compression_type="lz4"))["damped"].splits > 0


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_records_that_are_large_or_do_not_compress_go(tmp_path: Path, codec: str) -> None:
    values = [*noise(50, 500), *noise(20, 5000, 2), b"", *noise(1, 100_000), bytes(50_000)]
    log_of(tmp_path / "mixed-0", values)
    found = simulate(tmp_path, 1024, compression_type=codec)
    assert found.records == len(values)
    for policy in found.policies:
        assert policy.bytes > sum(map(len, noise(50, 500))) + 20 * 5000 + 100_000, policy


def test_lines_and_old_messages(tmp_path: Path) -> None:
    lines = tmp_path / "lines.txt"
    lines.write_bytes(b"\n".join(compressible(n) for n in range(100)))
    assert simulate(lines).records == 100
    old = tmp_path / "old-0"
    old.mkdir()
    (old / f"{0:020}.log").write_bytes(recordpress.write_records([b"a", b"b"], magic=0))
    assert simulate(old).records == 2


def test_damage_and_partitions_without_records(tmp_path: Path) -> None:
    log_of(tmp_path / "lines-0", [b"a", b"b"])
    (tmp_path / "lines-1").mkdir()
    segment = tmp_path / "lines-1" / f"{0:020}.log"
    segment.write_bytes(b"")
    assert simulate(tmp_path).records == 2
    data = bytearray(recordpress.write_records([b"c"]))
    data[65] ^= 1
    segment.write_bytes(data)
    found = simulate(tmp_path)
    assert found.records == 2 and [finding.file for finding in found.findings] == [str(segment)]
    with pytest.raises(recordpress.InvalidArgumentError, match="no intact record"):
        simulate(segment)


@pytest.mark.parametrize(
    "given", [{"batch_size": 0}, {"max_message_bytes": 0}, {"sample_bytes": 1}, {"compression_type": "none?"}]
)
def test_arguments(tmp_path: Path, given: dict[str, object]) -> None:
    log_of(tmp_path / "lines-0", [b"a"])
    with pytest.raises(recordpress.InvalidArgumentError):
        simulate(tmp_path, **given)  # type: ignore[arg-type]
