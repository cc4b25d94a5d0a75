from recordpress.producer._accumulator import BatchAccumulator as BatchAccumulator
from recordpress.producer._answers import ProduceAnswer as ProduceAnswer, RecordMetadata as RecordMetadata
from recordpress.producer._errors import ProduceError as ProduceError, RecordTooLargeError as RecordTooLargeError
from recordpress.producer._estimator import CompressionRatioEstimator as CompressionRatioEstimator
from recordpress.producer._filling import ProducerBatch as ProducerBatch
from recordpress.producer._murmur2 import (
    murmur2 as murmur2,
    partition_for_key as partition_for_key,
    partitions_of as partitions_of,
)
from recordpress.producer._packing import BatchPacker as BatchPacker, pack as pack
from recordpress.producer._split import split as split
