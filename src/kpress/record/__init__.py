"""Record sets <-> records: the stages between the bytes of a log and columns or objects.

::

    entries        _batch    by header alone          _table    one row a batch
    payload        _decode   checksum, decompression, where the records lie
    records        _records  Python objects, lazily   _columns  Arrow columns     both over include/kpress/record.h
    Arrow          _arrow    handing arrays out through the C data interface
"""
