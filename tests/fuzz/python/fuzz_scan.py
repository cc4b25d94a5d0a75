"""scan, verify and repair of a segment that is nearly right: they come to its end, and agree on what is intact."""

from __future__ import annotations

import random
import shutil
import struct
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import campaign
import mutate

import recordpress
from recordpress.log import reindex, repair, scan, verify

MOST_SETS = 4
ORDER = ("leader epochs",)  # of whole batches, which stay as they are
PLACE = Path(tempfile.mkdtemp(prefix="recordpress-fuzz-"))


def draw(rng: random.Random) -> bytes:
    sets = [mutate.record_set(rng) for _ in range(rng.randrange(1, MOST_SETS + 1))]
    between = [rng.choice((b"", b"", bytes(rng.randrange(200)), rng.randbytes(rng.randrange(100)))) for _ in sets]
    first = rng.choice((0, 0, 0, 1, 100, 1 << 40))
    data = b"".join(part for pair in zip(sets, between, strict=True) for part in pair)
    return (struct.pack(">Q", first) + data)[: campaign.MOST_BYTES]


def run(data: bytes) -> None:
    first = int.from_bytes(data[:8], "big") & (1 << 62) - 1
    source, target = PLACE / "a-0", PLACE / "b-0"
    try:
        source.mkdir()
        (source / f"{first:020}.log").write_bytes(data[8:])
        _work(source, target)
    finally:
        shutil.rmtree(source, ignore_errors=True)
        shutil.rmtree(target, ignore_errors=True)


def _work(source: Path, target: Path) -> None:
    report = scan(source)
    [segment] = report.segments
    damaged = sum(finding.size or 0 for finding in report.findings if finding.position is not None)
    if not 0 <= segment.recovery_bytes <= segment.intact_bytes + damaged or segment.intact_bytes > segment.size:
        raise AssertionError(f"{segment} with {damaged} damaged bytes")
    if not report.findings and segment.intact_bytes != segment.size:
        raise AssertionError(f"{segment.size - segment.intact_bytes} bytes without a word")
    for level in ("file", "batch", "record"):
        verify(source, level)
    copied = repair(source, target)
    kept = sum(one.batches for one in copied.segments)
    again = scan(target)
    damage = [finding for finding in again.findings if finding.rule not in ORDER]
    if damage or sum(one.batches for one in again.segments) != kept:
        raise AssertionError(f"{kept} batches were kept, and the copy has {again}")
    found = [finding for finding in verify(target, "batch").findings if finding.rule not in ORDER]
    if found:
        raise AssertionError(f"the copy is damaged: {found}")
    if written := reindex(target).files:
        raise AssertionError(f"repair wrote other indexes: {written}")
    try:
        rows = sum(columns.num_rows for columns in recordpress.open_log(target).read(["offset"]))
    except recordpress.RecordpressError:
        return  # records are not looked at by scan and repair
    if rows > recordpress.open_log(target).count():
        raise AssertionError("more records than the headers say")


if __name__ == "__main__":
    sys.exit(campaign.main("scan", draw, run))
