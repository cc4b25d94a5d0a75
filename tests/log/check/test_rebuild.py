"""The files next to a log, made again from it, are those that the broker wrote wherever its rules determine them."""

import json
import re
import struct
from pathlib import Path
from typing import Any

import pytest

import oracle
import recordpress
from recordpress.files import LocalFileSystem
from recordpress.log._header_walk import HeaderWalk
from recordpress.log.check._producer_state import EndTxnMarker, ProducerStates
from recordpress.log.check.rebuild import SidecarBuilder, Sidecars, marker_of
from recordpress.log.sidecars import read_leader_epochs, read_offset_index, read_snapshot, read_time_index
from recordpress.record.header import BatchHeader, read_header

INTERVAL = 3000  # index.interval.bytes of the topics; the internal ones have the default


def rebuilt(path: Path, interval: int, builder: SidecarBuilder | None = None, end: int | None = None) -> Sidecars:
    """Of one segment, from the state at its beginning."""
    builder = builder or SidecarBuilder(index_interval_bytes=interval)
    builder.begin(int(path.stem))
    with LocalFileSystem().open(str(path)) as file:
        for header in HeaderWalk(file, end=end):
            builder.add(header, marker_of(file, header))
    return builder.end()


DETERMINED = [
    p
    for p in oracle.PARTITIONS
    if re.search("kafka-(3.9.2|4.3.1)$", p.entry["broker"])
    and p.entry["copied"] == "after a clean stop"
    and p.entry["topic"] != "epochs"  # its broker was stopped in between, and began to count again
]


@oracle.each("partition", DETERMINED)
def test_equal_to_the_brokers(partition: oracle.Partition, tmp_path: Path) -> None:
    directory = partition.write_to(tmp_path)
    is_internal = partition.entry["topic"].startswith("__")
    builder = SidecarBuilder(index_interval_bytes=4096 if is_internal else INTERVAL)
    # 4.3.1 removed all batches of a producer from whole segments, which its snapshots remember
    is_compacted = partition.entry["topic"] == "compacted.topic" and "4.3.1" in partition.entry["broker"]
    for log in sorted(directory.glob("*.log")):
        files = rebuilt(log, 0, builder).files()
        snapshot = files.pop(".snapshot")
        if partition.entry["topic"] == "__cluster_metadata":
            del files[".index"], files[".timeindex"]  # several batches are appended at once, by the Raft client
        for suffix, data in files.items():
            assert data == log.with_suffix(suffix).read_bytes(), log.with_suffix(suffix)
        assert (".txnindex" in files) == log.with_suffix(".txnindex").exists()
        if int(log.stem) and not is_compacted:
            assert sorted(read_snapshot(log.with_suffix(".snapshot"))) == read_snapshot(snapshot)
    last = max(directory.glob("*.snapshot"))
    if not is_compacted:
        assert sorted(read_snapshot(last)) == builder.producers.snapshot()
    # an epoch without a batch is only in the checkpoint
    epochs = read_leader_epochs(directory / "leader-epoch-checkpoint")
    end = max((batch["next_offset"] for v in partition.logs for batch in v.expected["batches"]), default=0)
    expected = [entry for entry in epochs if entry.start_offset < end]
    if partition.entry["topic"] == "compacted.topic":  # the first batch of the epoch may be gone
        assert [entry.epoch for entry in builder.epochs] == [entry.epoch for entry in expected]
    else:
        assert builder.epochs == expected


def test_there_is_something_to_compare() -> None:
    assert len(DETERMINED) >= 10
    suffixes = {Path(f["file"]).suffix for p in DETERMINED for f in p.entry["files"]}
    assert {".txnindex", ".snapshot", ".timeindex"} <= suffixes


def recovered() -> list[tuple[dict[str, Any], dict[str, bytes]]]:
    """What a broker was given, damaged, and what it left."""
    cases = []
    if oracle.FULL_SET:
        directory = "segments/recovery-4.3.1/"
        entries = json.loads(oracle.read(directory + "recovery.json"))
        entries = [entry | {"segment": directory.removeprefix("segments/") + entry["segment"]} for entry in entries]
    else:
        entries = oracle.shipped_manifest()["recovery"]
    for entry in entries:
        stem = "segments/" + entry["segment"].removesuffix(".log")
        suffixes = (".log", ".index.recovered", ".timeindex.recovered")
        cases.append((entry, {suffix: oracle.read(stem + suffix) for suffix in suffixes}))
    return cases


RECOVERED = recovered()


@pytest.mark.parametrize(("entry", "files"), RECOVERED, ids=[f"{e['topic']}-{e['damage']}" for e, _ in RECOVERED])
def test_equal_to_what_recovery_left(entry: dict[str, Any], files: dict[str, bytes], tmp_path: Path) -> None:
    path = tmp_path / Path(entry["segment"]).name
    data = bytearray(files[".log"])
    if entry["damage"] == "flip_magic":
        data[entry["damaged_at"] + 16] = 2  # a broker reads magic 3 as 2, and the checksum does not cover it
    path.write_bytes(data)
    builder = SidecarBuilder(index_interval_bytes=INTERVAL)
    builder.begin(int(path.stem))
    with LocalFileSystem().open(str(path)) as file:
        for header in HeaderWalk(file, end=entry["recovered_size"]):
            builder.add(header)
    made = builder.end().files()
    assert made[".index"] == files[".index.recovered"]
    assert made[".timeindex"] == files[".timeindex.recovered"]
    # and Kafka's own checks pass: OffsetIndex.sanityCheck, TimeIndex.sanityCheck
    base = int(path.stem)
    index, times = read_offset_index(made[".index"], base), read_time_index(made[".timeindex"], base)
    assert all(entry.offset >= base for entry in [*index, *times])


# --- producers


def header(
    offset: int,
    count: int = 1,
    *,
    pid: int = 7,
    epoch: int = 0,
    sequence: int = 0,
    txn: bool = True,
    attributes: int = 0,
) -> BatchHeader:
    attributes |= 0x10 if txn else 0
    fields = (offset, 88, 0, 2, 0, attributes, count - 1, 1000 + offset, 1000 + offset, pid, epoch, sequence, count)
    return read_header(struct.pack(">qiibIhiqqqhii", *fields))


def marker(offset: int, *, pid: int = 7, epoch: int = 0) -> BatchHeader:
    return header(offset, pid=pid, epoch=epoch, sequence=-1, attributes=0x20)


def test_sequences_and_epochs() -> None:
    states = ProducerStates()
    states.add(header(0, 5, txn=False))
    states.add(header(5, 3, sequence=5, txn=False))
    [state] = states.snapshot()
    assert (state.last_sequence, state.last_offset, state.offset_delta, state.first_sequence) == (7, 7, 2, 5)
    states.add(header(8, sequence=(1 << 31) - 1, txn=False))
    states.add(marker(9, epoch=1), EndTxnMarker(True, 4, 1009))  # another epoch: its batches are forgotten
    [state] = states.snapshot()
    assert state == (7, 1, -1, -1, 0, 1009, 4, -1)


def test_transactions_of_two_producers() -> None:
    states = ProducerStates()
    states.add(header(0, 5, pid=1))
    states.add(header(5, 5, pid=2))
    assert states.first_unstable_offset == 0
    assert states.add(marker(10, pid=1), EndTxnMarker(False, 0, 1)) == (1, 0, 10, 5)
    assert states.first_unstable_offset == 5
    assert states.add(marker(11, pid=2), EndTxnMarker(True, 0, 1)) is None
    # a marker without records, and a control batch that compaction emptied
    assert states.add(marker(12, pid=2), EndTxnMarker(False, 0, 1)) is None
    states.add(header(13, pid=2))
    assert states.add(marker(14, pid=2)) is None
    assert states.first_unstable_offset == 13
    # another reader goes on from the snapshot
    again = ProducerStates(states.snapshot())
    assert again.first_unstable_offset == 13
    assert again.add(marker(15, pid=2), EndTxnMarker(False, 0, 1)) == (2, 13, 15, 16)


def test_a_control_batch_that_is_none(tmp_path: Path) -> None:
    builder = recordpress.BatchBuilder(producer_id=7, producer_epoch=0, partition_leader_epoch=0, is_control=True)
    builder.append_control("LEADER_CHANGE", b"")
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(builder.build())
    with pytest.raises(recordpress.RecordpressError) as caught:
        rebuilt(path, INTERVAL)
    assert caught.value.file == str(path)
