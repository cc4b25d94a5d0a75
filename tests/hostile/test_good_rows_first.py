"""Entries that are wrong in every way that the hostile tables know: the rows before them are handed out, and where the
caller asks for it, those after them too."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from hostile_sets import SMALL_SETS, with_right_crc
from test_lying_fields import FIELDS, LENGTHS, REFUSED, VARINTS, _batch, _body, _varint, _with

import recordpress
from together import together

GOOD = b"".join(recordpress.write_records([b"good"], base_offset=i) for i in range(2))
AFTER = recordpress.write_records([b"after"], base_offset=50)


def _batch_of(payload: bytes, codec: int = 0, count: int = 1) -> bytes:
    head = SMALL_SETS["v2-none"][:61]
    size = struct.pack(">i", 49 + len(payload))
    head = head[:8] + size + head[12:21] + struct.pack(">h", codec) + head[23:57] + struct.pack(">i", count)
    return with_right_crc(head + payload)


RECORD = _varint(len(_body())) + _body()
WRONG = {
    "a record is missing": _batch_of(RECORD, count=2),
    "bytes are left": _batch_of(RECORD + b"\0"),
    "checksum": AFTER[:-1] + bytes([AFTER[-1] ^ 1]),
    "too small for its header": AFTER[:8] + struct.pack(">i", 40) + AFTER[12:52],
    "too small for a message": GOOD[:8] + struct.pack(">i", 15) + bytes(4) + b"\1" + bytes(10),
    "a wrapper without a value": _with(SMALL_SETS["v1-gzip"], FIELDS["v1"][-1], -1),
}
for name, codec in (("gzip", 1), ("snappy", 2), ("lz4", 3), ("zstd", 4)):
    whole = recordpress.compress(RECORD, name)
    WRONG[f"empty {name}"] = _batch_of(b"", codec)
    for size in (1, len(whole) // 2, len(whole) - 1):
        WRONG[f"{name} cut at {size}"] = _batch_of(whole[:size], codec)
for set_name, field_name, value, _ in REFUSED:
    field = next(field for field in FIELDS[set_name[:2]] if field.name == field_name)
    if field_name not in ("batchLength", "size", "magic"):  # those are framing
        WRONG[f"{set_name} {field_name}={value}"] = _with(SMALL_SETS[set_name], field, value)
for length in LENGTHS:
    for lie in ("min", "-2", "max", "too long"):
        body = _body(**{length: VARINTS[lie]})
        WRONG[f"{length} {lie}"] = _batch(_varint(len(body)) + body)

FRAMING = {
    f"{set_name} {field_name}={value}": _with(SMALL_SETS[set_name], field, value)
    for set_name, field_name, value, _ in REFUSED
    if field_name in ("batchLength", "size", "magic") and value not in (48, 13 if field_name == "size" else 0)
    for field in FIELDS[set_name[:2]]
    if field.name == field_name and not (field_name == "batchLength" and value == 48)
}


def _walk(
    source: object, **options: object
) -> tuple[list[int], recordpress.RecordpressError | None, recordpress.ColumnsIterator]:
    """The offsets that came, and the error after them."""
    rows: list[int] = []
    pieces = recordpress.iter_columns(source, ["offset", "value", "headers"], **options)  # type: ignore[arg-type]
    try:
        for columns in pieces:
            rows += _offsets(columns)
    except recordpress.RecordpressError as error:
        return rows, error, pieces
    return rows, None, pieces


def _offsets(columns: recordpress.Columns) -> list[int]:
    import pyarrow as pa

    table = pa.table(columns)
    table.validate(full=True)
    assert None not in table["value"].to_pylist()
    return table["offset"].to_pylist()  # type: ignore[no-any-return]


LAYOUTS = pytest.mark.parametrize("binary_type", ["binary", "binary_view"])
SOURCES = pytest.mark.parametrize("source", [bytes, io.BytesIO])


@LAYOUTS
@SOURCES
@together("name", WRONG)
def test_rows_before_a_wrong_entry_come_first(name: str, source: Callable[[bytes], object], binary_type: str) -> None:
    for data in (GOOD + WRONG[name], GOOD + WRONG[name] + AFTER):
        rows, error, pieces = _walk(source(data), binary_type=binary_type)
        assert rows == [0, 1]
        assert error is not None and error.position is not None
        assert len(GOOD) <= error.position <= len(GOOD) + len(WRONG[name])
        assert (pieces.position, pieces.next_offset, pieces.errors) == (len(GOOD), 2, [])


@LAYOUTS
@SOURCES
@pytest.mark.parametrize("threads", [1, 3])
@together("name", WRONG)
def test_a_wrong_entry_is_skipped_where_that_is_asked(
    name: str, threads: int, source: Callable[[bytes], object], binary_type: str
) -> None:
    wrong = WRONG[name]
    data = wrong + GOOD + wrong + AFTER + wrong
    rows, error, pieces = _walk(source(data), binary_type=binary_type, on_corrupt="skip", threads=threads)
    assert (rows, error) == ([0, 1, 50], None)
    starts = (0, len(wrong + GOOD), len(data) - len(wrong))
    for found, start in zip(pieces.errors, starts, strict=True):
        assert found.position is not None and start <= found.position <= start + len(wrong)
    assert (pieces.position, pieces.trailing_bytes) == (len(data), 0)


@SOURCES
@pytest.mark.parametrize("name", FRAMING)
def test_damage_to_the_framing_ends_the_walk(name: str, source: Callable[[bytes], object]) -> None:
    data = GOOD + WRONG["checksum"] + FRAMING[name] + AFTER
    rows, error, pieces = _walk(source(data), on_corrupt="skip")
    assert (rows, error) == ([0, 1], None)
    assert [type(found) for found in pieces.errors] == [recordpress.CorruptRecordError] * 2
    assert pieces.position == len(GOOD + WRONG["checksum"])


def test_nothing_of_a_wrong_entry_stays_in_the_rows_after_it() -> None:
    """Its nulls, headers and values were written to the columns before it turned out to be wrong."""
    body = b"\0" + _varint(0) + _varint(0) + _varint(-1) + _varint(-1)
    header = _varint(1) + b"h" + _varint(-1)
    good = body + _varint(1) + header
    record = _varint(len(good)) + good
    wrong = _batch_of(record * 3, count=4)
    right = recordpress.write_records([b"v" * 20], keys=[b"k"], headers=[[("x", b"y")]], base_offset=3, timestamps=[7])
    for binary_type in ("binary", "large_binary", "binary_view"):
        (columns,) = recordpress.iter_columns(
            wrong + right + wrong + right,
            on_corrupt="skip",
            binary_type=binary_type,  # type: ignore[arg-type]
        )
        import pyarrow as pa

        table = pa.table(columns)
        table.validate(full=True)
        assert (
            table.drop(["timestamp"]).to_pylist()
            == [
                {
                    "offset": 3,
                    "timestampType": 0,
                    "key": b"k",
                    "value": b"v" * 20,
                    "headers": [{"key": "x", "value": b"y"}],
                }
            ]
            * 2
        )
        assert [table[name].null_count for name in table.column_names] == [0] * 6


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name", ["checksum", "a record is missing", "v2-none batchLength=-1"])
def test_damage_in_a_later_window_of_a_file(name: str, threads: int, tmp_path: Path) -> None:
    """The error has the file's name and the byte in the file, and comes after all rows before the damage."""
    good = [recordpress.write_records([b"value"], base_offset=i) for i in range(9)]
    wrong = (WRONG | FRAMING)[name]
    data = b"".join(good[:6]) + wrong + b"".join(good[6:])
    with pytest.raises((recordpress.CorruptRecordError, recordpress.InvalidRecordError)) as alone:
        recordpress.read_columns(wrong)
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(data)
    for batch_bytes in (1, 4 * len(good[0]), 1 << 20):
        with path.open("rb") as file:
            rows, error, pieces = _walk(file, threads=threads, batch_bytes=batch_bytes)
        assert rows == [0, 1, 2, 3, 4, 5]
        assert error is not None and (error.file, type(error)) == (str(path), type(alone.value))
        assert error.position == len(b"".join(good[:6])) + (alone.value.position or 0)
        assert (pieces.position, pieces.next_offset) == (len(b"".join(good[:6])), 6)


class _Failing(io.BytesIO):
    """A file whose bytes from `limit` on cannot be read."""

    limit = 0

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]
        if self.tell() >= self.limit:
            raise OSError("the disk is gone")
        return super().readinto(memoryview(buffer)[: self.limit - self.tell()])


@pytest.mark.parametrize("threads", [1, 3])
def test_rows_before_an_error_of_the_file_come_first(threads: int) -> None:
    good = [recordpress.write_records([b"value"], base_offset=i) for i in range(9)]
    file = _Failing(b"".join(good))
    file.limit = 6 * len(good[0]) + 5
    pieces = recordpress.iter_columns(file, ["offset", "value"], threads=threads, batch_bytes=1)
    rows: list[int] = []
    with pytest.raises(OSError, match="the disk is gone"):
        rows.extend(offset for columns in pieces for offset in _offsets(columns))
    assert rows == [0, 1, 2, 3, 4, 5]
    assert (pieces.position, pieces.next_offset) == (6 * len(good[0]), 6)
