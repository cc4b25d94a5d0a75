"""The exceptions: what they are, the codes that Kafka gives them, and what they say."""

from __future__ import annotations

import struct
from typing import Any

import pytest

import recordpress
from recordpress import errors

ALL = [getattr(errors, name) for name in errors.__all__]

# Kafka's protocol guide, error codes; kafka-python has the same table.
CODES = {
    "RecordpressError": None,
    "CorruptRecordError": 2,
    "DecompressionError": 2,
    "InvalidRecordError": 87,
    "UnsupportedCompressionTypeError": 76,
    "OutputTooLargeError": None,
    "StorageError": 56,
    "InvalidArgumentError": None,
    "ClosedError": None,
    "InUseError": None,
    "NotFoundError": None,
    "ArgumentTypeError": None,
}
PARENTS = {
    "RecordpressError": (Exception,),
    "CorruptRecordError": (errors.RecordpressError,),
    "DecompressionError": (errors.CorruptRecordError,),
    "InvalidRecordError": (errors.RecordpressError,),
    "UnsupportedCompressionTypeError": (errors.RecordpressError,),
    "OutputTooLargeError": (errors.RecordpressError,),
    "StorageError": (errors.RecordpressError, OSError),
    "InvalidArgumentError": (errors.RecordpressError, ValueError),
    "ClosedError": (errors.InvalidArgumentError,),
    "InUseError": (errors.InvalidArgumentError, RuntimeError),
    "NotFoundError": (errors.InvalidArgumentError, KeyError, IndexError),
    "ArgumentTypeError": (errors.RecordpressError, TypeError),
}


def test_the_table_is_whole() -> None:
    defined = {name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, Exception)}
    assert defined == set(errors.__all__) == set(CODES) == set(PARENTS)
    assert set(errors.__all__) <= set(recordpress.__all__)


@pytest.mark.parametrize("kind", ALL)
def test_place_in_the_tree_and_code(kind: type[recordpress.RecordpressError]) -> None:
    assert kind.__bases__ == PARENTS[kind.__name__]
    assert kind.code == kind("sentence").code == CODES[kind.__name__]


@pytest.mark.parametrize("name", ["CorruptRecordError", "InvalidRecordError", "UnsupportedCompressionTypeError"])
def test_codes_are_those_of_another_client(name: str) -> None:
    theirs = pytest.importorskip("kafka.errors")
    assert getattr(recordpress, name).code == getattr(theirs, name).errno


@pytest.mark.parametrize("kind", ALL)
def test_what_is_known_of_the_place_is_data_and_text(kind: type[recordpress.RecordpressError]) -> None:
    bare = kind("sentence")
    assert str(bare) == bare.message == "sentence"
    assert (bare.file, bare.position, bare.offset, bare.field, bare.field_position, bare.rule) == (None,) * 6
    full = kind("sentence", file="a.log", position=3, offset=4, field="crc", field_position=20, rule="checksum")
    assert str(full) == "sentence (file a.log, byte 3, offset 4, field crc at byte 20, rule checksum)"
    assert (full.file, full.position, full.offset, full.field, full.rule) == ("a.log", 3, 4, "crc", "checksum")
    zero = kind("sentence", position=0, offset=0)
    assert str(zero) == "sentence (byte 0, offset 0)"
    with pytest.raises(TypeError):
        kind("sentence", "a.log")  # type: ignore[misc]


SET = recordpress.write_records([b"value"], compression_type="zstd", offsets=[7])


def _changed(position: int, layout: str, value: int, sign: bool = True) -> bytes:
    """The set with one field of its batch changed, and the checksum made right again."""
    data = bytearray(SET)
    struct.pack_into(layout, data, position, value)
    if sign:
        struct.pack_into(">I", data, 17, recordpress.crc32c(data[21:]))
    return bytes(data)


RAISED: list[tuple[str, Any, type[recordpress.RecordpressError], int | None, int | None, str | None]] = [
    ("checksum", _changed(17, ">I", 0, sign=False), errors.CorruptRecordError, 2, 7, "crc"),
    ("entry size", _changed(8, ">i", 5), errors.CorruptRecordError, 2, None, "size"),
    ("codec", _changed(21, ">h", 5), errors.UnsupportedCompressionTypeError, 76, 7, None),
    ("records", _changed(57, ">i", 2), errors.InvalidRecordError, 87, 7, "recordsCount"),
    ("payload", _changed(61, ">i", 0), errors.DecompressionError, 2, 7, "frame header"),
]


@pytest.mark.parametrize(
    ("data", "kind", "code", "offset", "field"), [row[1:] for row in RAISED], ids=[row[0] for row in RAISED]
)
@pytest.mark.parametrize("before", [0, 1])
def test_an_error_of_the_data_says_where(
    data: bytes, kind: type[recordpress.RecordpressError], code: int, offset: int | None, field: str | None, before: int
) -> None:
    with pytest.raises(kind) as caught:
        recordpress.read_columns(SET * before + data)
    assert type(caught.value) is kind
    assert caught.value.code == code
    assert caught.value.position == len(SET) * before
    if "decompressed records" not in caught.value.message:
        assert len(SET) * before < (caught.value.field_position or 0) < len(SET) * (before + 1)
    assert caught.value.offset == offset
    if field:
        assert caught.value.field == field
    assert caught.value.rule


def test_a_cap_says_what_raises_it() -> None:
    data = recordpress.write_records([bytes(10_000)], compression_type="zstd")
    for call in (
        lambda: recordpress.read_columns(data, max_decompressed_bytes=100),
        lambda: list(next(recordpress.read_batches(data, max_decompressed_bytes=100))),
        lambda: recordpress.recompress(data, "lz4", max_decompressed_bytes=100),
        lambda: recordpress.decompress(recordpress.compress(bytes(1000), "gzip"), "gzip", 100),
    ):
        with pytest.raises(recordpress.OutputTooLargeError, match="100 bytes: raise max_decompressed_bytes") as caught:
            call()
        assert caught.value.field == "max_decompressed_bytes"
    with pytest.raises(recordpress.CorruptRecordError, match="max_message_bytes"):
        list(recordpress.read_batches(data, max_message_bytes=len(data) - 13))
