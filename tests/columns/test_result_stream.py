"""Results as they come, as one Arrow stream; and columns that hold one value in every row."""

import gc
import signal
import sys
import threading
import tracemalloc
import weakref
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

import recordpress
from recordpress.columns import Columns, ConstantColumns, constant_field, stream_of, with_constants

pa = pytest.importorskip("pyarrow")

DATA = b"".join(
    recordpress.write_records([b"a", None, b"ccc"], base_offset=3 * i, headers=[[("h", b"x")], None, None])
    for i in range(4)
)


def columns(threads: int = 1) -> Columns:
    return recordpress.read_columns(DATA, threads=threads)


class Source:
    """Gives results; an error after them if there is one."""

    def __init__(self, results: list[Columns], error: BaseException | None = None) -> None:
        self.schema = columns().schema
        self.results = results
        self.error = error
        self.closed = 0

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return stream_of(self.schema, self.run(), self.close)

    def run(self) -> Iterator[Columns]:
        yield from self.results
        if self.error is not None:
            raise self.error

    def close(self) -> None:
        self.closed += 1


# ---- columns of one value


def test_places_and_order() -> None:
    found = with_constants(
        columns(), ["value", "topic", "offset", "partition", "headers"], {"topic": (str, "t"), "partition": (int, 7)}
    )
    table = pa.table(found)
    table.validate(full=True)
    plain = columns().to_pyarrow()
    assert table.column_names == ["value", "topic", "offset", "partition", "headers"]
    for name in ("value", "offset", "headers"):
        assert table[name].equals(plain[name])
    assert table["topic"].to_pylist() == ["t"] * 12
    assert table["partition"].to_pylist() == [7] * 12
    assert [str(table.schema.field(name).type) for name in ("topic", "partition")] == ["string", "int32"]
    assert found["topic"].to_pylist() == ["t"] * 12  # without pyarrow, too


@pytest.mark.parametrize("value", ["", "t", "orders.\N{GREEK SMALL LETTER OMEGA}", "x" * 249, None])
@pytest.mark.parametrize("number", [0, -1, 2**31 - 1, None])
def test_values(value: str | None, number: int | None) -> None:
    found = with_constants(columns(), ["s", "n"], {"s": (str, value), "n": (int, number)})
    table = pa.table(found)
    table.validate(full=True)
    assert table.to_pylist() == [{"s": value, "n": number}] * 12
    assert table.schema.equals(pa.schema([("s", pa.string()), ("n", pa.int32())]))
    assert [constant_field("s", str).type, constant_field("n", int).type] == ["string", "int32"]


def test_constants_stay_what_they_were() -> None:
    given: dict[str, Any] = {"t": (str, "x")}
    place = ConstantColumns(given)
    with_constants(columns(), ["t"], place)
    given |= {f"u{number}": (int, 1) for number in range(1000)}
    place.__init__(given)  # type: ignore[misc]
    with pytest.raises(KeyError):
        with_constants(columns(), ["u999"], place)
    with pytest.raises(TypeError):
        ConstantColumns.__new__(ConstantColumns)  # type: ignore[call-arg]


def test_slices_and_several_record_batches() -> None:
    for whole in (columns(), columns(threads=3)):
        part = with_constants(whole, ["offset", "t"], {"t": (str, "ab")})[2:7]
        assert pa.table(part).to_pydict() == {"offset": [2, 3, 4, 5, 6], "t": ["ab"] * 5}
        again = with_constants(whole[2:7], ["t", "offset"], {"t": (str, "ab")})
        assert pa.table(again).to_pydict() == {"t": ["ab"] * 5, "offset": [2, 3, 4, 5, 6]}
        nothing = pa.table(with_constants(whole[12:], ["t", "offset"], {"t": (str, "ab")}))
        nothing.validate(full=True)
        assert nothing.num_rows == 0


def test_the_columns_live_as_long_as_they_are_needed() -> None:
    given = recordpress.read_columns(bytearray(DATA), ["value"], binary_type="binary_view")
    seen = sys.getrefcount(given)
    found = with_constants(given, ["value", "t"], {"t": (str, "x")})
    table = pa.table(found)
    assert sys.getrefcount(given) == seen + 1
    del found
    assert sys.getrefcount(given) == seen + 1
    del given
    gc.collect()
    assert table["value"].to_pylist() == [b"a", None, b"ccc"] * 4
    other = columns()
    with_constants(other, ["t"], {"t": (str, "x")})
    assert sys.getrefcount(other) == seen


def test_names_and_values_that_are_wrong() -> None:
    with pytest.raises(KeyError):
        with_constants(columns(), ["nothing"], {})
    with pytest.raises(OverflowError):
        with_constants(columns(), ["n"], {"n": (int, 2**31)})
    with pytest.raises(TypeError):
        with_constants(None, [], {})  # type: ignore[arg-type]


# ---- streams


def test_results_come_when_they_are_asked_for() -> None:
    source = Source([columns(), columns(threads=3)[1:], columns()[12:], columns()])
    reader = pa.RecordBatchReader.from_stream(source)
    assert reader.schema.names == [field.name for field in source.schema]
    assert source.closed == 0
    table = reader.read_all()
    table.validate(full=True)
    expected = pa.concat_tables(result.to_pyarrow() for result in source.results)
    assert table.combine_chunks().equals(expected.combine_chunks())
    del reader
    assert source.closed == 1


def test_a_stream_that_is_let_go_is_closed() -> None:
    source = Source([columns()] * 5)
    reader = pa.RecordBatchReader.from_stream(source)
    reader.read_next_batch()
    del reader
    assert source.closed == 1
    capsule = source.__arrow_c_stream__()
    del capsule
    assert source.closed == 2


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (recordpress.CorruptRecordError("damage", file="a.log", position=7), pa.ArrowInvalid),
        (recordpress.StorageError("503", file="s3://a"), OSError),
        (OSError("disk"), OSError),
        (MemoryError(), MemoryError),
        (ValueError("\ud800"), OSError),
    ],
)
def test_an_error_comes_after_what_was_read(error: Exception, kind: type[Exception]) -> None:
    source = Source([columns()], error)
    reader = pa.RecordBatchReader.from_stream(source)
    assert reader.read_next_batch().num_rows == 12
    with pytest.raises(kind) as caught:
        reader.read_next_batch()
    text = str(error).encode("utf-8", "backslashreplace").decode()
    assert text in str(caught.value) and type(error).__name__ in str(caught.value)
    del reader
    assert source.closed == 1


def test_an_error_of_closing_is_nobodys() -> None:
    source = Source([columns()])
    source.close = lambda: 1 // 0  # type: ignore[method-assign]
    assert pa.table(source).num_rows == 12


def test_ctrl_c_reaches_the_caller() -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # Spark, in the same process, has one of its own
    try:
        _interrupt()
    finally:
        signal.signal(signal.SIGINT, before)


def _interrupt() -> None:
    class Interrupted(Source):
        def run(self) -> Iterator[Columns]:
            yield columns()
            raise KeyboardInterrupt

    assert threading.current_thread() is threading.main_thread()

    def read() -> None:
        with suppress(OSError):  # and the interrupt follows
            pa.table(Interrupted([]))
        for _ in range(1000):
            pass

    with pytest.raises(KeyboardInterrupt):
        read()


def test_nothing_is_left_behind() -> None:
    source = Source([columns()] * 3)
    for _ in range(20):
        pa.table(source)
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.take_snapshot()
    for _ in range(300):
        pa.table(source)
        with_constants(columns(), ["t"], {"t": (str, "x")})
        reader = pa.RecordBatchReader.from_stream(source)
        reader.read_next_batch()
        del reader
    gc.collect()
    after = tracemalloc.take_snapshot()
    tracemalloc.stop()
    grown = sum(entry.size_diff for entry in after.compare_to(before, "filename"))
    assert grown < 100_000

    class Owner:
        pass

    owner = Owner()
    alive = weakref.ref(owner)
    capsule = stream_of(columns().schema, iter([]), lambda owner=owner: None)
    del owner
    assert alive() is not None
    del capsule
    gc.collect()
    assert alive() is None


def test_constants_for_many_results_are_filled_once() -> None:
    place = ConstantColumns({"t": (str, "orders"), "n": (int, None)})
    short, long = columns()[:3], columns()
    of_sliced = recordpress.read_columns(DATA[: len(DATA) // 4], ["value"])
    found = [pa.table(with_constants(one, ["n", "t"], place)) for one in (of_sliced, short, long, long)]
    for one in found:
        one.validate(full=True)
    assert [one.num_rows for one in found] == [3, 3, 12, 12]
    assert all(one["t"].to_pylist() == ["orders"] * one.num_rows for one in found)
    assert all(one["n"].null_count == one.num_rows for one in found)
    text = [one["t"].chunk(0).buffers()[2].address for one in found]
    assert text[2] == text[3] != text[0]  # larger ones get new memory; the earlier result keeps its own
    del place
    gc.collect()
    assert found[0]["t"].to_pylist() == ["orders"] * 3
