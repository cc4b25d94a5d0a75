"""What is written is read back the same: drawn records in every format and codec, as objects and as columns."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given, strategies as st

import recordpress
from strategies import DrawnRecord, formats, records


def _build(magic: int, codec: str, rows: list[DrawnRecord], **arguments: object) -> bytes:
    builder = recordpress.BatchBuilder(magic=magic, compression_type=codec, base_offset=rows[0].offset, **arguments)
    for row in rows:
        assert builder.append(row.value, key=row.key, timestamp=row.timestamp, headers=row.headers, offset=row.offset)
    return builder.build()


def _objects(data: bytes) -> list[DrawnRecord]:
    rows = []
    for batch in recordpress.read_batches(data):
        batch.ensure_valid()
        rows += [DrawnRecord(r.offset, r.timestamp, r.key, r.value, r.headers) for r in batch]
    return rows


def _columns(data: bytes, **options: object) -> list[DrawnRecord]:
    names = ("offset", "timestamp", "key", "value", "headers")
    table = pa.table(recordpress.read_columns(data, names, **options))  # type: ignore[arg-type]
    ticks = table.column("timestamp").cast(pa.int64())
    table = table.set_column(1, "timestamp", ticks)
    return [
        DrawnRecord(
            row["offset"],
            -1 if row["timestamp"] is None else row["timestamp"],
            row["key"],
            row["value"],
            [(header["key"], header["value"]) for header in row["headers"]],
        )
        for row in table.to_pylist()
    ]


@st.composite
def _batches(draw: st.DrawFn, gaps: bool = True) -> tuple[int, str, list[DrawnRecord]]:
    magic, codec = draw(formats)
    return magic, codec, draw(records(magic, gaps=gaps))


@given(_batches())
def test_builder_to_objects(drawn: tuple[int, str, list[DrawnRecord]]) -> None:
    magic, codec, rows = drawn
    assert _objects(_build(magic, codec, rows)) == rows


@given(_batches(), st.sampled_from(["binary", "large_binary", "binary_view"]))
def test_builder_to_columns(drawn: tuple[int, str, list[DrawnRecord]], binary_type: str) -> None:
    magic, codec, rows = drawn
    assert _columns(_build(magic, codec, rows), binary_type=binary_type) == rows


@given(st.lists(_batches(), min_size=1, max_size=6), st.integers(1, 3))
def test_mixed_sets_to_columns(drawn: list[tuple[int, str, list[DrawnRecord]]], threads: int) -> None:
    data = b"".join(_build(*batch) for batch in drawn)
    assert _columns(data, threads=threads) == [row for _, _, rows in drawn for row in rows]


@given(_batches(), formats, st.sampled_from(["binary", "large_binary", "binary_view"]), st.integers(1, 8))
def test_columns_written_again(
    drawn: tuple[int, str, list[DrawnRecord]], written_as: tuple[int, str], binary_type: str, batch_records: int
) -> None:
    """In every format and codec, with what the format can hold."""
    magic, codec, rows = drawn
    to_magic, to_codec = written_as
    names = ["offset", *["timestamp"][: to_magic > 0], "key", "value", *["headers"][: to_magic == 2]]
    columns = recordpress.read_columns(_build(magic, codec, rows), names, binary_type=binary_type)
    data = recordpress.write_columns(columns, compression_type=to_codec, magic=to_magic, batch_records=batch_records)
    kept = [
        DrawnRecord(r.offset, r.timestamp if to_magic else -1, r.key, r.value, r.headers if to_magic == 2 else [])
        for r in rows
    ]
    assert _objects(data) == kept


@given(st.lists(_batches(), min_size=1, max_size=4), st.data())
def test_a_cut_anywhere_keeps_the_whole_entries(
    drawn: list[tuple[int, str, list[DrawnRecord]]], data: st.DataObject
) -> None:
    whole = b"".join(_build(*batch) for batch in drawn)
    cut = data.draw(st.integers(0, len(whole)))
    entries = [batch.position + batch.size for batch in recordpress.read_batches(whole)]
    batches = recordpress.read_batches(whole[:cut])
    assert [batch.position + batch.size for batch in batches] == [end for end in entries if end <= cut]


@given(_batches(), st.data())
def test_ranges_are_what_a_filter_would_leave(drawn: tuple[int, str, list[DrawnRecord]], data: st.DataObject) -> None:
    magic, codec, rows = drawn
    offsets = st.integers(rows[0].offset - 1, rows[-1].offset + 1)
    start, end = data.draw(offsets), data.draw(offsets)
    found = _columns(_build(magic, codec, rows), start_offset=start, end_offset=end)
    assert found == [row for row in rows if start <= row.offset < end]


@given(_batches(), st.data())
def test_a_limit_is_kept_exactly(drawn: tuple[int, str, list[DrawnRecord]], data: st.DataObject) -> None:
    """No batch is larger than its limit, and with the record that was refused it would be."""
    magic, codec, rows = drawn
    limit = data.draw(st.integers(0, len(_build(magic, codec, rows)) + 1))
    builder = recordpress.BatchBuilder(magic=magic, compression_type=codec, base_offset=rows[0].offset, limit=limit)
    fitted = []
    for row in rows:
        if not builder.append(row.value, key=row.key, timestamp=row.timestamp, headers=row.headers, offset=row.offset):
            break
        fitted.append(row)
    built = builder.build()
    assert len(built) <= limit
    assert _objects(built) == fitted
    if fitted != rows:
        assert len(_build(magic, codec, rows[: len(fitted) + 1])) > limit
