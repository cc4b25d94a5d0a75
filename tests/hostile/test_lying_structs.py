"""Arrow structs that contradict themselves, and producers that give something else: every one is refused by an
exception of recordpress or of the caller, everything that was handed over is released, and nothing outside a buffer is
read (the sanitizers watch that: the buffers end where their bytes do)."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import pytest

import recordpress
from arrow_structs import (
    GET,
    RELEASE,
    ArrayProducer,
    ArrowArray,
    ArrowSchema,
    Memory,
    StreamProducer,
    capsule,
    i32,
    i64,
)

Parts = tuple[Any, Any]
HUGE = 2**63 - 1


def binary(memory: Memory, name: bytes = b"value", **fields: Any) -> Parts:
    """b"abc" and b"de"."""
    return memory.schema(b"z", name), memory.array(2, [None, i32(0, 3, 5), b"abcde"], **fields)


def large(memory: Memory, *ends: int, data: bytes | None = b"abcde", **fields: Any) -> Parts:
    return memory.schema(b"Z", b"value"), memory.array(len(ends) - 1, [None, i64(*ends), data], **fields)


def view(memory: Memory, *buffers: bytes | None, **fields: Any) -> Parts:
    """One value of 20 bytes."""
    views = i32(20) + b"0123" + i32(0, 0)
    return memory.schema(b"vz", b"value"), memory.array(1, [None, views, *buffers], **fields)


def numbers(memory: Memory, name: bytes, format: bytes, content: bytes | None, **fields: Any) -> Parts:
    return memory.schema(format, name), memory.array(2, [None, content], **fields)


def headers(memory: Memory, format: bytes = b"+l", item_format: bytes = b"+s", **item: Any) -> Parts:
    """A header of the name h in each of two rows."""
    inner = memory.schema(b"u", b"key"), memory.schema(b"z", b"value")
    keys = memory.array(2, [None, i32(0, 1, 2), b"hh"]), memory.array(2, [None, i32(0, 1, 2), b"xy"])
    structs = memory.array(2, [None], keys, **item)
    ends = i64(0, 1, 2) if format == b"+L" else i32(0, 1, 2)
    lists = memory.schema(format, b"headers", [memory.schema(item_format, b"item", inner)])
    return lists, memory.array(2, [None, ends], [structs])


def table(memory: Memory, *columns: Parts, rows: int = 2, **fields: Any) -> ArrayProducer:
    schema = memory.schema(b"+s", children=[schema for schema, _ in columns])
    return ArrayProducer(schema, memory.array(rows, [None], [array for _, array in columns], **fields))


def records(data: bytes) -> list[tuple[bytes | None, list[tuple[str, bytes | None]]]]:
    return [(record.value, list(record.headers)) for batch in recordpress.read_batches(data) for record in batch]


def changed(parts: Parts, *path: int, schema: bool = False, **fields: Any) -> Parts:
    """Set fields of the array or schema, or of the child that the path leads to."""
    struct = parts[0] if schema else parts[1]
    for child in path:
        struct = struct.children[child].contents
    for name, value in fields.items():
        setattr(struct, name, value)
    return parts


NO_POINTER = ctypes.POINTER(ctypes.c_void_p)()
NO_ARRAYS = ctypes.POINTER(ctypes.POINTER(ArrowArray))()
NO_SCHEMAS = ctypes.POINTER(ctypes.POINTER(ArrowSchema))()


@pytest.mark.parametrize("format", [b"+l", b"+L", b"+m"])
def test_structs_that_do_not_lie(format: bytes) -> None:
    memory = Memory()
    data = recordpress.write_columns(table(memory, binary(memory), headers(memory, format)))
    assert records(data) == [(b"abc", [("h", b"x")]), (b"de", [("h", b"y")])]
    assert memory.released == 2


@pytest.mark.parametrize("skew", range(8))
def test_buffers_at_any_address(skew: int) -> None:
    memory = Memory()
    schema, views = view(memory, b"0123456789" * 2, i64(20), skew=skew)
    schema.name = b"key"
    columns = (
        (schema, views),
        (memory.schema(b"Z", b"value"), memory.array(1, [None, i64(0, 3), b"abc"], skew=skew)),
        (memory.schema(b"l", b"offset"), memory.array(1, [None, i64(7)], skew=skew)),
        (memory.schema(b"tsm:UTC", b"timestamp"), memory.array(1, [None, i64(5)], skew=skew)),
        (memory.schema(b"i", b"timestampType"), memory.array(1, [None, i32(0)], skew=skew)),
    )
    [batch] = recordpress.read_batches(recordpress.write_columns(table(memory, *columns, rows=1)))
    [record] = batch
    assert (record.offset, record.timestamp) == (7, 5)
    assert (record.key, record.value) == (b"0123456789" * 2, b"abc")


def test_empty_columns_without_data() -> None:
    """As some producers have it; the offsets need not begin at 0."""
    memory = Memory()
    value = memory.schema(b"z", b"value"), memory.array(2, [None, i32(4, 4, 4), None])
    assert records(recordpress.write_columns(table(memory, value))) == [(b"", []), (b"", [])]


ARRAYS: dict[str, Callable[[Memory], Parts]] = {
    "a length that overflows with its offset": lambda m: changed(binary(m), length=HUGE, offset=HUGE),
    "a length beyond all addresses": lambda m: changed(binary(m), length=HUGE),
    "an offset beyond all addresses": lambda m: changed(binary(m), offset=HUGE - 1),
    "a negative length": lambda m: changed(binary(m), length=-1),
    "a negative offset": lambda m: changed(binary(m), offset=-1),
    "the least offset": lambda m: changed(binary(m), offset=-HUGE - 1),
    "no buffers at all": lambda m: changed(binary(m), buffers=NO_POINTER),
    "a negative number of buffers": lambda m: changed(binary(m), n_buffers=-3),
    "no offsets": lambda m: (m.schema(b"z", b"value"), m.array(2, [None, None, b"abcde"])),
    "no data": lambda m: (m.schema(b"z", b"value"), m.array(2, [None, i32(0, 3, 5), None])),
    "no data, and offsets that fall": lambda m: (m.schema(b"z", b"value"), m.array(2, [None, i32(0, 3, 0), None])),
    "no data below a null": lambda m: (
        m.schema(b"z", b"value"),
        m.array(3, [b"\5", i32(0, 0, 3, 3), None], null_count=1),
    ),
    "no large data": lambda m: large(m, 0, 3, 5, data=None),
    "nulls without bits": lambda m: binary(m, null_count=1),
    "a large value that overflows": lambda m: large(m, -HUGE - 1, HUGE, 5),
    "large offsets that fall": lambda m: large(m, 5, 3, 5),
    "an array that was released": lambda m: changed(binary(m), release=RELEASE()),
    "a view without its data": lambda m: view(m, None, i64(20)),
    "a view without sizes": lambda m: view(m, b"0123456789" * 2, None),
    "a view without a buffer of sizes": lambda m: view(m),
    "a view before its data": lambda m: (
        m.schema(b"vz", b"value"),
        m.array(2, [None, i32(20, 0, 0, -8) * 2, b"0123456789" * 2, i64(20)]),
    ),
    "a view of a size that overflows": lambda m: (
        m.schema(b"vz", b"value"),
        m.array(2, [None, i32(2**31 - 1, 0, 0, 2**31 - 1) * 2, b"01", i64(2)]),
    ),
    "a column that is missing": lambda m: (m.schema(b"z", b"value"), None),
}


@pytest.mark.parametrize("make", ARRAYS.values(), ids=ARRAYS)
def test_columns(make: Callable[[Memory], Parts]) -> None:
    memory = Memory()
    schema, array = make(memory)
    if array is None:
        producer = table(memory, binary(memory))
        pointers = (ctypes.POINTER(ArrowArray) * 1)()
        root = memory.array(2, [None], n_children=1, children=memory.keep(pointers))
        producer.given = producer.given[0], capsule(root, b"arrow_array")
    else:
        producer = table(memory, (schema, array), rows=3 if array.length == 3 else min(max(array.length, 1), 2))
    with pytest.raises(recordpress.InvalidArgumentError, match="contradict each other") as caught:
        recordpress.write_columns(producer)
    assert caught.value.field == "data"
    assert memory.released == 2


@pytest.mark.parametrize("codec", ["none", "lz4"])
@pytest.mark.parametrize("end", [2**31, 2**32 + 3, 2**62, HUGE])
def test_a_large_value_that_no_record_can_hold(end: int, codec: str) -> None:
    """Its bytes are not there: it is refused by its size alone, also if the sum of two sizes overflows."""
    memory = Memory()
    columns = [large(memory, 0, end), large(memory, 0, end)]
    columns[0][0].name = b"key"
    with pytest.raises(recordpress.InvalidArgumentError, match=rf"record 0: {end} bytes"):
        recordpress.write_columns(table(memory, *columns, rows=1), compression_type=codec)


@pytest.mark.parametrize("field", ["key", "value"])
def test_a_large_header_that_no_record_can_hold(field: str) -> None:
    memory = Memory()
    sizes = [HUGE if name == field else 1 for name in ("key", "value")]
    item = memory.schema(b"+s", b"item", [memory.schema(b"Z", b"key"), memory.schema(b"Z", b"value")])
    structs = memory.array(1, [None], [memory.array(1, [None, i64(0, size), b"h"]) for size in sizes])
    lists = memory.schema(b"+l", b"headers", [item]), memory.array(1, [None, i32(0, 1)], [structs])
    with pytest.raises(recordpress.InvalidArgumentError, match=rf"record 0: {HUGE} bytes"):
        recordpress.write_columns(table(memory, large(memory, 0, 3), lists, rows=1))


ROOTS: dict[str, dict[str, Any]] = {
    "no children": {"children": NO_ARRAYS},
    "a negative number of children": {"n_children": -1},
    "a negative length": {"length": -1},
    "a negative offset": {"offset": -1},
    "a length that overflows with its offset": {"length": HUGE, "offset": 1},
    "an offset that overflows with its length": {"length": 1, "offset": HUGE},
}


@pytest.mark.parametrize("fields", ROOTS.values(), ids=ROOTS)
def test_tables(fields: dict[str, Any]) -> None:
    memory = Memory()
    producer = table(memory, binary(memory), **fields)
    with pytest.raises(recordpress.InvalidArgumentError, match="contradict each other"):
        recordpress.write_columns(producer)
    assert memory.released == 2


NUMBERS: dict[str, Callable[[Memory], Parts]] = {
    "no offsets": lambda m: numbers(m, b"offset", b"l", None),
    "no timestamps": lambda m: numbers(m, b"timestamp", b"tsm:UTC", None),
    "no timestamp types": lambda m: numbers(m, b"timestampType", b"i", None),
    "one buffer": lambda m: numbers(m, b"offset", b"l", i64(0, 1), n_buffers=1),
    "headers without structs": lambda m: changed(headers(m), n_children=0),
    "headers without a pointer to structs": lambda m: changed(headers(m), children=NO_ARRAYS),
    "headers with a NULL for their structs": lambda m: changed(
        headers(m), children=m.keep((ctypes.POINTER(ArrowArray) * 1)())
    ),
    "header structs that were released": lambda m: changed(headers(m), 0, release=RELEASE()),
    "header structs without buffers": lambda m: changed(headers(m), 0, n_buffers=0),
    "header structs without children": lambda m: changed(headers(m), 0, children=NO_ARRAYS),
    "headers whose length overflows": lambda m: changed(headers(m), 0, offset=HUGE),
    "header keys that end too soon": lambda m: changed(headers(m), 0, 0, length=1),
    "header keys without offsets": lambda m: changed(headers(m), 0, 0, buffers=NO_POINTER),
    "header keys without data": lambda m: changed(
        headers(m), 0, 0, buffers=m.keep((ctypes.c_void_p * 3)(None, m.buffer(i32(0, 1, 2)), None))
    ),
}


@pytest.mark.parametrize("make", NUMBERS.values(), ids=NUMBERS)
def test_other_columns(make: Callable[[Memory], Parts]) -> None:
    memory = Memory()
    with pytest.raises(recordpress.InvalidArgumentError, match="contradict each other"):
        recordpress.write_columns(table(memory, binary(memory), make(memory)))
    assert memory.released == 2


def _inside_itself(memory: Memory) -> Parts:
    parts = headers(memory)
    item = parts[0].children[0].contents
    item.children[0] = item.children[1] = ctypes.pointer(item)
    return parts


def _shared_children(memory: Memory) -> Parts:
    """Few structs that are more fields than anybody could walk."""
    field = memory.schema(b"z", b"x")
    for _ in range(40):
        field = memory.schema(b"+s", b"x", [field, field])
    schema, array = headers(memory)
    schema.children[0] = ctypes.pointer(field)
    return schema, array


SCHEMAS: dict[str, tuple[Callable[[Memory], Parts], type[recordpress.RecordpressError]]] = {
    "a list without a child": (lambda m: changed(headers(m), schema=True, n_children=0), recordpress.ArgumentTypeError),
    "a list of a union": (lambda m: headers(m, item_format=b"+us:0,1"), recordpress.ArgumentTypeError),
    "a list of numbers": (lambda m: headers(m, item_format=b"l"), recordpress.ArgumentTypeError),
    "a struct of one field": (
        lambda m: changed(headers(m), 0, schema=True, n_children=1),
        recordpress.ArgumentTypeError,
    ),
    "a list without a pointer to its child": (
        lambda m: changed(headers(m), schema=True, children=NO_SCHEMAS),
        recordpress.InvalidArgumentError,
    ),
    "a list with NULL for its child": (
        lambda m: changed(headers(m), schema=True, children=m.keep((ctypes.POINTER(ArrowSchema) * 1)())),
        recordpress.InvalidArgumentError,
    ),
    "a negative number of children": (
        lambda m: changed(headers(m), schema=True, n_children=-1),
        recordpress.InvalidArgumentError,
    ),
    "more children than there are": (
        lambda m: changed(headers(m), schema=True, n_children=HUGE),
        recordpress.InvalidArgumentError,
    ),
    "no format": (lambda m: changed(binary(m, b"key"), schema=True, format=None), recordpress.InvalidArgumentError),
    "a format that is not text": (
        lambda m: changed(binary(m, b"key"), schema=True, format=b"\xff\xfe"),
        recordpress.ArgumentTypeError,
    ),
    "a name that is not text": (
        lambda m: changed(binary(m), schema=True, name=b"\xff\xfe"),
        recordpress.InvalidArgumentError,
    ),
    "a field that was released": (
        lambda m: changed(binary(m, b"key"), schema=True, release=RELEASE()),
        recordpress.InvalidArgumentError,
    ),
    "a field inside itself": (_inside_itself, recordpress.InvalidArgumentError),
    "fields that share their children": (_shared_children, recordpress.InvalidArgumentError),
}


@pytest.mark.parametrize(("make", "error"), SCHEMAS.values(), ids=SCHEMAS)
def test_schemas(make: Callable[[Memory], Parts], error: type[recordpress.RecordpressError]) -> None:
    memory = Memory()
    with pytest.raises(error):
        recordpress.write_columns(table(memory, binary(memory), make(memory)))
    assert memory.released == 2


# --- producers


class Gives:
    def __init__(self, array: Any = None, stream: Any = None) -> None:
        self.array, self.stream = array, stream

    @staticmethod
    def _given(what: Any) -> Any:
        if isinstance(what, Exception):
            raise what
        return what


class GivesArray(Gives):
    def __arrow_c_array__(self, requested_schema: object = None) -> Any:
        return self._given(self.array)


class GivesStream(Gives):
    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return self._given(self.stream)


def _wrong() -> Any:
    return capsule(ArrowSchema(), b"something_else")


@pytest.mark.parametrize("given", [None, 1, b"", (), (None, None), object()], ids=lambda given: type(given).__name__)
def test_producers_of_something_else(given: Any) -> None:
    for producer in (GivesArray(given), GivesStream(stream=given)):
        with pytest.raises(recordpress.ArgumentTypeError, match="__arrow_c_") as caught:
            recordpress.write_columns(producer)
        assert caught.value.field == "data"


def test_capsules_of_another_name() -> None:
    memory = Memory()
    schema, array = table(memory, binary(memory)).given
    for given in ((schema, _wrong()), (_wrong(), array), (array, schema), (schema,), (schema, array, array)):
        with pytest.raises(recordpress.ArgumentTypeError, match="__arrow_c_array__"):
            recordpress.write_columns(GivesArray(given))
    with pytest.raises(recordpress.ArgumentTypeError, match="arrow_array_stream"):
        recordpress.write_columns(GivesStream(stream=_wrong()))
    assert memory.released == 0


@pytest.mark.parametrize("kind", [TypeError, ValueError, AttributeError, ZeroDivisionError])
def test_exceptions_of_the_caller(kind: type[Exception]) -> None:
    for producer in (GivesArray(kind("mine")), GivesStream(stream=kind("mine"))):
        with pytest.raises(kind, match=r"^mine$") as caught:
            recordpress.write_columns(producer)
        assert caught.type is kind


@pytest.mark.parametrize("option", ["base_offset", "batch_bytes", "producer_id", "log_append_time"])
def test_an_argument_that_consumes_the_data(option: str) -> None:
    """Arguments run the caller's code before the data is asked for its capsules."""
    memory = Memory()
    producer = table(memory, binary(memory))
    seen: list[object] = []

    class Index:
        def __index__(self) -> int:
            with pytest.raises(recordpress.ArgumentTypeError):
                recordpress.write_columns(producer, batch_records=seen)
            seen.append(recordpress.write_columns(producer))
            return 10

    with pytest.raises(recordpress.InvalidArgumentError):
        recordpress.write_columns(producer, **{option: Index()})
    assert len(seen) == 1
    assert memory.released == 2


def test_an_argument_with_an_exception() -> None:
    class Index:
        def __index__(self) -> int:
            raise KeyError("mine")

    memory = Memory()
    with pytest.raises(KeyError, match="mine"):
        recordpress.write_columns(table(memory, binary(memory)), base_offset=Index())
    assert memory.released == 0


# --- streams


def stream(memory: Memory, n: int = 1, schema: Any = None, **fields: Any) -> StreamProducer:
    parts = [binary(memory) for _ in range(n)]
    schema = schema or memory.schema(b"+s", children=[parts[0][0]])
    return StreamProducer(memory, schema, [memory.array(2, [None], [array]) for _, array in parts], **fields)


def test_a_stream() -> None:
    memory = Memory()
    producer = stream(memory, 3)
    assert [value for value, _ in records(recordpress.write_columns(producer))] == [b"abc", b"de"] * 3
    assert memory.released == 5
    with pytest.raises(recordpress.InvalidArgumentError, match="already consumed"):
        recordpress.write_columns(producer)


@pytest.mark.parametrize("name", ["get_schema", "get_next"])
def test_a_stream_without_functions(name: str) -> None:
    memory = Memory()
    producer = stream(memory)
    setattr(producer.stream, name, type(getattr(producer.stream, name))())
    with pytest.raises(recordpress.InvalidArgumentError, match="get_schema or no get_next"):
        recordpress.write_columns(producer)
    assert memory.released == 1


def test_a_stream_that_fails_without_a_reason() -> None:
    memory = Memory()
    with pytest.raises(
        recordpress.InvalidArgumentError, match=r"the Arrow stream failed: (Cannot allocate|Out of) memory"
    ):
        recordpress.write_columns(stream(memory, code=12))
    assert memory.released == 3


def test_a_stream_whose_schema_fails() -> None:
    memory = Memory()
    failing = memory.keep(GET(lambda stream, out: 5))
    with pytest.raises(recordpress.InvalidArgumentError, match="the Arrow stream failed: Input/output error"):
        recordpress.write_columns(stream(memory, get_schema=failing))
    assert memory.released == 1


def test_a_stream_whose_schema_was_released() -> None:
    memory = Memory()
    with pytest.raises(recordpress.InvalidArgumentError, match="released"):
        recordpress.write_columns(stream(memory, schema=memory.schema(b"+s", release=RELEASE())))
    assert memory.released == 1
