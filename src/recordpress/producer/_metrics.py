"""Counts of a producer (SenderMetricsRegistry, KIP-126)."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recordpress.producer._filling import ProducerBatch


class ProducerMetrics:
    """Sums over all drained batches."""

    def __init__(self) -> None:
        self.splits = 0
        self.batches = 0
        self.bytes = 0
        self.largest = 0
        self.ratios = 0.0
        self.first_ms: int | None = None
        self.last_ms = 0

    def seen(self, now_ms: int) -> None:
        """Record the time of the caller's clock."""
        self.first_ms = now_ms if self.first_ms is None else self.first_ms
        self.last_ms = max(self.last_ms, now_ms)

    def drained(self, batch: ProducerBatch) -> None:
        """Count a batch that is sent, for the first time or again."""
        size = len(batch.records)
        self.batches += 1
        self.bytes += size
        self.largest = max(self.largest, size)
        self.ratios += batch.compression_ratio

    def split(self) -> None:
        """Count the split of a batch as one event."""
        self.splits += 1

    def values(self) -> dict[str, float]:
        """Return the counts under Kafka's names."""
        seconds = (self.last_ms - (self.first_ms or 0)) / 1000
        return {
            "batch-split-total": self.splits,
            "batch-split-rate": self.splits / seconds if seconds > 0 else (nan if self.splits else 0.0),
            "compression-rate-avg": self.ratios / self.batches if self.batches else nan,
            "batch-size-avg": self.bytes / self.batches if self.batches else nan,
            "batch-size-max": self.largest if self.batches else nan,
        }
