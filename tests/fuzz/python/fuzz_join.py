"""Copies with joined batches, kept and settled producers, of logs that are nearly right, by the marks of their
partition and by any marks: every record that should stay is there, as it was, and nothing else."""

from __future__ import annotations

import random
import shutil
import struct
import sys
import tempfile
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import campaign
import mutate

import recordpress
from log.copy.test_join import Writer
from recordpress.log import scan
from recordpress.log.copy._recompress_threads import RecompressThreads
from recordpress.log.copy._settle_marks import Marks

PLACE = Path(tempfile.mkdtemp(prefix="recordpress-fuzz-"))
KINDS = (ALONE, ABORTED, DROPPED, EMPTIED) = 1, 2, 3, 4
COLUMNS = ["offset", "timestamp", "timestampType", "key", "value", "headers"]
Rows = list[tuple[Any, ...]]


def draw(rng: random.Random) -> bytes:
    """Eight bytes that options follow from, the size of the first segment, and two segments."""
    directory = PLACE / "drawn"
    Writer(rng, directory, rng.random() < 0.3).write(rng.randrange(2, 60))
    segments = [path.read_bytes() for path in sorted(directory.iterdir())]
    shutil.rmtree(directory)
    entries = [changed(entry, rng) for entry in entries_of(b"".join(segments))]
    middle = rng.randrange(len(entries) + 1)
    first, second = b"".join(entries[:middle]), b"".join(entries[middle:])
    return (rng.randbytes(8) + struct.pack(">I", len(first)) + first + second)[: campaign.MOST_BYTES]


def entries_of(data: bytes) -> Iterator[bytes]:
    at = 0
    while at + 12 <= len(data):
        size = 12 + max(int.from_bytes(data[at + 8 : at + 12], "big", signed=True), 0)
        yield data[at : at + size]
        at += size


def changed(entry: bytes, rng: random.Random) -> bytes:
    """One of thirty is not what Kafka writes."""
    if rng.random() > 0.03:
        return entry
    data = bytearray(entry)
    rng.choice(mutate.CHANGES)(data, rng)
    return mutate.hostile_sets.with_right_crc(bytes(data)) if len(data) >= 21 and rng.random() < 0.8 else bytes(data)


def run(data: bytes) -> None:
    rng = random.Random(data[:8])
    size, log = int.from_bytes(data[8:12], "big"), data[12:]
    limits = rng.choice(({"batch_bytes": 1 << 20}, {"batch_bytes": 300}, {"batch_records": rng.randrange(1, 50)}))
    options = {**limits, "min_gain": rng.choice((None, 0.0, 0.5)), "max_message_bytes": 1 << 20}
    codec = rng.choice(("none", "gzip", "lz4"))
    try:
        with_any_marks(log, rng, codec, options)
        with_marks_of_the_partition((log[:size], log[size:]), rng, codec, options)
    finally:
        shutil.rmtree(PLACE, ignore_errors=True)
        PLACE.mkdir()


def rows(batch: recordpress.Batch, loses_producer: bool = False) -> Rows:
    own = None if loses_producer or batch.producer_id is None else (batch.producer_id, batch.producer_epoch)
    own = None if own == (-1, -1) else own
    return [
        (own, None if own is None else record.sequence, batch.is_transactional and not loses_producer,
         batch.partition_leader_epoch, record.offset, record.timestamp, record.timestamp_type, record.key, record.value,
         record.headers)
        for record in batch
    ]  # fmt: skip


def with_any_marks(log: bytes, rng: random.Random, codec: str, options: dict[str, Any]) -> None:
    """Such as no partition has."""
    offsets = [int.from_bytes(entry[:8], "big", signed=True) for entry in entries_of(log)]
    marks = any_marks(rng, offsets)
    try:
        batches = list(recordpress.read_batches(log))
        log = log[: sum(batch.size for batch in batches)]  # the whole entries
        kinds = dict(zip(array("q", marks.offsets), marks.kinds, strict=True))
        expected = [
            row
            for batch in batches
            if batch.magic < 2 or kinds.get(batch.base_offset, ALONE) < DROPPED
            for row in rows(batch, is_settled(batch, kinds, marks.settle_below))
        ]
    except recordpress.RecordpressError:
        expected = None  # damage, which a copy finds too
    out = bytearray()
    recompressor = RecompressThreads(codec, marks=marks, threads=rng.choice((1, 2)), **options)
    try:
        recompressor.feed(log, 0, out.extend)
        recompressor.finish(out.extend)
    except recordpress.RecordpressError:
        return
    finally:
        recompressor.close()
    found = [row for batch in recordpress.read_batches(bytes(out)) for row in rows(batch)]
    if found != expected:
        raise AssertionError(f"{len(expected or ())} records should be there, and {len(found)} are: {marks}")


def any_marks(rng: random.Random, offsets: list[int]) -> Marks:
    kinds = {offset: rng.choice(KINDS) for offset in sorted(set(offsets)) if rng.random() < 0.3}
    below = rng.choice((None, (1 << 63) - 1, rng.choice(offsets or [0])))
    if below is None:
        return Marks(array("q", kinds).tobytes(), bytes([ALONE]) * len(kinds))
    return Marks(array("q", kinds).tobytes(), bytes(kinds.values()), below)


def is_settled(batch: recordpress.Batch, kinds: dict[int, int], below: int | None) -> bool:
    if below is None or batch.magic < 2 or batch.is_control or batch.base_offset in kinds:
        return False
    return batch.producer_id >= 0 and batch.base_offset < below


def with_marks_of_the_partition(
    segments: tuple[bytes, bytes], rng: random.Random, codec: str, options: dict[str, Any]
) -> None:
    source = PLACE / "t-0"
    source.mkdir()
    base = 0
    for data in filter(None, segments):
        base = max(base, int.from_bytes(data[:8], "big", signed=True)) & (1 << 62) - 1
        (source / f"{base:020}.log").write_bytes(data)
        base += 1
    if not base:
        return
    is_whole = not scan(source).findings
    before = stored(source), committed(source)
    for producers in ("keep", "settle"):
        copy, now_ms = PLACE / producers / "t-0", rng.choice((None, 1 << 42))
        try:
            recordpress.transcode(source, copy, codec, now_ms=now_ms, producers=producers, **options)
        except recordpress.RecordpressError:
            if is_whole and before[0] is not None:
                raise
            continue
        if before[1] is not None and committed(copy) != before[1]:
            raise AssertionError(f"{producers}: other committed records")
        if producers == "keep" and stored(copy) != before[0]:
            raise AssertionError("keep: other records")
        if is_whole and (findings := scan(copy).findings):
            raise AssertionError(f"{producers}: {findings}")


def stored(directory: Path) -> Rows | None:
    """Every record with all its fields; None: there is damage."""
    data = b"".join(path.read_bytes() for path in sorted(directory.glob("*.log")))
    try:
        return [row for batch in recordpress.read_batches(data) for row in rows(batch)]
    except recordpress.RecordpressError:
        return None


def committed(directory: Path) -> Any:
    """The table of what a consumer gets; None: there is damage."""
    try:
        return recordpress.open_log(directory).read(COLUMNS, isolation_level="read_committed").to_pyarrow()
    except recordpress.RecordpressError:
        return None


if __name__ == "__main__":
    sys.exit(campaign.main("join", draw, run))
