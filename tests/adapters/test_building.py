"""Drawn records into the builders of each client and of its adapter: the same answers and sizes; uncompressed, the same
bytes."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from clients import AIOKAFKA, CLIENTS, CODECS, HAS_BATCH_BUILDER, KAFKA_PYTHON, Client, read
from hypothesis import given, settings, strategies as st

import recordpress
import strategies
from together import draws

clients = pytest.mark.parametrize("client", CLIENTS, ids=str)
few = settings(max_examples=draws(settings().max_examples))  # for each codec

short = st.binary(max_size=20)
keys = st.none() | short | short.map(bytearray) | short.map(memoryview)
fields = st.tuples(st.integers(0, 2**62), keys, strategies.payloads, strategies.headers)
rows = st.lists(fields, min_size=1, max_size=12)
limits = st.sampled_from([0, 1, 100, 200, 1000, 100_000])
producers = st.sampled_from([(0, -1, -1, -1), (0, 5, 0, 2**31 - 1), (1, 2**40, 3, 7)])


def v2(source: Any, codec: int, producer: tuple[int, int, int, int], limit: int) -> Any:
    return source.DefaultRecordBatchBuilder(2, codec, *producer, limit)


def meta(metadata: Any) -> Any:
    return metadata and (metadata.offset, metadata.size, metadata.timestamp, metadata.crc, repr(metadata))


@pytest.mark.parametrize("codec", range(5), ids=CODECS)
@few
@given(drawn=rows, limit=limits, producer=producers)
def test_v2(codec: int, drawn: Any, limit: int, producer: Any) -> None:
    for client in CLIENTS:
        build_v2(client, codec, drawn, limit, producer)


def build_v2(client: Client, codec: int, drawn: Any, limit: int, producer: Any) -> None:
    theirs, ours = v2(client.default, codec, producer, limit), v2(client.adapter, codec, producer, limit)
    for offset, (time, key, value, headers) in enumerate(drawn):
        if client is AIOKAFKA:
            sizes = [b.size_in_bytes(offset, time, key, value, headers) for b in (theirs, ours)]
        else:
            sizes = [b.size_in_bytes(offset, 5, key, value, headers) for b in (theirs, ours)]
        sizes += [b.estimate_size_in_bytes(key, value, headers) for b in (theirs, ours)]
        sizes += [b.size_of(key, value, headers) for b in (theirs, ours)]
        assert sizes[0::2] == sizes[1::2]
        answers = [meta(b.append(offset, time, key, value, headers)) for b in (theirs, ours)]
        assert answers[0] == answers[1]
        assert theirs.size() == ours.size()
    assert (theirs.producer_id, theirs.producer_epoch, theirs.base_sequence) == producer[1:]
    assert (ours.producer_id, ours.producer_epoch, ours.base_sequence) == producer[1:]
    compare(client, bytes(theirs.build()), ours.build(), codec)
    assert ours.build() is ours.build(), "built once"
    assert ours.append(99, 0, None, b"late", []) is None


def compare(client: Client, theirs: bytes, ours: bytearray, codec: int) -> None:
    """The client reads the same records from both. The compressed bytes and the leader epoch are recordpress's."""
    assert type(ours) is bytearray
    decoded = [read(client.memory.MemoryRecords, data) for data in (theirs, bytes(ours))]
    same = [[[row[:7] for row in part] if part and isinstance(part[0], list) else None for part in one[3::3]]
            for one in decoded]  # fmt: skip
    assert same[0] == same[1]
    assert decoded[1][1] is True, "the checksum is right"
    if codec == 0:
        epoch = slice(12, 16) if ours[16] == 2 and client is KAFKA_PYTHON else slice(0, 0)
        for data in (theirs, bytes(ours)):
            assert data[epoch] in (b"", bytes(4), b"\xff" * 4)
        assert theirs[: epoch.start] + theirs[epoch.stop :] == bytes(ours[: epoch.start] + ours[epoch.stop :])


@pytest.mark.parametrize(("magic", "codec"), [(m, c) for m in (0, 1) for c in range(4) if (m, c) != (0, 3)])
@few
@given(drawn=rows, limit=limits)
def test_v0_and_v1(magic: int, codec: int, drawn: Any, limit: int) -> None:
    for client in CLIENTS:
        build_legacy(client, magic, codec, drawn, limit)


def build_legacy(client: Client, magic: int, codec: int, drawn: Any, limit: int) -> None:
    theirs = client.legacy.LegacyRecordBatchBuilder(magic, codec, limit)
    ours = client.adapter.LegacyRecordBatchBuilder(magic, codec, limit)
    for offset, (time, key, value, _) in enumerate(drawn):
        answers = [meta(builder.append(offset, time, key, value)) for builder in (theirs, ours)]
        assert answers[0] == answers[1]
        assert theirs.size() == ours.size()
        assert theirs.size_in_bytes(offset, time, key, value) == ours.size_in_bytes(offset, time, key, value)
    for overhead in (0, 1):
        assert theirs.record_overhead(overhead) == ours.record_overhead(overhead)
    if client is KAFKA_PYTHON:
        estimates = [b.estimate_size_in_bytes(magic, codec, b"key", None) for b in (theirs, ours)]
        assert estimates[0] == estimates[1]
    built = bytes(theirs.build()), ours.build()
    if codec:  # the wrapper of a client has offset 0: read the records inside of both
        batches = [client.legacy.LegacyRecordBatch(bytes(data), magic) for data in built]
        rows_of = [[(r.timestamp, r.key, r.value, r.checksum) for r in batch] for batch in batches]
        assert rows_of[0] == rows_of[1]
    else:
        compare(client, *built, codec)


def same_answers(calls: list[Any]) -> None:
    """Two calls of the same: both give equal values or raise errors of which ours is theirs or a subclass."""
    outcomes = []
    for call in calls:
        try:
            outcomes.append(call())
        except Exception as error:
            outcomes.append(type(error))
    theirs, ours = outcomes
    if isinstance(theirs, type):
        assert isinstance(ours, type) and issubclass(ours, theirs), outcomes
    else:
        assert ours == theirs


WRONG = [
    ("0", 1, None, b"", []), (None, 1, None, b"", []), (0, "1", None, b"", []), (0, 1j, None, b"", []),
    (0, 1, "key", b"", []), (0, 1, None, "value", []), (0, 1, 5, b"", []), (0, 1, None, b"", None),
    (0, 1, None, b"", [("k", "v")]), (0, 1, None, b"", [(b"k", b"v")]), (0, 1, None, b"", [("k",)]),
    (0, 1, None, b"", [(None, b"v")]), (0, 2**63, None, b"", []), (2**63, 1, None, b"", []),
]  # fmt: skip


@clients
@pytest.mark.parametrize("row", WRONG, ids=repr)
def test_wrong_arguments(client: Client, row: Any) -> None:
    others = WRONG[10:12] if client is AIOKAFKA else WRONG[8:]
    if row in others:  # other errors in the client, or none and a broken batch
        ours = v2(client.adapter, 0, (0, -1, -1, -1), 1000)
        with pytest.raises((TypeError, OverflowError)):
            ours.append(*row)
        return
    builders = [v2(source, 0, (0, -1, -1, -1), 1000) for source in (client.default, client.adapter)]
    sizes = [builder.size() for builder in builders]
    same_answers([lambda b=b: meta(b.append(*row)) for b in builders])
    assert [builder.size() for builder in builders] == sizes, "nothing was written"


@clients
def test_a_codec_that_is_none(client: Client) -> None:
    for codec in (5, 6, 7):
        calls = []
        for source in (client.default, client.adapter):
            builder = v2(source, codec, (0, -1, -1, -1), 1000)
            builder.append(0, 1, None, b"v", [])
            calls.append(builder.build)
        same_answers(calls)
    ours = client.adapter.LegacyRecordBatchBuilder(1, 4, 1000)
    ours.append(0, 1, None, b"v")
    with pytest.raises(client.default.UnsupportedCodecError):
        ours.build()


@clients
def test_calls_from_inside_of_an_append(client: Client) -> None:
    """A header that appends, or builds, while it is being read."""
    builder = v2(client.adapter, 4, (0, -1, -1, -1), 100_000)

    class Evil:
        def __iter__(self) -> Any:
            for call in (lambda: builder.append(0, 1, None, b"in", [("a", b"b")]), builder.build):
                with pytest.raises((RuntimeError, TypeError)) as caught:
                    call()
                assert isinstance(caught.value, recordpress.InUseError)
            return iter([("k", b"v")])

        def __len__(self) -> int:
            return 1

    if client is AIOKAFKA:
        with pytest.raises(TypeError):
            builder.append(0, 1, None, b"out", Evil())
        return
    assert builder.append(0, 1, None, b"out", Evil()) is not None
    [batch] = recordpress.read_batches(bytes(builder.build()))
    assert [(record.value, record.headers) for record in batch] == [(b"out", [("k", b"v")])]


@pytest.mark.skipif(not HAS_BATCH_BUILDER, reason="aiokafka before 0.14 keeps its BatchBuilder")
@pytest.mark.parametrize("codec", range(5), ids=CODECS)
def test_batch_builder_of_aiokafka(codec: int) -> None:
    from aiokafka.producer.message_accumulator import BatchBuilder

    ours: Any = AIOKAFKA.adapter
    builders = [source(200, codec, is_transactional=1, key_serializer=str.encode) for source in (
        BatchBuilder, ours.BatchBuilder)]  # fmt: skip
    for number in range(6):
        for headers in ({}, {"headers": [("h", None)]}, {"headers": None}):
            answers = [b.append(timestamp=number, key=f"k{number}", value=b"v" * 20, **headers) for b in builders]
            assert meta(answers[0]) == meta(answers[1])
        assert builders[0].size() == builders[1].size()
        assert builders[0].record_count() == builders[1].record_count()
        assert builders[0].closed() == builders[1].closed()
    for builder in builders:
        builder._set_producer_state(7, 1, 3)
    built = [builder._build() for builder in builders]
    compare(AIOKAFKA, bytes(built[0]), built[1], codec)
    assert builders[1]._build() is built[1] and builders[1].size() == len(built[1]) and builders[1].closed()
    assert builders[1].append(timestamp=1, key="k", value=b"") is None
    assert builders[1]._builder.build() is built[1], "as in aiokafka's own benchmark"


@pytest.mark.parametrize("codec", range(5), ids=CODECS)
@pytest.mark.parametrize("magic", [0, 1, 2])
def test_memory_records_builder_of_kafka_python(magic: int, codec: int) -> None:
    ours: Any = KAFKA_PYTHON.adapter
    builders = [source(magic, codec, 500) for source in (KAFKA_PYTHON.memory.MemoryRecordsBuilder,
                                                         ours.MemoryRecordsBuilder)]  # fmt: skip
    for number in range(20):
        answers = [meta(b.append(number, None, b"v" * 30)) for b in builders]
        assert answers[0] == answers[1]
        for name in ("size_in_bytes", "next_offset", "is_full"):
            assert getattr(builders[0], name)() == getattr(builders[1], name)(), name
    if (magic, codec) in ((0, 4), (1, 4)):
        same_answers([builder.close for builder in builders])
        return
    if magic == 2:
        for builder in builders:
            builder.set_producer_state(9, 1, 4, True)
    else:
        same_answers([lambda b=b: b.set_producer_state(9, 1, 4, True) for b in builders])
    for builder in builders:
        builder.close()
        builder.close()
    theirs, mine = builders
    same_answers([lambda b=b: b.set_producer_state(9, 1, 4, True) for b in builders])
    assert (theirs.producer_id, theirs.producer_epoch, theirs.base_sequence) == (
        mine.producer_id, mine.producer_epoch, mine.base_sequence)  # fmt: skip
    assert 0 < mine.compression_rate() <= 1.2
    assert [r.value for batch in mine.records() for r in batch] == [r.value for b in theirs.records() for r in b]
    assert mine.append(1, None, b"") is None and mine.is_full()


def test_str_of_kafka_python() -> None:
    sources = (KAFKA_PYTHON.default, KAFKA_PYTHON.adapter)
    builders = [v2(source, 0, (1, 5, 6, 7), 1000) for source in sources]
    assert str(builders[0]) == str(builders[1])
    for builder in builders:
        builder.append(0, 17, None, b"v", [("h", b"x")])
    assert str(builders[0]) == str(builders[1])
    batches = [source.DefaultRecordBatch(bytes(builders[1].build())) for source in sources]
    assert str(batches[0]) == str(batches[1])
    records = [next(iter(batch)) for batch in batches]
    assert repr(records[0]) == repr(records[1])
    legacy = recordpress.write_records([b"v"], magic=1, timestamps=5)
    sources = (KAFKA_PYTHON.legacy, KAFKA_PYTHON.adapter)
    records = [next(iter(source.LegacyRecordBatch(legacy, 1))) for source in sources]
    assert repr(records[0]) == repr(records[1])


WITHOUT_ASSERTS = """
from importlib import import_module

for client, arguments in (("aiokafka", (7, 0, 1000)), ("kafka_python", (7, 0, 1000))):
    builder = import_module(f"recordpress.adapters.{client}").LegacyRecordBatchBuilder
    try:
        builder(*arguments)
    except AssertionError as error:
        print(client, error)
"""


@pytest.mark.slow
def test_what_the_clients_assert_is_checked_without_asserts_too():
    """python -O takes assert statements out: messages of magic 7 would be written."""
    command = [sys.executable, "-O", "-c", WITHOUT_ASSERTS]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert printed.splitlines() == ["aiokafka Not supported magic", "kafka_python Not supported magic"]
