"""Objects that threads share: each call gets the right answer, or an InUseError and changes nothing.

On a Python with the GIL most of this holds by itself; `make -f labs.mk free-threading` runs it on one without.
"""

import contextlib
import itertools
from collections.abc import Iterable
from typing import Any

import pytest
from at_once import THREADS, at_once, many, until_free

import recordpress
from recordpress.log import RecordDigest
from recordpress.producer import BatchAccumulator, CompressionRatioEstimator, pack

CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]
EACH = 300  # what a thread does
VALUES = [b"value %d" % i for i in range(2000)]
LONG = [b"%d" % i for i in range(40_000)]  # one thread does not reach the end before the others begin


def values_of(data: bytes, **options: Any) -> list[bytes | None]:
    return [record.value for batch in recordpress.read_batches(data, **options) for record in batch]


def named(thread: int) -> list[bytes]:
    return [b"%d of thread %d" % (i, thread) for i in range(EACH)]


EVERY_NAME = sorted(itertools.chain.from_iterable(map(named, range(THREADS))))


# --- their own objects ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("codec", CODECS)
def test_threads_with_objects_of_their_own_do_not_meet(codec: str) -> None:
    def work(thread: int) -> None:
        for turn in range(20):
            mine = [b"%d %d " % (thread, turn) * 50 + value for value in VALUES[:100]]
            data = recordpress.write_records(mine, compression_type=codec)
            assert values_of(data) == mine
            columns = recordpress.read_columns(data, ["value"], threads=1 + turn % 2)
            assert columns["value"].to_pylist() == mine
            assert recordpress.decompress(recordpress.compress(data, codec), codec) == data

    many(work)


def test_memory_is_given_back_while_others_take_it() -> None:
    values = [[bytes([thread]) * 100_000] * 2 for thread in range(THREADS)]
    data = [recordpress.write_records(mine, compression_type="zstd") for mine in values]

    def work(thread: int) -> None:
        for _ in range(500):
            if thread == 0:
                recordpress.release_unused()
                recordpress.pool_bytes()
            else:
                assert recordpress.read_columns(data[thread], ["value"])["value"].to_pylist() == values[thread]

    recordpress.release_unused()
    before = recordpress.pool_bytes()
    many(work)
    recordpress.release_unused()
    assert recordpress.pool_bytes() == before  # each block was counted when it was taken, and when it was given back


# --- builders ---------------------------------------------------------------------------------------------------------


class Headers(list[tuple[str, bytes]]):
    """Running the caller's code: here another thread may come in between."""

    def __iter__(self) -> Any:
        return iter(list(super().__iter__()))


def differently(builder: recordpress.BatchBuilder, value: bytes, turn: int) -> bool:
    """One of the ways to append."""
    if turn % 3 == 0:
        return builder.append(value)
    if turn % 3 == 1:
        return builder.append(bytearray(value), key=memoryview(b"key"), timestamp=turn)
    return builder.append(value, headers=Headers([("h", b"x")]))


def test_a_builder_takes_the_records_of_all_threads() -> None:
    builder = recordpress.BatchBuilder(compression_type="lz4")
    mine = [LONG[thread :: 4 * THREADS] for thread in range(THREADS)]
    every = sorted(itertools.chain.from_iterable(mine))

    def work(thread: int) -> None:
        for turn, value in enumerate(mine[thread]):
            assert until_free(lambda value=value, turn=turn: differently(builder, value, turn))  # type: ignore[misc]
            assert builder.size_in_bytes > 0 and builder.records_count > 0

    many(work)
    assert builder.records_count == len(every)
    assert sorted(values_of(builder.build())) == every  # type: ignore[type-var]


def test_a_builder_with_a_limit_takes_no_more_than_it_says() -> None:
    builder = recordpress.BatchBuilder(compression_type="gzip", limit=1000)

    def work(thread: int) -> list[bytes]:
        return [value for value in named(thread)[:100] if until_free(lambda value=value: builder.append(value))]  # type: ignore[misc]

    taken = sorted(itertools.chain.from_iterable(many(work)))
    data = builder.build()
    assert len(data) <= 2000 and sorted(values_of(data)) == taken  # type: ignore[type-var]


def test_one_thread_builds_while_others_append() -> None:
    for codec in CODECS * 4:
        builder = recordpress.BatchBuilder(compression_type=codec)
        builder.append(b"first")

        def work(thread: int, builder: recordpress.BatchBuilder = builder) -> Any:
            if thread == 0:
                return until_free(builder.build)
            taken = []
            for value in named(thread):
                try:
                    until_free(lambda value=value: builder.append(value))  # type: ignore[misc]
                except recordpress.ClosedError:
                    break
                taken.append(value)
            return taken

        data, *taken = many(work)
        assert sorted(values_of(data)) == sorted([b"first", *itertools.chain.from_iterable(taken)])  # type: ignore[type-var]


def test_an_accumulator_loses_and_repeats_nothing() -> None:
    accumulator = BatchAccumulator(batch_size=500, compression_type="lz4", linger_ms=0)
    answered: list[bytes] = []
    sent: list[bytes | None] = []

    def fill(thread: int) -> None:
        for value in named(thread):
            until_free(
                lambda value=value: accumulator.append(  # type: ignore[misc]
                    value,
                    topic=f"t{thread % 2}",
                    headers=Headers([("h", b"x")]),
                    callback=lambda _, error: answered.append(value) if error is None else None,
                )
            )

    def send() -> None:
        for _ in range(EACH):
            for batch in until_free(accumulator.drain):
                sent.extend(values_of(batch.records))
                until_free(lambda batch=batch: accumulator.complete(batch, 0))  # type: ignore[misc]
            until_free(lambda: accumulator.ready(0))
            assert accumulator.undrained >= 0 and len(accumulator.in_flight) >= 0

    at_once(*(lambda i=i: fill(i) for i in range(THREADS)), send, send)  # type: ignore[misc]
    while accumulator.undrained:
        send()
    assert sorted(sent) == EVERY_NAME and sorted(answered) == EVERY_NAME  # type: ignore[type-var]


def test_an_estimator_counts_every_batch() -> None:
    shared, alone = CompressionRatioEstimator(), CompressionRatioEstimator()
    topics = [f"t{i}" for i in range(1000)]

    def work(thread: int) -> None:
        for topic in topics:
            for _ in range(20):
                shared.update_estimation(topic, "zstd", 0.0)

    many(work)
    for _ in range(20 * THREADS):
        alone.update_estimation("t", "zstd", 0.0)
    assert {shared.estimation(topic, "zstd") for topic in topics} == {alone.estimation("t", "zstd")}


# --- streams ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("codec", CODECS)
def test_a_compressor_takes_whole_pieces(codec: str) -> None:
    stream = recordpress.compressor(codec)

    def work(thread: int) -> bytes:
        output = [(until_free(lambda i=i: stream.compress(bytes([65 + thread]) * 5000))) for i in range(20)]  # type: ignore[misc]
        return b"".join(output)

    size = sum(map(len, many(work)))
    size += len(stream.flush())
    assert size > 0
    with pytest.raises(recordpress.ClosedError):
        stream.compress(b"more")


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_a_decompressor_that_others_look_at(codec: str) -> None:
    data = bytes(range(256)) * 1000
    payload = recordpress.compress(data, codec)
    stream = recordpress.decompressor(codec)
    done: list[bool] = []

    def feed() -> bytes:
        try:
            pieces = [payload[i : i + 999] for i in range(0, len(payload), 999)]
            output = [until_free(lambda piece=piece: stream.decompress(piece)) for piece in pieces]  # type: ignore[misc]
            return b"".join(output) + until_free(stream.flush)
        finally:
            done.append(True)

    def look() -> bytes:
        while not done:
            with contextlib.suppress(recordpress.InUseError):
                assert stream.eof in (False, True)
            with contextlib.suppress(recordpress.InUseError):
                assert stream.unused_data == b""
            with contextlib.suppress(recordpress.InUseError, recordpress.ClosedError):
                assert stream.decompress(b"") == b""
        return b""

    output, *_ = at_once(feed, *[look] * 3)
    assert output == data


# --- iterators and what they give -------------------------------------------------------------------------------------


def shared(iterator: Iterable[Any]) -> list[Any]:
    """What threads got out of one iterator, all together."""
    shared_one = iter(iterator)

    def work(thread: int) -> list[Any]:
        found: list[Any] = []
        while True:
            try:
                found.append(until_free(lambda: next(shared_one)))
            except StopIteration:
                return found

    return list(itertools.chain.from_iterable(many(work)))


@pytest.mark.parametrize("magic", [1, 2])
def test_an_iterator_of_records_gives_each_once(magic: int) -> None:
    [batch] = recordpress.read_batches(recordpress.write_records(LONG, magic=magic, compression_type="lz4"))
    assert sorted(record.value for record in shared(batch)) == sorted(LONG)


def test_an_iterator_of_batches_gives_each_once() -> None:
    data = b"".join(recordpress.write_records([value], base_offset=i) for i, value in enumerate(VALUES))
    assert sorted(batch.base_offset for batch in shared(recordpress.read_batches(data))) == list(range(len(VALUES)))


@pytest.mark.parametrize("threads", [1, 3])
def test_an_iterator_of_columns_gives_each_row_once(threads: int) -> None:
    data = b"".join(recordpress.write_records([value], base_offset=i) for i, value in enumerate(VALUES))
    parts = recordpress.iter_columns(data, ["value"], batch_bytes=1000, threads=threads)
    found = [value for part in shared(parts) for value in part["value"].to_pylist()]
    assert sorted(found) == sorted(VALUES) and parts.position == len(data)


def test_an_iterator_of_columns_that_is_closed_while_others_read() -> None:
    data = b"".join(recordpress.write_records([value], base_offset=i) for i, value in enumerate(VALUES))
    for _ in range(10):
        parts = recordpress.iter_columns(
            data, ["value"], batch_bytes=500, aborted_transactions=[(1, 2), (3, 4)], threads=2
        )

        def work(thread: int, parts: recordpress.ColumnsIterator = parts) -> None:
            if thread == 0:
                next(parts, None)
                until_free(parts.close)
                return
            for _ in range(200):
                with contextlib.suppress(recordpress.InUseError):
                    next(parts, None)
                assert parts.position >= 0 and len(parts.aborted_transactions) <= 2 and parts.errors == []
                parts.batch_bytes = 500

        at_once(*(lambda i=i: guarded(work, i) for i in range(4)))  # type: ignore[misc]
        assert list(parts) == []


def guarded(work: Any, thread: int) -> None:
    try:
        work(thread)
    except recordpress.InUseError:
        until_free(lambda: work(thread))


def test_a_packing_iterator_gives_each_record_once() -> None:
    found = shared(pack(LONG, limit=200, compression_type="none"))
    assert sorted(value for data in found for value in values_of(data)) == sorted(LONG)  # type: ignore[type-var]


def test_all_threads_get_the_key_and_value_of_a_record() -> None:
    [batch] = recordpress.read_batches(recordpress.write_records(LONG, keys=LONG))
    records = list(batch)

    def work(thread: int) -> list[tuple[bytes | None, bytes | None]]:
        return [(record.key, record.value) for record in records]

    everyone = many(work)
    assert everyone[0] == [(value, value) for value in LONG]
    for found in zip(*everyone, strict=True):
        assert len({id(key) for key, _ in found}) == len({id(value) for _, value in found}) == 1  # made once


# --- what is made when it is first asked for, and tables --------------------------------------------------------------


def test_what_is_made_once_is_right_for_all_who_ask_first() -> None:
    data = recordpress.write_records([b"a", b"b"], compression_type="lz4")
    for _ in range(50):
        table = recordpress.batch_table(data)
        codecs = recordpress.CodecRegistry()
        answer = recordpress.broker.validate(data, topic_config={})

        def work(
            thread: int,
            table: recordpress.BatchTable = table,
            codecs: recordpress.CodecRegistry = codecs,
            answer: Any = answer,
        ) -> tuple[Any, ...]:
            columns = recordpress.read_columns(data, ["value"], codecs=codecs, lz4_header_checksum="ignore")
            stream = table.__arrow_c_stream__()
            return len(table), type(stream).__name__, columns["value"].to_pylist(), answer.records

        assert len({repr(found) for found in many(work)}) == 1


def test_the_bytes_that_a_broker_stores_are_joined_once() -> None:
    data = recordpress.write_records(VALUES)
    answers = [recordpress.broker.validate(data, topic_config={}) for _ in range(2000)]

    def work(thread: int) -> list[bytes | None]:
        return [answer.records for answer in answers]

    for found in zip(*many(work), strict=True):
        assert len({id(stored) for stored in found}) == 1


def test_a_registry_changes_while_others_use_it() -> None:
    class Turned:
        def compress(self, data: bytes) -> bytes:
            return data[::-1]

        def decompress(self, data: bytes, max_output: int) -> bytes:
            return data[::-1]

    codecs = recordpress.CodecRegistry()
    codecs.register("kept", Turned())
    data = recordpress.write_records(VALUES, compression_type="kept", codecs=codecs)

    def work(thread: int) -> None:
        for turn in range(100):
            if thread < 2:
                codecs.register(f"of{thread}", Turned(), replace=True)
                assert f"of{thread}" in codecs
                codecs.unregister(f"of{thread}")
            else:
                assert "kept" in codecs.names and 1 <= len(codecs) <= 3 and "kept" in repr(codecs)
                assert turn % 10 or values_of(data, codecs=codecs) == VALUES

    many(work)
    assert codecs.names == ("kept",)


def test_a_digest_counts_each_set_once() -> None:
    data = recordpress.write_records(VALUES[:20], compression_type="lz4")
    digest, alone = RecordDigest(), RecordDigest()

    def work(thread: int) -> None:
        for _ in range(250):
            until_free(lambda: digest.update(data))
            until_free(digest.hexdigest)

    many(work)
    for _ in range(250 * THREADS):
        alone.update(data)
    assert digest.hexdigest() == alone.hexdigest() and digest.records == alone.records
