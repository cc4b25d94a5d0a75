"""zstd dictionaries for values that are compressed one by one, and for small batches in a closed loop.

::

    values ──► train_values ──► Dictionary ──► compress(value, "zstd", dictionary=...)
                             │         compress_values(column, "zstd", dictionary=...)
                             ├─► DictionaryStore   _store: a directory of files, by id
                             └─► DictionaryCodec   _codec: batches of a closed loop

`Dictionary` and `train_values` come from `recordpress.codecs`. `recordpress.train` measures whether a dictionary
pays.
"""

from recordpress._lazy import exports

__getattr__, __dir__, __all__ = exports(__name__, __file__)
