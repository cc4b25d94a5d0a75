"""CompressionRatioEstimator: Kafka's steps in float32, per topic and codec."""

from __future__ import annotations

import random
import struct
from concurrent.futures import ThreadPoolExecutor

import pytest

import recordpress
from recordpress.producer import CompressionRatioEstimator
from together import draws


def f32(number: float) -> float:
    return struct.unpack("f", struct.pack("f", number))[0]


def kafkas(estimate: float, observed: float) -> float:
    """CompressionRatioEstimator.updateEstimation, one rounding after the other."""
    if observed > estimate:
        return max(f32(estimate + f32(0.05)), observed)
    if observed < estimate:
        return max(f32(estimate - f32(0.005)), observed)
    return estimate


@pytest.mark.parametrize(
    ("estimate", "observed", "expected"),
    [(0.8, 0.84, 0.85), (0.6, 0.7, 0.7), (0.6, 0.4, 0.595), (0.004, 0.001, 0.001), (1.0, 1.02, 1.05), (0.5, 0.5, 0.5)],
)
def test_one_update(estimate: float, observed: float, expected: float) -> None:
    estimator = CompressionRatioEstimator()
    estimator.set_estimation("t", "gzip", estimate)
    assert estimator.update_estimation("t", "gzip", observed) == pytest.approx(expected, abs=1e-6)
    assert estimator.estimation("t", "gzip") >= f32(observed)  # CompressionRatioEstimatorTest


def test_a_long_run_is_kafkas_to_the_bit() -> None:
    numbers = random.Random(126)
    estimator, expected = CompressionRatioEstimator(), {}
    for _ in range(draws(100_000)):
        key = numbers.choice("ab"), numbers.choice(["none", "gzip", "snappy", "lz4", "zstd"])
        observed = numbers.choice([numbers.random(), numbers.random() * 1.2, 1.0, 0.0])
        expected[key] = kafkas(expected.get(key, 1.0), f32(observed))
        assert estimator.update_estimation(*key, observed) == expected[key]
    for key, estimate in expected.items():
        assert estimator.estimation(*key) == estimate


def test_topics_and_codecs_have_estimates_of_their_own() -> None:
    estimator = CompressionRatioEstimator()
    estimator.set_estimation("t", "zstd", 0.25)
    assert estimator.estimation("t", "zstd") == 0.25
    assert estimator.estimation("t", "lz4") == estimator.estimation("u", "zstd") == 1.0
    assert CompressionRatioEstimator().estimation("t", "zstd") == 1.0
    estimator.reset_estimation("t")
    assert estimator.estimation("t", "zstd") == 1.0


@pytest.mark.parametrize("ratio", [float("nan"), float("inf"), -0.1, 3.5e38])
def test_a_ratio_that_no_batch_has(ratio: float) -> None:
    estimator = CompressionRatioEstimator()
    for change in (estimator.update_estimation, estimator.set_estimation):
        with pytest.raises(recordpress.InvalidArgumentError, match="0 or more"):
            change("t", "gzip", ratio)
    assert estimator.estimation("t", "gzip") == 1.0


def test_a_ratio_of_0_takes_records_without_end() -> None:
    """As in Java: what is in the batch counts nothing, the next record its own size."""
    accumulator = recordpress.producer.BatchAccumulator(batch_size=300, compression_type="gzip")
    accumulator.estimator.set_estimation("", "gzip", 0.0)
    assert not any(accumulator.append(bytes(100)) for _ in range(1000))
    [batch] = accumulator.drain()
    assert batch.records_count == 1000


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ((1, "gzip", 0.5), "topic"),
        (("t", "gzip", "0.5"), "observed"),
        (("t", "gzip", True), "observed"),
        (("t", "gzip", 10**400), "observed"),
        (("t", "GZIP", 0.5), "compression_type"),
        (("t", 5, 0.5), "compression_type"),
    ],
)
def test_wrong_arguments(arguments: tuple[object, ...], field: str) -> None:
    with pytest.raises((recordpress.InvalidArgumentError, recordpress.ArgumentTypeError)) as caught:
        CompressionRatioEstimator().update_estimation(*arguments)
    assert caught.value.field == field


def test_a_number_that_calls_back() -> None:
    """The estimate is read after the caller's code has run."""
    estimator = CompressionRatioEstimator()

    class Observed:
        def __float__(self) -> float:
            estimator.set_estimation("t", "gzip", 0.5)
            return 0.4

    assert estimator.update_estimation("t", "gzip", Observed()) == f32(f32(0.5) - f32(0.005))


def test_threads_share_an_estimator() -> None:
    """Four topics at once: each has the estimate that it has alone."""
    estimator = CompressionRatioEstimator()

    def raise_it(topic: str) -> float:
        return [estimator.update_estimation(topic, "gzip", 2.0**-30 * i) for i in range(10_000)][-1]

    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(raise_it, "abcd"))
    alone = CompressionRatioEstimator()
    assert together == [[alone.update_estimation("a", "gzip", 2.0**-30 * i) for i in range(10_000)][-1]] * 4
