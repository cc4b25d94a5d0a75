"""Record sets <-> Arrow columns, without a Python object per record.

::

    _scan     which entries a call wants, by header alone
    _read     windows of entries ─► threads ─► _gather: one record batch under construction ─► _arrow_out
    _table    one row per batch, from headers alone ─► _arrow_out
    _write    _arrow_in ─► rows ─► kpress.record.set_writer

`_arrow_out` hands arrays out through the Arrow C data interface, `_arrow_in` takes them in.
"""

from kpress.columns._columns import Column, Columns
from kpress.columns._read import iter_columns, read_columns
from kpress.columns._table import BatchTable, batch_table
from kpress.columns._write import write_columns

__all__ = [
    "BatchTable",
    "Column",
    "Columns",
    "batch_table",
    "iter_columns",
    "read_columns",
    "write_columns",
]
