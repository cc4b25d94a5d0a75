"""Names shared by batches, records and builders."""

from enum import IntEnum


class TimestampType(IntEnum):
    """Origin of a timestamp (org.apache.kafka.common.record.TimestampType).

    Examples
    --------
    >>> import recordpress
    >>> recordpress.TimestampType.LogAppendTime == 1
    True
    """

    NoTimestampType = -1
    CreateTime = 0
    LogAppendTime = 1


TIMESTAMP_TYPES = (TimestampType.NoTimestampType, TimestampType.CreateTime, TimestampType.LogAppendTime)

# By number (org.apache.kafka.common.record.ControlRecordType).
CONTROL_TYPES = (
    "ABORT",
    "COMMIT",
    "LEADER_CHANGE",
    "SNAPSHOT_HEADER",
    "SNAPSHOT_FOOTER",
    "KRAFT_VERSION",
    "KRAFT_VOTERS",
)
