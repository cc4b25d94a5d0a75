"""A broker goes on with copies whose batches were joined: it serves every record, and knows the producers as before.

`make -f labs.mk broker` brings its jars and runs this; without them it is skipped.
"""

from __future__ import annotations

import shutil
import socket
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_broker import consumed, create_topics

import recordpress
from broker import JARS, Broker
from recordpress.log import scan

pytestmark = [
    pytest.mark.slow,
    pytest.mark.build,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # in modules of kafka-python
    pytest.mark.skipif(not any(JARS.glob("kafka_2.13-*.jar")), reason="no jars of a broker: make -f labs.mk broker"),
]

TOPIC, RECORDS = "deep", 8
FIRST = 1000  # producer id
DAY = 86_400_000


def text(value: str) -> bytes:
    return struct.pack(">h", len(value)) + value.encode()


def produce(port: int, records: bytes) -> tuple[int, int]:
    """Send a record set by Produce 7; return error code and base offset."""
    request = struct.pack(">hhi", 0, 7, 1) + text("test") + struct.pack(">hhi", -1, -1, 30_000)
    request += struct.pack(">i", 1) + text(TOPIC) + struct.pack(">iii", 1, 0, len(records)) + records
    with socket.create_connection(("127.0.0.1", port), 30) as connection, connection.makefile("rb") as answers:
        connection.sendall(struct.pack(">i", len(request)) + request)
        [size] = struct.unpack(">i", answers.read(4))
        answer = answers.read(size)
    at = 4 + 4 + 2 + len(TOPIC) + 4 + 4
    error, base_offset = struct.unpack_from(">hq", answer, at)
    return error, base_offset


def batch(producer: int, sequence: int) -> bytes:
    values = [b"%d %d a line that compresses" % (producer, sequence + n) for n in range(RECORDS)]
    return recordpress.write_records(
        [*values[:-1], None],  # with a tombstone
        keys=[b"key"] * RECORDS,
        headers=[[("h", b"%d" % n)] for n in range(RECORDS)],
        timestamps=int(time.time() * 1000),
        compression_type=("none", "gzip", "snappy", "lz4", "zstd")[producer % 5],
        producer_id=FIRST + producer,
        producer_epoch=0,
        base_sequence=sequence,
    )


def write(broker: Broker, producers: int) -> None:
    from kafka import KafkaProducer

    transactional = KafkaProducer(bootstrap_servers=broker.address, transactional_id="t", acks="all")
    transactional.init_transactions()
    for number in range(200):
        error, _ = produce(broker.port, batch(number % producers, number // producers * RECORDS))
        assert error == 0
        if number % 25 == 0:
            transactional.begin_transaction()
            for n in range(5):
                transactional.send(TOPIC, b"in transaction %d %d" % (number, n), key=b"t", partition=0)
                transactional.flush()
            transactional.commit_transaction() if number % 50 else transactional.abort_transaction()
    transactional.close()


def expired() -> dict[str, Any]:
    return {"producers": "settle", "as_of": int(time.time() * 1000) + 2 * DAY}


@pytest.mark.parametrize("is_clean", [True, False])
@pytest.mark.parametrize("producers", [1, 8])
@pytest.mark.parametrize("options", [dict, lambda: {"producers": "settle"}, expired], ids=["keep", "settle", "expired"])
def test_a_broker_goes_on(options: Callable[[], Any], producers: int, is_clean: bool, tmp_path: Path) -> None:
    pytest.importorskip("kafka")
    broker, copy = Broker(tmp_path), tmp_path / "copy" / f"{TOPIC}-0"
    with broker:
        create_topics(broker.address, [TOPIC])
        write(broker, producers)
        committed = consumed(broker.address, TOPIC, "read_committed")
    place = broker.data / f"{TOPIC}-0"
    before = [batch.header for batch in recordpress.open_log(place).batches()]
    given = options()
    recordpress.transcode(place, copy, "zstd", batch_records=1000, **given)
    after = [batch.header for batch in recordpress.open_log(copy).batches()]
    assert after[-1].next_offset == before[-1].next_offset
    assert len(after) < (0.3 if given or producers == 1 else 1) * len(before)
    shutil.rmtree(place)
    shutil.copytree(copy, place)
    if not is_clean:
        (broker.data / ".kafka_cleanshutdown").unlink()
        (broker.data / "recovery-point-offset-checkpoint").write_text("0\n0\n")
        for path in [*place.glob("*.index"), *place.glob("*.timeindex"), *place.glob("*.snapshot")]:
            path.unlink()
    with broker:
        assert consumed(broker.address, TOPIC, "read_committed") == committed
        end = before[-1].next_offset
        sequence = (200 // producers - 1) * RECORDS
        last = [one for one in before if one.producer_id == FIRST][-1]
        if given.get("as_of") is None:
            for _ in range(2):  # its retry is a duplicate, and stays one
                assert produce(broker.port, batch(0, sequence)) == (0, last.base_offset)
            gap, _ = produce(broker.port, batch(0, sequence + 2 * RECORDS))
            assert gap == 45
            assert produce(broker.port, batch(0, sequence + RECORDS)) == (0, end)
        else:
            assert produce(broker.port, batch(0, 0)) == (0, end)
        assert consumed(broker.address, TOPIC, "read_committed")[:-RECORDS] == committed
    assert scan(place).findings == []
