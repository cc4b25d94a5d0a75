"""Advice to producers of shallow batches: with it, Kafka's producer fills batches as deep as a copy would join them."""

import random
from pathlib import Path
from typing import Any

import pytest

import recordpress
from cli.logs import SEGMENT, T, lines, log_of, partition
from recordpress.broker import DepthAdvice
from together import thinned


def advice(source: Path) -> DepthAdvice:
    [found] = recordpress.explain(source).depths
    return found


@pytest.mark.parametrize("producers", thinned([0, 1, 4], 2))
def test_the_settings_give_the_depth_of_a_copy(producers: int, tmp_path: Path) -> None:
    source = log_of(tmp_path, 20_000, producers=producers, batches=1600)
    found = advice(source)
    assert (found.topic, found.batch_records, found.has_ids) == ("orders", 10, producers > 0)
    assert found.records_per_second == pytest.approx(20_000, rel=0.01)
    joined: dict[str, Any] = {"batch_bytes": 256 << 10, "producers": "settle", "now_ms": T + 10**9}
    recordpress.transcode(source, tmp_path / "copy", "lz4", **joined)
    depths = [batch.header.records_count for batch in recordpress.open_log(tmp_path / "copy").batches()]
    assert found.deep_records == pytest.approx(max(depths), rel=0.05)
    assert found.linger_ms is not None and found.batch_size is not None and found.reached_records is not None
    assert found.reached_records == found.deep_records <= 20 * found.linger_ms < found.deep_records + 400
    # KafkaProducer's limit, with the ratio that batches of today have
    stored = b"".join((source / f"orders-{n}" / SEGMENT).read_bytes() for n in range(2))
    ratio = len(stored) / len(recordpress.recompress(stored, "none"))
    builder = recordpress.BatchBuilder(
        limit=found.batch_size, compression_type="lz4", estimated_compression_ratio=ratio
    )
    values = iter(lines(20_000, random.Random(2)))
    while builder.append(next(values)):
        pass
    assert builder.records_count >= found.deep_records


def test_what_a_second_gives(tmp_path: Path) -> None:
    """Producers do not wait longer."""
    found = advice(log_of(tmp_path, 200, batches=400))
    assert (found.linger_ms, round(found.reached_records or 0)) == (1000, 200)
    assert found.batch_size == 16384


def test_slow_producers(tmp_path: Path) -> None:
    found = advice(log_of(tmp_path, 0.5, depth=1, batches=400))
    assert found.records_per_second == pytest.approx(0.5, rel=0.03)
    assert (found.batch_size, found.linger_ms, found.reached_records) == (None, None, None)


@pytest.mark.parametrize("more", [{"timestamps": T}, {"timestamps": -1}, {}], ids=str)
def test_times_that_are_not_those_of_sending(tmp_path: Path, more: dict[str, Any]) -> None:
    """All alike, none, or so rare that no producer would have filled a batch."""
    found = advice(log_of(tmp_path, 0.01, batches=400, **more))
    assert (found.records_per_second, found.linger_ms, found.reached_records) == (None, None, None)
    assert found.batch_size is not None and found.batch_size > 100_000


def test_topics_without_advice(tmp_path: Path) -> None:
    assert recordpress.explain(log_of(tmp_path / "deep", 20_000, depth=5000, batches=4)).depths == []
    assert recordpress.explain(log_of(tmp_path / "empty", 20_000, batches=0)).depths == []
    old = recordpress.write_records([b"a"], timestamps=T, magic=1)
    assert recordpress.explain(partition(tmp_path, old)).depths == []
    assert recordpress.explain(recordpress.write_records([b"a"], timestamps=T)).depths == []
