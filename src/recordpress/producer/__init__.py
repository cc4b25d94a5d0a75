"""The rules of Kafka's producers: partitions of records, filling of batches, and splits of batches that are too large.

::

    key ──► partition          _murmur2
    record ──► batch           _filling       by the size that _estimator expects of it
    batch ──► answer           _accumulator   in order, again, or in parts (_parts); _answers, _errors; _metrics counts
    records ──► batches        _packing       as large as a limit allows, compressed; _packer cuts them

Names follow Kafka's `producer/internals` package.
"""

from recordpress._lazy import exports

__getattr__, __dir__, __all__ = exports(
    __name__,
    {
        "recordpress.producer._accumulator": "BatchAccumulator",
        "recordpress.producer._answers": "ProduceAnswer RecordMetadata",
        "recordpress.producer._errors": "ProduceError RecordTooLargeError",
        "recordpress.producer._estimator": "CompressionRatioEstimator",
        "recordpress.producer._filling": "ProducerBatch",
        "recordpress.producer._murmur2": "murmur2 partition_for_key partitions_of",
        "recordpress.producer._packing": "BatchPacker pack",
        "recordpress.producer._split": "split",
    },
)
