"""A scan goes on past damage: what it says of brokers' damaged directories is what their recovery left."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

import oracle
import recordpress
from recordpress.log import Finding, ScanReport, SegmentScan, scan
from together import draws

LOG = "00000000000000000000.log"


def log_of(n: int = 30, size: int = 40, **options: Any) -> list[bytes]:
    return [recordpress.write_records([b"v%d" % i * size] * 3, base_offset=3 * i, **options) for i in range(n)]


def scanned(directory: Path, data: bytes, name: str = LOG) -> tuple[SegmentScan, list[Finding]]:
    (directory / name).write_bytes(data)
    (directory / name).with_suffix(".index").touch()
    report = scan(directory / name)
    return report.segments[0], report.findings


def starts_of(batches: list[bytes]) -> list[int]:
    return [sum(map(len, batches[:i])) for i in range(len(batches) + 1)]


@oracle.each("partition", oracle.PARTITIONS)
def test_nothing_is_found_in_what_brokers_wrote(partition: oracle.Partition, tmp_path: Path) -> None:
    report = scan(partition.write_to(tmp_path))
    assert report.findings == []
    assert sum(s.batches for s in report.segments) == sum(log.entry["batches"] for log in partition.logs)
    assert all(s.size == s.intact_bytes == s.recovery_bytes for s in report.segments)


# --- damaged by hand, recovered by a broker


def recovered() -> list[tuple[dict[str, Any], bytes]]:
    if oracle.FULL_SET:
        directory = "segments/recovery-4.3.1/"
        entries = json.loads(oracle.read(directory + "recovery.json"))
        return [(entry, oracle.read(directory + entry["segment"])) for entry in entries]
    entries = oracle.shipped_manifest()["recovery"]
    return [(entry, oracle.read("segments/" + entry["segment"])) for entry in entries]


RECOVERED = recovered()


@pytest.mark.parametrize(("entry", "data"), RECOVERED, ids=[f"{e['topic']}-{e['damage']}" for e, _ in RECOVERED])
def test_the_valid_prefix_is_what_recovery_left(entry: dict[str, Any], data: bytes, tmp_path: Path) -> None:
    segment, findings = scanned(tmp_path, data, Path(entry["segment"]).name)
    assert segment.recovery_bytes == entry["recovered_size"]
    starts = entry["batch_starts"]
    intact = len(starts) - (
        entry["damaged_at"] in starts and entry["damage"] not in ("flip_leader_epoch", "flip_offset")
    )
    assert segment.batches == intact  # all that recovery cuts but the damaged one
    if entry["recovered_size"] < len(data):
        assert findings[0].position == entry["recovered_size"] == entry["damaged_at"]
        assert f"keeps the first {entry['recovered_size']} bytes" in findings[0].message


DAMAGED = [
    (entry, oracle.read(f"segments/{entry['dir']}/{Path(entry['source']).name}"))
    for entry in oracle.shipped_manifest()["damaged"]
]


@pytest.mark.parametrize(("entry", "data"), DAMAGED, ids=[e["dir"] for e, _ in DAMAGED])
def test_damaged_copies(entry: dict[str, Any], data: bytes, tmp_path: Path) -> None:
    segment, findings = scanned(tmp_path, data, Path(entry["source"]).name)
    starts, name = entry["batch_starts"], entry["name"]
    after = name.startswith(("zero", "garbage"))
    whole = len(starts) if after else len(starts) - 1
    assert segment.batches == (len(starts) if name == "flip_leader_epoch" else whole)
    [finding] = findings
    if name == "flip_leader_epoch":
        assert finding.rule == "leader epochs"
        return
    if name.startswith("torn"):
        assert (finding.position, finding.size) == (starts[-1], len(data) - starts[-1])
    elif after:
        assert (finding.position, finding.size) == (entry["intact_size"], len(data) - entry["intact_size"])
    else:
        assert finding.position in starts[1:-1]
        assert finding.position + finding.size in starts
        assert finding.rule == "checksum"


# --- every kind of fault


def test_every_cut_of_the_last_two_batches(tmp_path: Path) -> None:
    batches = log_of(6, 10)
    data, starts = b"".join(batches), starts_of(batches)
    for size in range(starts[-3], len(data) + 1):
        segment, findings = scanned(tmp_path, data[:size])
        whole = sum(start <= size for start in starts[1:])
        assert (segment.batches, segment.intact_bytes, segment.recovery_bytes) == (whole, starts[whole], starts[whole])
        expected = [(starts[whole], size - starts[whole], 3 * whole)] if size > starts[whole] else []
        assert [(f.position, f.size, f.offset) for f in findings] == expected
    print(f"{len(data) - starts[-3] + 1} cuts")


@pytest.mark.parametrize("magic", [1, 2])
@pytest.mark.parametrize("codec", ["none", "lz4"])
def test_bit_flips(magic: int, codec: str, tmp_path: Path) -> None:
    """Only the batch that was hit is lost, and there is one report."""
    flips = draws(250)
    batches = log_of(magic=magic, compression_type=codec)
    if magic == 1 and codec == "none":
        batches = [b"".join(batches)[start:end] for start, end in _messages(b"".join(batches))]
    data, starts = b"".join(batches), starts_of(batches)
    draw = random.Random(magic * 10 + len(codec))
    seen = {"damage": 0, "unprotected": 0, "order": 0}
    for _ in range(flips):
        position = draw.randrange(len(data))
        flipped = bytearray(data)
        flipped[position] ^= 1 << draw.randrange(8)
        segment, findings = scanned(tmp_path, bytes(flipped))
        hit = next(i for i, start in enumerate(starts) if start > position) - 1
        inside = position - starts[hit]
        assert segment.batches >= len(batches) - 1, (position, inside)
        if segment.batches == len(batches):
            # the checksum covers neither the base offset nor, in v2, the leader epoch
            assert inside < 8 or (magic == 2 and 12 <= inside < 16), (position, inside)
            seen["order" if findings else "unprotected"] += 1
            continue
        seen["damage"] += 1
        damage = [finding for finding in findings if finding.rule not in ("offset order", "recovery")]
        assert len(damage) == 1 and (damage[0].position, damage[0].size) == (starts[hit], len(batches[hit]))
    print(f"magic {magic}, {codec}: {seen}")
    assert seen["damage"] > 0.8 * flips


def _messages(data: bytes) -> list[tuple[int, int]]:
    return [(batch.position, batch.position + batch.size) for batch in recordpress.read_batches(data)]


@pytest.mark.parametrize("codec", ["none", "zstd"])
def test_zeroed_pages(codec: str, tmp_path: Path) -> None:
    batches = log_of(200, 100, compression_type=codec)
    data, starts = b"".join(batches), starts_of(batches)
    lost = 0
    for page in range(0, len(data), 4096 if codec == "none" else 512):
        end = min(page + 4096, len(data))
        zeroed = data[:page] + bytes(end - page) + data[end:]
        segment, findings = scanned(tmp_path, zeroed)
        # a page may end in a base offset, which no checksum covers
        hit = [i for i in range(len(batches)) if zeroed[starts[i] + 8 : starts[i + 1]] != batches[i][8:]]
        lost += len(hit)
        assert segment.batches == len(batches) - len(hit)
        damage = [finding for finding in findings if finding.rule not in ("offset order", "recovery")]
        assert sum(finding.size or 0 for finding in damage) == starts[hit[-1] + 1] - starts[hit[0]]
        assert damage[0].offset == 3 * hit[0]
    print(f"{codec}: {lost} batches in zeroed pages")


def test_duplicates_overlaps_gaps(tmp_path: Path) -> None:
    batches = log_of(6)
    data, starts = b"".join(batches), starts_of(batches)
    assert scanned(tmp_path, b"".join(batches[:2] + batches[4:]))[1] == []  # as compaction leaves it
    _, [twice] = scanned(tmp_path, b"".join(batches[:3] + batches[2:]))
    assert (twice.position, twice.offset, twice.rule) == (starts[3], 6, "offset order")
    _, findings = scanned(tmp_path, b"".join(batches[3:] + batches[:3]))
    assert [finding.offset for finding in findings] == [0]
    for name, part in ((LOG, data), ("00000000000000000009.log", b"".join(batches[3:]))):
        (tmp_path / name).write_bytes(part)
    findings = scan(tmp_path).findings
    assert [(Path(f.file).name, f.offset) for f in findings if f.rule == "offset order"] == [
        ("00000000000000000009.log", 9)
    ]


def test_a_length_that_leads_over_intact_batches(tmp_path: Path) -> None:
    """All batches have one size: twice the length leads to the beginning of another."""
    batches = log_of(10, 1)
    sizes = {len(batch) for batch in batches}
    assert len(sizes) == 1
    longer = batches[3][:8] + (3 * sizes.pop() - 12).to_bytes(4, "big") + batches[3][12:]
    segment, [finding] = scanned(tmp_path, b"".join([*batches[:3], longer, *batches[4:]]))
    assert segment.batches == 9
    assert (finding.position, finding.size) == (3 * len(longer), len(longer))


def test_a_damaged_batch_that_holds_a_log(tmp_path: Path) -> None:
    """What is a record's value is not a batch of this log."""
    inner = b"".join(log_of(5))
    batches = [recordpress.write_records([b"x"]), recordpress.write_records([inner], base_offset=1), *log_of(20)[1:]]
    outer = bytearray(batches[1])
    outer[-1] ^= 1
    segment, [finding] = scanned(tmp_path, b"".join([batches[0], bytes(outer), *batches[2:]]))
    assert segment.batches == len(batches) - 1
    assert finding.size == len(outer)


@pytest.mark.parametrize("has_index", [True, False])
def test_what_recovery_does_to_later_segments(has_index: bool, tmp_path: Path) -> None:
    """It removes them, unless the damaged segment has no index: then it recovers each by itself when it loads it."""
    batches = log_of(6)
    bad = bytearray(b"".join(batches[:2]))
    bad[-1] ^= 1
    for base, data in ((0, bytes(bad)), (6, b"".join(batches[2:4])), (12, b"".join(batches[4:])[:-1])):
        (tmp_path / f"{base:020}.log").write_bytes(data)
        if has_index:
            (tmp_path / f"{base:020}.index").touch()
    report = scan(tmp_path)
    first, last = report.findings
    sizes = [len(batch) for batch in batches]
    if has_index:
        assert "with the 2 segments after it" in first.message and "removes this segment" in last.message
        assert [s.recovery_bytes for s in report.segments] == [sizes[0], 0, 0]
        assert [s.recovery_offset for s in report.segments] == [3, 3, 3]
    else:
        assert "after it" not in first.message and f"keeps the first {sizes[4]} bytes" in last.message
        assert [s.recovery_bytes for s in report.segments] == [sizes[0], sizes[2] + sizes[3], sizes[4]]
        assert [s.recovery_offset for s in report.segments] == [3, 12, 15]
    assert [s.batches for s in report.segments] == [1, 2, 1]
    json.dumps(report.to_dict())


def test_recovery_empties_a_segment_whose_index_would_not_ascend(tmp_path: Path) -> None:
    batches = log_of(6, 2000)
    segment, findings = scanned(tmp_path, b"".join([*batches, batches[0]]))
    assert [finding.rule for finding in findings] == ["offset order"]
    assert segment.recovery_bytes == 0


def test_offsets_that_a_segment_cannot_have(tmp_path: Path) -> None:
    batches = log_of(3)
    far = (1 << 40).to_bytes(8, "big") + batches[1][8:]
    segment, [finding, refusal] = scanned(tmp_path, batches[0] + far + batches[2])
    assert (segment.batches, finding.rule, finding.size) == (2, "segment offsets", len(far))
    assert refusal.rule == "recovery"


def test_a_log_dir(tmp_path: Path) -> None:
    for name in ("a-0", "b-1"):
        (tmp_path / name).mkdir()
        (tmp_path / name / LOG).write_bytes(b"".join(log_of(2)) + b"\0" * 30)
    (tmp_path / "a-0" / "00000000000000000000.log.deleted").touch()
    report = scan(tmp_path)
    assert isinstance(report, ScanReport)
    assert [s.batches for s in report.segments] == [2, 2]
    assert [f.size for f in report.findings if f.size] == [30, 30]
    assert any(f.file.endswith(".deleted") for f in report.findings)


def test_a_broker_refuses_offsets_out_of_range(tmp_path: Path) -> None:
    """Or makes a segment of the last batch. A batch before its segment's first offset may end inside it."""
    batches = log_of(3)

    def moved(number: int, base: int) -> bytes:
        return b"".join(
            [*batches[:number], base.to_bytes(8, "big", signed=True) + batches[number][8:], *batches[number + 1 :]]
        )

    def recovery_of(data: bytes) -> tuple[int, bool, str]:
        segment, findings = scanned(tmp_path, data)
        return segment.recovery_bytes, findings[-1].rule == "recovery", findings[0].message

    whole = sum(map(len, batches))
    assert recovery_of(moved(1, 1 << 40))[:2] == (0, True)
    assert recovery_of(moved(1, -5))[:2] == (0, True)
    size, is_refused, message = recovery_of(moved(2, 1 << 40))
    assert (size, is_refused) == (whole, False) and "moves these bytes to a new segment" in message
    assert recovery_of(moved(1, -1))[:2] == (whole, False)
