"""Record sets <-> records: the stages between the bytes of a log and columns or objects.

::

    entries        _batch    by header alone          _table    one row a batch
    payload        _decode   checksum, decompression, where the records lie
    records        _records  Python objects, lazily   _columns  Arrow columns     both over include/kpress/record.h
    Arrow          _arrow    handing arrays out through the C data interface

and back::

    _builder        records appended one by one       ─┐
    _write_records  sequences, by way of _record_args  ├─► _encoder   one batch: records, header, checksum
    _write_columns  Arrow, by way of _arrow_input     ─┘   _set_writer  the two latter's: as many batches as are needed
"""
