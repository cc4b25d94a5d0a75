"""Columns and Column as Python sees them: pyarrow is the oracle of names, types, values, slices and sizes."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Literal

import pyarrow as pa
import pytest

import oracle
import recordpress
from arrow_facts import BATCH_COLUMNS, RECORD_COLUMNS
from oracle import Vector
from recordpress.columns import Column

T = 1_700_000_000_000
EVERY = RECORD_COLUMNS + BATCH_COLUMNS
DATA = b"".join(
    recordpress.write_records(
        [b"value", None, b"", b"v" * 40],
        [None, b"key", b"k" * 300, b""],
        [T + 1, -1, 0, T],
        [[("h", b"x"), ("n", None)], None, [], [("\u00e4", b"y" * 99)]],
        base_offset=base,
        producer_id=7,
        producer_epoch=1,
        base_sequence=base,
    )
    for base in (0, 4, 8)
)


def columns_of(**options: Any) -> recordpress.Columns:
    return recordpress.read_columns(DATA, EVERY, **options)


def values(column: pa.ChunkedArray) -> list[Any]:
    """As recordpress's to_pylist shows them: headers are pairs."""
    found = column.to_pylist()
    if pa.types.is_list(column.type):
        return [[(header["key"], header["value"]) for header in row] for row in found]
    return found


SLICES = [(0, 12), (1, 12), (0, 11), (3, 5), (4, 8), (5, 5), (12, 12), (0, 99), (7, 2)]
KINDS: dict[str, dict[str, Any]] = {
    "one batch": {},
    "three batches": {"threads": 3},
    "microseconds": {"timestamp_unit": "us"},
    "large": {"binary_type": "large_binary"},
    "views": {"binary_type": "binary_view", "threads": 2},
}


@pytest.mark.parametrize("options", KINDS.values(), ids=KINDS)
def test_values_types_and_sizes(options: dict[str, Any]) -> None:
    columns = columns_of(**options)
    table = pa.table(columns)
    assert [field.name for field in columns.schema] == columns.column_names == table.column_names
    assert [field.nullable for field in columns.schema] == [field.nullable for field in table.schema]
    for name in EVERY:
        column = columns[name]
        assert isinstance(column, Column)
        assert (column.name, len(column)) == (name, 12)
        assert column.type == str(table.schema.field(name).type)
        assert column.to_pylist() == list(column) == values(table[name])
        if options.get("binary_type") != "binary_view" or name not in ("key", "value"):
            assert column.nbytes == table[name].nbytes
    assert columns.nbytes == sum(columns[name].nbytes for name in EVERY)


@pytest.mark.parametrize("options", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize(
    ("start", "stop"), [(0, 12), (1, 12), (0, 11), (3, 5), (4, 8), (5, 5), (12, 12), (0, 99), (7, 2)]
)
def test_slices(options: dict[str, Any], start: int, stop: int) -> None:
    columns = columns_of(**options)
    expected = pa.table(columns).slice(start, max(stop - start, 0))
    for part in (columns[start:stop], columns.slice(start, max(stop - start, 0))):
        assert len(part) == part.num_rows == expected.num_rows
        table = pa.table(part)
        table.validate(full=True)
        assert table.equals(expected)
        for name in EVERY:
            assert part[name].to_pylist() == values(expected[name])
            assert columns[name][start:stop].to_pylist() == values(expected[name])
            assert pa.chunked_array(part[name]).equals(expected[name])
            assert pa.chunked_array(columns[name].slice(start, max(stop - start, 0))).equals(expected[name])


def test_a_slice_of_a_slice() -> None:
    columns = columns_of(threads=3)
    assert columns[3:][1:7][2:4]["offset"].to_pylist() == [6, 7]
    assert columns[-5:-1]["offset"].to_pylist() == [7, 8, 9, 10]
    assert columns["offset"][2:][3:][-2] == 10


def test_what_is_sliced_of_a_null_column_counts_its_nulls() -> None:
    part = columns_of()[1:3]
    assert pa.table(part)["value"].null_count == 1
    assert pa.table(part)["key"].null_count == 0


def test_one_array_and_a_stream() -> None:
    one, many = columns_of(), columns_of(threads=3)
    assert pa.array(one["value"]).to_pylist() == one["value"].to_pylist()
    assert pa.record_batch(one[2:5])["offset"].to_pylist() == [2, 3, 4]
    assert not hasattr(many["value"], "__arrow_c_array__")
    with pytest.raises(recordpress.InvalidArgumentError, match="3 record batches are not one array"):
        _ = many["value"].__arrow_c_array__
    assert pa.chunked_array(many["value"]).num_chunks == 3
    assert pa.record_batch(many[5:7])["offset"].to_pylist() == [5, 6]
    assert [pa.field(field) for field in one.schema] == list(pa.schema(one))


def test_rows_by_number() -> None:
    column = columns_of(threads=3)["offset"]
    assert [column[row] for row in (0, 4, 11, -1, -12)] == [0, 4, 11, 11, 0]
    for row in (12, -13, 2**70):
        with pytest.raises(recordpress.InvalidArgumentError) as caught:
            column[row]
        assert caught.value.field == "key"
    with pytest.raises(IndexError):
        column[12]


def test_a_column_keeps_its_memory() -> None:
    column = columns_of()["value"]
    array = pa.chunked_array(columns_of()["value"][1:])
    assert column.to_pylist()[1:] == array.to_pylist()


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda columns: columns["nothing"], recordpress.InvalidArgumentError, "the columns are offset, timestamp"),
        (lambda columns: columns["nothing"], KeyError, "the columns are offset, timestamp"),
        (lambda columns: columns[0], recordpress.ArgumentTypeError, "by name"),
        (lambda columns: columns[::2], recordpress.InvalidArgumentError, "step"),
        (lambda columns: columns["offset"]["offset"], recordpress.ArgumentTypeError, "int"),
        (lambda columns: columns["offset"][::-1], recordpress.InvalidArgumentError, "step"),
        (lambda columns: columns.slice(-1), recordpress.InvalidArgumentError, "offset"),
        (lambda columns: columns.slice(0, -1), recordpress.InvalidArgumentError, "length"),
        (lambda columns: columns.slice("0"), recordpress.ArgumentTypeError, "offset"),
    ],
)
def test_refused(call: Callable[[recordpress.Columns], object], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says) as caught:
        call(columns_of())
    assert isinstance(caught.value, recordpress.RecordpressError)
    assert caught.value.field


@pytest.mark.parametrize("kind", [recordpress.Columns, Column, recordpress.BatchTable])
def test_classes_that_no_caller_can_make(kind: type) -> None:
    for make in (kind, lambda: kind.__new__(kind), lambda: kind.__new__(kind, None)):
        with pytest.raises(recordpress.ArgumentTypeError, match="by"):
            make()


def test_repr_shows_what_is_held() -> None:
    columns = recordpress.read_columns(DATA, ["timestamp", "value"])
    assert repr(columns).splitlines() == [
        "<recordpress.Columns: 12 rows",
        "  timestamp: timestamp[ms, tz=UTC] = 2023-11-14 22:13:20.001000+00:00, None, 1970-01-01 00:00:00+00:00, ...",
        "  value: binary = b'value', None, b'', ...>",
    ]
    assert repr(columns[3:4]["value"]) == f"<recordpress.Column: 1 row of value: binary = b'{'v' * 35}...>"


def test_times_that_no_datetime_can_hold() -> None:
    columns = recordpress.read_columns(recordpress.write_records([b"a", b"b"], timestamps=[2**60, 5]))
    with pytest.raises(recordpress.InvalidArgumentError, match="years 1 to 9999") as caught:
        columns["timestamp"].to_pylist()
    assert caught.value.field == "timestamp"
    assert columns["timestamp"][1] == datetime(1970, 1, 1, 0, 0, 0, 5000, UTC)
    assert "?, 1970" in repr(columns)


def _datetimes_know(times: pa.ChunkedArray) -> bool:
    return all(0 <= (time or 0) < 2**40 for time in times.cast(pa.timestamp("ms", "UTC")).cast(pa.int64()).to_pylist())


@oracle.each("vector", [v for v in oracle.EVERYTHING if "has_error" not in v.entry][::6])
def test_vectors(vector: Vector) -> None:
    for options in [options for kind, options in KINDS.items() if kind != "microseconds"]:
        columns = recordpress.read_columns(vector.data, EVERY, control=True, check_crcs=False, **options)
        table = pa.table(columns)
        for name in EVERY:
            if name != "timestamp" or _datetimes_know(table[name]):
                assert columns[name].to_pylist() == values(table[name])


# --- frames


def test_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    columns, table = columns_of(threads=2), recordpress.batch_table(DATA)
    assert columns.to_pandas().shape == (12, len(EVERY))
    assert columns.to_pandas()["value"].tolist() == columns["value"].to_pylist()
    with pytest.raises(recordpress.ArgumentTypeError, match=r"to_pandas\(\)"):
        pandas.DataFrame(columns)
    assert pandas.Series(columns["offset"]).tolist() == list(range(12))
    assert table.to_pandas()["baseOffset"].tolist() == pandas.DataFrame(table)["baseOffset"].tolist() == [0, 4, 8]


def test_polars() -> None:
    polars = pytest.importorskip("polars")
    columns, table = columns_of(threads=2), recordpress.batch_table(DATA)
    for frame in (columns.to_polars(), polars.DataFrame(columns)):
        assert frame.shape == (12, len(EVERY))
        assert frame["value"].to_list() == columns["value"].to_pylist()
    assert len(polars.from_arrow(columns)) == 12
    assert polars.Series(columns["offset"][3:9]).to_list() == [3, 4, 5, 6, 7, 8]
    assert columns[5:7].to_polars()["offset"].to_list() == [5, 6]
    assert table.to_polars().shape == (3, 19)


@pytest.mark.slow
def test_nothing_else_is_needed() -> None:
    code = (
        "import sys; sys.modules.update(dict.fromkeys(('pyarrow', 'numpy', 'pandas', 'polars')))\n"
        "import recordpress\n"
        "data = recordpress.write_records([b'a', None], timestamps=5)\n"
        "columns = recordpress.read_columns(data)\n"
        "assert columns['value'].to_pylist() == [b'a', None] and columns['timestamp'][0].year == 1970\n"
        "assert recordpress.batch_table(data)['recordsCount'].to_pylist() == [2]\n"
        "repr(columns), columns[1:].nbytes, repr(recordpress.batch_table(data)), columns.schema\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("binary_type", ["binary", "large_binary"])
def test_nbytes_of_a_slice(binary_type: Literal["binary", "large_binary"]) -> None:
    columns = recordpress.read_columns(DATA, ["offset", "key", "value"], binary_type=binary_type)
    table = pa.table(columns)
    for name in ("key", "value"):
        assert columns[4:8][name].nbytes == table[name][4:8].nbytes


# --- the table of batches


def test_the_table_of_batches() -> None:
    table = recordpress.batch_table(DATA)
    arrow = pa.table(table)
    assert list(map(repr, table.schema)) == str(arrow.schema).splitlines()
    assert list(table) == arrow.to_pylist()
    assert table["lastOffset"].to_pylist() == [3, 7, 11]
    assert repr(table) == "<recordpress.BatchTable: 3 batches, offsets 0 to 11, none>"
    for part in (table[1:2], table.slice(1, 1)):
        assert pa.table(part).equals(arrow.slice(1, 1))
        assert part.to_numpy()["baseOffset"].tolist() == [4]
    assert table.nbytes == arrow.nbytes
    assert (len(table[3:]), repr(table[3:])) == (0, "<recordpress.BatchTable: 0 batches>")


def test_the_array_of_batches_cannot_be_written_to() -> None:
    array = recordpress.batch_table(DATA).to_numpy()
    assert not array.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        array["crc"] = 0
    assert array["baseOffset"].tolist() == [0, 4, 8]


def test_a_field_is_carried_by_pickle_and_cannot_be_changed() -> None:
    fields = recordpress.read_columns(recordpress.write_records([b"a"]), ["offset", "headers"]).schema
    for field in fields:
        again = pickle.loads(pickle.dumps(field))
        assert repr(again) == repr(field) and again.nullable == field.nullable
        assert list(map(repr, again.children)) == list(map(repr, field.children))
        with pytest.raises(AttributeError):
            field.name = "other"  # type: ignore[misc]
