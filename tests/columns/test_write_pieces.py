"""Pieces of `iter_columns` that are written back: what their columns do not hold is told by one of them."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pytest

import recordpress
from arrow_facts import BATCH_COLUMNS, RECORD_COLUMNS
from together import together

EVERY = RECORD_COLUMNS + BATCH_COLUMNS
RECORDS = recordpress.write_records([b"x", b"y"], base_offset=0)
EMPTY = recordpress.empty_batch(base_offset=10, last_offset=12)


@together("options", [{}, {"threads": 2}, {"binary_type": "binary_view"}, {"on_corrupt": "skip"}])
@pytest.mark.parametrize("batch_bytes", [1, 100, 1 << 20])
@pytest.mark.parametrize("before", [b"", RECORDS, EMPTY + RECORDS], ids=["nothing", "records", "more"])
def test_a_piece_without_rows_tells_of_the_last_batches(options: Any, batch_bytes: int, before: bytes) -> None:
    """Whoever writes the pieces back loses nothing without being told."""
    last = recordpress.empty_batch(base_offset=2, last_offset=4) + recordpress.empty_batch(base_offset=5, last_offset=5)
    for source in (before + last, io.BytesIO(before + last)):
        iterator = recordpress.iter_columns(source, EVERY, batch_bytes=batch_bytes, **options)
        pieces = list(iterator)
        assert sum(piece.num_rows for piece in pieces) == len(recordpress.read_columns(before))
        assert iterator.position == len(before + last) and iterator.next_offset == 6
        refused = []
        for piece in pieces:
            try:
                recordpress.write_columns(piece)
            except recordpress.InvalidArgumentError as error:
                refused.append(str(error))
        assert refused and "holds no records" in refused[-1]
        first = RECORDS if before == RECORDS and len(pieces) > 1 else None
        assert first is None or recordpress.write_columns(pieces[0]) == first
    assert list(recordpress.iter_columns(before + last, ["value"], batch_bytes=1)) == [] or before


def test_what_forgets_the_metadata_is_written_as_its_columns_say() -> None:
    """As the docstring of write_columns says: nothing tells it what is not there."""
    empty = recordpress.empty_batch(base_offset=2, last_offset=4)
    names = ("offset", "timestamp", "value", "baseOffset")
    columns = recordpress.read_columns(RECORDS + empty, names)
    pieces = [pa.table(piece) for piece in recordpress.iter_columns(RECORDS + empty + EMPTY, names, batch_bytes=1)]
    assert [piece.num_rows for piece in pieces] == [2, 0] and pieces[1].schema.metadata
    together, last_first = pa.concat_tables(pieces), pa.concat_tables(pieces[::-1])
    for source in (columns.to_polars(), columns.to_pandas(), together):
        assert recordpress.read_columns(recordpress.write_columns(source)).num_rows == 2
    with pytest.raises(recordpress.InvalidArgumentError, match="the batch at offset 2 holds no records"):
        recordpress.write_columns(last_first)
