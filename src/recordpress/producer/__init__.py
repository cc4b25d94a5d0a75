"""The rules of Kafka's producers: choosing partitions, filling batches, and splitting batches that are too large.

::

    key ──► partition          _murmur2
    record ──► batch           _filling       by the compressed size that _estimator expects
    batch ──► answer           _accumulator   in order, retried or split (_batch_order); _answers, _errors, _metrics
    records ──► batches        _packing       compressed, and as large as a limit allows

Names follow Kafka's `producer/internals` package.
"""

from recordpress._lazy import exports

__getattr__, __dir__, __all__ = exports(__name__, __file__)
