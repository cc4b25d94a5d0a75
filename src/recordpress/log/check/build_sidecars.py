"""The files next to the segments of a partition, built from its batches, as `reindex` and `repair` write them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from recordpress._arguments import INT32_MAX
from recordpress._file_names import (
    INDEX_FILE_SUFFIX,
    LEADER_EPOCH_CHECKPOINT,
    PRODUCER_SNAPSHOT_FILE_SUFFIX,
    TIME_INDEX_FILE_SUFFIX,
)
from recordpress.errors import CorruptRecordError, RecordpressError
from recordpress.files import READ_BYTES, FileSystem, RandomAccessFile
from recordpress.log._file_records import FileRecords
from recordpress.log._progress import Meter
from recordpress.log._segment import Partition, Segment
from recordpress.log.check.order import OrderCheck
from recordpress.log.check.rebuild import SidecarBuilder, marker_of
from recordpress.log.sidecars.checkpoints import EpochEntry, leader_epochs_bytes, read_leader_epochs
from recordpress.log.sidecars.producer_snapshot import ProducerState, read_snapshot, snapshot_bytes
from recordpress.record.header import BatchHeader


def sidecar_files(
    segments: Sequence[Segment],
    builder: SidecarBuilder,
    meter: Meter,
    epochs: Sequence[EpochEntry] = (),
    *,
    check_crcs: bool = False,
) -> Iterator[tuple[str, bytes]]:
    """Yield name and bytes of every file that belongs next to these segments, one file at a time."""
    next_offset = 0
    order = OrderCheck()
    for segment in segments:
        next_offset = max(next_offset, segment.base_offset)
        builder.begin(segment.base_offset)
        with segment.records() as file:
            walk = file.headers(window_bytes=READ_BYTES if check_crcs and not file.file.is_remote else None)
            for header in file.walk(walk):
                if check_crcs and (error := walk.checksum_error()):
                    raise error
                _refuse_disorder(segment, header, order, file.path)
                builder.add(header, marker_of(file.file, header))
                meter.advance(header.size)
            next_offset = max(next_offset, walk.next_offset or 0)
        with_snapshot = segment.base_offset > 0
        for suffix, data in builder.end().files(with_snapshot=with_snapshot).items():
            yield segment.stem + suffix, data
    yield f"{next_offset:020}{PRODUCER_SNAPSHOT_FILE_SUFFIX}", snapshot_bytes(builder.producers.snapshot())
    later = [entry for entry in epochs if not builder.epochs or entry.epoch > builder.epochs[-1].epoch]
    yield (
        LEADER_EPOCH_CHECKPOINT,
        leader_epochs_bytes([*builder.epochs, *(entry for entry in later if entry.start_offset >= next_offset)]),
    )


def _refuse_disorder(segment: Segment, header: BatchHeader, order: OrderCheck, file: str) -> None:
    """Raise an error for offsets that an index cannot hold."""
    first, last = segment.base_offset, segment.base_offset + INT32_MAX
    message = f"offsets {header.base_offset} to {header.last_offset} are not between {first} and {last}"
    if first <= header.base_offset <= header.last_offset <= last:
        message = "".join(f.message for f in order.add(header, file) if f.rule == "offset order")
    if message:
        raise CorruptRecordError(
            message, file=file, position=header.position, offset=header.base_offset, rule="offset order"
        )


class Indexes:
    """The ``.index`` and ``.timeindex`` of a segment, built while it is read for another purpose."""

    def __init__(self, segment: Segment) -> None:
        self._segment = segment
        self._made: dict[str, bytes] = {}

    def look(self, file: RandomAccessFile) -> None:
        """Build the indexes from the headers of a complete segment, unless it has offsets that no index can hold."""
        builder, order = SidecarBuilder(), OrderCheck()
        builder.begin(self._segment.base_offset)
        with suppress(RecordpressError), FileRecords(file) as records:
            for header in records.walk():
                _refuse_disorder(self._segment, header, order, records.path)
                builder.add(header)
            self._made = builder.end().files(with_snapshot=False)

    def write(self, files: FileSystem, directory: str) -> None:
        """Write the indexes, if they were built."""
        for suffix, data in self._made.items():
            if suffix in (INDEX_FILE_SUFFIX, TIME_INDEX_FILE_SUFFIX):
                name = f"{self._segment.base_offset:020d}{suffix}"
                files.create_file(files.join(directory, name), data)


def producers_before(partition: Partition) -> list[ProducerState]:
    """Return the producers' states before the first segment, from its snapshot; [] if it is missing or damaged."""
    try:
        with partition.segments[0].open_sibling(PRODUCER_SNAPSHOT_FILE_SUFFIX) as file:
            return read_snapshot(file)
    except (FileNotFoundError, RecordpressError):
        return []


def epochs_of(partition: Partition) -> list[EpochEntry]:
    """Return the entries of the partition's checkpoint; [] if it is missing or damaged."""
    try:
        with partition.segments[0].filesystem.open(partition.others[LEADER_EPOCH_CHECKPOINT].path) as file:
            return read_leader_epochs(file)
    except (KeyError, FileNotFoundError, RecordpressError):
        return []
