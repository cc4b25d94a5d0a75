"""Records of the shapes that the documents speak of, written as logs."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterable, Sequence
from pathlib import Path

import recordpress

ROOT = Path(__file__).parents[1]
LOGS = ROOT / "demo" / "logs"
BATCH_BYTES = 1_000_000  # Cloudflare: "All batches are around 1MB uncompressed, 600 records in each on average"
REQUESTS = 600
START = 1_700_000_000_000


def write_log(path: Path, values: Sequence[bytes], first_ms: int = START, step_ms: int = 1, **options: object) -> Path:
    """Write values to one segment of a partition, in batches of `BATCH_BYTES` unless told otherwise."""
    path.mkdir(parents=True)
    times = [first_ms + step_ms * number for number in range(len(values))]
    rows = recordpress.read_columns(recordpress.write_records(values, timestamps=times), ["timestamp", "value"])
    data = recordpress.write_columns(rows, "none", **({"batch_bytes": BATCH_BYTES} | options))
    (path / f"{0:020}.log").write_bytes(data)
    return path


def of_topic(topic: str) -> list[bytes]:
    """Return the values of a topic of the demo, in the order of its partitions."""
    rows = recordpress.open_log(LOGS, topics=topic).read(["value"]).to_pyarrow()
    return [value.as_py() for value in rows["value"]]


def requests(count: int, seed: int = 1) -> list[bytes]:
    """Return binary records like Cloudflare's HTTP requests in Cap'n Proto: fixed words, pointers and short texts."""
    draw = random.Random(seed)
    words = [line.split(b'"')[1] for line in of_topic("access-log") if line.count(b'"') > 1]
    agents = [line.split(b'"')[-2] for line in of_topic("access-log") if line.count(b'"') > 4]
    zones = [(draw.randrange(1 << 40), draw.randbytes(16)) for _ in range(200)]
    found = []
    for number in range(count):
        zone, key = zones[min(int(draw.expovariate(0.05)), len(zones) - 1)]
        texts = (draw.choice(words), draw.choice(agents), b"%x" % draw.randrange(1 << 64))
        fixed = struct.pack(
            "<QQQQIIHHHBB16s16s", START + number, zone, draw.randrange(1 << 48), number, draw.randrange(1 << 20),
            draw.choice((0, 1200, 1500)), draw.choice((200, 200, 200, 304, 404)), draw.choice((80, 443)), 0, 1, 2, key,
            draw.randbytes(16),
        )  # fmt: skip
        sections = b"".join(struct.pack("<QQII", draw.choice((0, 1, 2)), 0, len(text), 0) for text in texts)
        counters = struct.pack("<100Q", *(draw.choice((0, 0, 0, 1, draw.randrange(1 << 20))) for _ in range(100)))
        found.append(fixed + sections + counters + b"".join(text + bytes(-len(text) % 8) for text in texts))
    return found


def shapes(place: Path) -> dict[str, Path]:
    """Write the three shapes of the codec tables: binary requests, JSON and log lines."""
    return {
        "binary requests": write_log(place / "requests-0", requests(4 * REQUESTS)),
        "JSON": write_log(place / "json-0", of_topic("access-json")),
        "log lines": write_log(place / "lines-0", of_topic("access-log")),
    }


def good(draw: random.Random) -> bytes:
    """RecordAccumulatorTest.bytesWithGoodCompression: 25 numbers below 1000 in 100 bytes."""
    return struct.pack(">25i", *(draw.randrange(1000) for _ in range(25)))


def poor(draw: random.Random) -> bytes:
    """RecordAccumulatorTest.bytesWithPoorCompression: 100 random bytes."""
    return draw.randbytes(100)


def mix(path: Path, percent: int, seed: int, records: int = 1000) -> Path:
    """Write records of which a share compresses well, as RecordAccumulatorTest.testSplitFrequency draws them."""
    draw = random.Random(seed)
    values = [(good if draw.randrange(100) < percent else poor)(draw) for _ in range(records)]
    return write_log(path, values)


def ratio_streams(place: Path) -> dict[str, Path]:
    """Write the streams on which the policies of KIP-126 are compared."""
    draw = random.Random(126)
    text, noise = of_topic("access-log"), [draw.randbytes(230) for _ in range(4000)]
    write_log(place / "steady" / "lines-0", text)
    write_log(place / "two topics" / "lines-0", text[:8000])
    write_log(place / "two topics" / "noise-0", noise[:2000], step_ms=4)
    write_log(place / "sudden change" / "lines-0", [*text[:6000], *noise])
    for number in range(50):
        values = [poor(draw) if number % 10 == 0 else good(draw) for _ in range(400)]
        write_log(place / "50 topics" / f"topic{number}-0", values)
    return {name: place / name for name in ("steady", "two topics", "sudden change", "50 topics")}


def small_batch(place: Path, values: Iterable[bytes]) -> Path:
    """Write values as one batch."""
    return write_log(place, list(values), batch_bytes=None)
