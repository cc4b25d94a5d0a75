"""Record sets <-> Arrow columns, without a Python object per record.

::

    catalogue the columns: name, Arrow format, width, how it is gathered
    _read     all of a record set ┐
    _iterate  chunk by chunk      ┴► window: _select_batches ─► recordpress._threads: _decode ─► _gather ─► _arrow_out
    _result_stream  results as they come, as one Arrow stream; columns of one value
    place     which columns, with topic and partition
    _lines    rows as JSON, CSV and lines of DumpLogSegments (_text: their values), also as results come
    _match    rows that a search looks for
    header_table  one row per batch, from headers alone ─► _arrow_out
    _by_value a codec or a checksum over each value of a column; framing: ids of schemas before payloads
    _plan     the options of a call, for code without the GIL
    _columns  the result, as Python sees it
    _write    _arrow_in ─► column_rows ─► recordpress.record.set_writer
    column_rows  the rows, also for rooms that cut batches themselves
    _roundtrip_loss  what columns do not hold of their batches

`_arrow_out` hands arrays out through the Arrow C data interface, `_arrow_in` takes them in.
"""

from recordpress._lazy import publish
from recordpress.columns._arrow_out import Field
from recordpress.columns._by_value import compress_values, crc32c_values, decompress_values
from recordpress.columns._columns import Column, Columns
from recordpress.columns._iterate import ColumnsIterator, iter_columns
from recordpress.columns._lines import (
    DUMPED as DUMPED,
    dump_lines as dump_lines,
    json_lines as json_lines,
    write_lines as write_lines,
)
from recordpress.columns._match import matching_rows as matching_rows
from recordpress.columns._read import read_columns
from recordpress.columns._result_stream import (
    ConstantColumns as ConstantColumns,
    StreamedRows as StreamedRows,
    concat as concat,
    constant_field as constant_field,
    stream_of as stream_of,
    with_constants as with_constants,
)
from recordpress.columns._write import write_columns
from recordpress.columns.header_table import BatchTable, batch_table

__all__ = [  # the public names; other rooms also use the names that are imported `as` themselves
    "BatchTable",
    "Column",
    "Columns",
    "ColumnsIterator",
    "Field",
    "batch_table",
    "compress_values",
    "crc32c_values",
    "decompress_values",
    "iter_columns",
    "read_columns",
    "write_columns",
]

publish(__name__, __all__, globals())
