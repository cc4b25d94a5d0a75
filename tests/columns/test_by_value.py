"""Each value of a column through a codec: what the calls on single values give."""

from __future__ import annotations

import contextlib
import random
from typing import Any

import google_crc32c
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

import recordpress
from recordpress.dictionaries import Dictionary, train_values

VALUES = [b'{"user": %d, "city": "%s"}' % (n * 7919 % 10007, (b"Paris", b"Lyon")[n % 2]) for n in range(2000)]
TRAINED = train_values(VALUES, 1024)
OTHER = train_values([b"<event kind='%d' at='%d'/>" % (n % 5, n * 31) for n in range(2000)], 1024)
ROWS = [b"", None, *VALUES[:5], b"x" * 70_000, None]
TYPES = [pa.binary(), pa.large_binary(), pa.binary_view(), pa.string(), pa.large_string(), pa.string_view()]


def arrow(column: Any) -> pa.Array:
    return pa.array(column)


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_values_are_those_of_single_calls(codec: Any) -> None:
    packed = recordpress.compress_values(pa.array(ROWS), codec)
    assert packed.to_pylist() == [None if row is None else recordpress.compress(row, codec) for row in ROWS]
    assert packed.type == "binary" and arrow(packed).validate(full=True) is None
    assert arrow(packed).null_count == 2
    assert recordpress.decompress_values(packed, codec).to_pylist() == ROWS


@pytest.mark.parametrize("type", TYPES, ids=str)
def test_every_type_of_column(type: pa.DataType) -> None:
    rows = [b"short", None, b"longer than a view can hold itself", b""]
    array = pa.array(rows, pa.binary()).cast(pa.string() if "string" in str(type) else pa.binary()).cast(type)
    for data in (array, array.slice(1, 2), pa.chunked_array([array, array[:0], array.slice(2)])):
        expected = [row if row is None or isinstance(row, bytes) else row.encode() for row in data.to_pylist()]
        packed = recordpress.compress_values(data, "zstd", dictionary=TRAINED)
        assert recordpress.decompress_values(packed, "zstd", dictionaries=TRAINED).to_pylist() == expected


def test_no_rows_and_nulls_alone() -> None:
    for data in (pa.array([], pa.binary()), pa.chunked_array([], pa.string())):
        assert recordpress.compress_values(data, "lz4").to_pylist() == []
        assert recordpress.crc32c_values(data).to_pylist() == []
    assert recordpress.compress_values(pa.nulls(3), "lz4").to_pylist() == [None] * 3
    assert recordpress.crc32c_values(pa.nulls(3)).to_pylist() == [None] * 3


def test_many_arrays_make_one_column() -> None:
    """Rows of earlier arrays stay as they are when the column grows."""
    rows = [None if n % 7 == 0 else b"value %d" % n for n in range(70_000)]
    arrays = pa.chunked_array([pa.array(rows[at : at + 17_000]) for at in range(0, len(rows), 17_000)])
    packed = arrow(recordpress.compress_values(arrays, "none"))
    packed.validate(full=True)
    assert packed.to_pylist() == rows
    sums = arrow(recordpress.crc32c_values(arrays))
    sums.validate(full=True)
    assert sums.to_pylist() == [None if row is None else google_crc32c.value(row) for row in rows]


@pytest.mark.parametrize("type", TYPES, ids=str)
def test_checksums_are_those_of_another_library(type: pa.DataType) -> None:
    rows = [b"123456789", None, b"longer than a view can hold itself", b"", b"x" * 70_000]
    array = pa.array(rows, pa.binary()).cast(pa.string() if "string" in str(type) else pa.binary()).cast(type)
    expected = [None if row is None else google_crc32c.value(row) for row in rows]
    for data, sums in ((array, expected), (array.slice(1, 3), expected[1:4]), (array[1:2], [None])):
        found = recordpress.crc32c_values(data)
        assert (found.name, found.type, found.to_pylist()) == ("crc", "int64", sums)


@given(
    st.lists(
        st.one_of(
            st.none(),
            st.tuples(st.binary(max_size=200), st.sampled_from([None, TRAINED, OTHER])),
        ),
        max_size=30,
    )
)
def test_a_dictionary_for_each_value(rows: list[tuple[bytes, Dictionary | None] | None]) -> None:
    packed = pa.array([row and recordpress.compress(row[0], "zstd", dictionary=row[1]) for row in rows], pa.binary())
    found = recordpress.decompress_values(packed, "zstd", dictionaries={TRAINED.id: TRAINED, OTHER.id: OTHER})
    assert found.to_pylist() == [row and row[0] for row in rows]


def test_a_dictionary_is_looked_up_once() -> None:
    asked: list[int] = []

    class Asked(dict):
        def get(self, key: int, default: object = None) -> Any:
            asked.append(key)
            return super().get(key, default)

    packed = recordpress.compress_values(pa.array(VALUES), "zstd", dictionary=TRAINED)
    known = Asked({TRAINED.id: TRAINED})
    assert recordpress.decompress_values(packed, "zstd", dictionaries=known).to_pylist() == VALUES
    assert asked == [TRAINED.id]


def test_errors_name_the_row() -> None:
    rows = [recordpress.compress(value, "zstd", dictionary=TRAINED) for value in VALUES[:4]]
    rows[2] = recordpress.compress(VALUES[2], "zstd", dictionary=OTHER)
    sentence = f"^row 2: the frame needs dictionary {OTHER.id}, which"
    with pytest.raises(recordpress.DecompressionError, match=sentence) as caught:
        recordpress.decompress_values(pa.array(rows), "zstd", dictionaries=TRAINED)
    assert caught.value.field_position == 0
    found = recordpress.decompress_values(pa.array(rows), "zstd", dictionaries=TRAINED, on_corrupt="null").to_pylist()
    assert found == [VALUES[0], VALUES[1], None, VALUES[3]]


def test_values_that_cannot_be_read_become_null_if_asked() -> None:
    chance = random.Random(5)
    rows: list[bytes] = []
    for value in VALUES[:500]:
        frame = bytearray(recordpress.compress(value, "zstd", dictionary=TRAINED))
        frame[chance.randrange(len(frame))] ^= 1 << chance.randrange(8)
        rows.append(bytes(frame[: chance.choice((len(frame), chance.randrange(len(frame))))]))
    found = recordpress.decompress_values(
        pa.array(rows), "zstd", 1000, dictionaries=TRAINED, on_corrupt="null"
    ).to_pylist()
    for row, value in zip(rows, found, strict=True):
        with contextlib.suppress(
            recordpress.RecordpressError
        ):  # not all damage is seen each time: libzstd has two decoders
            assert value in (None, recordpress.decompress(row, "zstd", 1000, dictionaries=TRAINED))
    assert 0 < found.count(None) < len(found)


def test_bombs_end_at_the_cap() -> None:
    rows = pa.array([recordpress.compress(bytes(size), "zstd", dictionary=TRAINED) for size in (10, 10_000_000, 20)])
    with pytest.raises(recordpress.OutputTooLargeError, match=r"^row 1: .* larger than 1000 bytes"):
        recordpress.decompress_values(rows, "zstd", 1000, dictionaries=TRAINED)
    found = recordpress.decompress_values(rows, "zstd", 1000, dictionaries=TRAINED, on_corrupt="null")
    assert found.to_pylist() == [bytes(10), None, bytes(20)]


@pytest.mark.slow  # 2.4 GB of output
@pytest.mark.memory
def test_a_column_is_one_array_of_arrow() -> None:
    rows = pa.array([recordpress.compress(bytes(600 << 20), "zstd")] * 4)
    for on_corrupt in ("raise", "null"):
        with pytest.raises(recordpress.OutputTooLargeError, match=r"^row 3: .* fewer rows"):
            recordpress.decompress_values(rows, "zstd", 600 << 20, on_corrupt=on_corrupt)


class Plugin:
    id, name = 5, "plugin"
    error: BaseException = ZeroDivisionError("by hand")

    def compress(self, data: bytes) -> bytes:
        return data[::-1]

    def decompress(self, data: bytes, max_output: int) -> bytes:
        if data == b"?":
            raise self.error
        return data[::-1]


def test_a_codec_of_the_caller_s_own() -> None:
    plugin = Plugin()
    codecs = recordpress.CodecRegistry()
    codecs.register(plugin.name, plugin)
    rows = pa.array([b"abc", b"?", b""])
    assert recordpress.compress_values(rows, "plugin", codecs=codecs).to_pylist() == [b"cba", b"?", b""]
    with pytest.raises(recordpress.DecompressionError, match=r"^row 1: .*by hand"):
        recordpress.decompress_values(rows, "plugin", codecs=codecs)
    assert recordpress.decompress_values(rows, "plugin", on_corrupt="null", codecs=codecs).to_pylist() == [
        b"cba",
        None,
        b"",
    ]
    plugin.error = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        recordpress.decompress_values(rows, "plugin", on_corrupt="null", codecs=codecs)


@pytest.mark.parametrize(
    "data", [pa.array([1]), pa.table({"value": [b"x"]}), pa.array(["x"]).dictionary_encode(), [b"x"], b"x", None]
)
def test_what_is_no_column_of_values_is_refused(data: Any) -> None:
    calls = (
        (recordpress.compress_values, "zstd"),
        (recordpress.decompress_values, "zstd"),
        (recordpress.crc32c_values,),
    )
    for call, *codec in calls:
        with pytest.raises(recordpress.ArgumentTypeError, match="data") as caught:
            call(data, *codec)  # type: ignore[operator]
        assert caught.value.field == "data"


def test_arguments() -> None:
    with pytest.raises(recordpress.InvalidArgumentError, match="on_corrupt must be") as caught:
        recordpress.decompress_values(pa.array([b"x"]), "zstd", on_corrupt="ignore")  # type: ignore[call-overload]
    assert caught.value.field == "on_corrupt"
    with pytest.raises(recordpress.InvalidArgumentError, match="lz4 does not support dictionaries"):
        recordpress.compress_values(pa.array([b"x"]), "lz4", dictionary=TRAINED)
