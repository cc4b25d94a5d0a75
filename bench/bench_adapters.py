"""Record classes of a client and of its adapter, in aiokafka's record benchmark (batches of 100 records, keys of 6 and
values of 60 bytes, random as in aiokafka or words that compress) and through a broker."""

import asyncio
import contextlib
import random
import sys
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.producer.message_accumulator import BatchBuilder
from aiokafka.record.default_records import DefaultRecordBatchBuilder
from aiokafka.record.memory_records import MemoryRecords
from kafka.record.memory_records import MemoryRecords as KafkaPythonRecords, MemoryRecordsBuilder

import recordpress.adapters.aiokafka as under_aiokafka
import recordpress.adapters.kafka_python as under_kafka_python
from bench.answers import equal
from bench.corpus import CODECS
from bench.race import Cell, Contender

RECORDS = 100
LIMIT = 1600 * 1024
TIME = 1505824130000
RANDOM = random.Random(5)
WORDS = [RANDOM.randbytes(6) for _ in range(64)]
ROWS = [(RANDOM.randbytes(6), b"".join(RANDOM.choices(WORDS, k=10))) for _ in range(RECORDS)]
RANDOM_ROWS = [(RANDOM.randbytes(6), RANDOM.randbytes(60)) for _ in range(RECORDS)]
SIZE = RECORDS * 66
codecs = pytest.mark.parametrize("codec", CODECS)
values = pytest.mark.parametrize(
    ("rows", "values"), [(ROWS, "words"), (RANDOM_ROWS, "random values")], ids=["words", "random"]
)


def _build(builder, codec, rows=ROWS):
    def build():
        batch = builder(batch_size=LIMIT, compression_type=CODECS.index(codec))
        for key, value in rows:
            batch.append(timestamp=TIME, key=key, value=value)
        return batch._build()

    return build


def _build_by_hand(builder, codec):
    """The class inside of aiokafka's BatchBuilder, called by itself."""

    def build():
        batch = builder(
            magic=2,
            compression_type=CODECS.index(codec),
            is_transactional=0,
            producer_id=-1,
            producer_epoch=-1,
            base_sequence=-1,
            batch_size=LIMIT,
        )
        for offset, (key, value) in enumerate(ROWS):
            batch.append(offset, timestamp=TIME, key=key, value=value, headers=[])
        return batch.build()

    return build


def _build_kafka_python(builder, codec):
    def build():
        batch = builder(2, CODECS.index(codec), LIMIT)
        for key, value in ROWS:
            batch.append(TIME, key, value)
        batch.close()
        return batch.buffer()

    return build


def _read(memory_records, data):
    def read():
        records, values = memory_records(data), []
        while records.has_next():
            batch = records.next_batch()
            assert batch.validate_crc()
            for record in batch:
                values.append(record.value)
        return values

    return read


def _contender(name, call, answer, rounds, rows):
    return Contender(name, call, lambda: equal(answer(call()), [value for _, value in rows], name), rounds=rounds)


def _values(data):
    return _read(MemoryRecords, bytes(data))()


def _race(race, operation, codec, ours, theirs, answer, rounds=7, rows=ROWS, values="words"):
    race(
        Cell(operation, values, codec, RECORDS, SIZE),
        _contender("recordpress", ours, answer, 7, rows),
        _contender("client", theirs, answer, rounds, rows),
    )


@codecs
@values
def bench_build_under_aiokafka(race, codec, rows, values):
    _race(
        race,
        "build under aiokafka",
        codec,
        _build(under_aiokafka.BatchBuilder, codec, rows),
        _build(BatchBuilder, codec, rows),
        _values,
        rows=rows,
        values=values,
    )


@codecs
def bench_build_by_hand_under_aiokafka(race, codec):
    _race(
        race,
        "build by hand",
        codec,
        _build_by_hand(under_aiokafka.DefaultRecordBatchBuilder, codec),
        _build_by_hand(DefaultRecordBatchBuilder, codec),
        _values,
    )


@codecs
@values
def bench_iterate_under_aiokafka(race, codec, rows, values):
    data = bytes(_build(BatchBuilder, codec, rows)())
    _race(
        race,
        "iterate under aiokafka",
        codec,
        _read(under_aiokafka.MemoryRecords, data),
        _read(MemoryRecords, data),
        list,
        rows=rows,
        values=values,
    )


@codecs
def bench_build_under_kafka_python(race, codec):
    _race(
        race,
        "build under kafka-python",
        codec,
        _build_kafka_python(under_kafka_python.MemoryRecordsBuilder, codec),
        _build_kafka_python(MemoryRecordsBuilder, codec),
        _values,
        rounds=3,
    )


@codecs
def bench_iterate_under_kafka_python(race, codec):
    data = bytes(_build(BatchBuilder, codec)())
    _race(
        race,
        "iterate under kafka-python",
        codec,
        _read(under_kafka_python.MemoryRecords, data),
        _read(KafkaPythonRecords, data),
        list,
        rounds=3,
    )


# --- through a broker: the CPU time of the client, whose event loop is in this thread; and the wall time, in which the
# --- broker and the timers of producer and consumer count too, so that it takes many rounds to say anything -----------

SENT = [row for _ in range(200) for row in ROWS]


@pytest.fixture(scope="module")
def broker(tmp_path_factory):
    sys.path.append(str(Path(__file__).parents[1] / "tests" / "log"))
    from kafka.admin import KafkaAdminClient, NewTopic

    from broker import JARS, Broker

    if not any(JARS.glob("kafka_2.13-*.jar")):
        pytest.skip("no jars of a broker: make -f labs.mk broker")
    with Broker(tmp_path_factory.mktemp("broker")) as running:
        admin = KafkaAdminClient(bootstrap_servers=running.address)
        admin.create_topics([NewTopic(codec, 1, 1) for codec in CODECS])
        admin.close()
        yield running


async def _there_and_back(address, codec):
    """Send all rows and fetch them again; the values that came back."""
    compression = None if codec == "none" else codec
    producer = AIOKafkaProducer(bootstrap_servers=address, compression_type=compression, linger_ms=2)
    consumer = AIOKafkaConsumer(bootstrap_servers=address)
    await producer.start()
    await consumer.start()
    try:
        sent = [await producer.send(codec, value, key=key, partition=0) for key, value in SENT]
        partition = TopicPartition(codec, 0)
        consumer.assign([partition])
        consumer.seek(partition, (await sent[0]).offset)
        await sent[-1]
        values = []
        while len(values) < len(SENT):
            values += [row.value for row in (await consumer.getmany(timeout_ms=1000)).get(partition, [])]
        return values
    finally:
        await consumer.stop()
        await producer.stop()


def _race_through(broker, codec, operation, race):
    def contender(name, context):
        def call():
            with context():
                return asyncio.run(_there_and_back(broker.address, codec))

        return Contender(name, call, lambda: equal(call(), [value for _, value in SENT], name), rounds=21)

    race(
        Cell(operation, "there and back", codec, len(SENT), 66 * len(SENT)),
        contender("recordpress", under_aiokafka.installed),
        contender("client", contextlib.nullcontext),
    )


@codecs
def bench_through_a_broker(race, broker, codec):
    _race_through(broker, codec, "aiokafka through a broker", race)


@codecs
def bench_through_a_broker_by_the_wall(race_by_the_wall, broker, codec):
    _race_through(broker, codec, "aiokafka through a broker, wall", race_by_the_wall)
