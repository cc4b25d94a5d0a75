"""Reading a set into columns and writing these is the identity: what comes back is what Kafka's own software wrote.

Where the encoder is another one (compressed payloads), the batches are compared by their headers and records.
"""

from __future__ import annotations

import ctypes
import itertools
import re
import struct
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

import oracle
import recordpress
from arrow_facts import BATCH_COLUMNS, RECORD_COLUMNS
from arrow_structs import ArrowSchema, struct_of
from facts import Facts, batch_facts
from oracle import Vector
from recordpress.columns import with_constants
from together import sampled

EVERY = RECORD_COLUMNS + BATCH_COLUMNS
# Crafted bytes that no reader shows: attributes of a record, a null key of length -2, a header key that is not UTF-8,
# and records after a count of none.
UNSEEN = ("rec_attr", "rec_key_len_m2", "rec_header_bad_utf8", "count_zero")
KNOWN = 0x37  # attributes that columns and arguments say: codec, transactional, control
COMPRESSED = ("size", "position", "crc")  # what another encoder's payload changes


def columns_of(data: bytes, names: tuple[str, ...] = EVERY) -> recordpress.Columns:
    return recordpress.read_columns(data, names, control=True)


def facts(data: bytes, left_out: tuple[str, ...] = ()) -> list[Facts]:
    """All that Kafka reads. The size of a record tells how its own timestamp was written, which LogAppendTime hides."""
    found = []
    for batch in recordpress.read_batches(data):
        header = {name: value for name, value in batch_facts(batch).items() if name not in left_out}
        records = [
            (
                record.offset,
                record.timestamp,
                record.size if batch.timestamp_type != 1 else None,
                record.sequence if batch.magic == 2 else record.is_valid(),
                record.key,
                record.value,
                record.headers,
            )
            for record in batch
        ]
        found.append(header | {"base": batch.base_timestamp, "codec": batch.compression_type, "records": records})
    return found


def _readable(vector: Vector) -> bool:
    try:
        columns_of(vector.data)
    except recordpress.RecordpressError:
        return False
    return True


READABLE = [vector for vector in oracle.EVERYTHING if "has_error" not in vector.entry and _readable(vector)]


def unseen(vector: Vector) -> bool:
    return str(vector).partition("/")[2].startswith(UNSEEN)


def broken(batch: recordpress.Batch) -> bool:
    """Whether its records break a rule that writers keep."""
    offsets = [record.offset for record in batch]
    times = [record.timestamp for record in batch]
    first = batch.base_offset if batch.magic == 2 else -1
    return (
        offsets != sorted(set(offsets))
        or any(offset < first or offset > batch.last_offset for offset in offsets)
        or any(time < -1 for time in times)
    )


def whole(batch: recordpress.Batch) -> bool:
    """Whether its header follows from its records: v2, CreateTime, no delete horizon, the last record is there."""
    records = list(batch)
    return (
        batch.magic == 2
        and batch.attributes & ~KNOWN == 0
        and bool(records)
        and not broken(batch)
        and records[-1].offset == batch.last_offset
        and batch.base_timestamp == records[0].timestamp
        and batch.max_timestamp == max(record.timestamp for record in records)
    )


PLAIN = []
for vector in READABLE:
    batches = list(recordpress.read_batches(vector.data))
    if (
        batches
        and all(map(whole, batches))
        and not unseen(vector)
        and len({batch.compression_type for batch in batches}) == 1
    ):
        PLAIN.append(vector)


def test_there_are_enough() -> None:
    assert len(READABLE) > 200
    assert len(PLAIN) > 100


@oracle.each("vector", PLAIN)
def test_by_columns(vector: Vector) -> None:
    codec = recordpress.batch_table(vector.data)["compressionType"][0]
    again = recordpress.write_columns(columns_of(vector.data), codec)
    if codec == "none":
        assert again == vector.data
    assert facts(again, COMPRESSED) == facts(vector.data, COMPRESSED)


@oracle.each("vector", READABLE)
def test_by_the_table(vector: Vector) -> None:
    columns, table = columns_of(vector.data), recordpress.batch_table(vector.data)
    if any(map(broken, recordpress.read_batches(vector.data))):
        with pytest.raises(recordpress.InvalidArgumentError):
            recordpress.write_columns(columns, batches=table)
        return
    again = recordpress.write_columns(columns, batches=table)
    if unseen(vector):
        return
    assert facts(again, COMPRESSED) == facts(vector.data, COMPRESSED)
    if {(b.compression_type, b.magic, b.timestamp_type) for b in recordpress.read_batches(vector.data)} == {
        ("none", 2, 0)
    }:
        assert again == vector.data[: len(again)]  # a fetched set may end in a truncated entry


# --- sets that recordpress wrote: the encoder is the same, so every byte is


def codec_of(data: bytes) -> Any:
    return next(iter(recordpress.batch_table(data)["compressionType"]), "none")


def written(source: Any, codec: Any) -> bytes | recordpress.InvalidArgumentError:
    try:
        return recordpress.write_columns(source, codec)
    except recordpress.InvalidArgumentError as error:
        return error


@oracle.each("vector", READABLE)
def test_by_columns_whole_or_refused(vector: Vector) -> None:
    """Nothing that Kafka sees is lost without a word, also on the way through an Arrow library."""
    for source in (columns_of(vector.data), pa.table(columns_of(vector.data))):
        again = written(source, codec_of(vector.data))
        if isinstance(again, bytes):
            assert unseen(vector) or facts(again, COMPRESSED) == facts(vector.data, COMPRESSED)
            continue
        assert vector not in PLAIN
        if not any(map(broken, recordpress.read_batches(vector.data))):
            assert again.field == "baseOffset"
            assert re.search(r"the batch at offset -?\d+ (has|holds) .*batches=.*omit the column", again.message)


def test_every_codec_byte_for_byte() -> None:
    for codec in ("none", "gzip", "snappy", "lz4", "zstd"):
        for vector in sampled(PLAIN, 18):
            data = recordpress.write_columns(columns_of(vector.data), codec)
            assert recordpress.write_columns(columns_of(data), codec) == data
            assert recordpress.write_columns(columns_of(data), batches=recordpress.batch_table(data)) == data


@st.composite
def batches(draw: st.DrawFn) -> list[bytes]:
    """Whole batches of one producer or none, with gaps between them and inside, and control batches."""
    made, offset, sequence = [], draw(st.integers(0, 2**40)), draw(st.sampled_from([0, 5, 2**31 - 2]))
    for _ in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(["plain", "idempotent", "transactional", "control"]))
        offset += draw(st.sampled_from([0, 0, 7]))
        base = offset
        producer = {} if kind == "plain" else {"producer_id": draw(st.integers(0, 3)), "producer_epoch": 2}
        builder = recordpress.BatchBuilder(
            compression_type=draw(st.shared(st.sampled_from(["none", "gzip", "snappy", "lz4", "zstd"]), key="codec")),
            base_offset=base,
            base_sequence=sequence if kind in ("idempotent", "transactional") else -1,
            is_transactional=kind in ("transactional", "control"),
            is_control=kind == "control",
            partition_leader_epoch=draw(st.integers(-1, 9)),
            **producer,
        )
        if kind == "control":
            builder.append_end_txn_marker(draw(st.booleans()), 4, draw(st.integers(0, 2**45)))
        for _ in range(0 if kind == "control" else draw(st.integers(1, 5))):
            offset += draw(st.sampled_from([0, 0, 3]))
            headers = draw(st.lists(st.tuples(st.text(max_size=3), st.none() | st.binary(max_size=3)), max_size=2))
            value, key = draw(st.none() | st.binary(max_size=40)), draw(st.none() | st.binary(max_size=9))
            builder.append(value, key, draw(st.integers(-1, 2**45)), headers, offset)
            offset += 1
        offset = builder.next_offset
        sequence = (sequence + offset - base) % 2**31
        made.append(builder.build())
    return made


@given(batches(), st.sampled_from(["binary", "large_binary", "binary_view"]), st.sampled_from(["ms", "us"]))
def test_drawn_sets(made: list[bytes], binary_type: Any, unit: Any) -> None:
    data = b"".join(made)
    columns = recordpress.read_columns(data, EVERY, control=True, binary_type=binary_type, timestamp_unit=unit)
    table = recordpress.batch_table(data)
    codec = table["compressionType"][0]
    parts = pa.concat_tables([pa.table(columns).slice(0, 3), pa.table(columns).slice(3)])
    for source in (columns, pa.table(columns), parts, pa.table(columns).select(EVERY[::-1])):
        assert recordpress.write_columns(source, batches=table) == data
        if not _gap(table):
            assert recordpress.write_columns(source, codec) == data
            continue
        with pytest.raises(recordpress.InvalidArgumentError, match="batches=") as caught:
            recordpress.write_columns(source, codec)
        assert caught.value.field == "sequence"


def _gap(table: recordpress.BatchTable) -> bool:
    """Whether between two batches of a producer both offsets and sequences are missing."""
    rows = list(table)
    return any(
        (b["producerId"], b["producerEpoch"]) == (a["producerId"], a["producerEpoch"])
        and b["baseOffset"] != a["lastOffset"] + 1
        and a["baseSequence"] >= 0
        and b["baseSequence"] >= 0
        and b["baseSequence"] != (a["baseSequence"] + a["lastOffset"] - a["baseOffset"] + 1) % 2**31
        for a, b in itertools.pairwise(rows)
    )


# --- what columns do not hold


def changed(**fields: int) -> bytes:
    """A batch at offset 10 with three records, whose header says otherwise."""
    data = bytearray(recordpress.write_records([b"a", b"b", b"c"], timestamps=[1000, 3000, 2000], base_offset=10))
    places = {"attributes": (21, ">h"), "last": (23, ">i"), "max": (35, ">q"), "sequence": (53, ">i")}
    places["delta"] = 63, ">b"  # of the first record's timestamp, a zigzag varint
    for name, value in fields.items():
        struct.pack_into(places[name][1], data, places[name][0], value)
    struct.pack_into(">I", data, 17, recordpress.crc32c(bytes(data[21:])))
    return bytes(data)


class WithMetadata:
    """The columns, with these bytes as the metadata of their schema."""

    def __init__(self, columns: recordpress.Columns, metadata: bytes) -> None:
        self.columns, self.metadata = columns, metadata

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        libc = ctypes.CDLL(None)
        libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
        schema, array = self.columns.__arrow_c_array__()
        block = libc.malloc(len(self.metadata))  # the schema's release frees it
        ctypes.memmove(block, self.metadata, len(self.metadata))
        struct_of(schema, ArrowSchema).metadata = ctypes.cast(block, ctypes.c_char_p)
        return schema, array


RECORDS = recordpress.write_records([b"x", b"y"], base_offset=0)
EMPTY = recordpress.empty_batch(base_offset=10, last_offset=12)
V1 = recordpress.write_records([b"z"], base_offset=10, magic=1)
HORIZON = recordpress.write_records([b"z"], base_offset=10, delete_horizon_ms=5)
APPENDED = recordpress.write_records([b"z"], base_offset=10, timestamp_type=1, log_append_time=9)
NOT_HELD = {
    "magic": (V1, "has magic 1"),
    "no records": (EMPTY, "holds no records"),
    "LogAppendTime": (APPENDED, "has LogAppendTime"),
    "a delete horizon": (HORIZON, "has a delete horizon"),
    "an attribute": (changed(attributes=0x80), "has unknown attributes 0x80"),
    "a codec": (
        recordpress.write_records([b"z"], base_offset=10, compression_type="lz4"),
        "has a different codec from the batches before it",
    ),
    "a last offset": (changed(last=5), "has last offset 15, but its last record has offset 12"),
    "a base timestamp": (changed(delta=2), "has base timestamp 1000, but its first record has 1001"),
    "a max timestamp": (changed(max=3001), "has max timestamp 3001, which is not the largest"),
    "a max timestamp below": (changed(max=2000), "has max timestamp 2000, which is not the largest"),
    "a base sequence": (changed(sequence=-2), "has base sequence -2"),
}


@pytest.mark.parametrize("unit", ["ms", "us"])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(("batch", "says"), NOT_HELD.values(), ids=NOT_HELD)
def test_what_columns_do_not_hold(batch: bytes, says: str, threads: int, unit: Any) -> None:
    later = recordpress.write_records([b"later"], base_offset=20)
    data = RECORDS + batch + later
    columns = recordpress.read_columns(data, EVERY, control=True, threads=threads, timestamp_unit=unit)
    table = pa.table(columns)
    for source in (columns, table, table.slice(1), table.take([0]), pa.Table.from_batches(table.to_batches())):
        with pytest.raises(recordpress.InvalidArgumentError) as caught:
            recordpress.write_columns(source)
        assert str(caught.value).startswith(
            "columns alone cannot reproduce the batches they were read from: the batch at offset 10 " + says
        )
        assert caught.value.field == "baseOffset"
    again = recordpress.write_columns(table.drop_columns("baseOffset"))
    assert [record.offset for batch in recordpress.read_batches(again) for record in batch] == table[
        "offset"
    ].to_pylist()
    assert recordpress.write_columns(columns_of(RECORDS + later)) == RECORDS + later


def test_one_codec_may_become_another() -> None:
    assert recordpress.write_columns(columns_of(recordpress.recompress(RECORDS, "zstd"))) == RECORDS


def test_what_filters_left_out_is_not_missed() -> None:
    data = recordpress.write_records([b"a", b"b", b"c"], timestamps=[1, 3, 2])
    for limits in ({"end_offset": 2}, {"start_offset": 1}, {"end_timestamp": 3}):
        columns = recordpress.read_columns(data, EVERY, **limits)
        assert len(recordpress.read_columns(recordpress.write_columns(columns))) == 2
    recordpress.write_columns(recordpress.read_columns(data + HORIZON, EVERY, end_offset=3))
    with pytest.raises(recordpress.InvalidArgumentError, match="offset 10 has a delete horizon"):
        recordpress.write_columns(recordpress.read_columns(data + HORIZON, EVERY, start_offset=2))


def test_a_piece_tells_of_batches_without_records_before_it() -> None:
    empty = recordpress.empty_batch(base_offset=2, last_offset=4)
    pieces = list(recordpress.iter_columns(RECORDS + empty + EMPTY + changed() + RECORDS, EVERY, batch_bytes=1))
    assert [piece.num_rows for piece in pieces] == [2, 3, 2]
    with pytest.raises(recordpress.InvalidArgumentError, match="the batch at offset 2 holds no records"):
        recordpress.write_columns(pieces[1])
    assert recordpress.write_columns(pieces[0]) == recordpress.write_columns(pieces[2]) == RECORDS


def test_parts_tell_of_their_own_batches() -> None:
    columns = recordpress.read_columns(RECORDS + HORIZON, EVERY, threads=2)
    first, second = columns
    assert recordpress.write_columns(first) == recordpress.write_columns(columns[:2]) == RECORDS
    for source in (second, columns[1:], with_constants(columns, EVERY, {})):
        with pytest.raises(recordpress.InvalidArgumentError, match="offset 10 has a delete horizon"):
            recordpress.write_columns(source)


def test_only_reads_of_base_offsets_take_note() -> None:
    data = RECORDS + HORIZON
    assert pa.table(columns_of(RECORDS)).schema.metadata is None
    assert pa.table(columns_of(data, RECORD_COLUMNS)).schema.metadata is None
    told = {b"recordpress.not_in_columns": b"the batch at offset 10 has a delete horizon"}
    columns = columns_of(data)
    assert pa.table(columns).schema.metadata == told
    assert pa.record_batch(columns).schema.metadata == told
    for start in (b"\1\0\0\0\xff\xff\xff\xff", b"\1\0\0\0\0\0\0\0\xff\xff\xff\xff"):
        with pytest.raises(recordpress.InvalidArgumentError, match="metadata has a negative size"):
            recordpress.write_columns(WithMetadata(columns_of(RECORDS), start + bytes(8)))
    assert recordpress.write_columns(WithMetadata(columns_of(RECORDS), b"\xff\xff\xff\xff")) == RECORDS
    assert recordpress.write_columns(pa.table(columns_of(RECORDS)).replace_schema_metadata({"a": "b"})) == RECORDS


# --- what is refused, and what cuts batches


def table_of(**columns: Any) -> pa.Table:
    rows = len(next(iter(columns.values())))
    return pa.table({"offset": list(range(rows)), "value": [b"v"] * rows} | columns)


def headers_of(table: pa.Table, **options: Any) -> list[tuple[int, ...]]:
    names = ("baseOffset", "recordsCount", "producerId", "producerEpoch", "baseSequence", "partitionLeaderEpoch")
    batches = recordpress.batch_table(recordpress.write_columns(table, **options))
    return list(zip(*(batches[name].to_pylist() for name in names), strict=True))


def test_a_change_in_a_header_column_begins_a_batch() -> None:
    table = table_of(
        producerId=[7, 7, 7, 8, None, None],
        producerEpoch=[1, 2, 2, 2, None, None],
        sequence=[5, 2**31 - 1, 0, 9, None, None],
        partitionLeaderEpoch=[3, 3, 3, 3, 3, None],
    )
    assert headers_of(table) == [
        (0, 1, 7, 1, 5, 3),
        (1, 2, 7, 2, 2**31 - 1, 3),
        (3, 1, 8, 2, 9, 3),
        (4, 1, -1, -1, -1, 3),
        (5, 1, -1, -1, -1, -1),
    ]
    assert [row[:2] for row in headers_of(table, batch_records=1)] == [(i, 1) for i in range(6)]


def test_a_sequence_that_does_not_count_on_begins_a_batch() -> None:
    table = table_of(producerId=[7] * 4, producerEpoch=[0] * 4, sequence=[0, 1, 4, 5])
    assert headers_of(table) == [(0, 2, 7, 0, 0, -1), (2, 2, 7, 0, 4, -1)]
    assert [row[4] for row in headers_of(table, batch_bytes=1)] == [0, 1, 4, 5]


@pytest.mark.parametrize("column", ["isTransactional", "isControl"])
def test_flags_begin_batches(column: str) -> None:
    table = table_of(**{column: [False, True, True, None]}, producerId=[1] * 4, producerEpoch=[0] * 4)
    batches = recordpress.batch_table(recordpress.write_columns(table))
    assert batches[column].to_pylist() == [False, True, False]
    assert batches["recordsCount"].to_pylist() == [1, 2, 1]


def test_base_offsets_are_the_batches() -> None:
    table = table_of(offset=[5, 6, 9, 2**33], baseOffset=[2, 2, 9, 2**33 - 1])
    assert [row[:2] for row in headers_of(table, batch_bytes=1)] == [(2, 2), (9, 1), (2**33 - 1, 1)]
    chunks = pa.concat_tables([table.slice(0, 1), table.slice(1, 0), table.slice(1)])
    assert recordpress.write_columns(chunks) == recordpress.write_columns(table)


def test_batches_of_many_rows() -> None:
    n = 1500
    table = table_of(offset=list(range(n)), baseOffset=[i - i % 600 for i in range(n)])
    assert [row[:2] for row in headers_of(table, compression_type="lz4")] == [(0, 600), (600, 600), (1200, 300)]


def test_arguments_fill_the_columns_that_are_not_there() -> None:
    table = table_of(baseOffset=[0, 0, 2])
    found = headers_of(table, producer_id=3, producer_epoch=1, base_sequence=10, partition_leader_epoch=4)
    assert found == [(0, 2, 3, 1, 10, 4), (2, 1, 3, 1, 12, 4)]


REFUSED: dict[str, tuple[dict[str, list[Any]], dict[str, Any], str, str]] = {
    "rows of a batch that disagree": (
        {"baseOffset": [0, 0], "producerId": [1, 2]},
        {},
        "baseOffset",
        "record 1: .*disagree",
    ),
    "sequences of a batch that do not count on": (
        {"baseOffset": [0, 0], "sequence": [1, 3]},
        {},
        "baseOffset",
        "record 1: .*disagree",
    ),
    "LogAppendTime": (
        {"baseOffset": [0, 1], "timestampType": [0, 1]},
        {},
        "timestampType",
        "record 1: .*pass batches= to keep",
    ),
    "magic 0": ({"baseOffset": [0, 0], "timestampType": [-1, -1]}, {}, "timestampType", "record 0: .*batches="),
    "a batch that lost its end": (
        {"offset": [0, 5], "baseOffset": [0, 5], "sequence": [0, 5], "producerId": [1, 1]},
        {},
        "sequence",
        "record 1: sequence 5 follows 0.*batches=",
    ),
    "a base offset above its record": ({"baseOffset": [0, 4]}, {}, "offset", "record 1: offset 1 is less than"),
    "a base offset that is null": ({"baseOffset": [0, None]}, {}, "offset", "record 1: .*null"),
    "a base offset too far below": (
        {"offset": [0, 2**32], "baseOffset": [0, 1]},
        {},
        "offset",
        "record 1: .*2147483647 above the base offset 1",
    ),
    "a batch that is too wide": (
        {"offset": [0, 2**32], "baseOffset": [0, 0]},
        {},
        "offset",
        "record 1: .*2147483647 above the base offset 0",
    ),
    "an epoch that does not fit": ({"producerEpoch": [0, 40000]}, {}, "data", "record 1: 40000 does not fit"),
    "magic 1": ({"producerId": [1, 1]}, {"magic": 1}, "magic", "magic 1 has no batch headers"),
    "producer_id twice": (
        {"producerId": [1, 1]},
        {"producer_id": 1, "producer_epoch": 0, "base_sequence": 0},
        "producer_id",
        "producer_id and a producerId column cannot be combined",
    ),
    "a leader epoch twice": (
        {"partitionLeaderEpoch": [1, 1]},
        {"partition_leader_epoch": 1},
        "partition_leader_epoch",
        "cannot be combined",
    ),
}


@pytest.mark.parametrize(("columns", "options", "field", "says"), REFUSED.values(), ids=REFUSED)
def test_refused(columns: dict[str, list[Any]], options: dict[str, Any], field: str, says: str) -> None:
    table = table_of(**columns)
    if "timestampType" in columns:
        table = table.set_column(3, "timestampType", table["timestampType"].cast(pa.int32()))
    with pytest.raises(recordpress.InvalidArgumentError, match=says) as caught:
        recordpress.write_columns(table, **options)
    assert caught.value.field == field


@pytest.mark.parametrize("column", ["producerId", "isControl", "baseOffset"])
def test_header_columns_of_another_type(column: str) -> None:
    with pytest.raises(recordpress.ArgumentTypeError) as caught:
        recordpress.write_columns(table_of(**{column: ["1", "2"]}))
    assert caught.value.field == column


SET = recordpress.write_records([b"a", b"b"]) + recordpress.write_records(
    [b"c", b"d"], base_offset=2, compression_type="zstd"
)


@pytest.mark.parametrize(
    ("rows", "batches", "says"),
    [
        (slice(0, 3), slice(0, 2), "batch 1 has records that data does not have"),
        (slice(0, 2), slice(0, 2), "batch 1 has records that data does not have"),
        (slice(0, 4), slice(0, 1), "its 1 batches end"),
        (slice(0, 4), slice(0, 0), "its 0 batches end"),
        (slice(0, 4), slice(1, 2), "record 0: .*batch 0 has records that data does not have"),
        (slice(1, 4), slice(0, 2), "record 1: .*batch 0 has records that data does not have"),
        (slice(0, 0), slice(0, 2), "batch 0 has records that data does not have"),
    ],
)
def test_batches_of_another_set(rows: slice, batches: slice, says: str) -> None:
    with pytest.raises(recordpress.InvalidArgumentError, match=says) as caught:
        recordpress.write_columns(columns_of(SET)[rows], batches=recordpress.batch_table(SET)[batches])
    assert caught.value.field == "batches"


def test_nothing_of_nothing() -> None:
    assert recordpress.write_columns(columns_of(SET)[:0], batches=recordpress.batch_table(b"")) == b""


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("compression_type", "zstd"),
        ("magic", 1),
        ("base_offset", 0),
        ("timestamp_type", 0),
        ("producer_id", 1),
        ("partition_leader_epoch", 0),
        ("delete_horizon_ms", 5),
    ],
)
def test_options_that_batches_say(option: str, value: Any) -> None:
    options = {option: value} | ({"producer_epoch": 0, "base_sequence": 0} if option == "producer_id" else {})
    with pytest.raises(recordpress.InvalidArgumentError, match="each batch has its own") as caught:
        recordpress.write_columns(columns_of(SET), batches=recordpress.batch_table(SET), **options)
    assert caught.value.field == option


def test_batches_of_another_type_or_without_offsets() -> None:
    with pytest.raises(recordpress.ArgumentTypeError, match=r"recordpress\.BatchTable") as caught:
        recordpress.write_columns(columns_of(SET), batches=[1])  # type: ignore[arg-type]
    assert caught.value.field == "batches"
    with pytest.raises(recordpress.InvalidArgumentError, match="offset column"):
        recordpress.write_columns(columns_of(SET, ("value",)), batches=recordpress.batch_table(SET))


def test_a_level_with_batches() -> None:
    plain = recordpress.write_columns(columns_of(SET), batches=recordpress.batch_table(SET))
    assert plain == SET
    deep = recordpress.write_columns(columns_of(SET), level=19, batches=recordpress.batch_table(SET))
    assert facts(deep, COMPRESSED) == facts(SET, COMPRESSED)


def test_batches_without_records() -> None:
    empty = recordpress.empty_batch(base_offset=4, last_offset=9, producer_id=3, producer_epoch=1, base_sequence=0)
    for data in (empty, SET + empty, empty + recordpress.write_records([b"z"], base_offset=20), empty + empty):
        assert recordpress.write_columns(columns_of(data), batches=recordpress.batch_table(data)) == data


def test_the_codec_is_the_second_argument() -> None:
    assert recordpress.write_columns(table_of(value=[b"v"]), "gzip", 9) == recordpress.write_columns(
        table_of(value=[b"v"]), compression_type="gzip", level=9
    )


def test_append_times_do_not_become_the_timestamps_that_producers_set() -> None:
    """Columns have the append time alone. Records get the batch's base timestamp: here that is what they had."""
    append_time = 1_700_000_000_099
    data = recordpress.write_records(
        [b"a", b"b"], timestamps=1_700_000_000_000, timestamp_type=1, log_append_time=append_time
    )
    columns = recordpress.read_columns(data)
    assert columns.to_pyarrow()["timestamp"].cast("int64").to_pylist() == [append_time] * 2
    assert recordpress.write_columns(columns, batches=recordpress.batch_table(data)) == data
