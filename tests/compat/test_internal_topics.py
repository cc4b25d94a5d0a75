"""What DumpLogSegments of Kafka 4.4.0 prints of drawn records of its internal topics, byte for byte.

`make -f labs.mk broker` brings its jars and runs this; without them it is skipped.
"""

from __future__ import annotations

import random
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import kafka_schemas
import pytest

import recordpress
from patience import HANG
from recordpress.log import DumpOptions, SegmentDump

JARS = Path(__file__).parents[2] / "build/broker-4.4"
JAVA = ["java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dstdout.encoding=UTF-8", "-Dfile.encoding=UTF-8"]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.build,
    pytest.mark.skipif(
        not any(JARS.glob("kafka-tools-4.*.jar")), reason="no jars of Kafka's tools: make -f labs.mk broker"
    ),
]

Decoder = Literal["offsets", "transaction-log", "share-group-state", "cluster-metadata"]
COORDINATORS: list[tuple[Decoder, str]] = [
    ("offsets", "kafka-group-coordinator"),
    ("transaction-log", "kafka-transaction-coordinator"),
    ("share-group-state", "kafka-share-coordinator"),
]
PER_VERSION = 40
CONSUMER = {"ConsumerProtocolSubscription": "subscription", "ConsumerProtocolAssignment": "assignment"}
Pair = tuple[bytes | None, bytes | None]


def tool_lines(log: Path, decoder: str, *more: str) -> list[bytes]:
    arguments = ["org.apache.kafka.tools.DumpLogSegments", "--files", str(log), f"--{decoder}-decoder", *more]
    command = [*JAVA, "-cp", f"{JARS}/*", *arguments]
    run = subprocess.run(command, capture_output=True, check=True, timeout=HANG)
    return [line for line in run.stdout.split(b"\n") if line.startswith(b"|")]


def own_lines(log: Path, decoder: Decoder, skip_record_metadata: bool = False) -> list[bytes]:
    [partition] = recordpress.open_log(log.parent).partitions
    options = DumpOptions(print_data_log=True, skip_record_metadata=skip_record_metadata, decoder=decoder)
    text = b"".join(SegmentDump(partition.segments[0], options))
    return [line for line in text.split(b"\n") if line.startswith(b"|")]


def compare(directory: Path, pairs: list[Pair], decoder: Decoder) -> None:
    log = directory / f"{0:020}.log"
    values, keys = [value for _, value in pairs], [key for key, _ in pairs]
    log.write_bytes(recordpress.write_records(values, keys, [5] * len(pairs)))
    expected = tool_lines(log, decoder)
    found = own_lines(log, decoder)
    assert len(found) == len(expected) == len(pairs)
    assert [(*pair, ours) for pair, ours in zip(pairs, found, strict=True)] == [
        (*pair, theirs) for pair, theirs in zip(pairs, expected, strict=True)
    ]


def coordinator_pairs(jar: str, draw: random.Random) -> Iterator[Pair]:
    kinds: dict[int, dict[str, kafka_schemas.Schema]] = {}
    for schema in kafka_schemas.schemas(JARS, jar):
        if schema["type"].startswith("coordinator-"):
            kinds.setdefault(schema["apiKey"], {})[schema["type"]] = schema
    assert kinds
    for kind, of in kinds.items():
        for version in kafka_schemas.versions_of(of["coordinator-value"]):
            for _ in range(PER_VERSION):
                key = kafka_schemas.Encoder(of["coordinator-key"], 0, draw).message
                value = kafka_schemas.Encoder(of["coordinator-value"], version, draw).message
                yield struct.pack(">h", kind) + key, struct.pack(">h", version) + value
        yield struct.pack(">h", kind) + key, None


def damaged(pairs: list[Pair], draw: random.Random) -> Iterator[Pair]:
    """Cut, with a byte changed, or of a kind or version that nobody has."""
    for key, value in pairs:
        parts = [key, value]
        which = draw.randrange(2)
        if (data := parts[which]) is None:
            continue
        at = draw.randrange(len(data))
        changed = data[:at] + bytes([draw.choice([0, 0x7F, 0x80, 0xFF, data[at] ^ 1])]) + data[at + 1 :]
        parts[which] = draw.choice([data[:at], changed, changed, data + b"?", b"\xff\xff" + data[2:]])
        yield parts[0], parts[1]


@pytest.mark.parametrize(("decoder", "jar"), COORDINATORS)
def test_records_of_coordinators(decoder: Decoder, jar: str, tmp_path: Path) -> None:
    pairs = list(coordinator_pairs(jar, random.Random(1)))
    compare(tmp_path, pairs, decoder)
    compare(tmp_path, list(damaged(pairs, random.Random(2))), decoder)
    log = tmp_path / f"{0:020}.log"
    assert own_lines(log, decoder, True) == tool_lines(log, decoder, "--skip-record-metadata")


def test_what_consumers_tell_their_group(tmp_path: Path) -> None:
    draw = random.Random(3)
    of = {schema["name"]: schema for schema in kafka_schemas.schemas(JARS, "kafka-clients")}

    def protocol(name: str) -> bytes:
        version = draw.choice([0, 1, 2, 3, 3, 4, -1])
        data = struct.pack(">h", version) + kafka_schemas.Encoder(of[name], max(version, 0), draw).message
        data = data[: draw.choice([len(data), len(data), draw.randrange(len(data) + 1)])]
        return struct.pack(">i", len(data)) + data

    def text(value: str) -> bytes:
        return struct.pack(">h", len(value)) + value.encode()

    pairs: list[Pair] = []
    for _ in range(400):
        member = text("m") + b"\xff\xff" + text("client") + text("/127.0.0.1") + struct.pack(">ii", 300, 10)
        member += protocol("ConsumerProtocolSubscription") + protocol("ConsumerProtocolAssignment")
        kind = draw.choice(["consumer", "consumer", "connect"])
        group = text(kind) + struct.pack(">i", 3) + text("range") + text("m") + struct.pack(">qi", 7, 1) + member
        pairs.append((b"\0\2" + text("g"), b"\0\3" + group))
    compare(tmp_path, pairs, "offsets")


def test_records_of_a_quorum(tmp_path: Path) -> None:
    draw = random.Random(4)
    pairs: list[Pair] = []
    for schema in kafka_schemas.schemas(JARS, "kafka-metadata"):
        if schema["type"] == "metadata":
            for version in kafka_schemas.versions_of(schema):
                head = kafka_schemas.varint(1) + kafka_schemas.varint(schema["apiKey"]) + kafka_schemas.varint(version)
                messages = (kafka_schemas.Encoder(schema, version, draw).message for _ in range(PER_VERSION))
                pairs += [(None, head + message) for message in messages]
    assert pairs
    compare(tmp_path, pairs, "cluster-metadata")
    values = [value or b"?" for _, value in pairs]
    cut = [value[: draw.randrange(len(value))] for value in values]
    places = [(value, draw.randrange(min(4, len(value)))) for value in values]
    changed = [value[:at] + b"\xff" + value[at + 1 :] for value, at in places]
    compare(tmp_path, [(None, value) for value in [*cut, *changed, b"", None]], "cluster-metadata")
