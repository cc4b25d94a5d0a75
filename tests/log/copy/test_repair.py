"""repair keeps every intact batch, reindex every index; both write what a broker would have written."""

import contextlib
import fcntl
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import oracle
import recordpress
from log.some_partitions import of_each_kind
from patience import HANG
from recordpress.log import reindex, repair, scan, verify
from recordpress.log.sidecars import read_leader_epochs, read_snapshot
from together import draws

LOG = "00000000000000000000.log"
INTERVAL = 3000  # of the topics in the vectors


def log_of(n: int = 30, size: int = 40, **options: Any) -> list[bytes]:
    return [recordpress.write_records([b"v%d" % i * size] * 3, base_offset=3 * i, **options) for i in range(n)]


def starts_of(batches: list[bytes]) -> list[int]:
    return [sum(map(len, batches[:i])) for i in range(len(batches) + 1)]


def bytes_of(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(directory.iterdir())}


def logs(directory: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(directory.glob("*.log")))


CLEAN = [
    p
    for p in oracle.PARTITIONS
    if p.entry["broker"].endswith(("3.9.2", "4.3.1"))
    and p.entry["copied"] == "after a clean stop"
    and p.entry["topic"].startswith(("lines", "txn", "broker", "headers", "logappend"))
]


@oracle.each("partition", CLEAN)
def test_what_is_whole_is_copied_as_it_is(partition: oracle.Partition, tmp_path: Path) -> None:
    source = partition.write_to(tmp_path / "source")
    target = tmp_path / source.name
    report = repair(source, target, index_interval_bytes=INTERVAL)
    assert report.findings == []
    before, after = bytes_of(source), bytes_of(target)
    assert before.keys() == after.keys()
    for name, data in before.items():
        if name.endswith(".snapshot"):
            assert sorted(read_snapshot(data)) == read_snapshot(after[name])
        else:
            assert data == after[name], name
    assert sum(segment.batches for segment in report.segments) == sum(log.entry["batches"] for log in partition.logs)


@oracle.each("partition", CLEAN)
def test_reindex_writes_what_the_broker_wrote(partition: oracle.Partition, tmp_path: Path) -> None:
    directory = partition.write_to(tmp_path)
    original = bytes_of(directory)
    for name in original:
        if name.endswith(("index", ".snapshot")):
            (directory / name).write_bytes(b"garbage")
    (directory / "leader-epoch-checkpoint").unlink()
    report = reindex(directory, index_interval_bytes=INTERVAL)
    for name, data in bytes_of(directory).items():
        if name.endswith(".snapshot"):
            assert read_snapshot(data) == sorted(read_snapshot(original[name]))
        elif name == "leader-epoch-checkpoint":
            epochs = read_leader_epochs(original[name])
            assert read_leader_epochs(data) == epochs[: len(read_leader_epochs(data))]
        else:
            assert data == original[name], name
    assert len(report.files) == len(report.findings)
    assert reindex(directory, index_interval_bytes=INTERVAL).files == []


@oracle.each("partition", of_each_kind(p for p in oracle.PARTITIONS if p not in CLEAN))
def test_repair_of_older_logs(partition: oracle.Partition, tmp_path: Path) -> None:
    source = partition.write_to(tmp_path / "source")
    report = repair(source, tmp_path / source.name)
    assert report.findings == []
    assert logs(tmp_path / source.name) == logs(source)
    assert scan(tmp_path / source.name).findings == []
    assert reindex(tmp_path / source.name).files == []


def test_only_what_is_damaged_is_lost(tmp_path: Path) -> None:
    """In transactions, too: the markers that are left decide."""
    partition = next(p for p in CLEAN if p.entry["topic"] == "txn_topic")
    source = partition.write_to(tmp_path / "source")
    draw = random.Random(1)
    lost = 0
    for log in source.glob("*.log"):
        data = bytearray(log.read_bytes())
        [*batches] = recordpress.read_batches(bytes(data))
        hit = draw.choice(batches)
        lost += 1
        data[hit.position + hit.size - 1] ^= 1
        log.write_bytes(data)
    report = repair(source, tmp_path / "copy-0")
    assert len(report.findings) == lost
    total = sum(log.entry["batches"] for log in partition.logs)
    assert sum(segment.batches for segment in report.segments) == total - lost
    assert scan(tmp_path / "copy-0").findings == []
    [copy] = recordpress.open_log(tmp_path / "copy-0").partitions
    copy.transactions()
    # every index is that of the copy
    assert reindex(tmp_path / "copy-0").files == []


def test_bit_flips(tmp_path: Path) -> None:
    """Every batch that is intact is in the copy.

    A base offset that is wrong displaces its batch; if it is that of another batch now, one of the two stays.
    """
    batches = log_of(20, 10)
    data, starts = b"".join(batches), starts_of(batches)
    source, target = tmp_path / "a-0", tmp_path / "b-0"
    source.mkdir()
    draw = random.Random(5)
    seen = {"lost": 0, "misplaced": 0, "twin": 0, "unseen": 0}
    flips = draws(240)
    for _ in range(flips):
        position = draw.randrange(len(data))
        flipped = bytearray(data)
        flipped[position] ^= 1 << draw.randrange(8)
        (source / LOG).write_bytes(flipped)
        report = repair(source, target)
        hit = next(i for i, start in enumerate(starts) if start > position) - 1
        copied = (target / LOG).read_bytes()
        if copied == data[: starts[hit]] + data[starts[hit + 1] :]:
            seen["misplaced" if report.findings[-1].rule == "offset order" else "lost"] += 1
            assert report.findings
        else:
            # the checksum covers neither the base offset nor the leader epoch
            assert position - starts[hit] < 16
            twins = [flipped[: starts[i]] + flipped[starts[i + 1] :] for i in range(20)]
            seen["twin" if copied in twins and report.findings else "unseen"] += 1
            assert copied == flipped or (copied in twins and "is omitted" in report.findings[-1].message)
        shutil.rmtree(target)
    print(seen)
    assert sum(seen.values()) == flips and seen["lost"] > 0.7 * flips and seen["twin"] < flips // 25


def test_offsets_out_of_order(tmp_path: Path) -> None:
    """One offset that is too high does not displace those after it; of duplicates one is kept."""
    batches = log_of(10)
    high = (20).to_bytes(8, "big") + batches[2][8:]
    source = tmp_path / "a-0"
    source.mkdir()
    (source / LOG).write_bytes(b"".join([*batches[:2], high, *batches[3:6], batches[4], *batches[6:]]))
    report = repair(source, tmp_path / "b-0")
    assert (tmp_path / "b-0" / LOG).read_bytes() == b"".join([*batches[:2], *batches[3:]])
    left_out = [f for f in report.findings if "is omitted" in f.message]
    assert [finding.offset for finding in left_out] == [20, 12]


def test_overlapping_segments(tmp_path: Path) -> None:
    batches = log_of(12)
    source = tmp_path / "a-0"
    source.mkdir()
    (source / LOG).write_bytes(b"".join(batches[:8]))
    (source / f"{15:020}.log").write_bytes(b"".join(batches[5:]))
    report = repair(source, tmp_path / "b-0")
    assert logs(tmp_path / "b-0") == b"".join(batches)
    assert [finding.offset for finding in report.findings if "is omitted" in finding.message] in (
        [15, 18, 21],
        [15, 15, 18, 21],
    )
    assert scan(tmp_path / "b-0").findings == []


def test_a_segment_of_which_another_has_all_offsets(tmp_path: Path) -> None:
    """It has no copy, which would have the name of the next one."""
    batches = log_of(6)
    source = tmp_path / "a-0"
    source.mkdir()
    for base, part in ((0, batches[:4]), (9, batches[3:4]), (12, batches[4:])):
        (source / f"{base:020}.log").write_bytes(b"".join(part))
    report = repair(source, tmp_path / "b-0")
    assert [segment.batches for segment in report.segments] == [4, 2]
    assert logs(tmp_path / "b-0") == b"".join(batches)


def test_a_log_dir(tmp_path: Path) -> None:
    for name in ("a-0", "b.c-3"):
        (tmp_path / "source" / name).mkdir(parents=True)
        (tmp_path / "source" / name / LOG).write_bytes(b"".join(log_of(3)))
    repair(tmp_path / "source", tmp_path / "target")
    assert sorted(p.name for p in (tmp_path / "target").iterdir()) == ["a-0", "b.c-3"]
    with pytest.raises(recordpress.InvalidArgumentError, match="exists: nothing is overwritten") as caught:
        repair(tmp_path / "source", tmp_path / "target")
    assert caught.value.field == "target"
    repair(tmp_path / "source" / "a-0", tmp_path / "other")
    assert (tmp_path / "other" / "a-0" / LOG).exists()


def files_below(directory: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(directory.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("source", ["", "a-*", "a-0", f"a-0/{LOG}"])
@pytest.mark.parametrize("is_list", [False, True])
def test_a_copy_inside_its_source_is_refused(source: str, is_list: bool, tmp_path: Path) -> None:
    """The copy would be a partition inside a partition, which no call reads."""
    (tmp_path / "a-0").mkdir()
    (tmp_path / "a-0" / LOG).write_bytes(b"".join(log_of(3)))
    before = files_below(tmp_path)
    path = str(tmp_path / source) if source else str(tmp_path)
    for copy in (repair, lambda *args: recordpress.transcode(*args, "zstd")):
        if copy is not repair and source.endswith(LOG) and not is_list:
            continue  # one file becomes one file
        with pytest.raises(recordpress.InvalidArgumentError, match="lies inside the source") as caught:
            copy([path] if is_list else path, tmp_path / "a-0" / "b-0")
        assert caught.value.field == ("target" if copy is repair else "dst")
        assert files_below(tmp_path) == before


KILLED = """
import os, sys
from recordpress.log.copy import repair as module

calls = iter([module._copy_metadata, lambda *given: os._exit(7)])
module._copy_metadata = lambda *given: next(calls)(*given)
module.repair(*sys.argv[1:])
"""


@pytest.mark.slow
def test_a_killed_repair_is_swept_by_the_next(tmp_path: Path) -> None:
    """The first partition is finished when the call is killed."""
    for name in ("a-0", "a-1", "a-2"):
        (tmp_path / "source" / name).mkdir(parents=True)
        (tmp_path / "source" / name / LOG).write_bytes(b"".join(log_of(3)))
    command = [sys.executable, "-c", KILLED, tmp_path / "source", tmp_path / "target"]
    assert subprocess.run(command, timeout=HANG).returncode == 7
    assert sorted(os.listdir(tmp_path)) != ["source"]
    repair(tmp_path / "source", tmp_path / "target")
    assert sorted(os.listdir(tmp_path)) == ["source", "target"]
    assert {name: logs(tmp_path / "target" / name) for name in os.listdir(tmp_path / "target")} == {
        name: b"".join(log_of(3)) for name in ("a-0", "a-1", "a-2")
    }


def test_nothing_is_left_of_a_copy_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from recordpress.log.copy import repair as module

    source = tmp_path / "a-0"
    source.mkdir()
    (source / LOG).write_bytes(b"".join(log_of(3)))

    def changed(*args: Any) -> Any:
        size = copy(*args)
        path = Path(args[3])
        path.write_bytes(path.read_bytes()[:-1] + b"\1")
        return size

    copy = module._copy_ranges
    monkeypatch.setattr(module, "_copy_ranges", changed)
    with pytest.raises(recordpress.CorruptRecordError):
        repair(source, tmp_path / "b-0")
    assert [path.name for path in tmp_path.iterdir()] == ["a-0"]


def test_reindex_refuses_damage_and_writes_nothing(tmp_path: Path) -> None:
    data = b"".join(log_of(3))
    (tmp_path / LOG).write_bytes(data[:-1])
    (tmp_path / f"{9:020}.log").write_bytes(b"")
    with pytest.raises(recordpress.CorruptRecordError) as caught:
        reindex(tmp_path)
    assert caught.value.file == str(tmp_path / LOG) and caught.value.position == len(b"".join(log_of(2)))
    assert len(list(tmp_path.iterdir())) == 2
    (tmp_path / f"{9:020}.log").unlink()
    assert reindex(tmp_path).files  # the last one may be cut


def test_reindex_refuses_offsets_that_an_index_could_not_hold(tmp_path: Path) -> None:
    batches = log_of(3)
    for data, offset in (
        (batches[1] + batches[0], 0),
        (batches[0] + (1 << 33).to_bytes(8, "big") + batches[1][8:], 1 << 33),
    ):
        (tmp_path / LOG).write_bytes(data)
        with pytest.raises(recordpress.CorruptRecordError) as caught:
            reindex(tmp_path)
        assert (caught.value.rule, caught.value.offset) == ("offset order", offset)
        assert [path.name for path in tmp_path.iterdir()] == [LOG]


def test_reindex_into_another_directory(tmp_path: Path) -> None:
    for name in ("a-0", "b-0", "out"):
        (tmp_path / name).mkdir()
        if name != "out":
            (tmp_path / name / LOG).write_bytes(b"".join(log_of(3)))
    reindex(tmp_path / "a-0", tmp_path / "out")
    assert [path.name for path in (tmp_path / "a-0").iterdir()] == [LOG]
    assert len(list((tmp_path / "out").iterdir())) == 4
    with pytest.raises(recordpress.InvalidArgumentError, match="of a single partition, but path has 2"):
        reindex(tmp_path, tmp_path / "out")


def test_reindex_removes_an_index_of_transactions_that_were_not_aborted(tmp_path: Path) -> None:
    (tmp_path / LOG).write_bytes(b"".join(log_of(3)))
    index = tmp_path / "00000000000000000000.txnindex"
    index.write_bytes(b"\0" * 34)
    report = reindex(tmp_path)
    assert not index.exists()
    assert any(finding.file == str(index) for finding in report.findings)


HOLD = """
import fcntl, sys
file = open(sys.argv[1], "w")
fcntl.lockf(file, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


@pytest.mark.slow
def test_reindex_keeps_away_from_a_running_broker(tmp_path: Path) -> None:
    """The lock is a POSIX one, as Java's FileLock is."""
    assert fcntl.LOCK_EX
    (tmp_path / "a-0").mkdir()
    (tmp_path / "a-0" / LOG).write_bytes(b"".join(log_of(3)))
    command = [sys.executable, "-c", HOLD, str(tmp_path / ".lock")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as broker:
        assert broker.stdin and broker.stdout and broker.stdout.readline() == b"held\n"
        with pytest.raises(recordpress.InvalidArgumentError, match="a broker runs on"):
            reindex(tmp_path / "a-0")
        broker.stdin.close()
    assert len(reindex(tmp_path / "a-0").files) == 4


def test_a_marker_that_is_none_is_damage(tmp_path: Path) -> None:
    builder = recordpress.BatchBuilder(
        producer_id=7, producer_epoch=0, partition_leader_epoch=0, is_control=True, base_offset=9
    )
    builder.append_control("LEADER_CHANGE", b"")
    source = tmp_path / "a-0"
    source.mkdir()
    (source / LOG).write_bytes(b"".join(log_of(3)) + builder.build())
    report = repair(source, tmp_path / "b-0")
    [finding] = report.findings
    assert (finding.offset, finding.rule) == (9, "control record")
    assert (tmp_path / "b-0" / LOG).read_bytes() == b"".join(log_of(3))


def spoiled(data: bytes, draw: random.Random) -> bytes:
    """Bytes changed, moved in and cut out, extreme numbers; in half of the cases checksums fit nevertheless."""
    bad = bytearray(data)
    for _ in range(draw.randrange(1, 6)):
        at, start = draw.randrange(len(bad) - 8), draw.randrange(len(bad))
        kind = draw.randrange(4)
        if kind == 0:
            bad[at] = draw.randrange(256)
        elif kind == 1:
            bad[at : at + 8] = draw.choice([-1, 0, -(1 << 63), (1 << 63) - 1, 1 << 31]).to_bytes(8, "big", signed=True)
        elif kind == 2:
            bad[at:at] = bad[start : start + draw.randrange(200)]
        else:
            del bad[at : at + draw.randrange(60)]
    if draw.random() < 0.5:
        table = recordpress.read_batches(bytes(bad), check_crcs=False)
        with contextlib.suppress(recordpress.RecordpressError):
            for batch in table:
                covered = bad[batch.position + 21 : batch.position + batch.size]
                if batch.magic == 2:
                    bad[batch.position + 17 : batch.position + 21] = recordpress.crc32c(bytes(covered)).to_bytes(
                        4, "big"
                    )
    return bytes(bad)


def test_whatever_lies_in_a_log(tmp_path: Path) -> None:
    """No damage stops scan, verify or repair; what repair writes is sound; reindex works or refuses."""
    producer = {"producer_id": 5, "producer_epoch": 0, "is_transactional": True}
    data = b"".join(log_of(6, 1, base_sequence=0, **producer))
    marker = recordpress.BatchBuilder(is_control=True, base_offset=18, **producer)
    marker.append_end_txn_marker(False, 0)
    data += marker.build()
    draw = random.Random(11)
    source, target = tmp_path / "a-0", tmp_path / "b-0"
    refused = 0
    for _ in range(draws(200)):
        source.mkdir()
        base_offset = draw.choice([0, 0, 5, 1 << 40, (1 << 63) - 1])
        (source / f"{base_offset:020}.log").write_bytes(spoiled(data, draw))
        scan(source)
        verify(source, "record")
        repair(source, target)
        assert {finding.rule for finding in scan(target).findings} <= {"leader epochs"}
        try:
            reindex(source)
        except recordpress.RecordpressError:
            refused += 1
        shutil.rmtree(source)
        shutil.rmtree(target)
    print(f"{refused} refused by reindex")


def test_reindex_knows_what_a_crash_leaves_at_the_end_from_damage(tmp_path: Path) -> None:
    """Zeros and one entry that is cut end the log; a length that leads over intact entries does not."""
    batches = log_of()
    whole, starts = b"".join(batches), starts_of(batches)
    path = tmp_path / LOG
    expected = None
    for tail in (b"", bytes(5000), batches[-1][:50]):
        path.write_bytes(whole + tail)
        reindex(tmp_path)
        made = bytes_of(tmp_path)
        del made[LOG]
        expected = expected or made
        assert made == expected
    damaged = bytearray(whole)
    damaged[starts[10] + 8 : starts[10] + 12] = (1 << 20).to_bytes(4, "big")
    path.write_bytes(damaged)
    with pytest.raises(recordpress.CorruptRecordError, match="an intact entry with a later offset"):
        reindex(tmp_path)
    assert {name: data for name, data in bytes_of(tmp_path).items() if name != LOG} == expected


def test_reindex_takes_no_part_of_a_partition(tmp_path: Path) -> None:
    """The leader epochs of the other segments would be lost."""
    first, second = (recordpress.write_records([b"v"], base_offset=i, partition_leader_epoch=i) for i in range(2))
    for number, batch in enumerate((first, second)):
        (tmp_path / f"{number:020}.log").write_bytes(batch)
    reindex(tmp_path)
    before = bytes_of(tmp_path)
    with pytest.raises(recordpress.InvalidArgumentError, match="from all of its segments, so pass the directory"):
        reindex(tmp_path / f"{1:020}.log")
    assert bytes_of(tmp_path) == before
    reindex(tmp_path)
    assert bytes_of(tmp_path) == before
