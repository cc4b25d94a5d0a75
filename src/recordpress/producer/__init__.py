"""The rules of Kafka's producers: partitions of records, filling of batches, and splits of batches that are too large.

::

    key ──► partition          _murmur2
    record ──► batch           _filling       by the size that _estimator expects of it
    batch ──► answer           _accumulator   in order, again, or in parts (_parts); _answers, _errors; _metrics counts
    records ──► batches        _packing       as large as a limit allows, compressed

Names follow Kafka's `producer/internals` package.
"""

from recordpress._lazy import exports

__getattr__, __dir__, __all__ = exports(__name__, __file__)
