"""The sizes that `recordpress.analyze` names are those of the batches that Java's producer makes, and a broker keeps.

`make -f labs.mk broker` brings its jars and runs this; without them it is skipped. `SLICE=1` takes one set of lines.
"""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import recordpress
from patience import HANG

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tests" / "log"))

from broker import JARS, Broker

pytestmark = [
    pytest.mark.slow,
    pytest.mark.build,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # in modules of kafka-python
    pytest.mark.skipif(not any(JARS.glob("kafka_2.13-*.jar")), reason="no jars of a broker: make -f labs.mk broker"),
]

SETS = ("nginx-status", "access-log", "access-json")[: 1 if os.environ.get("SLICE") else None]
GRID = (("snappy", None), ("lz4", 9), ("gzip", 6), ("zstd", 3), ("zstd", 6))
BATCH_SIZES = (16384, 65536)
SENDER = Path(__file__).parent / "java" / "SendValues.java"


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with Broker(tmp_path_factory.mktemp("broker")) as running:
        yield running


def topics(name: str) -> dict[str, tuple[str, int | None, int]]:
    """Codec, level and batch.size of each topic."""
    return {
        f"{name}-{codec}-{level}-{batch_size}": (codec, level, batch_size)
        for codec, level in GRID
        for batch_size in BATCH_SIZES
    }


def settings(codec: str, level: int | None, batch_size: int) -> str:
    of_level = "" if level is None else f" compression.{codec}.level={level}"
    return f"compression.type={codec} batch.size={batch_size}{of_level}"


def send(broker: Broker, directory: Path, values: list[bytes], lines: list[str]) -> None:
    from kafka.admin import KafkaAdminClient, NewTopic

    admin = KafkaAdminClient(bootstrap_servers=broker.address)
    admin.create_topics([NewTopic(line.split()[0], 1, 1) for line in lines])
    admin.close()
    file = directory / "values"
    file.write_bytes(b"".join(struct.pack(">i", len(value)) + value for value in values))
    quiet = "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"
    command = ["java", quiet, "-cp", f"{JARS}/*", SENDER, broker.address, file]
    subprocess.run(command, input="\n".join(lines).encode(), check=True, timeout=HANG)


def bytes_per_record(path: Path, codec: str, depth: float) -> float:
    """What is named for batches some of which have one record more than the others."""
    least = int(depth)
    found = recordpress.analyze(path, codec, depths=[least, least + 1])
    of_batch = {cell.depth: cell.depth * cell.bytes_per_record for cell in found.cells}
    return (of_batch[least] + (depth - least) * (of_batch[least + 1] - of_batch[least])) / depth


@pytest.mark.parametrize("name", SETS)
def test_sizes_are_those_of_javas_producer(broker: Broker, name: str, tmp_path: Path) -> None:
    log = recordpress.open_log(str(ROOT / "demo" / "logs" / f"{name}-*"))
    values = log.read(["value"]).to_pyarrow()["value"].to_pylist()
    wanted = topics(name)
    one_by_one = f"{name}-single"
    lines = [f"{topic} {settings(*chosen)}" for topic, chosen in wanted.items()]
    send(broker, tmp_path, values, [f"{one_by_one} batch.size=0", *lines])
    wrong = []
    for topic, (codec, level, _) in wanted.items():
        made = recordpress.analyze(broker.data / f"{topic}-0", "none", depths=[1]).baseline
        grid = codec if level is None else f"{codec},{level}"
        named = bytes_per_record(broker.data / f"{one_by_one}-0", grid, made["mean_batch_records"])
        if named != pytest.approx(made["bytes_per_record"], rel=0.02):
            wrong.append(f"{topic}: {made['mean_batch_records']} records a batch, {named} {made['bytes_per_record']}")
    assert wrong == []
