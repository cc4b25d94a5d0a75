"""What scan predicts of damaged directories is what the classes of a broker leave of them when they load them.

`make -f labs.mk broker` brings the jars and runs this.
"""

import random
import subprocess
from pathlib import Path

import pytest

import recordpress
from patience import HANG
from recordpress.log import reindex, scan

JARS = Path(__file__).parents[3] / "build/broker"
INTERVAL = 500
DIRECTORIES = 360
DAMAGE = ("nothing", "flip", "cut", "garbage", "empty", "offset", "far offset", "negative offset", "huge offset")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (JARS / ".jars").exists(), reason="no jars of a broker: make -f labs.mk broker"),
]


def write_damaged(directory: Path, draw: random.Random, damage: str, indexed: bool) -> None:
    """Write a partition of three segments, one of them damaged."""
    directory.mkdir()
    segments: list[tuple[int, list[bytearray]]] = []
    offset = 0
    for _ in range(3):
        segments.append((offset, []))
        for _ in range(draw.randrange(3, 9)):
            value = b"v" * draw.randrange(10, 120)
            segments[-1][1].append(bytearray(recordpress.write_records([value] * 3, base_offset=offset)))
            offset += 3
    for base, batches in segments:
        (directory / f"{base:020}.log").write_bytes(b"".join(batches))
    if indexed:
        reindex(directory, index_interval_bytes=INTERVAL)
    base, batches = draw.choice(segments)
    number = draw.randrange(len(batches))
    batch = batches[number]
    if damage == "flip":
        batch[draw.randrange(8, len(batch))] ^= 1 << draw.randrange(8)
    elif damage == "cut":
        batches[number:] = [batch[: draw.randrange(1, len(batch))]]
    elif damage == "garbage":
        batches.insert(number, bytearray(draw.randbytes(draw.randrange(1, 200))))
    elif damage == "empty":
        batches.clear()
    elif damage.endswith("offset"):
        wrong = {
            "offset": draw.randrange(offset + 20),
            "far offset": base + draw.choice([2**31 - 10, 2**31 - 3, 2**31 - 2, 2**31 - 1, 2**32]),
            "negative offset": draw.choice([-1, -2, -3, -5]),
            "huge offset": draw.choice([2**62, 2**63 - 1, 2**63 - 3, -(2**63)]),
        }[damage]
        batch[:8] = wrong.to_bytes(8, "big", signed=True)
    (directory / f"{base:020}.log").write_bytes(b"".join(batches))


def test_scan_predicts_what_a_broker_keeps(tmp_path: Path) -> None:
    draw = random.Random(7)
    directories = [tmp_path / f"t-{number}" for number in range(DIRECTORIES)]
    for number, directory in enumerate(directories):
        write_damaged(directory, draw, DAMAGE[number % len(DAMAGE)], indexed=number // len(DAMAGE) % 2 == 0)
    reports = [scan(directory, index_interval_bytes=INTERVAL) for directory in directories]
    names = tmp_path / "directories"
    names.write_text("".join(f"{directory}\n" for directory in directories))
    java = ["java", "-Dorg.slf4j.simpleLogger.defaultLogLevel=off", "-cp", f"{JARS}/*"]
    source = Path(__file__).parents[1] / "kafka" / "Recover.java"
    done = subprocess.run(
        [*java, str(source), str(names), str(INTERVAL)], capture_output=True, text=True, timeout=HANG, check=True
    )
    different = []
    for line, report in zip(done.stdout.splitlines(), reports, strict=True):
        _, outcome, end, *kept = line.split("\t")
        sizes = {int(base): int(size) for base, size in (one.split(":") for one in kept if outcome == "kept")}
        predicted = {one.base_offset: one.recovery_bytes for one in report.segments}
        is_refused = any(finding.rule == "recovery" for finding in report.findings)
        if is_refused or outcome == "refused":
            is_right = is_refused and outcome == "refused" and not any(predicted.values())
        elif sizes.keys() <= predicted.keys():
            found = {base: sizes.get(base, 0) for base in predicted}
            is_right = predicted == found and report.segments[-1].recovery_offset == int(end)
        else:  # the last batch of a segment has become a segment
            is_right = sum(predicted.values()) == sum(sizes.values())
            is_right = is_right and any("to a new segment" in finding.message for finding in report.findings)
        if not is_right:
            different.append((line, predicted))
    assert different == []
