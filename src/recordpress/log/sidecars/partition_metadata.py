"""Topic id of a partition, ``partition.metadata`` (Kafka's PartitionMetadataFile, KIP-516): two lines, without a
newline after the second.

::

    version: 0
    topic_id: AqX5txRiSuKi__s5z97PjQ
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode
from typing import NamedTuple

from recordpress._arguments import INT32_MAX
from recordpress.errors import InvalidArgumentError
from recordpress.log.sidecars.sidecar_io import SidecarSource, SidecarTarget, read_sidecar, write_sidecar

_VERSION_LINE = re.compile(r"version: \+?([0-9]{1,10})")
_TOPIC_LINE = re.compile(r"topic_id: ([A-Za-z0-9_-]{22})(?:==)?")
_RULE = "partition.metadata"


class PartitionMetadata(NamedTuple):
    """Content of a ``partition.metadata`` file.

    Attributes
    ----------
    version : int
    topic_id : str
        The topic's UUID as Kafka prints it: base64 with ``-`` and ``_``, 22 characters.

    Examples
    --------
    >>> from recordpress.log.sidecars import read_partition_metadata
    >>> read_partition_metadata("demo/logs/sessions-0/partition.metadata")
    PartitionMetadata(version=0, topic_id='jWLY5hlyRVilNjfje2R0SQ')
    """

    version: int
    topic_id: str


def read_partition_metadata(source: SidecarSource) -> PartitionMetadata:
    """Read the topic id of a partition.

    Parameters
    ----------
    source : path, bytes-like, or an object with `size` and `read_at`

    Returns
    -------
    PartitionMetadata

    Raises
    ------
    CorruptRecordError
        The file is not a version line and a topic id line, or the id is all zeros.
    OSError

    Examples
    --------
    >>> from recordpress.log.sidecars import read_partition_metadata
    >>> read_partition_metadata(b"version: 0\\ntopic_id: AqX5txRiSuKi__s5z97PjQ")
    PartitionMetadata(version=0, topic_id='AqX5txRiSuKi__s5z97PjQ')
    """
    sidecar = read_sidecar(source, _RULE)
    first, _, rest = sidecar.data.decode("latin-1").partition("\n")
    version = _VERSION_LINE.fullmatch(first)
    if version is None or int(version[1]) > INT32_MAX:
        raise sidecar.corrupt("the first line is not 'version: <number>'", 0, "version", _RULE)
    second, _, more = rest.partition("\n")
    topic = _TOPIC_LINE.fullmatch(second)
    position = min(len(first) + 1, len(sidecar.data))
    if topic is None:
        raise sidecar.corrupt("the second line is not 'topic_id: <22 characters>'", position, "topic_id", _RULE)
    if _is_zero(topic[1]):
        raise sidecar.corrupt("the topic id is zero", position, "topic_id", _RULE)
    if more:
        raise sidecar.corrupt("a third line follows", position + len(second) + 1, "text", _RULE)
    return PartitionMetadata(int(version[1]), topic[1])


def _is_zero(topic_id: str) -> bool:
    return not any(urlsafe_b64decode(topic_id + "=="))


def partition_metadata_bytes(metadata: PartitionMetadata) -> bytes:
    """Return the bytes of a ``partition.metadata`` file; see `write_partition_metadata`."""
    version, topic_id = metadata
    if not 0 <= version <= INT32_MAX:
        raise InvalidArgumentError(f"version {version} is not an int32 of 0 or more", field="version")
    if not re.fullmatch("[A-Za-z0-9_-]{22}", topic_id) or _is_zero(topic_id):
        raise InvalidArgumentError(
            f"topic_id {topic_id!r} is not 22 characters of URL-safe base64, or is zero", field="topic_id"
        )
    return f"version: {version}\ntopic_id: {topic_id}".encode()


def write_partition_metadata(target: SidecarTarget, metadata: PartitionMetadata) -> None:
    """Write a ``partition.metadata`` file.

    Parameters
    ----------
    target : path, or an object with `write`
        A file is written under a hidden name and renamed when it is complete.
    metadata : PartitionMetadata

    Raises
    ------
    InvalidArgumentError
        The version is negative or not an int32; the topic id is not 22 characters, or is zero.
    OSError

    Examples
    --------
    >>> import io
    >>> out = io.BytesIO()
    >>> write_partition_metadata(out, PartitionMetadata(0, "AqX5txRiSuKi__s5z97PjQ"))
    >>> out.getvalue()
    b'version: 0\\ntopic_id: AqX5txRiSuKi__s5z97PjQ'
    """
    write_sidecar(target, partition_metadata_bytes(metadata))
