"""Joined batches of producers: every field of every record stays, and so do the batches that a broker remembers.

The copies are read by a parser of its own, which shares no code with the package.
"""

import gzip
import random
import struct
from array import array
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import recordpress
from recordpress.log import reindex
from recordpress.log.copy._recompress_threads import RecompressThreads
from recordpress.log.copy._settle_marks import Marks
from recordpress.log.sidecars import ProducerState, read_snapshot, write_snapshot
from together import thinned

DAY = 86_400_000
T = 1_700_000_000_000
HEADER = struct.Struct(">qiibIhiqqqhii")


# --- a reader of v2 batches under no codec or gzip -------------------------------------------------------------------


class Stored(NamedTuple):
    base_offset: int
    last_offset: int
    size: int
    leader_epoch: int
    attributes: int
    max_timestamp: int
    producer_id: int
    epoch: int
    base_sequence: int
    records: tuple[tuple[Any, ...], ...]

    @property
    def is_control(self) -> bool:
        return bool(self.attributes & 0x20)


def varint(data: bytes, at: int) -> tuple[int, int]:
    shift = value = 0
    while True:
        byte, at = data[at], at + 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), at


def field(data: bytes, at: int) -> tuple[bytes | None, int]:
    size, at = varint(data, at)
    return (None, at) if size < 0 else (data[at : at + size], at + size)


def parse(data: bytes) -> list[Stored]:
    """All batches; a record is offset, stored timestamp, seen timestamp, key, value, headers, sequence."""
    found, at = [], 0
    while at < len(data):
        base, length, leader, magic, _, attributes, delta, first, latest, pid, epoch, sequence, count = (
            HEADER.unpack_from(data, at)
        )
        assert magic == 2
        assert recordpress.crc32c(data[at + 21 : at + 12 + length]) == int.from_bytes(data[at + 17 : at + 21], "big")
        payload = data[at + HEADER.size : at + 12 + length]
        payload = gzip.decompress(payload) if attributes & 7 else payload
        records, place = [], 0
        for _ in range(count):
            _, place = varint(payload, place)
            assert payload[place] == 0
            timestamp, place = varint(payload, place + 1)
            offset, place = varint(payload, place)
            key, place = field(payload, place)
            value, place = field(payload, place)
            n, place = varint(payload, place)
            headers = []
            for _ in range(n):
                name, place = field(payload, place)
                content, place = field(payload, place)
                headers.append((name, content))
            seen = latest if attributes & 8 else first + timestamp
            own = (sequence + offset) % (1 << 31) if sequence >= 0 else -1
            records.append((base + offset, first + timestamp, seen, key, value, tuple(headers), own))
        assert place == len(payload)
        found.append(
            Stored(base, base + delta, 12 + length, leader, attributes, latest, pid, epoch, sequence, tuple(records))
        )
        at += 12 + length
    return found


def records_of(batches: list[Stored]) -> list[tuple[Any, ...]]:
    """Each record with what its batch says of it."""
    return [
        (*record, batch.leader_epoch, batch.attributes & ~7, batch.producer_id, batch.epoch)
        for batch in batches
        for record in batch.records
    ]


def segments_of(directory: Path) -> list[list[Stored]]:
    return [parse(path.read_bytes()) for path in sorted(directory.glob("*.log"))]


# --- drawn logs ------------------------------------------------------------------------------------------------------


class Writer:
    """A log whose producers are interleaved, written batch by batch into several segments."""

    def __init__(self, draw: random.Random, directory: Path, log_append_time: bool) -> None:
        self.draw, self.directory, self.log_append_time = draw, directory, log_append_time
        directory.mkdir(parents=True)
        self.offset, self.time, self.leader = draw.choice([0, 5]), T, 0
        self.sequences = {pid: draw.choice([0, 2**31 - 20]) for pid in range(1, 5)}
        self.epochs = dict.fromkeys(self.sequences, 0)
        self.open: set[int] = set()
        self.data, self.start = bytearray(), 0

    def records(self) -> list[tuple[int, bytes | None, bytes | None, list[tuple[str, bytes | None]]]]:
        draw = self.draw
        return [
            (
                self.time + draw.randrange(-50, 50),
                draw.choice([None, b"", b"key"]),
                draw.choice([None, b"value %d" % draw.randrange(10**6)]),
                draw.choice([[], [("h", None), ("g", b"x")]]),
            )
            for _ in range(draw.randrange(1, 9))
        ]

    def batch(self, pid: int, **more: Any) -> None:
        draw, rows = self.draw, self.records()
        options: dict[str, Any] = {"partition_leader_epoch": self.leader, **more}
        if pid > 0:
            options |= {
                "producer_id": pid,
                "producer_epoch": self.epochs[pid],
                "base_sequence": self.sequences[pid],
                "is_transactional": pid > 2,
            }
            self.sequences[pid] = (self.sequences[pid] + len(rows)) % (1 << 31)
            self.open |= {pid} & {3, 4}
        if self.log_append_time:
            options |= {"timestamp_type": 1, "log_append_time": self.time}
        builder = recordpress.BatchBuilder(
            base_offset=self.offset, compression_type=draw.choice(["none", "gzip"]), **options
        )
        dropped = {draw.randrange(len(rows))} if draw.random() < 0.1 and len(rows) > 1 else set()
        for number, (timestamp, key, value, headers) in enumerate(rows):
            if number not in dropped:  # by compaction
                builder.append(value, key=key, timestamp=timestamp, headers=headers, offset=self.offset + number)
        builder.last_offset = self.offset + len(rows) - 1
        self.data += builder.build()
        self.offset += len(rows)

    def marker(self, pid: int) -> None:
        builder = recordpress.BatchBuilder(
            base_offset=self.offset,
            is_control=True,
            is_transactional=True,
            producer_id=pid,
            producer_epoch=self.epochs[pid],
            partition_leader_epoch=self.leader,
        )
        builder.append_end_txn_marker(self.draw.random() < 0.5, 7, timestamp=self.time)
        self.data += builder.build()
        self.offset += 1
        self.open.discard(pid)

    def roll(self) -> None:
        if self.data:
            (self.directory / f"{self.start:020d}.log").write_bytes(self.data)
            self.data, self.start = bytearray(), self.offset

    def write(self, batches: int) -> None:
        draw, pid = self.draw, 1
        for _ in range(batches):
            self.time += draw.choice([0, 0, 1, DAY // 50])
            pid = pid if draw.random() < 0.8 else draw.randrange(0, 5)
            odd = draw.random()
            if odd < 0.03:
                self.roll()
            elif odd < 0.05:
                self.leader += 1
            elif odd < 0.09:
                self.offset += draw.randrange(1, 9)
            elif odd < 0.11 and pid not in self.open and pid:
                self.epochs[pid], self.sequences[pid] = self.epochs[pid] + 1, 0
            elif odd < 0.13:
                self.batch(0, delete_horizon_ms=T)
                continue
            if pid in self.open and draw.random() < 0.1:
                self.marker(pid)
            self.batch(pid)
        self.roll()


def remembered(segments: list[list[Stored]], expiration: int, now_ms: int) -> set[tuple[int, int]]:
    """The first and last offsets of the last five batches of each producer that is not expired."""
    batches: dict[int, list[tuple[int, int]]] = defaultdict(list)
    last, is_open = {}, {}
    for batch in (batch for segment in segments for batch in segment if batch.producer_id >= 0):
        last[batch.producer_id] = batch.max_timestamp
        is_open[batch.producer_id] = not batch.is_control and bool(batch.attributes & 16)
        if not batch.is_control:
            batches[batch.producer_id].append((batch.base_offset, batch.last_offset))
    return {
        place
        for pid, places in batches.items()
        if is_open[pid] or now_ms - last[pid] < expiration
        for place in places[-5:]
    }


@pytest.mark.parametrize("seed", thinned(range(40), 7))  # two of them have append times
def test_every_field_of_every_record_stays(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    source = tmp_path / "t-0"
    Writer(draw, source, log_append_time=seed % 4 == 3).write(150)
    reindex(source)
    before = segments_of(source)
    limits: dict[str, Any] = draw.choice([{"batch_bytes": 2000}, {"batch_records": 40}, {"batch_bytes": 1 << 20}])
    expiration = draw.choice([DAY, DAY // 4, 1])
    now_ms = draw.choice([None, max(batch.max_timestamp for segment in before for batch in segment) + DAY // 8])
    recordpress.transcode(
        source,
        tmp_path / "copy" / "t-0",
        draw.choice(["none", "gzip"]),
        min_gain=None,
        producer_id_expiration_ms=expiration,
        now_ms=now_ms,
        threads=draw.choice([1, 3]),
        **limits,
    )
    after = segments_of(tmp_path / "copy" / "t-0")
    assert len(before) == len(after)
    for old, new in zip(before, after, strict=True):
        assert records_of(old) == records_of(new)
        assert old[-1].last_offset == new[-1].last_offset
        assert {b for b in old if b.is_control} == {b for b in new if b.is_control}
        assert [b._replace(size=0) for b in old if b.attributes & 64] == [
            b._replace(size=0, attributes=was.attributes)
            for b, was in zip((b for b in new if b.attributes & 64), (b for b in old if b.attributes & 64), strict=True)
        ]
    latest = max(batch.max_timestamp for segment in before for batch in segment)
    kept = remembered(before, expiration, latest if now_ms is None else now_ms)
    assert kept <= {(batch.base_offset, batch.last_offset) for segment in after for batch in segment}
    assert sum(map(len, after)) < 0.8 * sum(map(len, before))
    if "batch_records" in limits:
        assert max(len(batch.records) for segment in after for batch in segment) <= 40
    check_sidecars(source, tmp_path / "copy" / "t-0", tmp_path / "again")


def check_sidecars(source: Path, copy: Path, again: Path) -> None:
    """They are those that the copy's own batches give; reindex agrees with Kafka about that."""
    again.mkdir()
    reindex(copy, again)
    names = {path.name for path in source.iterdir() if path.suffix in (".txnindex", ".snapshot")}
    assert names == {path.name for path in copy.iterdir() if path.suffix in (".txnindex", ".snapshot")}
    for name in names | {"leader-epoch-checkpoint"}:
        assert (copy / name).read_bytes() == (again / name).read_bytes(), name


# --- single rules ----------------------------------------------------------------------------------------------------


def written(directory: Path, *batches: bytes) -> Path:
    directory.mkdir(parents=True)
    (directory / f"{0:020d}.log").write_bytes(b"".join(batches))
    return directory


def of_producer(number: int, records: int = 10, pid: int = 7, **more: Any) -> bytes:
    options: dict[str, Any] = {"producer_epoch": 0, "base_sequence": number * records, "timestamps": T} | more
    return recordpress.write_records(
        [b"value"] * records, base_offset=number * records, producer_id=pid, compression_type="gzip", **options
    )


def test_one_producer_is_as_deep_as_none(tmp_path: Path) -> None:
    source = written(tmp_path / "t-0", *(of_producer(number) for number in range(105)))
    recordpress.transcode(source, tmp_path / "copy" / "t-0", "gzip", batch_records=200)
    [after] = segments_of(tmp_path / "copy" / "t-0")
    assert [len(batch.records) for batch in after] == [200] * 5 + [10] * 5
    assert [batch.base_sequence for batch in after[:2]] == [0, 200]


def test_as_of_decides_who_is_expired(tmp_path: Path) -> None:
    source = written(tmp_path / "t-0", *(of_producer(number) for number in range(20)))
    for now_ms, batches in ((T + DAY - 1, 6), (T + DAY, 1), (None, 6)):
        copy = tmp_path / f"{now_ms}" / "t-0"
        recordpress.transcode(source, copy, "gzip", batch_bytes=1 << 20, now_ms=now_ms)
        assert len(segments_of(copy)[0]) == batches


def test_a_snapshot_knows_of_a_later_append(tmp_path: Path) -> None:
    """Compaction may have removed the producer's last batch."""
    for timestamp, batches in ((T, 1), (T + 2 * DAY, 6)):
        source = written(tmp_path / f"{timestamp}" / "t-0", *(of_producer(number) for number in range(20)))
        later = recordpress.write_records([b"v"], base_offset=500, timestamps=T + 2 * DAY)
        (source / f"{500:020d}.log").write_bytes(later)
        write_snapshot(source / f"{501:020d}.snapshot", [ProducerState(7, 0, 400, 499, 0, timestamp, -1, -1)])
        copy = tmp_path / f"{timestamp}" / "copy" / "t-0"
        recordpress.transcode(source, copy, "gzip", batch_bytes=1 << 20)
        assert len(segments_of(copy)[0]) == batches


def test_a_snapshot_inside_of_a_segment_is_a_border(tmp_path: Path) -> None:
    """A broker that was stopped there goes on in the same segment."""
    source = written(tmp_path / "t-0", *(of_producer(number) for number in range(20)))
    state = ProducerState(7, 0, 69, 69, 9, T, -1, -1)
    write_snapshot(source / f"{70:020d}.snapshot", [state])
    copy = tmp_path / "copy" / "t-0"
    recordpress.transcode(source, copy, "gzip", batch_bytes=1 << 20, now_ms=T + DAY)
    assert [batch.base_offset for batch in segments_of(copy)[0]] == [0, 70, 80]
    assert read_snapshot(copy / f"{70:020d}.snapshot") == [state._replace(offset_delta=69)]


@pytest.mark.parametrize("pid", [0, 7])
@pytest.mark.parametrize(
    "more", [{"base_sequence": 11}, {"producer_epoch": 1}, {"pid": 8}, {"is_transactional": True},
             {"partition_leader_epoch": 4}, {"timestamp_type": 1, "log_append_time": T}, {"delete_horizon_ms": T}],
    ids=str,
)  # fmt: skip
def test_borders(more: dict[str, Any], pid: int, tmp_path: Path) -> None:
    source = written(tmp_path / "t-0", of_producer(0, pid=pid), of_producer(1, **{"pid": pid, **more}))
    recordpress.transcode(source, tmp_path / "copy" / "t-0", "gzip", batch_bytes=1 << 20, now_ms=T + DAY, min_gain=None)
    assert len(segments_of(tmp_path / "copy" / "t-0")[0]) == 2


def test_append_times_are_a_border_and_the_producers_times_stay(tmp_path: Path) -> None:
    def appended(number: int, at: int) -> bytes:
        return recordpress.write_records(
            [b"v"] * 5, timestamps=T + number, base_offset=5 * number, timestamp_type=1, log_append_time=at
        )

    source = written(tmp_path / "t-0", appended(0, T), appended(1, T), appended(2, T + 1))
    recordpress.transcode(source, tmp_path / "copy" / "t-0", "none", batch_bytes=1 << 20)
    [after] = segments_of(tmp_path / "copy" / "t-0")
    assert [(batch.base_offset, batch.last_offset, batch.max_timestamp) for batch in after] == [
        (0, 9, T),
        (10, 14, T + 1),
    ]
    assert [record[1] for batch in after for record in batch.records] == [T] * 5 + [T + 1] * 5 + [T + 2] * 5


def test_bounds(tmp_path: Path) -> None:
    source = written(tmp_path / "t-0", *(of_producer(number) for number in range(100)))
    copy = tmp_path / "copy" / "t-0"
    with pytest.raises(recordpress.InvalidArgumentError, match="brokers refuse") as caught:
        recordpress.transcode(source, copy, "gzip", batch_bytes=2 << 20)
    assert caught.value.field == "batch_bytes"
    recordpress.transcode(source, copy, "none", batch_records=10**6, max_message_bytes=500, now_ms=T + DAY)
    assert 400 < max(batch.size for batch in segments_of(copy)[0]) <= 500


# --- headers that a producer of Kafka does not write -----------------------------------------------------------------

ATTRIBUTES, LAST_OFFSET_DELTA, PRODUCER_ID, EPOCH, SEQUENCE = (21, "h"), (23, "i"), (43, "q"), (51, "h"), (53, "i")
INT32_MAX, INT64_MAX = (1 << 31) - 1, (1 << 63) - 1


def changed(data: bytes, *fields: tuple[tuple[int, str], int]) -> bytes:
    """The batch with these fields, and the checksum that it then has."""
    made = bytearray(data)
    for (at, form), value in fields:
        struct.pack_into(f">{form}", made, at, value)
    struct.pack_into(">I", made, 17, recordpress.crc32c(bytes(made[21:])))
    return bytes(made)


def copied(*batches: bytes, marks: Marks | None = None, **options: Any) -> tuple[list[Stored], RecompressThreads]:
    """What a copy of these batches holds, and what it counted."""
    out = bytearray()
    given: dict[str, Any] = {"batch_bytes": 1 << 20, "min_gain": None} | options
    copy = RecompressThreads(given.pop("codec", "gzip"), marks=marks or Marks(), **given)
    copy.feed(b"".join(batches), 0, out.extend)
    copy.finish(out.extend)
    return parse(bytes(out)), copy


def plain(base_offset: int, records: int = 10, codec: str = "gzip") -> bytes:
    return recordpress.write_records(
        [b"value"] * records, base_offset=base_offset, timestamps=T, compression_type=codec
    )


@pytest.mark.parametrize(
    ("fields", "sequences"),
    [
        ([(EPOCH, 0)], None),
        ([(SEQUENCE, 5)], None),
        ([(PRODUCER_ID, -2)], None),
        ([(PRODUCER_ID, -2), (EPOCH, -2), (SEQUENCE, -2)], None),
        ([(ATTRIBUTES, 16 | 1)], None),
        ([(ATTRIBUTES, 128 | 1)], None),
        ([(PRODUCER_ID, 0)], (0, 10)),
        ([(PRODUCER_ID, 7)], (0, 10)),
        ([(PRODUCER_ID, 7), (EPOCH, 0)], (-1, 9)),
    ],
)
def test_odd_producers_stay_alone(fields: list[Any], sequences: tuple[int, int] | None) -> None:
    batches = [changed(plain(10 * n), *fields, *([(SEQUENCE, sequences[n])] if sequences else [])) for n in range(2)]
    assert len(copied(plain(0), plain(10))[0]) == 1
    after, _ = copied(*batches)
    assert [batch._replace(size=0) for batch in after] == [batch._replace(size=0) for batch in parse(b"".join(batches))]


@pytest.mark.parametrize("pid", [0, 7])
def test_a_producer_whose_fields_are_all_zero_joins(pid: int) -> None:
    after, _ = copied(of_producer(0, pid=pid), of_producer(1, pid=pid))
    assert [(b.producer_id, b.epoch, b.base_sequence, b.last_offset) for b in after] == [(pid, 0, 0, 19)]


@pytest.mark.parametrize(
    ("second", "batches"),
    [(10, 1), (11, 1), (9, 2), (INT32_MAX - 9, 1), (INT32_MAX - 8, 2)],
)
def test_offsets_that_one_batch_can_hold(second: int, batches: int) -> None:
    after, _ = copied(plain(0), plain(second))
    assert len(after) == batches and after[-1].last_offset == second + 9


@pytest.mark.parametrize(("last", "batches"), [(INT64_MAX - 1, 1), (INT64_MAX, 2)])
def test_no_joined_batch_has_the_last_offset(last: int, batches: int) -> None:
    """There would be no offset after it."""
    after, _ = copied(*(changed(plain(0), ((0, "q"), last - 19 + 10 * n)) for n in range(2)))
    assert len(after) == batches and after[-1].last_offset == last


def test_a_batch_that_was_emptied_stays_and_ends_a_run() -> None:
    empty = recordpress.empty_batch(10, 12, max_timestamp=T)
    after, _ = copied(plain(0), empty, plain(13), plain(23))
    assert [(b.base_offset, len(b.records)) for b in after] == [(0, 10), (10, 0), (13, 20)]


def test_offsets_after_the_last_record_stay() -> None:
    """Where compaction removed it: in the middle of a run, and at its end."""
    cut = changed(plain(0), (LAST_OFFSET_DELTA, 12))
    after, copy = copied(cut, plain(13), changed(plain(23), (LAST_OFFSET_DELTA, 14)))
    assert [(b.base_offset, b.last_offset, len(b.records)) for b in after] == [(0, 37, 30)]
    assert copy.after.next_offset == 38


def test_records_beyond_the_last_offset_stay_alone() -> None:
    """As no log has them: their offsets would be inside of the next batch."""
    batches = [changed(plain(0), (LAST_OFFSET_DELTA, 8)), plain(9)]
    assert len(copied(*batches)[0]) == 2


def test_what_is_not_smaller_is_copied_and_counted() -> None:
    batches = [plain(0, 4, "gzip"), plain(4, 4, "none"), plain(8, 4, "gzip")]
    after, copy = copied(*batches, min_gain=0.99)
    assert len(after) == 3 and copy.left == 3
    assert copy.after == copy.before
    assert copy.after.compression_types == ("gzip", "none") and copy.after.bytes == sum(map(len, batches))


def test_the_bound_of_bytes_is_that_of_the_finished_batch() -> None:
    size = len(plain(0, 20, "none"))
    for limit, batches in ((size, 1), (size - 1, 2)):
        after, _ = copied(plain(0), plain(10), codec="none", batch_bytes=limit)
        assert (limit, len(after), max(b.size for b in after) <= limit) == (limit, batches, True)
    assert len(copied(plain(0), plain(10), batch_bytes=1)[0]) == 2


# --- marks, as in _settle.pxd ----------------------------------------------------------------------------------------


def marked(kinds: dict[int, int], below: int | None = INT64_MAX) -> Marks:
    return Marks(array("q", kinds).tobytes(), bytes(kinds.values()), below)


@pytest.mark.parametrize("count", [1, 2, 3, 8])
def test_each_of_many_marks_is_found(count: int) -> None:
    batches = [of_producer(n) for n in range(10)]
    for first in range(10 - count):
        kinds = {10 * n: 3 for n in range(first, first + count)}
        after, copy = copied(*batches, marks=marked(kinds))
        gone = {record[0] // 10 * 10 for batch in after for record in batch.records} ^ set(range(0, 100, 10))
        assert gone == set(kinds) and copy.dropped_records == 10 * count
    alone, _ = copied(*batches, marks=marked({10 * n: 1 for n in range(count)}, None))
    assert [b.base_offset for b in alone] == [10 * n for n in range(count + 1)]


@pytest.mark.parametrize("kind", [3, 4])
def test_what_leaves_lies_between_batches_that_are_not_smaller(kind: int) -> None:
    """The source does not hold them in a row: their bytes cannot be copied at once."""
    batches = [plain(0), of_producer(1, is_transactional=True), plain(20), plain(30)]
    after, copy = copied(*batches, marks=marked({10: kind}), min_gain=0.99)
    assert [record[0] for batch in after for record in batch.records] == [*range(10), *range(20, 40)]
    assert copy.after.batches == sum(bool(batch.records) for batch in after)


def test_marks_are_for_v2_alone() -> None:
    data = recordpress.write_records([b"a", b"b"], magic=1, timestamps=T, compression_type="gzip")
    base = int.from_bytes(data[:8], "big")
    out = bytearray()
    copy = RecompressThreads("gzip", batch_bytes=1 << 20, marks=marked({base: 3}))
    copy.feed(data, 0, out.extend)
    copy.finish(out.extend)
    assert copy.after.records == 2 and copy.settled == 0


@pytest.mark.parametrize(("below", "settled"), [(30, 3), (31, 4), (29, 3), (0, 0)])
@pytest.mark.parametrize("pid", [0, 7])
def test_batches_below_an_offset_lose_their_producer(pid: int, below: int, settled: int) -> None:
    batches = [of_producer(n, pid=pid, is_transactional=True) for n in range(5)]
    after, copy = copied(*batches, marks=marked({}, below))
    assert copy.settled == settled
    own = [(b.producer_id, b.epoch, b.base_sequence, b.attributes & ~7) for b in after if b.producer_id < 0]
    assert own == [(-1, -1, -1, 0)] * bool(settled)
    assert [b.base_offset for b in after if b.producer_id == pid] == list(range(10 * settled, 50, 10))


@pytest.mark.parametrize("codec", ["gzip", "none"])
def test_one_that_loses_its_producer_may_keep_its_bytes(codec: str) -> None:
    """Its codec is the wanted one already, or the new bytes are not smaller: only its header changes."""
    source = of_producer(0, is_transactional=True, timestamp_type=1, log_append_time=T)
    [after], copy = copied(source, marks=marked({}), codec=codec, min_gain=0.0)
    [before] = parse(source)
    assert after == before._replace(
        attributes=before.attributes & ~16, producer_id=-1, epoch=-1, base_sequence=-1,
        size=after.size, records=tuple((*record[:6], -1) for record in before.records),
    )._replace(attributes=(1 if codec == "gzip" else 0) | 8)  # fmt: skip
    assert copy.settled == 1


@pytest.mark.parametrize("log_append_time", [-1, T + 5])
def test_an_emptied_batch_is_that_of_the_log_cleaner(log_append_time: int) -> None:
    times = {"timestamp_type": 1, "log_append_time": log_append_time} if log_append_time > 0 else {}
    source = of_producer(1, is_transactional=True, partition_leader_epoch=4, **times)
    out = bytearray()
    copy = RecompressThreads("gzip", batch_bytes=1 << 20, marks=marked({10: 4}))
    copy.feed(source, 0, out.extend)
    copy.finish(out.extend)
    assert bytes(out) == recordpress.empty_batch(
        10, 19, max_timestamp=max(T, log_append_time), timestamp_type=int(log_append_time > 0), partition_leader_epoch=4
    )
    assert (copy.after.records, copy.after.next_offset, copy.dropped_records) == (0, 20, 10)
