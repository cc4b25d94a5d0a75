"""The order of a partition's batches: offsets ascend, leader epochs do not decrease, sequences continue."""

from __future__ import annotations

from collections.abc import Iterator

from recordpress.log.findings import Finding
from recordpress.log.sidecars.producer_snapshot import ProducerState
from recordpress.record.header import SEQUENCES, BatchHeader


class OrderCheck:
    """Check of the order of batches in a partition; a step back is reported once, and checking continues there."""

    def __init__(self) -> None:
        self.next_offset: int | None = None
        self.gaps = 0
        self._epoch = -1

    def add(self, header: BatchHeader, file: str, first: int | None = None) -> Iterator[Finding]:
        """Yield findings for the next batch; `first` is its first offset, which the header of a v0/v1 wrapper lacks."""
        expected = self.next_offset
        first = header.base_offset if first is None else first
        if expected is not None and first < expected:
            yield _finding(header, file, "offset order", f"offset {first} comes after offset {expected - 1}")
        elif expected is not None and header.magic == 2 and first > expected:
            self.gaps += 1
        self.next_offset = header.next_offset
        epoch = header.partition_leader_epoch if header.magic == 2 else -1
        if 0 <= epoch < self._epoch:
            message = f"leader epoch {epoch} comes after leader epoch {self._epoch}"
            yield _finding(header, file, "leader epochs", message)
        self._epoch = epoch


class SequenceCheck:
    """Check of the sequences of idempotent producers (KIP-98), which are consecutive unless compaction removed batches
    between them."""

    def __init__(self) -> None:
        self._last: dict[int, tuple[int, int, int]] = {}  # by producer: epoch, last sequence, gaps until then

    def begin(self, producer: ProducerState) -> None:
        """Set the state of a producer before the first batch."""
        if producer.last_sequence >= 0:
            self._last[producer.producer_id] = (producer.producer_epoch, producer.last_sequence, 0)

    def add(self, header: BatchHeader, gaps: int, file: str) -> Iterator[Finding]:
        """Yield findings for the next batch; `gaps` is the number of gaps in the offsets so far."""
        if header.producer_id < 0 or header.base_sequence < 0:
            return
        last = self._last.get(header.producer_id)
        if last is not None and last[0] == header.producer_epoch:
            expected = (last[1] + 1) % SEQUENCES
            ahead = (header.base_sequence - expected) % SEQUENCES
            if ahead >= SEQUENCES // 2 or (ahead and last[2] == gaps):
                message = (
                    f"sequence {header.base_sequence} of producer {header.producer_id}, epoch {header.producer_epoch}, "
                    f"but {expected} was expected"
                )
                yield _finding(header, file, "producer sequences", message)
        self._last[header.producer_id] = (header.producer_epoch, header.last_sequence, gaps)


def _finding(header: BatchHeader, file: str, rule: str, message: str) -> Finding:
    return Finding(file, header.position, header.size, header.base_offset, rule, message)
