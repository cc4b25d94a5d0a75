"""Batches that no retry can repeat lose their producer; the copy omits aborted records and markers.

What should be there is found from the batches of the source by the parser of test_join.
"""

import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

import recordpress
from log.copy.test_join import DAY, Stored, T, Writer, of_producer, segments_of, written
from recordpress.log import RecordDigest, reindex, verify
from recordpress.log.sidecars import read_snapshot, read_transaction_index
from together import thinned

Rows = list[tuple[Any, ...]]


class Model:
    """Transactions, producers and what is kept of them, by the batches of a log in their order."""

    def __init__(self, segments: list[list[Stored]], expiration: int, now_ms: int | None) -> None:
        self.batches = [batch for segment in segments for batch in segment]
        latest = max(batch.max_timestamp for batch in self.batches)
        now_ms = latest if now_ms is None else now_ms
        self.aborted: set[int] = set()  # base offsets of batches
        self.marker_of: dict[int, int] = {}  # by base offset of a batch
        open_ones: dict[int, list[int]] = defaultdict(list)
        last: dict[int, Stored] = {}
        remembered: dict[int, list[Stored]] = defaultdict(list)
        self.last_marker: dict[int, int] = {}
        for batch in self.batches:
            pid = batch.producer_id
            if pid < 0:
                continue
            if pid in last and last[pid].epoch != batch.epoch:
                remembered[pid] = []
            last[pid] = batch
            if batch.is_control:
                self.last_marker[pid] = batch.base_offset
                for offset in open_ones.pop(pid, []):
                    self.marker_of[offset] = batch.base_offset
                    if batch.records[0][3][2:4] == b"\0\0":
                        self.aborted.add(offset)
                continue
            remembered[pid] = [*remembered[pid], batch][-5:]
            if batch.attributes & 16:
                open_ones[pid].append(batch.base_offset)
        self.stable = min((offsets[0] for offsets in open_ones.values()), default=1 << 62)
        self.known = {
            pid for pid, batch in last.items() if pid in open_ones or now_ms - batch.max_timestamp < expiration
        }
        self.kept = {batch.base_offset for pid in self.known for batch in remembered[pid]}

    def committed(self, batches: list[Stored]) -> Rows:
        """What a consumer with read_committed gets: offset, time, key, value, headers."""
        return [
            (record[0], record[2], *record[3:6])
            for batch in batches
            if not batch.is_control and batch.base_offset not in self.aborted and batch.base_offset < self.stable
            for record in batch.records
        ]


def settle(source: Path, copy: Path, **options: Any) -> Any:
    given = {"min_gain": None, "producers": "settle", "batch_bytes": 1 << 20} | options
    return recordpress.transcode(source, copy, given.pop("codec", "gzip"), **given)


def read(path: Path, isolation_level: str) -> Rows:
    columns = recordpress.open_log(path).read(["offset", "timestamp", "key", "value"], isolation_level=isolation_level)
    return [tuple(row.values()) for row in columns.to_pyarrow().to_pylist()]


def digest_of(model: Model, segment: list[Stored]) -> str:
    """Of the records that are not aborted, as if nobody had numbered them."""
    found = RecordDigest()
    for batch in segment:
        if batch.is_control or batch.base_offset in model.aborted or not batch.records:
            continue
        append_time = {"timestamp_type": 1, "log_append_time": batch.max_timestamp} if batch.attributes & 8 else {}
        builder = recordpress.BatchBuilder(
            base_offset=batch.base_offset, partition_leader_epoch=batch.leader_epoch, **append_time
        )
        for offset, stored, _, key, value, headers, _ in batch.records:
            builder.append(
                value, key=key, timestamp=stored, headers=[(k.decode(), v) for k, v in headers], offset=offset
            )
        found.update(builder.build())
    return found.hexdigest()


@pytest.mark.parametrize("seed", thinned(range(40), 7))  # two of them have append times
def test_drawn_logs(seed: int, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    draw = random.Random(seed)
    source, copy = tmp_path / "t-0", tmp_path / "copy" / "t-0"
    Writer(draw, source, log_append_time=seed % 4 == 3).write(200)
    reindex(source)
    before = segments_of(source)
    expiration, now_ms = draw.choice([DAY, DAY // 4, 1]), draw.choice([None, T + 9 * DAY])
    model = Model(before, expiration, now_ms)
    limits = draw.choice([{"batch_bytes": 2000}, {"batch_bytes": None, "batch_records": 40}, {}])
    manifest = settle(
        source,
        copy,
        codec=draw.choice(["none", "gzip"]),
        producer_id_expiration_ms=expiration,
        now_ms=now_ms,
        threads=draw.choice([1, 3]),
        **limits,
    )
    after = segments_of(copy)
    found = [batch for segment in after for batch in segment]

    # what consumers get
    again = Model(after, expiration, now_ms)
    assert again.stable == model.stable
    assert again.committed(found) == model.committed(model.batches)
    assert read(copy, "read_committed") == read(source, "read_committed")
    settled = [batch for batch in found if batch.producer_id < 0]
    committed = model.committed(model.batches)
    assert {row for row in model.committed(settled) if row[0] < model.stable} <= set(committed)
    kept = {record[0] for batch in model.batches if batch.base_offset in model.kept for record in batch.records}
    below = [row for row in read(copy, "read_uncommitted") if row[0] < model.stable and row[0] not in kept]
    assert below == [row for row in read(source, "read_committed") if row[0] not in kept]

    # what is left of producers
    def plain(batch: Stored) -> Stored:
        return batch._replace(size=0, attributes=batch.attributes & ~7)

    stays = [batch for batch in model.batches if batch.base_offset in model.kept or batch.base_offset >= model.stable]
    markers = {model.last_marker.get(pid) for pid in model.known} | {model.marker_of.get(at) for at in model.kept}
    stays += [batch for batch in model.batches if batch.is_control and batch.base_offset in markers]
    wanted = {plain(batch) for batch in stays if batch.producer_id >= 0}
    assert {plain(batch) for batch in found if batch.producer_id >= 0} == wanted

    # offsets and files
    assert [segment[-1].last_offset for segment in after] == [segment[-1].last_offset for segment in before]
    assert [one.digest for one in manifest.segments] == [digest_of(model, segment) for segment in before]
    gone = sum(len(b.records) for b in model.batches if b.base_offset in model.aborted - model.kept
               and b.base_offset < model.stable)  # fmt: skip
    [partition] = manifest.partitions
    assert partition.settled["aborted_records"] == gone
    assert partition.settled["markers"] == sum(b.is_control for b in model.batches) - sum(b.is_control for b in found)
    assert verify(copy, check="record").findings == []
    check_sidecars(source, copy, tmp_path / "again", model)


def check_sidecars(source: Path, copy: Path, again: Path, model: Model) -> None:
    again.mkdir()
    reindex(copy, again)
    names = {path.name for path in copy.glob("*.txnindex")}
    assert names == {path.name for path in again.glob("*.txnindex")}
    for name in names:
        assert (copy / name).read_bytes() == (again / name).read_bytes()
        markers = {one.last_offset for one in read_transaction_index(source / name)}
        assert {one.last_offset for one in read_transaction_index(copy / name)} <= markers
    # an epoch may begin with a batch that left, as in a log that was compacted
    assert (copy / "leader-epoch-checkpoint").read_bytes() == (source / "leader-epoch-checkpoint").read_bytes()
    last = max(path.name for path in source.glob("*.snapshot"))
    states = {state.producer_id: state for state in read_snapshot(source / last)}
    now = {state.producer_id: state for state in read_snapshot(copy / last)}
    left = {pid for pid, state in states.items() if pid in model.known or state.last_offset >= model.stable}
    assert now == {pid: states[pid] for pid in left}
    rebuilt = {state.producer_id: state for state in read_snapshot(again / last)}
    assert {pid: rebuilt[pid] for pid in now} == now
    for path in source.glob("*.snapshot"):
        made = {state.producer_id: state for state in read_snapshot(again / path.name)}
        for state in read_snapshot(copy / path.name):
            assert state.last_sequence == made[state.producer_id].last_sequence
            assert state.offset_delta == made[state.producer_id].offset_delta


def test_producers_that_write_in_turns_become_one_batch(tmp_path: Path) -> None:
    source = written(
        tmp_path / "t-0",
        *(of_producer(n, pid=n % 8, base_sequence=n // 8 * 10) for n in range(200)),
    )
    for now_ms, batches in ((T + DAY, 1), (None, 41)):
        copy = tmp_path / f"{now_ms}" / "t-0"
        manifest = settle(source, copy, now_ms=now_ms)
        assert len(segments_of(copy)[0]) == batches
        assert manifest.partitions[0].settled == {"batches": 201 - batches, "aborted_records": 0, "markers": 0}


def test_batches_of_an_earlier_epoch_are_not_remembered(tmp_path: Path) -> None:
    later = [of_producer(10 + n, producer_epoch=1, base_sequence=n * 10) for n in range(2)]
    source = written(tmp_path / "t-0", *(of_producer(n) for n in range(10)), *later)
    settle(source, tmp_path / "copy" / "t-0")
    [after] = segments_of(tmp_path / "copy" / "t-0")
    assert [(batch.base_offset, batch.producer_id) for batch in after] == [(0, -1), (100, 7), (110, 7)]


def test_an_estimate_takes_all_producers_for_settled(tmp_path: Path) -> None:
    source = written(tmp_path / "t-0", *(of_producer(n, pid=n % 8, base_sequence=n // 8 * 10) for n in range(400)))
    done = settle(source, tmp_path / "copy" / "t-0", now_ms=T + DAY).totals["bytes"]
    assert settle(source, tmp_path / "other", now_ms=T + DAY, dry_run=True).bytes_after == done
    assert settle(source, tmp_path / "other", producers="keep", dry_run=True).bytes_after > 5 * done


def test_what_is_refused(tmp_path: Path) -> None:
    source = written(tmp_path / "t-0", of_producer(0), of_producer(1))
    with pytest.raises(recordpress.InvalidArgumentError, match="set batch_bytes or batch_records"):
        settle(source, tmp_path / "copy", batch_bytes=None)
    with pytest.raises(recordpress.InvalidArgumentError, match="whole partitions"):
        settle(source / f"{0:020d}.log", tmp_path / "copy.log")
    with pytest.raises(recordpress.InvalidArgumentError, match="keep, settle"):
        settle(source, tmp_path / "copy", producers="drop")
    (source / f"{20:020d}.log").write_bytes(of_producer(1))
    with pytest.raises(recordpress.CorruptRecordError, match="offsets go back"):
        settle(source, tmp_path / "copy")


def test_damage_that_is_found_while_producers_are_looked_for_leaves_nothing(tmp_path: Path) -> None:
    source = written(tmp_path / "logs" / "t-0", of_producer(0))
    written(tmp_path / "logs" / "t-1", of_producer(0) + of_producer(1)[:-5])
    (tmp_path / "logs" / "t-1" / f"{20:020d}.log").write_bytes(of_producer(2))
    with pytest.raises(recordpress.CorruptRecordError, match=r"t-1/0{20}\.log, byte 121"):
        settle(source.parent, tmp_path / "copy")
    assert [path.name for path in tmp_path.iterdir()] == ["logs"]


def test_what_gets_larger_is_bounded(tmp_path: Path) -> None:
    noise = [random.Random(n).randbytes(400) for n in range(20)]
    data = [
        recordpress.write_records(
            [value], timestamps=T, base_offset=n, producer_id=7, producer_epoch=0, base_sequence=n
        )
        for n, value in enumerate(noise)
    ]
    source, copy = written(tmp_path / "t-0", *data), tmp_path / "copy" / "t-0"
    settle(source, copy, batch_bytes=61 + 2 * len(data[0]) - 122, max_message_bytes=900, now_ms=T + DAY)
    [after] = segments_of(copy)
    assert max(batch.size for batch in after) <= 900 and len(after) == 10 and after[0].producer_id == -1


class Stop(Exception):
    pass


@pytest.mark.parametrize("producers", ["keep", "settle"])
def test_a_source_that_grew_before_the_copy_went_on(producers: str, tmp_path: Path) -> None:
    """What is decided about its first segment changes with its last one: an aborted transaction, an old producer."""

    def marker(offset: int) -> bytes:
        builder = recordpress.BatchBuilder(
            base_offset=offset, is_control=True, is_transactional=True, producer_id=8, producer_epoch=0
        )
        builder.append_end_txn_marker(False, 7, timestamp=T)
        return builder.build()

    plain = [of_producer(number) for number in range(20)]
    open_one = [of_producer(number, pid=8, is_transactional=True) for number in range(20, 22)]
    source = written(tmp_path / "t-0", *plain, *open_one)
    for number in range(22, 25):
        (source / f"{10 * number:020d}.log").write_bytes(of_producer(number, pid=9))

    def stop(progress: Any) -> None:
        if progress.segments_done == 3:
            raise Stop

    last = source / f"{240:020d}.log"
    last.write_bytes(of_producer(24, pid=9))
    with pytest.raises(Stop):
        settle(source, tmp_path / "copy" / "t-0", producers=producers, threads=1, progress=stop)
    last.write_bytes(last.read_bytes() + of_producer(25, pid=9) + marker(260) + of_producer(27, timestamps=T + DAY))
    settle(source, tmp_path / "copy" / "t-0", producers=producers)
    settle(source, tmp_path / "other" / "t-0", producers=producers)
    for path in (tmp_path / "other" / "t-0").glob("0*"):
        assert (tmp_path / "copy" / "t-0" / path.name).read_bytes() == path.read_bytes(), path.name
