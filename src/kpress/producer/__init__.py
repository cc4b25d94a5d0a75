"""What Kafka's producers decide: the partition of a key (_murmur2), how well a batch will compress (_estimator).

Names are those of Kafka's `producer/internals` package.
"""

from kpress.producer._estimator import CompressionRatioEstimator
from kpress.producer._murmur2 import murmur2, partition_for_key

__all__ = ["CompressionRatioEstimator", "murmur2", "partition_for_key"]
