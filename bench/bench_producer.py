"""The producer's bookkeeping, record by record: the cost of BatchAccumulator over that of the builder that it fills."""

import pytest

import recordpress
from bench.answers import equal
from bench.corpus import SETS
from bench.race import Cell, Contender

WHOLE = 1 << 30  # of one batch


@pytest.mark.parametrize("name", ["small10000", "apache5000"])
def bench_append(race, name):
    """Values into one batch that takes all of them."""
    records = SETS[name]
    values = records.values

    def accumulator() -> int:
        found = recordpress.producer.BatchAccumulator(batch_size=WHOLE, max_request_size=WHOLE)
        append = found.append
        for value in values:
            append(value)
        return found.undrained

    def builder() -> int:
        found = recordpress.BatchBuilder(limit=WHOLE, estimated_compression_ratio=1.0)
        append = found.append
        for value in values:
            append(value)
        return found.records_count

    def check() -> None:
        equal((accumulator(), builder()), (1, len(values)), "batches and records")

    race(
        Cell("accumulator append", records.name, "none", len(values), records.size),
        accumulator,
        Contender("builder", builder),
        check=check,
    )


def bench_estimator(race):
    """Updates of one estimate; the other side calls a function of Python's own that is as short."""
    estimator = recordpress.producer.CompressionRatioEstimator()
    ratios = [number / 1000 for number in range(1000)]

    def update() -> float:
        call = estimator.update_estimation
        for ratio in ratios:
            last = call("topic", "zstd", ratio)
        return last

    def largest() -> float:
        for ratio in ratios:
            last = max(ratio, 0.5, 0.1)
        return last

    def check() -> None:
        equal(update() >= 0.999, True, "an estimate is no smaller than what was observed")

    race(
        Cell("estimator update", "ratios", "none", len(ratios), 8 * len(ratios)),
        update,
        Contender("max", largest),
        check=check,
    )
