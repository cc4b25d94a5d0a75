"""verify finds nothing in what brokers wrote, and whatever was changed since."""

import random
import struct
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import oracle
import recordpress
from recordpress.log import Finding, scan, verify
from together import THOROUGH, sampled

LOG = "00000000000000000000.log"


def found(path: Path, check: Any = "record") -> list[tuple[str, str]]:
    """File and rule of every finding."""
    return [(Path(finding.file).name, finding.rule) for finding in verify(path, check).findings]


@oracle.each("partition", oracle.PARTITIONS)
def test_nothing_is_wrong_with_what_brokers_wrote(partition: oracle.Partition, tmp_path: Path) -> None:
    directory = partition.write_to(tmp_path)
    for check in ("file", "batch", "record"):
        report = verify(directory, check)  # type: ignore[arg-type]
        assert report.findings == []
    batches = [batch for log in partition.logs for batch in log.expected["batches"]]
    records = sum(len(batch["records"]) for batch in batches if not batch.get("is_control"))
    assert (report.batches, report.records) == (len(batches), records)
    assert report.size == sum(log.entry["size"] for log in partition.logs)


TXN = next(p for p in oracle.PARTITIONS if str(p) == "kafka-4.3.1/txn_topic-0")


def test_checks_see_different_things(tmp_path: Path) -> None:
    directory = TXN.write_to(tmp_path)
    log = directory / "00000000000000000015.log"
    data = bytearray(log.read_bytes())
    data[200] ^= 1
    log.write_bytes(data)
    assert found(directory, "file") == []
    assert found(directory, "batch") == [(log.name, "checksum")]
    with pytest.raises(recordpress.InvalidArgumentError, match="check must be one of file, batch, record, not 'deep'"):
        verify(directory, "deep")  # type: ignore[arg-type]


def test_each_sidecar_dropped_cut_and_flipped(tmp_path: Path) -> None:
    directory = TXN.write_to(tmp_path)
    draw = random.Random(3)
    flips = 4 if THOROUGH else 2
    seen = {"dropped": 0, "cut": 0, "flipped": 0}
    unseen: dict[str, set[str]] = {"dropped": set(), "cut": set(), "flipped": set()}
    there = [path for path in directory.iterdir() if path.suffix != ".log" and path.stat().st_size]
    kinds = sorted({path.suffix for path in there})
    paths = [path for kind in kinds for path in sampled(sorted(one for one in there if one.suffix == kind), 2)]
    for path in paths:
        data = path.read_bytes()
        for kind, changed in (
            ("dropped", None),
            ("cut", data[:-1]),
            ("cut", data[: len(data) // 2]),
            *(("flipped", flip(data, draw)) for _ in range(flips)),
        ):
            path.unlink() if changed is None else path.write_bytes(changed)
            findings = verify(directory, "record").findings
            assert all(Path(finding.file).name == path.name for finding in findings), path.name
            if findings:
                seen[kind] += 1
            else:
                unseen[kind].add(path.suffix or path.name)
            path.write_bytes(data)
    print(seen, unseen)
    assert seen["cut"] > 0.8 * 2 * len(paths) and seen["flipped"] > 0.5 * flips * len(paths)
    # a broker silently makes these again, or trusts them: an offset of the same batch, an id
    assert unseen["dropped"] <= {".timeindex", ".snapshot", "leader-epoch-checkpoint", ".metadata"}
    assert unseen["flipped"] <= {".index", ".metadata", "leader-epoch-checkpoint", ".txnindex"}
    assert verify(directory, "record").findings == []


def flip(data: bytes, draw: random.Random) -> bytes:
    flipped = bytearray(data)
    flipped[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    return bytes(flipped)


# --- records that are not what the header says


def batch(offset: int = 0, n: int = 3, **options: Any) -> bytearray:
    times = [1000 + offset + i for i in range(n)]
    return bytearray(recordpress.write_records([b"v"] * n, base_offset=offset, timestamps=times, **options))


def sealed(data: bytearray) -> bytes:
    """With the checksum that fits."""
    data[17:21] = recordpress.crc32c(data[21:]).to_bytes(4, "big")
    return bytes(data)


def changed(position: int, layout: str, value: int) -> Callable[[bytearray], None]:
    return lambda data: struct.pack_into(layout, data, position, value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (changed(35, ">q", 7), "the largest timestamp is 1002, but the header has 7"),
        (changed(23, ">i", 1), "offsets 0 to 2 are not between 0 and 1"),
        (changed(57, ">i", 2), "are left after the last of 2 records"),
        (changed(57, ">i", -1), "records count -1 is negative"),
        (changed(21, ">h", 4), "not a zstd frame"),
        (changed(64, ">b", 3), "offsets -2 to 2 are not between 0 and 2"),
        (changed(72, ">b", 0), "offset 0 follows offset 0"),
    ],
)
def test_records_and_their_header(change: Callable[[bytearray], None], message: str, tmp_path: Path) -> None:
    data = batch()
    change(data)
    (tmp_path / LOG).write_bytes(sealed(data))
    findings = [finding for finding in verify(tmp_path, "record").findings if finding.file.endswith(".log")]
    assert any(message in finding.message for finding in findings), findings
    assert {finding.offset for finding in findings} <= {0, None}
    assert found(tmp_path, "batch") == [("00000000000000000000.index", "log directory")]


def of_producer(offset: int, sequence: int, epoch: int = 0) -> bytes:
    return bytes(batch(offset, producer_id=7, producer_epoch=epoch, base_sequence=sequence))


@pytest.mark.parametrize(
    ("batches", "wrong"),
    [
        ([of_producer(0, 0), of_producer(3, 3), of_producer(6, 6)], []),
        ([of_producer(0, 0), of_producer(3, 0)], [3]),
        ([of_producer(0, 0), of_producer(3, 9)], [3]),
        ([of_producer(0, 0), of_producer(30, 9)], []),  # compaction removed what was between
        ([of_producer(0, 0), of_producer(30, 0)], [30]),
        ([of_producer(0, 0), of_producer(3, 0, epoch=1)], []),
        ([of_producer(0, (1 << 31) - 3), of_producer(3, 0)], []),
    ],
)
def test_sequences(batches: list[bytes], wrong: list[int], tmp_path: Path) -> None:
    (tmp_path / LOG).write_bytes(b"".join(batches))
    (tmp_path / LOG).with_suffix(".index").touch()
    findings = verify(tmp_path, "record").findings
    assert [(finding.offset, finding.rule) for finding in findings] == [(o, "producer sequences") for o in wrong]


# --- indexes that do not say what the log says


@pytest.mark.parametrize(
    ("entries", "messages"),
    [
        ([(2, 0), (5, 1)], []),
        ([(8, 1)], []),
        ([(1, 0)], []),  # as brokers up to 0.11 wrote it
        ([(3, 2)], ["no batch at or after position 2 has this offset"]),
        ([(8, 0), (9, 1)], ["no batch at or after position 0 has this offset", "no batch at or after position 1 has"]),
        ([(40, 1)], ["no batch at or after position 1 has"]),
        ([(40, 99)], ["position 9999 is not in the log"]),
    ],
)
def test_offset_index(entries: list[tuple[int, int]], messages: list[str], tmp_path: Path) -> None:
    """Entries name the number of a batch."""
    batches = [bytes(batch(offset)) for offset in (0, 3, 6)]
    starts = {i: sum(map(len, batches[:i])) for i in range(3)} | {99: 9999}
    (tmp_path / LOG).write_bytes(b"".join(batches))
    index = b"".join(struct.pack(">ii", offset, starts[i]) for offset, i in entries)
    (tmp_path / LOG).with_suffix(".index").write_bytes(index)
    findings = verify(tmp_path, "record").findings
    assert len(findings) == len(messages), findings
    for finding, message in zip(findings, messages, strict=True):
        shown = message.replace("position 2", f"position {starts[2]}").replace("position 1 ", f"position {starts[1]} ")
        assert shown in finding.message
        assert finding.rule == "offset index" and finding.position in range(0, len(index), 8)


def test_between_batches(tmp_path: Path) -> None:
    (tmp_path / LOG).write_bytes(bytes(batch(0)) + bytes(batch(3)))
    (tmp_path / LOG).with_suffix(".index").write_bytes(struct.pack(">ii", 5, 50))
    [finding] = verify(tmp_path, "record").findings
    assert finding.message == "no batch begins at position 50 of the log"


@pytest.mark.parametrize(
    ("entries", "offsets"),
    [
        ([(1002, 2), (1008, 8)], []),
        ([(1001, 2)], [2]),
        ([(1008, 5)], [5]),
        ([(1008, 9)], [9]),
    ],
)
def test_time_index(entries: list[tuple[int, int]], offsets: list[int], tmp_path: Path) -> None:
    (tmp_path / LOG).write_bytes(b"".join(bytes(batch(offset)) for offset in (0, 3, 6)))
    (tmp_path / LOG).with_suffix(".index").touch()
    index = b"".join(struct.pack(">qi", *entry) for entry in entries)
    (tmp_path / LOG).with_suffix(".timeindex").write_bytes(index)
    findings = verify(tmp_path, "record").findings
    assert [(finding.offset, finding.rule) for finding in findings] == [(o, "time index") for o in offsets]


def test_leader_epochs(tmp_path: Path) -> None:
    data = [bytes(batch(0, partition_leader_epoch=0)), bytes(batch(3, partition_leader_epoch=4))]
    (tmp_path / LOG).write_bytes(b"".join(data))
    (tmp_path / LOG).with_suffix(".index").touch()
    checkpoint = tmp_path / "leader-epoch-checkpoint"
    for text, wrong in (("0\n2\n0 0\n4 3\n", []), ("0\n2\n0 0\n4 4\n", [3]), ("0\n1\n0 0\n", [3])):
        checkpoint.write_text(text)
        findings = verify(tmp_path).findings
        assert [(f.offset, f.rule) for f in findings] == [(o, "leader epoch checkpoint") for o in wrong]


def test_of_a_log_that_is_open(tmp_path: Path) -> None:
    directory = TXN.write_to(tmp_path)
    log = recordpress.open_log(directory)
    assert log.verify("record") == verify(directory, "record")
    assert log.scan() == scan(directory)


def test_the_report_is_data(tmp_path: Path) -> None:
    (tmp_path / LOG).write_bytes(bytes(batch()))
    report = verify(tmp_path, "record")
    expected = Finding(str(tmp_path / "00000000000000000000.index"), None, None, None, "log directory", "it is missing")
    assert report.to_dict() == {
        "findings": [expected.to_dict()],
        "lost": [],
        "check": "record",
        "segments": 1,
        "size": len(batch()),
        "batches": 1,
        "records": 3,
    }


@pytest.mark.parametrize("codec", ["none", "zstd"])
def test_records_are_checked_without_an_object_for_each(codec: Any, tmp_path: Path) -> None:
    path = tmp_path / f"{0:020}.log"
    data = recordpress.write_records([b""] * 100_000, compression_type=codec)
    path.write_bytes(data)
    verify(tmp_path, "record")  # what is imported and kept
    tracemalloc.start()
    try:
        report = verify(tmp_path, "record")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert report.records == 100_000
    assert peak < 3 * len(data) + (1 << 20)


def test_offsets_that_no_consumer_gets(tmp_path: Path) -> None:
    """A broker that looks for offset 70 finds the empty segment, and continues after it."""
    (tmp_path / f"{0:020d}.log").write_bytes(recordpress.write_records([b"value"] * 100))
    (tmp_path / f"{50:020d}.log").write_bytes(b"")
    (tmp_path / f"{90:020d}.log").write_bytes(recordpress.write_records([b"value"] * 20, base_offset=90))
    for findings in (recordpress.log.verify(tmp_path).findings, recordpress.log.scan(tmp_path).findings):
        [found] = [one for one in findings if one.rule == "floor segment"]
        assert (Path(found.file).name, found.offset) == (f"{50:020d}.log", 50)
        assert "offsets from 50 to 89" in found.message
    assert recordpress.open_log(tmp_path).read(["offset"], start_offset=70).to_pyarrow().num_rows == 40


def test_a_compressed_message_of_v1_that_reaches_back(tmp_path: Path) -> None:
    sets = []
    for offset in (0, 7):
        builder = recordpress.BatchBuilder(magic=1, compression_type="lz4", base_offset=offset)
        for one in range(offset, offset + 10):
            builder.append(b"value", timestamp=1, offset=one)
        sets.append(builder.build())
    path = tmp_path / f"{0:020d}.log"
    path.write_bytes(b"".join(sets))
    found = [one for one in verify(path, "record").findings if one.rule == "offset order"]
    assert [(one.position, one.message) for one in found] == [(len(sets[0]), "offset 7 comes after offset 9")]
    assert not [one for one in verify(path).findings if one.rule == "offset order"]  # headers do not show it
