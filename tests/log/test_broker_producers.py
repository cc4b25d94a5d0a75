"""Brokers go on with copies whose batches were joined: they serve every record, and know the producers as before.

Producers of Kafka 3.9 and 4.3 write to brokers of both, which roll and clean the logs. The copies go to brokers of 3.9,
4.3 and 4.4, after a clean stop or with nothing but segments to recover from. `make -f labs.mk broker` brings the jars
and runs this; without them it is skipped. `SLICE=1` takes one pair and one start.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import recordpress
from broker import JARS, ROOT, Broker
from patience import HANG
from recordpress.log import scan

sys.path.append(str(Path(__file__).parents[1] / "broker" / "old"))

from produce_client import Client

BROKERS = {"3.9": ROOT / "build/old-brokers/3.9.2", "4.3": JARS, "4.4": ROOT / "build/broker-4.4"}
pytestmark = [
    pytest.mark.slow,
    pytest.mark.build,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # in modules of kafka-python
    pytest.mark.skipif(
        not all(any(jars.glob("kafka_2.13-*.jar")) for jars in BROKERS.values()),
        reason="no jars of the brokers: make -f labs.mk broker",
    ),
]

SLICE = bool(os.environ.get("SLICE"))
WRITTEN = [("4.3", "3.9"), ("3.9", "3.9"), ("4.3", "4.3"), ("3.9", "4.3")][: 1 if SLICE else None]  # broker, producers
STARTS = [("4.4", "recovery"), ("4.3", "clean"), ("3.9", "recovery"), ("3.9", "clean"), ("4.3", "recovery"),
          ("4.4", "clean")][: 1 if SLICE else None]  # fmt: skip
TOPICS = {  # producers, batches of each, codec
    "one": (1, 60, "lz4"),
    "one.times": (1, 60, "none"),
    "two": (2, 40, "gzip"),
    "eight": (8, 16, "snappy"),
    "eight.times": (8, 16, "zstd"),
    "many": (64, 8, "all"),
    "two.compact": (2, 60, "zstd"),
    "eight.compact": (8, 20, "lz4"),
}
RECORDS = 8  # in a batch
DAY = 86_400_000
OUT_OF_ORDER_SEQUENCE_NUMBER = 45
MODES = ("as-it-is", "keep", "settle", "expired")
Lines = list[str]


def settings_of(topic: str) -> dict[str, str]:
    settings = {"segment.ms": "600"}
    if topic.endswith("times"):
        settings["message.timestamp.type"] = "LogAppendTime"
    if topic.endswith("compact"):
        settings |= {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01"}
    return settings


def create_topics(address: str, topics: dict[str, dict[str, str]]) -> None:
    from kafka.admin import KafkaAdminClient, NewTopic

    admin = KafkaAdminClient(bootstrap_servers=address)
    admin.create_topics([NewTopic(name, 1, 1, topic_configs=settings) for name, settings in topics.items()])
    admin.close()


def clients(version: str, *arguments: str) -> str:
    java = ["java", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
    java += ["-Dorg.slf4j.simpleLogger.defaultLogLevel=error", "-cp", f"{BROKERS[version]}/*"]
    source = str(Path(__file__).parent / "kafka" / "Clients.java")
    return subprocess.run(
        [*java, source, *arguments], check=True, stdout=subprocess.PIPE, text=True, timeout=HANG
    ).stdout


def consumed(version: str, address: str, level: str, topics: list[str]) -> dict[str, Lines]:
    """What Kafka's own consumer gets of each topic, and the end that it sees; without the topics' names."""
    found: dict[str, Lines] = defaultdict(list)
    for line in clients(version, "read", address, level, *topics).splitlines():
        topic, _, rest = line.partition("\t")
        found[topic].append(rest)
    return found


class Written(NamedTuple):
    """A topic as a broker left it, and what a consumer got of it."""

    directory: Path
    committed: Lines
    uncommitted: Lines


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Written]:
    pytest.importorskip("kafka")
    found = {}
    for version in dict.fromkeys(broker for broker, _ in WRITTEN):
        root = tmp_path_factory.mktemp("written")
        topics = {f"{name}.{client}": spec for broker, client in WRITTEN if broker == version
                  for name, spec in TOPICS.items()}  # fmt: skip
        with Broker(root, BROKERS[version], settings="log.cleaner.backoff.ms=200\n") as broker:
            create_topics(broker.address, {name: settings_of(name.removesuffix(name[-4:])) for name in topics})
            for client in dict.fromkeys(name[-3:] for name in topics):
                specs = [":".join(map(str, (name, *spec))) for name, spec in topics.items() if name.endswith(client)]
                clients(client, "write", broker.address, *specs)
            wait_for_cleaner(broker, [name for name in topics if ".compact" in name])
            seen = [consumed(version, broker.address, level, list(topics))
                    for level in ("read_committed", "read_uncommitted")]  # fmt: skip
        for name in topics:
            directory = broker.data / f"{name}-0"
            found[f"{name}.{version}"] = Written(directory, seen[0][name], seen[1][name])
    return found


def wait_for_cleaner(broker: Broker, topics: list[str]) -> None:
    deadline = time.monotonic() + HANG
    checkpoint = broker.data / "cleaner-offset-checkpoint"
    while not checkpoint.exists() or not all(f"{name} 0 " in checkpoint.read_text() for name in topics):
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.fixture(scope="module")
def copies(written: dict[str, Written], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Each topic as it is, and by each mode."""
    root, found = tmp_path_factory.mktemp("copies"), {}
    options: dict[str, dict[str, Any]] = {
        "keep": {},
        "settle": {"producers": "settle"},
        "expired": {"producers": "settle", "now_ms": int(time.time() * 1000) + 2 * DAY},
    }
    for number, (name, one) in enumerate(written.items()):
        codec = ("zstd", "none", "lz4", "gzip", "snappy")[number % 5]
        found[f"as-it-is.{name}"] = one.directory
        for mode, given in options.items():
            copy = found[f"{mode}.{name}"] = root / f"{mode}.{name}-0"
            recordpress.transcode(one.directory, copy, codec, batch_records=1000, min_gain=None, **given)
    return found


def parsed(directory: Path) -> Lines:
    """What recordpress reads without regard to transactions."""
    return [
        "\t".join([
            str(record.offset), str(record.timestamp), ("CreateTime", "LogAppendTime")[record.timestamp_type],
            *(text(field) for field in (record.key, record.value)),
            *(f"{name}={text(value)}" for name, value in record.headers),
        ])
        for path in sorted(directory.glob("*.log"))
        for batch in recordpress.read_batches(path.read_bytes())
        if not batch.is_control
        for record in batch
    ]  # fmt: skip


def text(value: Any) -> str:
    return "null" if value is None else bytes(value).decode()


def batches_of(directory: Path) -> list[Any]:
    return list(recordpress.open_log(directory).batches())


def headers(directory: Path) -> list[Any]:
    return [batch.header for batch in batches_of(directory)]


def test_the_logs_are_what_they_should_be(written: dict[str, Written], copies: dict[str, Path]) -> None:
    """Of many producers and codecs, with aborts, tombstones and gaps of a cleaner; and the copies are deep."""
    seen: Counter[str] = Counter()
    for name, one in written.items():
        before = headers(one.directory)
        seen.update(f"codec {batch.compression_type}" for batch in batches_of(one.directory))
        seen["producers"] = max(seen["producers"], len({header.producer_id for header in before}))
        seen["aborted"] += one.committed != one.uncommitted
        seen["tombstones"] += sum("\tnull\th=" in line for line in one.uncommitted)
        seen["cleaned"] += len(one.uncommitted) < sum(h.last_offset_delta + 1 for h in before if not h.is_control)
        seen["append time"] += sum(header.timestamp_type == 1 for header in before)
        seen["segments"] += len(list(one.directory.glob("*.log")))
        assert parsed(one.directory) == one.uncommitted[:-1]
        producers = TOPICS[name[:-8]][0]
        for mode in MODES[1:]:
            after = headers(copies[f"{mode}.{name}"])
            assert after[-1].next_offset == before[-1].next_offset
            if name.split(".")[1] not in ("times", "compact") and (
                mode == "expired" or (producers == 1 and mode == "keep")
            ):
                assert len(after) < 0.3 * len(before), (mode, name)
        if "compact" not in name:
            assert (
                sum(h.producer_id >= 0 and not h.is_control for h in headers(copies[f"settle.{name}"])) <= 5 * producers
            )
    print(f"\n{len(written)} topics: {dict(seen)}")
    assert seen["producers"] == 64 and seen["aborted"] >= len(written) // 2 and seen["tombstones"] > 500
    assert seen["cleaned"] == len(written) // 4 and seen["append time"] > 100 and seen["segments"] > len(written)
    assert all(seen[f"codec {codec}"] for codec in ("none", "gzip", "snappy", "lz4", "zstd"))


class Served(NamedTuple):
    broker: Broker
    version: str


@pytest.fixture(scope="module", params=STARTS, ids="-".join)
def served(
    request: pytest.FixtureRequest, copies: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    """A broker that was started on the copies."""
    version, start = request.param
    broker = Broker(tmp_path_factory.mktemp("served"), BROKERS[version])
    with broker:
        create_topics(broker.address, {name: {} for name in copies})
    for name, copy in copies.items():
        place = broker.data / f"{name}-0"
        for path in place.iterdir():
            if path.name != "partition.metadata":  # the new topic's id
                path.unlink()
        for path in copy.iterdir():
            if path.name != "partition.metadata" and (start == "clean" or path.suffix == ".log"):
                shutil.copy(path, place)
    if start == "recovery":
        (broker.data / ".kafka_cleanshutdown").unlink()
        (broker.data / "recovery-point-offset-checkpoint").write_text("0\n0\n")
    with broker:
        yield Served(broker, version)
    shutil.rmtree(broker.data)


def test_a_broker_goes_on(served: Served, written: dict[str, Written], copies: dict[str, Path]) -> None:
    broker, version = served
    levels = ("read_committed", "read_uncommitted")
    committed, uncommitted = (consumed(version, broker.address, level, list(copies)) for level in levels)
    for name, copy in copies.items():
        mode, _, topic = name.partition(".")
        one = written[topic]
        assert committed[name] == one.committed, name
        assert uncommitted[name][:-1] == parsed(copy), name
        assert uncommitted[name][-1] == one.uncommitted[-1], name
        if mode == "expired":
            assert uncommitted[name] == one.committed, name
        elif mode == "settle":
            assert set(one.committed) <= set(uncommitted[name]) <= set(one.uncommitted), name
        else:
            assert uncommitted[name] == one.uncommitted, name
    answers = {}
    for name in copies:
        mode, _, topic = name.partition(".")
        with Client(broker.port) as client:
            answers[name] = go_on(client, name, headers(written[topic].directory), is_known=mode != "expired")
    for topic in written:
        assert answers[f"as-it-is.{topic}"] == answers[f"keep.{topic}"] == answers[f"settle.{topic}"], topic
    again = consumed(version, broker.address, "read_committed", list(copies))
    for name, (appended, _) in answers.items():
        rows, end = again[name][:-1], again[name][-1]
        assert rows[: len(committed[name]) - 1] == committed[name][:-1], name
        assert len(rows) == len(committed[name]) - 1 + appended * RECORDS, name
        assert end == f"end\t{int(committed[name][-1].split()[1]) + appended * RECORDS}", name
    assert [finding for name in copies for finding in scan(broker.data / f"{name}-0").findings] == []
    counts = len(copies), sum(map(len, again.values())), sum(appended for appended, _ in answers.values())
    print("\n{}: {} logs, {} records, {} appends".format(version, *counts))


def go_on(client: Client, topic: str, before: list[Any], is_known: bool) -> tuple[int, list[Any]]:
    """Each idempotent producer repeats batches and goes on; return how many were appended, and what was answered."""
    last: dict[int, list[Any]] = defaultdict(list)
    for header in before:
        if not header.is_transactional:
            last[header.producer_id].append(header)
    end, answers = before[-1].next_offset, []
    for appended, own in enumerate(last.values()):
        if not is_known:
            assert send(client, topic, own[-1], 0) == (0, end + appended * RECORDS), topic
            continue
        for _ in range(2):  # it stays a duplicate
            assert send(client, topic, own[-1], own[-1].base_sequence) == (0, own[-1].base_offset), topic
        after = own[-1].last_sequence + 1
        assert send(client, topic, own[-1], after + RECORDS)[0] == OUT_OF_ORDER_SEQUENCE_NUMBER
        answers += [send(client, topic, own[-1], header.base_sequence) for header in own[-7:]]
        assert send(client, topic, own[-1], after) == (0, end + appended * RECORDS), topic
    return len(last), answers


def send(client: Client, topic: str, header: Any, sequence: int) -> tuple[int | None, int]:
    """Send a batch of this producer; return error and offset."""
    records = recordpress.write_records(
        [b"again"] * RECORDS, timestamps=int(time.time() * 1000), producer_id=header.producer_id,
        producer_epoch=header.producer_epoch, base_sequence=sequence,
    )  # fmt: skip
    answer = client.produce(topic, records, 7)
    return answer.error, answer.base_offset
