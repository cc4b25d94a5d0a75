from recordpress.producer._accumulator import BatchAccumulator
from recordpress.producer._answers import ProduceAnswer, RecordMetadata
from recordpress.producer._errors import ProduceError, RecordTooLargeError
from recordpress.producer._estimator import CompressionRatioEstimator
from recordpress.producer._filling import ProducerBatch
from recordpress.producer._murmur2 import murmur2, partition_for_key, partitions_of
from recordpress.producer._packing import BatchPacker, pack
from recordpress.producer._split import split

__all__ = [
    "BatchAccumulator",
    "BatchPacker",
    "CompressionRatioEstimator",
    "ProduceAnswer",
    "ProduceError",
    "ProducerBatch",
    "RecordMetadata",
    "RecordTooLargeError",
    "murmur2",
    "pack",
    "partition_for_key",
    "partitions_of",
    "split",
]
