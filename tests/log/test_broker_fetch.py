"""Brokers of 3.9 and 4.3 are started on drawn logs and asked with every Fetch that they know: recordpress.broker.fetch
gives the same answers.

`make -f labs.mk broker` brings their jars and runs this; without them it is skipped.
"""

from __future__ import annotations

import base64
import random
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

import recordpress
from broker import JARS, ROOT, Broker
from drawn_logs import draw_batch, draw_log, draw_transactions, is_same_but_for_gzip
from fetch_client import Answer, Request, ask
from patience import HANG
from recordpress.broker import fetch

BROKERS = {"3.9": ROOT / "build/old-brokers/3.9.2", "4.3": JARS}
SETTINGS = {"zstd": {"compression.type": "zstd"}, "switched-off": {"message.downconversion.enable": "false"}}
LIMITS = (1 << 20, 1500, 300, 10, 0)
NEWEST = {"3.9": 17, "4.3": 18}
WITH_LEVELS = range(4, 19)
INT_MAX = 2**31 - 1

pytestmark = [
    pytest.mark.slow,
    pytest.mark.build,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # in modules of kafka-python
]


@dataclass(frozen=True)
class Topic:
    name: str
    segments: list[bytes]
    settings: dict[str, str]


def drawn_topics(broker: str) -> list[Topic]:
    """Logs of one or two segments; those of Kafka 4 have no older formats."""
    draw = random.Random(broker)
    found = [Topic(name, [draw_log(draw, 0)], settings) for name, settings in SETTINGS.items() if fits(broker, name)]
    found.append(Topic("markers-first", [written("marker", "marker", "v2", "v2")], {}))
    found.append(Topic("zstd-later", [written("v2") + zstd_batch(end_of(written("v2")))], {}))
    other = random.Random(broker)
    found += [Topic(f"transactions-{number}", draw_transactions(other), {}) for number in range(8)]
    while len(found) < 48:
        segments = [draw_log(draw, 0)]
        if draw.random() < 0.3:
            segments.append(draw_log(draw, end_of(segments[0])))
        found.append(Topic(f"drawn-{len(found)}", segments, {}))
    return found


def written(*kinds: str) -> bytes:
    """Batches of these kinds."""
    draw, log, offset = random.Random(1), b"", 0
    for kind in kinds:
        data, offset = draw_batch(draw, kind, offset, zstd=False)
        log += data
    return log


def zstd_batch(offset: int) -> bytes:
    """One of more than the 128 KiB that a filler has."""
    return recordpress.write_records([random.Random(1).randbytes(140_000)], base_offset=offset, compression_type="zstd")


def fits(broker: str, name: str) -> bool:
    return broker < "4" or name == "zstd"  # message.downconversion.enable is gone with KIP-724


def end_of(log: bytes) -> int:
    return [batch.last_offset for batch in recordpress.read_batches(log)][-1] + 1


@pytest.fixture(scope="module", params=BROKERS)
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Broker]]:
    version: str = request.param
    pytest.importorskip("kafka")
    if not any(BROKERS[version].glob("kafka_2.13-*.jar")):
        pytest.skip(f"no jars of a broker {version}: make -f labs.mk broker")
    broker = Broker(tmp_path_factory.mktemp("broker"), BROKERS[version])
    with broker:
        create(broker.address, drawn_topics(version))
    for topic in drawn_topics(version):
        place = broker.data / f"{topic.name}-0"
        for path in place.iterdir():
            if path.name != "partition.metadata":  # the new topic's id
                path.unlink()
        base = 0
        for segment in topic.segments:
            (place / f"{base:020}.log").write_bytes(segment)
            base = end_of(segment)
    with broker:
        wait_for_leaders(broker.port, drawn_topics(version))
        yield version, broker


def create(address: str, topics: list[Topic]) -> None:
    from kafka.admin import KafkaAdminClient, NewTopic

    admin = KafkaAdminClient(bootstrap_servers=address)
    admin.create_topics([NewTopic(topic.name, 1, 1, topic_configs=topic.settings) for topic in topics])
    admin.close()


def wait_for_leaders(port: int, topics: list[Topic]) -> None:
    """A broker answers UNKNOWN_TOPIC_OR_PARTITION or NOT_LEADER_OR_FOLLOWER until it knows what it has."""
    deadline = time.monotonic() + HANG
    for topic in topics:
        while ask(port, Request(topic.name, 0, 4, 0, 0)).error_code in (3, 6):
            assert time.monotonic() < deadline
            time.sleep(0.1)


# --- the same answers -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", range(19))
def test_a_broker_answers_the_same(served: tuple[str, Broker], version: int) -> None:
    broker_version, broker = served
    if version > NEWEST[broker_version]:
        pytest.skip(f"Fetch {version} is newer than the broker")
    draw = random.Random(version)
    seen: Counter[str] = Counter()
    for topic in drawn_topics(broker_version):
        end = end_of(topic.segments[-1])
        drawn = draw.choice((0, draw.randrange(end), draw.randrange(end), end, end + 1))
        for offset, limit, total in (
            (0, LIMITS[0], INT_MAX),
            (drawn, draw.choice(LIMITS), draw.choice((INT_MAX, INT_MAX, 400))),
        ):
            topic_id = id_of(broker, topic.name)
            sent = ask(broker.port, Request(topic.name, offset, version, limit, total, topic_id=topic_id))
            ours = fetch(topic.segments, offset, fetch_version=version, broker_version=broker_version,
                         topic_config=topic.settings, partition_max_bytes=limit, max_bytes=total)  # fmt: skip
            about = f"{topic.name} from {offset}, at most {limit} and {total} bytes: {ours}"
            assert sent.error_code == ours.error_code, about
            assert sent.high_watermark == ours.high_watermark, about
            assert version < 5 or sent.log_start_offset == ours.log_start_offset, about
            converted = ours.magic is not None
            log = b"".join(topic.segments) if converted else b""
            assert is_same_but_for_gzip(log, sent.records, ours.records), about
            seen.update(map(str, (*ours.reasons, *ours.findings)))
    assert_enough(broker_version, version, seen)


@pytest.mark.parametrize("version", WITH_LEVELS)
def test_a_broker_lists_the_same_transactions(served: tuple[str, Broker], version: int) -> None:
    broker_version, broker = served
    if version > NEWEST[broker_version]:
        pytest.skip(f"Fetch {version} is newer than the broker")
    draw, listed = random.Random(version), 0
    for topic in drawn_topics(broker_version):
        if not topic.name.startswith("transactions"):
            continue
        log, end = recordpress.open_log(broker.data / f"{topic.name}-0"), end_of(topic.segments[-1])
        for offset in (0, end, *(draw.randrange(end) for _ in range(12))):
            limit = draw.choice(LIMITS)
            topic_id = id_of(broker, topic.name)
            sent = ask(broker.port, Request(topic.name, offset, version, limit, INT_MAX, True, topic_id))
            ours = fetch(log, offset, fetch_version=version, broker_version=broker_version, partition_max_bytes=limit,
                         isolation_level="read_committed")  # fmt: skip
            expected = Answer(ours.error_code, ours.high_watermark, sent.log_start_offset, ours.records,
                              ours.last_stable_offset, ours.aborted_transactions)  # fmt: skip
            assert sent == expected, f"{topic.name} from {offset}, at most {limit} bytes"
            listed += len(sent.aborted_transactions or ())
    assert listed > 50


def id_of(broker: Broker, topic: str) -> bytes:
    text = (broker.data / f"{topic}-0" / "partition.metadata").read_text()
    return base64.urlsafe_b64decode(text.split()[-1] + "==")


def assert_enough(broker_version: str, version: int, seen: Counter[str]) -> None:
    """What such a request meets was met."""
    if broker_version < "4" and version < 4:
        assert {"DOWN_CONVERSION", "ZSTD_DOWN_CONVERSION", "RESPONSE_UNFINISHED", "overflow_filler"} <= seen.keys()
        assert {"DOWN_CONVERSION_DISABLED", "repeated_batches", "lost_fields", "cut_entry"} <= seen.keys()
    else:
        assert seen["DOWN_CONVERSION"] == 0 and (seen["FETCH_VERSION"] == 96) == (version < 4)
    if broker_version < "4" and version < 10:
        assert seen["ZSTD_FETCH_VERSION"]
