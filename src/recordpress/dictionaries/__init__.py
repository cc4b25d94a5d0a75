"""Dictionaries of zstd: for values that are compressed one by one, and for shallow batches in a closed loop.

::

    values ──► train ──► Dictionary ──► compress(value, "zstd", dictionary=...)
                             │         compress_values(column, "zstd", dictionary=...)
                             ├─► DictionaryStore   _store: a directory of files, by id
                             └─► DictionaryCodec   _codec: batches of a closed loop

`Dictionary` and `train` are of `recordpress.codecs`. Whether a dictionary pays is measured by `recordpress.train_dictionary`.
"""

from recordpress._on_use import names_of

__getattr__, __dir__ = names_of(__name__)

TYPE_CHECKING = False  # as in recordpress._on_use
if TYPE_CHECKING:
    from recordpress.dictionaries._names import *  # noqa: F403 (their __all__)
    from recordpress.dictionaries._names import __all__ as __all__
