"""Rows that a search finds, against the same search in Python."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

import recordpress
from recordpress.columns import matching_rows

SHORT = st.binary(max_size=4).map(lambda b: bytes(c % 3 + 97 for c in b))
ROWS = st.lists(
    st.tuples(st.none() | SHORT, st.none() | SHORT, st.lists(st.tuples(st.sampled_from("hi"), st.none() | SHORT))),
    min_size=1,
    max_size=30,
)


def found(columns: recordpress.Columns, **wanted: Any) -> list[int]:
    return [row for start, number in matching_rows(columns, **wanted) for row in range(start, start + number)]


@given(
    rows=ROWS,
    key=st.none() | SHORT,
    part=st.none() | SHORT,
    header=st.none() | st.sampled_from(["h", "hh"]),
    value=st.none() | SHORT,
    binary=st.sampled_from(["binary", "large_binary", "binary_view"]),
)
def test_rows_are_those_that_python_finds(
    rows: list[Any], key: bytes | None, part: bytes | None, header: str | None, value: bytes | None, binary: Any
) -> None:
    keys, values, headers = map(list, zip(*rows, strict=True))
    columns = recordpress.read_columns(recordpress.write_records(values, keys, headers=headers), binary_type=binary)
    header_value = value if header is not None else None
    expected = [
        number
        for number, (row_key, row_value, row_headers) in enumerate(rows)
        if (key is None or row_key == key)
        and (part is None or (row_value is not None and part in row_value))
        and (
            header is None
            or any(name == header and (header_value is None or text == header_value) for name, text in row_headers)
        )
    ]
    wanted = {"key": key, "value_contains": part, "header": header, "header_value": header_value}
    assert found(columns, **wanted) == expected
    assert found(columns.slice(1), **wanted) == [row - 1 for row in expected if row]


def test_arguments() -> None:
    columns = recordpress.read_columns(b"", ["key"])
    with pytest.raises(recordpress.ArgumentTypeError, match="not list"):
        matching_rows([])  # type: ignore[arg-type]
    with pytest.raises(recordpress.InvalidArgumentError, match="columns must have value"):
        matching_rows(columns, value_contains=b"a")
    with pytest.raises(recordpress.InvalidArgumentError, match="header_value needs header"):
        matching_rows(columns, header_value=b"a")
    with pytest.raises(recordpress.ArgumentTypeError, match="header must be str, not bytes"):
        matching_rows(recordpress.read_columns(b""), header=b"h")  # type: ignore[arg-type]
    assert matching_rows(columns) == []
