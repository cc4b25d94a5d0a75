"""Names that batches, records and builders share."""

from enum import IntEnum


class TimestampType(IntEnum):
    """Who set a timestamp (org.apache.kafka.common.record.TimestampType).

    Examples
    --------
    >>> import kpress
    >>> kpress.TimestampType.LogAppendTime == 1
    True
    """

    NoTimestampType = -1
    CreateTime = 0
    LogAppendTime = 1


TIMESTAMP_TYPES = (TimestampType.NoTimestampType, TimestampType.CreateTime, TimestampType.LogAppendTime)
