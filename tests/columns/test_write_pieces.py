"""Pieces of `iter_columns` that are written back: what their columns do not hold is told by one of them."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pytest

import kpress
from arrow_facts import BATCH_COLUMNS, RECORD_COLUMNS

EVERY = RECORD_COLUMNS + BATCH_COLUMNS
RECORDS = kpress.write_records([b"x", b"y"], base_offset=0)
EMPTY = kpress.empty_batch(base_offset=10, last_offset=12)


@pytest.mark.parametrize("options", [{}, {"threads": 2}, {"binary_type": "binary_view"}, {"on_corrupt": "skip"}])
@pytest.mark.parametrize("batch_bytes", [1, 100, 1 << 20])
@pytest.mark.parametrize("before", [b"", RECORDS, EMPTY + RECORDS], ids=["nothing", "records", "more"])
def test_a_piece_without_rows_tells_of_the_last_batches(options: Any, batch_bytes: int, before: bytes) -> None:
    """Whoever writes the pieces back loses nothing without being told."""
    last = kpress.empty_batch(base_offset=2, last_offset=4) + kpress.empty_batch(base_offset=5, last_offset=5)
    for source in (before + last, io.BytesIO(before + last)):
        iterator = kpress.iter_columns(source, EVERY, batch_bytes=batch_bytes, **options)
        pieces = list(iterator)
        assert sum(piece.num_rows for piece in pieces) == len(kpress.read_columns(before))
        assert iterator.position == len(before + last) and iterator.next_offset == 6
        refused = []
        for piece in pieces:
            try:
                kpress.write_columns(piece)
            except kpress.InvalidArgumentError as error:
                refused.append(str(error))
        assert refused and "holds no records" in refused[-1]
        first = RECORDS if before == RECORDS and len(pieces) > 1 else None
        assert first is None or kpress.write_columns(pieces[0]) == first
    assert list(kpress.iter_columns(before + last, ["value"], batch_bytes=1)) == [] or before


def test_what_forgets_the_metadata_is_written_as_its_columns_say() -> None:
    """As the docstring of write_columns says: nothing tells it what is not there."""
    empty = kpress.empty_batch(base_offset=2, last_offset=4)
    names = ("offset", "timestamp", "value", "baseOffset")
    columns = kpress.read_columns(RECORDS + empty, names)
    pieces = [pa.table(piece) for piece in kpress.iter_columns(RECORDS + empty + EMPTY, names, batch_bytes=1)]
    assert [piece.num_rows for piece in pieces] == [2, 0] and pieces[1].schema.metadata
    together, last_first = pa.concat_tables(pieces), pa.concat_tables(pieces[::-1])
    for source in (columns.to_polars(), columns.to_pandas(), together):
        assert kpress.read_columns(kpress.write_columns(source)).num_rows == 2
    with pytest.raises(kpress.InvalidArgumentError, match="the batch at offset 2 holds no records"):
        kpress.write_columns(last_first)
