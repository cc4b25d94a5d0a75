"""Values with Confluent's framing, beside a reader of one value at a time."""

from __future__ import annotations

import random
from typing import Any

import pytest

import recordpress

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytest.importorskip("numpy", reason="NumPy is not installed")

from recordpress.columns.framing import payloads, schema_ids


def zigzag(number: int) -> bytes:
    rest, data = number << 1, bytearray()
    while rest >= 0x80:
        data.append(rest & 0x7F | 0x80)
        rest >>= 7
    return bytes([*data, rest])


def framed(schema_id: int, payload: bytes, *indexes: int) -> bytes:
    """As Confluent's serializers write it; those of Protobuf write the one byte 0 for the index 0 alone."""
    head = b"\0" + schema_id.to_bytes(4, "big")
    if indexes:
        head += b"\0" if indexes == (0,) else b"".join(map(zigzag, (len(indexes), *indexes)))
    return head + payload


OTHERS = [None, b"", b"\0", b"\0\0\0\1", b'{"plain": "json"}', b"\1\0\0\0\1payload"]


@pytest.mark.parametrize("type", [pa.binary(), pa.large_binary()])
@pytest.mark.parametrize("wrap", [list, lambda values: [b"before", *values, b"after"]])
def test_ids_and_payloads(type: Any, wrap: Any) -> None:
    chance = random.Random(5)
    expected: list[Any] = [(chance.randrange(1 << 31), chance.randbytes(chance.randrange(40))) for _ in range(200)]
    expected += [(0, b""), ((1 << 31) - 1, b"x")]
    values: list[Any] = [framed(*one) for one in expected]
    for number in range(0, 200, 7):
        values.insert(number, OTHERS[number % len(OTHERS)])
        expected.insert(number, (None, None))
    given = pa.array(wrap(values), type)
    if len(given) > len(values):  # a slice of a larger array
        given = given[1:-1]
    assert schema_ids(given).to_pylist() == [schema_id for schema_id, _ in expected]
    assert payloads(given).to_pylist() == [payload for _, payload in expected]
    assert payloads(given).type == pa.binary() and schema_ids(given).type == pa.int32()


def test_message_indexes() -> None:
    several = [(0,), (1,), (0, 0), (2, 0, 300), (1 << 30,), tuple(range(63))]
    values = [framed(9, b"payload %d" % number, *indexes) for number, indexes in enumerate(several)]
    expected = [b"payload %d" % number for number in range(len(several))]
    assert payloads(pa.array(values), True).to_pylist() == expected
    head = framed(9, b"")
    damaged = [head, head + b"\1", head + b"\4\0", head + b"\2\x80", head + b"\x80\1", head + b"\2" + b"\x80" * 1000]
    assert payloads(pa.array([*damaged, *values]), True).to_pylist() == [None] * len(damaged) + expected
    assert schema_ids(pa.array(damaged)).to_pylist() == [9] * len(damaged)


def test_a_column_of_another_type() -> None:
    for function in (schema_ids, payloads):
        with pytest.raises(recordpress.ArgumentTypeError, match="binary or string, not of Arrow type int64"):
            function(pa.array([1]))


@pytest.mark.parametrize("values", [[], [None, None], [b"", b""]])
def test_columns_without_a_framed_value(values: list[bytes | None]) -> None:
    for type in (pa.binary(), pa.string()):
        given = pa.array(values, pa.binary()).cast(type)
        assert schema_ids(given).to_pylist() == payloads(given, True).to_pylist() == [None] * len(values)
