"""The files next to a segment, rebuilt from its batches as a broker rebuilds missing files (LogSegment.recover).

::

    header ──► SidecarBuilder ──┬──► .index, .timeindex    an entry after every index.interval.bytes
                                ├──► .txnindex             ProducerStates: transactions that its markers abort
                                └──► leader epochs         the first offset of each

`ProducerStates` and the epochs continue from segment to segment; a ``.snapshot`` has the states at a segment's start.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from recordpress._file_names import (
    INDEX_FILE_SUFFIX,
    PRODUCER_SNAPSHOT_FILE_SUFFIX,
    TIME_INDEX_FILE_SUFFIX,
    TXN_INDEX_FILE_SUFFIX,
)
from recordpress.errors import InvalidRecordError
from recordpress.files import located
from recordpress.log._read_entry import read_entry
from recordpress.log.check._producer_state import EndTxnMarker, ProducerStates
from recordpress.log.sidecars.checkpoints import EpochEntry
from recordpress.log.sidecars.offset_index import OffsetPosition, offset_index_bytes
from recordpress.log.sidecars.producer_snapshot import ProducerState, snapshot_bytes
from recordpress.log.sidecars.time_index import TimestampOffset, time_index_bytes
from recordpress.log.sidecars.transaction_index import AbortedTxn, transaction_index_bytes
from recordpress.record import control_record, read_batches
from recordpress.record.header import BatchHeader

INDEX_INTERVAL_BYTES = 4096  # Kafka's default of index.interval.bytes


@dataclass(frozen=True)
class Sidecars:
    """The files next to a segment."""

    base_offset: int
    index: list[OffsetPosition]
    time_index: list[TimestampOffset]
    transactions: list[AbortedTxn]
    snapshot: list[ProducerState]

    def files(self, *, with_snapshot: bool = True) -> dict[str, bytes]:
        """Return the bytes of each file by suffix; a transaction index only if a transaction was aborted."""
        files = {
            INDEX_FILE_SUFFIX: offset_index_bytes(self.index, self.base_offset),
            TIME_INDEX_FILE_SUFFIX: time_index_bytes(self.time_index, self.base_offset),
        }
        if self.transactions:
            files[TXN_INDEX_FILE_SUFFIX] = transaction_index_bytes(self.transactions)
        if with_snapshot:
            files[PRODUCER_SNAPSHOT_FILE_SUFFIX] = snapshot_bytes(self.snapshot)
        return files


class SidecarBuilder:
    """Builder of the files next to the segments of a partition, from the headers of its batches in order."""

    def __init__(
        self,
        producers: Iterable[ProducerState] = (),
        epochs: Iterable[EpochEntry] = (),
        index_interval_bytes: int = INDEX_INTERVAL_BYTES,
    ) -> None:
        self.producers = ProducerStates(producers)
        self.epochs = list(epochs)
        self.index_interval_bytes = index_interval_bytes
        self.begin(0)

    def begin(self, base_offset: int) -> None:
        """Begin the next segment."""
        self._sidecars = Sidecars(base_offset, [], [], [], self.producers.snapshot())
        self._indexed_position = 0
        self._latest = TimestampOffset(-1, -1)

    def add(self, header: BatchHeader, marker: EndTxnMarker | None = None) -> None:
        """Add a batch; its `position` must be its position in the segment that the files describe."""
        if header.max_timestamp > self._latest.timestamp:
            self._latest = TimestampOffset(header.max_timestamp, header.last_offset)
        if header.position - self._indexed_position > self.index_interval_bytes:
            self._sidecars.index.append(OffsetPosition(header.last_offset, header.position))
            self._index_time()
            self._indexed_position = header.position
        if header.magic < 2:
            return
        epoch = header.partition_leader_epoch
        if epoch >= 0 and (not self.epochs or epoch > self.epochs[-1].epoch):
            self.epochs.append(EpochEntry(epoch, header.base_offset))
        aborted = self.producers.add(header, marker)
        if aborted is not None:
            self._sidecars.transactions.append(aborted)

    def end(self) -> Sidecars:
        """End the segment; return its files, with a last time index entry for the largest timestamp."""
        self._index_time()
        return self._sidecars

    def _index_time(self) -> None:
        """Add a time index entry if the largest timestamp has grown since the last entry (TimeIndex.maybeAppend)."""
        times = self._sidecars.time_index
        if self._latest.timestamp > (times[-1].timestamp if times else -1):
            times.append(self._latest)


def marker_of(file: Any, header: BatchHeader) -> EndTxnMarker | None:
    """Return the marker in a transaction's control batch; None for an emptied batch, or a control batch of KRaft."""
    if not header.is_control or header.producer_id < 0:
        return None
    data = read_entry(file, header.position, header.size)
    with located(header.position, file.name):
        [batch] = read_batches(data, complete=True)
        for record in batch:
            marker = control_record(record)
            if marker.coordinator_epoch is None:
                raise InvalidRecordError(
                    f"a marker of type {marker.type} in a batch of producer {header.producer_id}",
                    position=0,
                    offset=header.base_offset,
                    field="type",
                    rule="control record",
                )
            return EndTxnMarker(marker.type == "COMMIT", marker.coordinator_epoch, record.timestamp)
    return None
