"""The names that `kpress.producer` offers."""

from kpress.producer._accumulator import BatchAccumulator
from kpress.producer._answers import ProduceAnswer, RecordMetadata
from kpress.producer._errors import ProduceError, RecordTooLargeError
from kpress.producer._estimator import CompressionRatioEstimator
from kpress.producer._filling import ProducerBatch
from kpress.producer._murmur2 import murmur2, partition_for_key, partitions_of
from kpress.producer._packing import BatchPacker, pack
from kpress.producer._split import split

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
