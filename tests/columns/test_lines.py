"""Rows as lines of text, against Python's own json, csv and base64."""

import base64
import csv
import io
import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

import recordpress
from recordpress.columns import Columns, dump_lines, json_lines, with_constants, write_lines
from together import together

BYTES = st.one_of(
    st.none(),
    st.binary(max_size=40),
    st.text(max_size=40).map(str.encode),
    st.sampled_from([b"", b'"', b"\\", b"\x00\x1f\x7f", b"a" * 9000, "€🚀".encode() * 2000, b"\xe2\x82" * 3000]),
)
HEADERS = st.lists(st.tuples(st.text(max_size=8), BYTES), max_size=3)
ROWS = st.lists(st.tuples(BYTES, BYTES, HEADERS, st.integers(-1, 1 << 42)), min_size=1, max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)


def as_java(value: bytes) -> str:
    """Java's UTF-8 decoder: Python's, but for one replacement per surrogate (there are none in these rows)."""
    return value.decode("utf-8", "replace")


def shown(value: bytes | None, values: str) -> Any:
    if value is None:
        return None
    if values == "base64":
        return base64.b64encode(value).decode()
    if values == "hex":
        return value.hex()
    return len(value) if values == "size" else as_java(value)


def written(rows: list[Any], **options: Any) -> bytes:
    keys, contents, headers, timestamps = map(list, zip(*rows, strict=True))
    return recordpress.write_records(contents, keys, timestamps, headers, base_offset=5, **options)


def has_surrogates(rows: list[Any]) -> bool:
    parts = [part for row in rows for part in (row[0], row[1], *(value for _, value in row[2])) if part]
    return any(0xED in part for part in parts)


@given(
    rows=ROWS,
    values=st.sampled_from(["utf8", "hex", "base64", "size"]),
    binary=st.sampled_from(["binary", "large_binary", "binary_view"]),
)
def test_json_lines_are_what_python_reads(rows: list[Any], values: Any, binary: Any) -> None:
    if has_surrogates(rows):
        return
    columns = recordpress.read_columns(written(rows), binary_type=binary)
    lines = json_lines(columns, values).split(b"\n")
    assert lines.pop() == b""
    for number, ((key, value, headers, timestamp), line) in enumerate(zip(rows, lines, strict=True)):
        assert json.loads(line) == {
            "offset": 5 + number,
            "timestamp": timestamp,
            "timestampType": 0,
            "key": shown(key, values),
            "value": shown(value, values),
            "headers": [[name, shown(content, values)] for name, content in headers],
        }


# few texts and numbers, so that many parts and slices have but one of them
FEW = st.lists(
    st.tuples(
        st.lists(st.sampled_from([None, b"k"]), min_size=1, max_size=5),
        st.sampled_from([-1, 7, 1 << 40]),
        st.sampled_from([[], [("name", b"v")], [("name", None)]]),
        st.sampled_from([-1, 3]),
    ),
    min_size=1,
    max_size=4,
)


@given(batches=FEW, cut=st.tuples(st.integers(0, 9), st.integers(0, 9)), by_batch=st.booleans())
def test_values_that_are_the_same_in_all_rows_of_a_part_are_each_rows_own(
    batches: list[Any], cut: tuple[int, int], by_batch: bool
) -> None:
    """They are made into text once for a part of the columns."""
    names = ["topic", "offset", "timestamp", "partition", "key", "headers", "producerId", "partitionLeaderEpoch"]
    log, expected = b"", []
    for keys, timestamp, headers, epoch in batches:
        count = len(keys)
        log += recordpress.write_records(
            [b""] * count, keys, [timestamp] * (count - 1) + [5], [headers] * count, base_offset=len(expected),
            partition_leader_epoch=epoch,
        )  # fmt: skip
        times = [timestamp] * (count - 1) + [5]
        expected += [
            ["t", len(expected) + row, times[row], 3, key and "k", [[n, v and "v"] for n, v in headers], -1, epoch]
            for row, key in enumerate(keys)
        ]
    # a part for each batch, or one
    columns = recordpress.read_columns(log, [name for name in names if name not in ("topic", "partition")],
                                  **({"chunk_bytes": 1} if by_batch else {}))  # fmt: skip
    columns = with_constants(columns, names, {"topic": (str, "t"), "partition": (int, 3)})
    start, count = min(cut[0], len(expected)), cut[1]
    found = [list(json.loads(line).values()) for line in json_lines(columns.slice(start, count)).splitlines()]
    assert found == expected[start : start + count]


def csv_rows(columns: Columns, values: Any = "utf8") -> bytes:
    written: list[bytes] = []
    write_lines([columns], lambda text: written.append(bytes(text)), "csv", values)
    return b"".join(written)


@given(rows=ROWS, values=st.sampled_from(["utf8", "hex", "base64", "size"]))
def test_csv_rows_are_what_python_reads(rows: list[Any], values: Any) -> None:
    if has_surrogates(rows):
        return
    columns = recordpress.read_columns(written(rows), ["offset", "timestamp", "key", "value", "headers"])
    found = csv.reader(io.StringIO(csv_rows(columns, values).decode(), newline=""))
    for number, (row, (key, value, headers, timestamp)) in enumerate(zip(found, rows, strict=True)):
        texts = [shown(part, values) for part in (key, value)]
        assert row[:4] == [str(5 + number), str(timestamp), *("" if text is None else str(text) for text in texts)]
        assert json.loads(row[4]) == [[name, shown(content, values)] for name, content in headers]


def test_csv_tells_null_from_empty() -> None:
    columns = recordpress.read_columns(recordpress.write_records([None, b""]), ["value"])
    for values in ("utf8", "hex", "base64", "json"):
        assert csv_rows(columns, values) == b'\r\n""\r\n'


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (b"\xed\xa0\x80", "\ufffd"),
        (b"a\xed\xa0", "a\ufffd"),
        (b"\xe2\x82", "\ufffd"),
        (b"\xff\xff", "\ufffd\ufffd"),
        (b"\xf0\x9f\x9a", "\ufffd"),
    ],
)
@pytest.mark.parametrize("before", [b"", b"12345678", b"123456"])
def test_bytes_that_are_not_utf8_are_replaced_as_java_does(value: bytes, text: str, before: bytes) -> None:
    columns = recordpress.read_columns(recordpress.write_records([before + value + b"end"]), ["value"])
    assert json.loads(json_lines(columns))["value"] == before.decode() + text + "end"
    assert csv_rows(columns).decode() == f'"{before.decode()}{text}end"\r\n'


@given(document=JSON, indent=st.sampled_from([None, 1]))
def test_json_values_are_put_in_as_they_are(document: Any, indent: int | None) -> None:
    value = json.dumps(document, indent=indent, ensure_ascii=False).encode("utf-8", "replace")
    line = json_lines(recordpress.read_columns(recordpress.write_records([value]), ["value"]), "json")
    assert line.count(b"\n") == 1
    assert json.loads(line) == {"value": json.loads(value)}


@together(
    "value",
    [
        b"", b" ", b"{", b"}", b"[1,]", b"[,1]", b'{"a"}', b'{"a":}', b'{"a":1,}', b"{1:2}", b"01", b"1.", b".5", b"-",
        b"1e", b"+1", b"tru", b"nul", b"True", b'"', b'"\\x"', b'"\\u12g4"', b'"\x01"', b"1 2", b"[1] 2", b"NaN",
        b'"\xff"', b"[}", b"{]", b"]", b"[" * 65 + b"]" * 65, b'{"a":1}}', b'{"a" 1}', b'{"a",1}', b"[1:2]", b'"\\u12',
        b'"\\', b"\xef\xbb\xbf1",
    ],
)  # fmt: skip
def test_values_that_are_not_json_are_text(value: bytes) -> None:
    line = json_lines(recordpress.read_columns(recordpress.write_records([value]), ["value"]), "json")
    assert json.loads(line) == {"value": as_java(value)}


@given(value=st.binary(max_size=30).map(lambda b: bytes(b'{}[]",:\\ \n0123456789.eE+-truefalsn'[c % 33] for c in b)))
def test_what_python_takes_for_json_is_json(value: bytes) -> None:
    line = json_lines(recordpress.read_columns(recordpress.write_records([value]), ["value"]), "json")
    try:
        expected = json.loads(value)
    except ValueError:
        expected = value.decode()
    assert json.loads(line)["value"] == expected


def test_columns_of_every_kind() -> None:
    data = recordpress.write_records([b"a"], timestamps=[7], producer_id=3, producer_epoch=1, base_sequence=9)
    names = ["offset", "timestamp", "producerId", "producerEpoch", "sequence", "isTransactional", "isControl"]
    columns = with_constants(
        recordpress.read_columns(data, names),
        ["topic", "partition", *names],
        {"topic": (str, 'a"b'), "partition": (int, 2)},
    )
    assert json.loads(json_lines(columns)) == {
        "topic": 'a"b', "partition": 2, "offset": 0, "timestamp": 7, "producerId": 3, "producerEpoch": 1, "sequence": 9,
        "isTransactional": False, "isControl": False,
    }  # fmt: skip
    assert csv_rows(columns) == b'"a""b",2,0,7,3,1,9,false,false\r\n'
    unknown = with_constants(columns, ["topic"], {"topic": (str, None)})
    assert json_lines(unknown) == b'{"topic":null}\n'
    assert csv_rows(unknown) == b"\r\n"


@together("size", range(70))
@pytest.mark.parametrize("byte", [0x00, 0x1F, 0x22, 0x5C, 0x7F, 0x80])
def test_a_byte_that_needs_care_is_found_anywhere(size: int, byte: int) -> None:
    values = [b"x" * at + bytes([byte]) + b"y" * (size - at) for at in range(size + 1)]
    lines = json_lines(recordpress.read_columns(recordpress.write_records(values), ["value"])).splitlines()
    assert [json.loads(line)["value"] for line in lines] == [as_java(value) for value in values]


EDGES = [10**digits + more for digits in range(19) for more in (-1, 0, 1)]


@pytest.mark.parametrize("number", [-(1 << 31), -12345678, -2])
def test_negative_numbers(number: int) -> None:
    columns = recordpress.read_columns(recordpress.write_records([b""]), ["offset"])
    assert json_lines(with_constants(columns, ["number"], {"number": (int, number)})) == b'{"number":%d}\n' % number


@together("number", [*EDGES, 12345, 1234567890123456789, (1 << 63) - 1])
def test_numbers(number: int) -> None:
    data = recordpress.write_records([b""], producer_id=number, producer_epoch=0, base_sequence=0)
    assert json_lines(recordpress.read_columns(data, ["producerId"])) == b'{"producerId":%d}\n' % number


def test_parts_and_slices() -> None:
    data = b"".join(recordpress.write_records([b"v"] * 3, base_offset=3 * i) for i in range(5))
    columns = recordpress.read_columns(data, ["offset"], threads=3)
    offsets = [json.loads(line)["offset"] for line in json_lines(columns[2:11]).splitlines()]
    assert offsets == list(range(2, 11))
    assert json_lines(columns[4:4]) == b""


def test_names_of_any_length() -> None:
    columns = recordpress.read_columns(recordpress.write_records([b""]), ["offset"])
    names = ["n" * size for size in (1, 27, 28, 29, 60, 61, 200)]
    named = with_constants(columns, names, {name: (int, len(name)) for name in names})
    assert json.loads(json_lines(named)) == {name: len(name) for name in names}


def test_lines_of_dump_log_segments() -> None:
    names = ["offset", "timestamp", "timestampType", "key", "value", "headers", "sequence"]
    data = recordpress.write_records([b"v", None], [None, b"k"], [1, 2], [[("h", b"x"), ("i", None)], []])
    columns = recordpress.read_columns(data, names)
    first = b"| offset: 0 CreateTime: 1 keySize: -1 valueSize: 1 sequence: -1 headerKeys: [h,i]"
    second = b"| offset: 1 CreateTime: 2 keySize: 1 valueSize: -1 sequence: -1 headerKeys: []"
    assert dump_lines(columns, contents=False) == first + b"\n" + second + b"\n"
    assert dump_lines(columns) == first + b" payload: v\n" + second + b" key: k\n"
    assert dump_lines(columns, metadata=False) == b"| payload: v\n| key: k\n"
    assert dump_lines(columns, metadata=False, contents=False) == b"\n\n"
    assert dump_lines(columns, values="hex") == first + b' payload: "76"\n' + second + b' key: "6b"\n'


def test_arguments() -> None:
    columns = recordpress.read_columns(b"", ["offset"])
    with pytest.raises(recordpress.ArgumentTypeError, match="not list"):
        json_lines([])  # type: ignore[arg-type]
    with pytest.raises(recordpress.InvalidArgumentError, match="values must be"):
        json_lines(columns, "ascii")  # type: ignore[arg-type]
    with pytest.raises(recordpress.InvalidArgumentError, match="columns must have timestamp, "):
        dump_lines(columns)
    assert (json_lines(columns), csv_rows(columns)) == (b"", b"")
