"""The names of the files in a log dir (Kafka's LogFileUtils, LeaderEpochCheckpointFile and PartitionMetadataFile)."""

import re
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Self

from recordpress._arguments import INT32_MAX
from recordpress.errors import InvalidArgumentError

_PARTITION_DIRECTORY = re.compile(r"(?P<topic>.+)-(?P<partition>0|[1-9][0-9]{0,9})", re.DOTALL)

LOG_FILE_SUFFIX = ".log"
"""The end of a segment's name (LogFileUtils).

Examples
--------
>>> from recordpress.log import LOG_FILE_SUFFIX
>>> LOG_FILE_SUFFIX
'.log'
"""
INDEX_FILE_SUFFIX = ".index"
"""The end of an offset index's name (LogFileUtils).

Examples
--------
>>> from recordpress.log import INDEX_FILE_SUFFIX
>>> INDEX_FILE_SUFFIX
'.index'
"""
TIME_INDEX_FILE_SUFFIX = ".timeindex"
"""The end of a time index's name (LogFileUtils).

Examples
--------
>>> from recordpress.log import TIME_INDEX_FILE_SUFFIX
>>> TIME_INDEX_FILE_SUFFIX
'.timeindex'
"""
TXN_INDEX_FILE_SUFFIX = ".txnindex"
"""The end of a transaction index's name (LogFileUtils).

Examples
--------
>>> from recordpress.log import TXN_INDEX_FILE_SUFFIX
>>> TXN_INDEX_FILE_SUFFIX
'.txnindex'
"""
PRODUCER_SNAPSHOT_FILE_SUFFIX = ".snapshot"
"""The end of the name of a snapshot of producers (LogFileUtils).

Examples
--------
>>> from recordpress.log import PRODUCER_SNAPSHOT_FILE_SUFFIX
>>> PRODUCER_SNAPSHOT_FILE_SUFFIX
'.snapshot'
"""
LEADER_EPOCH_CHECKPOINT = "leader-epoch-checkpoint"
"""The file of a partition's leader epochs (LeaderEpochCheckpointFile).

Examples
--------
>>> from recordpress.log import LEADER_EPOCH_CHECKPOINT
>>> LEADER_EPOCH_CHECKPOINT
'leader-epoch-checkpoint'
"""
PARTITION_METADATA = "partition.metadata"
"""The file of a topic's id (PartitionMetadataFile).

Examples
--------
>>> from recordpress.log import PARTITION_METADATA
>>> PARTITION_METADATA
'partition.metadata'
"""

# The kind of a file by the end of its name.
_WITHOUT_RECORDS = {
    INDEX_FILE_SUFFIX: "an offset index",
    TIME_INDEX_FILE_SUFFIX: "a time index",
    TXN_INDEX_FILE_SUFFIX: "a transaction index",
    PRODUCER_SNAPSHOT_FILE_SUFFIX: "a snapshot of producer state",
    LEADER_EPOCH_CHECKPOINT: "a checkpoint of leader epochs",
    PARTITION_METADATA: "the metadata of a partition",
}
_ENDINGS = tuple(_WITHOUT_RECORDS)


def refuse_without_records(path: str | bytes | PathLike[str] | PathLike[bytes], field: str = "path") -> None:
    """Raise InvalidArgumentError if a file's name says that it holds no records.

    Examples
    --------
    >>> refuse_without_records("orders-0/00000000000000000000.log")
    >>> refuse_without_records("orders-0/00000000000000000000.index")
    Traceback (most recent call last):
    recordpress.errors.InvalidArgumentError: this is an offset index, which holds no records: they are in the .log file
    ...
    """
    name = fspath(path)
    text = name.decode("utf-8", "replace") if isinstance(name, bytes) else name
    if not text.endswith(_ENDINGS):
        return
    for ending, what in _WITHOUT_RECORDS.items():
        if text.endswith(ending):
            raise InvalidArgumentError(
                f"this is {what}, which holds no records: they are in the {LOG_FILE_SUFFIX} file next to it",
                file=printable(text),
                field=field,
            )


def printable(path: str | PathLike[str]) -> str:
    r"""A path for a message: bytes that are not UTF-8 are shown as ``\xff``.

    Examples
    --------
    >>> printable("caf\udce9-0")
    'caf\\xe9-0'
    """
    return fspath(path).encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


@dataclass(frozen=True, order=True)
class TopicPartition:
    """A partition of a topic; its str() is the name of its directory.

    Examples
    --------
    >>> TopicPartition.of_directory("web-access.v2-11")
    TopicPartition(topic='web-access.v2', partition=11)
    >>> TopicPartition.of_directory("orders-0.5f1c-delete") is None
    True
    """

    topic: str
    partition: int

    @classmethod
    def of_directory(cls, name: str) -> Self | None:
        """The partition whose directory has this name, split at its last ``-``; None if it is not a partition's name:
        one that awaits deletion (``-delete``), a number that is not an int32 or has leading zeros, or a topic that is
        not UTF-8."""
        match = _PARTITION_DIRECTORY.fullmatch(name)
        if not match or int(match["partition"]) > INT32_MAX or not _is_utf8(name):
            return None
        return cls(match["topic"], int(match["partition"]))

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


def _is_utf8(name: str) -> bool:
    """Bytes of a name that are not UTF-8 reach Python as lone surrogates."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
