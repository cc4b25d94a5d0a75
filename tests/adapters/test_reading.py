"""Every vector and drawn record sets: the adapters read what the clients read; where those differ from Kafka, what
Kafka reads.

docs/adapters.md has a table of the differences; DIFFERENCES says in which vectors they are.
"""

from __future__ import annotations

import re
import sys

import pytest
from clients import AIOKAFKA, CLIENTS, Client, as_recordpress, read, read_by_recordpress
from hypothesis import assume, given, settings, strategies as st

import oracle
import recordpress
import strategies
from recordpress.adapters import _aiokafka, _entry, _kafka_python
from together import draws, thinned, together

clients = pytest.mark.parametrize("client", CLIENTS, ids=str)

# By row of the table: the vectors in which a client and Kafka differ.
DIFFERENCES = {
    "a damaged payload": r"crafted/(gzip|lz4|snappy|zstd)_.*",
    "more or fewer records than declared": r"crafted/(count|rec_length_too_long|trailing_in_records)_.*",
    "a header's key that is not UTF-8": r"crafted/rec_header_bad_utf8_.*",
    "an entry too short for its header": r"crafted/size_14",
}


# Both clients end there as at any cut entry, and so do the adapters; Kafka looks at the magic of a truncated entry
# first.
CUT = {"crafted/size_49_crc_of_61"}


def differs(client: Client, data: bytes) -> bool:
    return read(client.memory.MemoryRecords, data) != read(client.adapter.MemoryRecords, data)


def row_of(vector: oracle.Vector) -> str | None:
    return next((row for row, pattern in DIFFERENCES.items() if re.fullmatch(pattern, str(vector))), None)


def has_lz4_in_v0(data: bytes) -> bool:
    """aiokafka refuses it."""
    try:
        return any(batch.magic == 0 and batch.compression_type == "lz4" for batch in recordpress.read_batches(data))
    except recordpress.RecordpressError:
        return False


@together("client", CLIENTS, str)
@oracle.each("vector", oracle.EVERYTHING)
def test_a_vector_is_read_as_the_client_and_kafka_read_it(client: Client, vector: oracle.Vector) -> None:
    data = vector.data
    ours = read(client.adapter.MemoryRecords, data)
    if str(vector) not in CUT:
        assert as_recordpress(ours) == read_by_recordpress(data)
    if row_of(vector) is None and not (client is AIOKAFKA and has_lz4_in_v0(data)):
        assert ours == read(client.memory.MemoryRecords, data)


@clients
def test_every_row_of_differences_is_one(client: Client) -> None:
    found = {row_of(vector) for vector in oracle.RECORD_SETS if row_of(vector) and differs(client, vector.data)}
    assert found == DIFFERENCES.keys()
    [vector] = [vector for vector in oracle.RECORD_SETS if str(vector) == "clients-4.3.1/v0_lz4"]
    assert differs(client, vector.data) == (client is AIOKAFKA)


@pytest.mark.parametrize(("magic", "codec"), thinned(strategies.FORMATS, 2))
@settings(max_examples=draws(settings().max_examples))
@given(data=st.data())
def test_drawn_records_are_read_alike(magic: int, codec: str, data: st.DataObject) -> None:
    drawn = data.draw(strategies.records(magic))
    assume(all(row.timestamp - drawn[0].timestamp < 2**63 for row in drawn))  # kafka-python's does not wrap
    first = drawn[0].offset
    builder = recordpress.BatchBuilder(magic, codec, base_offset=first)
    for row in drawn:
        builder.append(row.value, row.key, row.timestamp, row.headers, row.offset)
    batch = bytes(builder.build())
    for client in CLIENTS:
        if client is AIOKAFKA and (magic, codec) == (0, "lz4"):
            continue  # aiokafka refuses it
        assert read(client.adapter.MemoryRecords, batch) == read(client.memory.MemoryRecords, batch)
        assert read(client.adapter.MemoryRecords, batch[:-1]) == read(client.memory.MemoryRecords, batch[:-1])


@clients
@given(st.binary(max_size=120))
def test_no_bytes_are_read_with_anything_but_the_clients_error(client: Client, data: bytes) -> None:
    outcome = read(client.adapter.MemoryRecords, data)
    errors = [part for part in outcome if isinstance(part, type)]
    assert set(errors) <= {client.corrupt}


@clients
@given(st.data())
def test_flipped_bits_are_read_as_recordpress_reads_them(client: Client, data: st.DataObject) -> None:
    codec = data.draw(st.sampled_from(["none", "gzip", "snappy", "lz4", "zstd"]))
    batch = bytearray(recordpress.write_records([b"value %d" % i for i in range(20)], compression_type=codec))
    batch[data.draw(st.integers(17, len(batch) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    assert as_recordpress(read(client.adapter.MemoryRecords, bytes(batch))) == read_by_recordpress(bytes(batch))


@clients
def test_records_outlive_the_buffer_they_were_read_from(client: Client) -> None:
    data = bytearray(recordpress.write_records([b"a" * 50, b"b" * 50]))
    batch = client.adapter.DefaultRecordBatch(data)
    first, second = batch
    data[:] = bytes(len(data))
    data.clear()  # nothing holds the buffer
    assert (first.value, second.value) == (b"a" * 50, b"b" * 50)
    assert first.value is first.value and first.headers is first.headers


@clients
@pytest.mark.parametrize("magic", [0, 1, 2])
def test_nothing_that_was_read_stays(client: Client, magic: int) -> None:
    """A reference too many on a batch or a record would keep each of them for ever."""
    data = recordpress.write_records([b"a", b"b"], magic=magic, compression_type="gzip")
    batch = client.adapter.MemoryRecords(data).next_batch()
    assert sys.getrefcount(batch) == 2, "the variable, and the call's argument"
    for record in batch:
        assert sys.getrefcount(record) == 2


@clients
def test_a_batch_is_made_once(client: Client) -> None:
    batch = client.adapter.DefaultRecordBatch(recordpress.write_records([b"a"]))
    with pytest.raises(TypeError, match="already initialised"):
        batch.__init__(b"")
    assert [record.value for record in batch] == [b"a"]


@clients
def test_a_limit_of_decompressed_bytes(client: Client) -> None:
    data = recordpress.write_records([bytes(1 << 20)], compression_type="zstd")
    client.adapter.install(max_decompressed_bytes=1 << 19)
    try:
        with pytest.raises(client.corrupt, match="524288") as caught:
            list(client.adapter.DefaultRecordBatch(data))
        assert isinstance(caught.value.__cause__, recordpress.OutputTooLargeError)
        with pytest.raises(recordpress.OutputTooLargeError):
            client.codec.zstd_decode(recordpress.compress(bytes(1 << 20), "zstd"))
        with pytest.raises(recordpress.InvalidArgumentError, match="max_decompressed_bytes"):
            client.adapter.install(max_decompressed_bytes=0)
    finally:
        client.adapter.uninstall()
        client.adapter.install()
        client.adapter.uninstall()
    assert len(list(client.adapter.DefaultRecordBatch(data))) == 1


def test_records_of_one_freelist_have_one_layout() -> None:
    """An object that the garbage collector knows has a header in front of it; the freelist does not tell them apart."""
    collected = 1 << 14  # Py_TPFLAGS_HAVE_GC
    kinds = [_entry.LazyRecord, _entry.Message]
    kinds += [module.DefaultRecord for module in (_aiokafka, _kafka_python)]
    kinds += [module.LegacyRecord for module in (_aiokafka, _kafka_python)] + [_kafka_python.ControlRecord]
    assert {(kind.__flags__ & collected, kind.__basicsize__) for kind in kinds} == {
        (0, _entry.LazyRecord.__basicsize__)
    }
