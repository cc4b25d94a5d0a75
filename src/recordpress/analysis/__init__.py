"""Measurements on the user's records: which codec, level and batch depth to set, and whether a dictionary pays.

::

    log, URL, file of lines ──► _sample, _lines    batches spread over the input, uncompressed
    "zstd,1,3/lz4"          ──► _grid              codecs and levels
                                _measure           record sets of each codec, level and depth: sizes, then speeds
                                _recommend         settings to use, and their savings
                                _analysis, _report the result as an object and as an HTML page
    log ──► _extract            uncompressed records for other benchmarks
    log ──► _simulate           policies for closing a producer's batches
    records ──► _fits           size limits from the producer to the log, and the records that they reject
"""

from recordpress._lazy import exports

__getattr__, __dir__, __all__ = exports(__name__, __file__)
