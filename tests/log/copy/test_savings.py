"""The estimate of a copy: that of the real run if everything is measured, else an interval that mostly holds it."""

import random
import shutil
from pathlib import Path
from typing import Any

import pytest

import recordpress
from log.copy.test_join import DAY, T, Writer, of_producer, written
from recordpress.codecs.choice import CodecChoice
from recordpress.log import Estimate, Finding, Manifest, reindex
from recordpress.log.copy.transcode import TranscodeJob
from together import thinned

DEMO = Path(__file__).parents[3] / "demo" / "logs"


def estimated(source: Path, **options: Any) -> Estimate:
    found = recordpress.transcode(source, source.parent / "nothing", dry_run=True, **options)
    assert isinstance(found, Estimate)
    return found


def size_of(source: Path, copy: Path, **options: Any) -> int:
    """The bytes of a real copy."""
    made = recordpress.transcode(source, copy, **options)
    assert isinstance(made, Manifest)
    return made.totals["bytes"]


def sizes(source: Path, copies: Path, limits: dict[str, Any], **options: Any) -> list[int]:
    """The bytes of real copies: under another codec, joined, and settled."""
    ways: list[dict[str, Any]] = [{}, limits, {**limits, "producers": "settle"}]
    return [size_of(source, copies / f"{number}" / source.name, **options, **way) for number, way in enumerate(ways)]


def check_whole(found: Estimate, real: list[int], way: int) -> None:
    [topic] = found.topics
    assert topic.sampled_bytes == topic.bytes_before == found.bytes_before == found.sampled_bytes
    assert topic.settle is not None
    for saving, size in zip((topic.codec_alone, topic.keep, topic.settle), real, strict=True):
        assert saving[:3] == (size, size, size)
    assert (found.bytes_after, found.least_bytes, found.most_bytes) == (real[way],) * 3


@pytest.mark.parametrize("seed", thinned(range(20), 5))  # one of them has append times
def test_drawn_logs_are_estimated_as_they_become(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    source = tmp_path / "t-0"
    Writer(draw, source, log_append_time=seed % 4 == 3).write(150)
    reindex(source)
    limits: dict[str, Any] = draw.choice([{"batch_bytes": 2000}, {"batch_records": 40}, {"batch_bytes": 1 << 20}])
    options: dict[str, Any] = {
        "compression_type": draw.choice(["none", "gzip", "zstd"]),
        "producer_id_expiration_ms": draw.choice([DAY, DAY // 4, 1]),
        "now_ms": draw.choice([None, T + 9 * DAY]),
        "min_gain": draw.choice([None, 0.0, 0.1]),
    }
    real = sizes(source, tmp_path, limits, **options)
    check_whole(estimated(source, **options, **limits), real, 1)
    check_whole(estimated(source, **options, **limits, producers="settle"), real, 2)


@pytest.mark.parametrize("topic", ["access-json", "access-log", "nginx-status", "sessions"])
def test_logs_of_real_producers_are_estimated_as_they_become(topic: str, tmp_path: Path) -> None:
    source = tmp_path / "logs"
    source.mkdir()
    for partition in DEMO.glob(f"{topic}-*"):
        shutil.copytree(partition, source / partition.name)
    options: dict[str, Any] = {"compression_type": "zstd", "level": 3}
    real = sizes(source, tmp_path, {"batch_bytes": 256 << 10}, **options)
    check_whole(estimated(source, **options), real, 0)  # 256 KiB unless a size is asked for


# ---- samples


def draw_partitions(directory: Path, batches: int) -> Path:
    """Three partitions: producers in turns, who abort transactions, and write what compresses well, or badly, for a
    while. A thousand batches of each are 2 MB."""
    draw = random.Random(1)
    words = [draw.randbytes(3).hex() for _ in range(300)]
    for number in range(3):
        path = directory / "logs" / f"t-{number}"
        path.mkdir(parents=True)
        offset, data, start, sequences, noise = 0, b"", 0, dict.fromkeys(range(8), 0), 0.2
        for batch in range(batches):
            noise = draw.choice([0.05, 0.2, 0.5]) if draw.random() < 0.01 else noise
            pid = draw.randrange(8)
            values = []
            for _ in range(draw.randrange(1, 12)):
                noisy = int(12 * noise + draw.random())
                text = " ".join([draw.randbytes(6 * noisy).hex(" ", 6), *draw.choices(words, k=12 - noisy)])
                values.append(text.encode())
            is_transaction = pid < 2
            data += recordpress.write_records(
                values, base_offset=offset, producer_id=pid, producer_epoch=0, base_sequence=sequences[pid],
                timestamps=T + batch * 1000, is_transactional=is_transaction, compression_type="lz4",
            )  # fmt: skip
            sequences[pid] += len(values)
            offset += len(values)
            if is_transaction and draw.random() < 0.2:
                builder = recordpress.BatchBuilder(
                    base_offset=offset, is_control=True, is_transactional=True, producer_id=pid, producer_epoch=0
                )
                builder.append_end_txn_marker(draw.random() < 0.7, 0, timestamp=T + batch * 1000)
                data, offset = data + builder.build(), offset + 1
            if batch == batches * 2 // 3:
                (path / f"{start:020d}.log").write_bytes(data)
                data, start = b"", offset
        (path / f"{start:020d}.log").write_bytes(data)
    return directory / "logs"


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return draw_partitions(tmp_path_factory.mktemp("drawn"), 2000)


def sample(source: Path, size: int = 1 << 20, seed: int = 0, **more: Any) -> Estimate:
    job = TranscodeJob(CodecChoice("zstd", 1), 8000, now_ms=T + DAY, **more)
    return job.estimate(recordpress.open_log(source).partitions, size, seed=seed)


@pytest.mark.slow
def test_intervals_hold_what_becomes_of_a_log(tmp_path: Path) -> None:
    """95 % of the samples of each way should; 90 % are demanded, of 20."""
    source = draw_partitions(tmp_path, 3000)
    real = sizes(source, tmp_path, {"batch_bytes": 8000}, compression_type="zstd", level=1, now_ms=T + DAY)
    held = [0, 0, 0]
    for seed in range(20):
        found = sample(source, 1 << 21, seed)
        [topic] = found.topics
        assert topic.sampled_bytes == found.sampled_bytes < 1.3 * (1 << 21) and found.sampled_segments <= 6
        assert topic.settle is not None and found[1:5] == topic.keep
        for way, saving in enumerate((topic.codec_alone, topic.keep, topic.settle)):
            held[way] += saving.least_bytes <= real[way] <= saving.most_bytes
            assert saving.least_bytes < saving.bytes_after < saving.most_bytes < 1.3 * saving.least_bytes
    assert min(held) >= 18


@pytest.mark.parametrize("names", thinned([(["nginx-status-*"],), (["access-log-*", "sessions-*"],)], 2))
def test_intervals_of_logs_of_real_producers(names: list[str], tmp_path: Path) -> None:
    """Partitions as one topic, whose records differ; and batches that are larger than ranges. 95 % of the intervals
    should hold the size; 80 % are demanded."""
    for number, path in enumerate([path for name in names for path in sorted(DEMO.glob(name))] * 3):
        shutil.copytree(path, tmp_path / "logs" / f"t-{number}")
    partitions = recordpress.open_log(tmp_path / "logs").partitions
    job = TranscodeJob(CodecChoice("zstd", 3), 8000)
    real = job.estimate(partitions).topics[0]
    found = [job.estimate(partitions, 200_000, seed=seed).topics[0] for seed in range(20)]
    for way in (3, 4, 5):
        size, savings = real[way].bytes_after, [one[way] for one in found]  # type: ignore[union-attr]
        assert sum(one.least_bytes <= size <= one.most_bytes for one in savings) >= 16  # type: ignore[union-attr]
        assert sum(one.bytes_after for one in savings) / 20 == pytest.approx(size, rel=0.03)  # type: ignore[union-attr]


def test_ranges_are_the_same_without_indexes(drawn: Path, tmp_path: Path) -> None:
    """They are then found by headers."""
    source = shutil.copytree(drawn, tmp_path / "logs")
    found = sample(source)
    assert found.sampled_bytes < found.bytes_before / 2
    without = [saving[:3] for saving in found.topics[0][3:]]  # type: ignore[index]
    for partition in source.iterdir():
        reindex(partition)
    assert [saving[:3] for saving in sample(source).topics[0][3:]] == without  # type: ignore[index]


def test_the_sample_is_spread_over_topics(drawn: Path, tmp_path: Path) -> None:
    """A small topic is measured as a whole next to a large one, and their intervals are added as independent ones."""
    source = shutil.copytree(drawn, tmp_path / "logs")
    small = written(source / "small-0", *(of_producer(n) for n in range(50)))
    found = sample(source, producers="settle")
    first, second = found.topics
    assert (first.topic, second.topic) == ("small", "t")
    assert first.sampled_bytes == first.bytes_before == (small / f"{0:020d}.log").stat().st_size
    assert second.settle is not None and first.settle is not None
    width = second.settle.most_bytes - second.settle.bytes_after
    assert found.most_bytes - found.bytes_after == width > 0
    assert found.bytes_after == first.settle.bytes_after + second.settle.bytes_after


# ---- logs that are refused


def test_producers_that_cannot_be_settled(tmp_path: Path) -> None:
    source = written(tmp_path / "t-0", of_producer(0), of_producer(1))
    (source / f"{20:020d}.log").write_bytes(of_producer(1))
    [topic] = estimated(source, compression_type="zstd").topics
    assert topic.settle is None and topic.keep.bytes_after > 0
    assert topic.to_dict()["settle"] is None
    with pytest.raises(recordpress.CorruptRecordError, match="offsets go back"):
        estimated(source, compression_type="zstd", batch_bytes=4000, producers="settle")


def test_damage(tmp_path: Path) -> None:
    source = written(tmp_path / "logs" / "t-0", of_producer(0), of_producer(1)).parent
    written(source / "bad-0", of_producer(0)[:-1] + b"x", of_producer(1))
    with pytest.raises(recordpress.CorruptRecordError, match="checksum"):
        estimated(source, compression_type="zstd")
    findings: list[Finding] = []
    job = TranscodeJob(CodecChoice("zstd"), on_corrupt="quarantine")
    found = job.estimate(recordpress.open_log(source).partitions, findings=findings)
    assert [topic.topic for topic in found.topics] == ["t"]
    assert [(finding.rule, finding.position) for finding in findings] == [("checksum", 0)]


def test_headers_are_left_alone_on_request(tmp_path: Path) -> None:
    """All producers are then taken for expired."""
    source = written(tmp_path / "t-0", *(of_producer(n, pid=n % 8, base_sequence=n // 8 * 10) for n in range(400)))
    partitions = recordpress.open_log(source).partitions
    job = TranscodeJob(CodecChoice("zstd"), 1 << 20, producers="settle")
    known, unknown = (job.estimate(partitions, is_quick=is_quick) for is_quick in (False, True))
    assert known.bytes_after > unknown.bytes_after
    assert unknown.bytes_after == size_of(
        source, tmp_path / "copy" / "t-0", compression_type="zstd", batch_bytes=1 << 20, producers="settle",
        now_ms=T + DAY,
    )  # fmt: skip


def test_nothing(tmp_path: Path) -> None:
    source = written(tmp_path / "t-0")
    found = estimated(source, compression_type="zstd")
    assert (found.bytes_before, found.bytes_after, found.sampled_bytes, found.segments) == (0, 0, 0, 1)
