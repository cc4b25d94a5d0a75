"""Output of DumpLogSegments (4.3.1) for the records of tiered storage: toString() of the Java objects.

Sources: RemoteLogMetadataSerde, its transforms, and `toString` and the constructors of the objects that they create.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

from recordpress.log.dump._messages import UnreadableMessageError

_Data = dict[str, Any]

_SEGMENT_STATES = ("COPY_SEGMENT_STARTED", "COPY_SEGMENT_FINISHED", "DELETE_SEGMENT_STARTED", "DELETE_SEGMENT_FINISHED")
_PARTITION_STATES = ("DELETE_PARTITION_MARKED", "DELETE_PARTITION_STARTED", "DELETE_PARTITION_FINISHED")


def remote_metadata_text(name: str, data: _Data) -> str:
    """Return the text of a record."""
    fields = ", ".join(f"{name}={value}" for name, value in _FIELDS[name](data).items())
    return f"{name}{{{fields}}}"


def _segment(data: _Data) -> _Data:
    state = _state(_SEGMENT_STATES, data["remoteLogSegmentState"])
    _check_offsets(data)
    return {
        "remoteLogSegmentId": _segment_id(data["remoteLogSegmentId"]),
        **_taken(data, "startOffset", "endOffset", "brokerId", "maxTimestampMs", "eventTimestampMs"),
        "segmentLeaderEpochs": _epochs(data),
        "segmentSizeInBytes": data["segmentSizeInBytes"],
        "customMetadata": _custom(data["customMetadata"]),
        "state": state,
        "txnIdxEmpty": _has_no_transactions(data),
    }


def _update(data: _Data) -> _Data:
    return {
        "remoteLogSegmentId": _segment_id(data["remoteLogSegmentId"]),
        "customMetadata": _custom(data["customMetadata"]),
        "state": _state(_SEGMENT_STATES, data["remoteLogSegmentState"]),
        **_taken(data, "eventTimestampMs", "brokerId"),
    }


def _partition_delete(data: _Data) -> _Data:
    return {
        "topicPartition": _partition(data["topicIdPartition"]),
        "state": _state(_PARTITION_STATES, data["remotePartitionDeleteState"], None),
        **_taken(data, "eventTimestampMs", "brokerId"),
    }


def _snapshot(data: _Data) -> _Data:
    return {
        "segmentId": data["segmentId"],
        **_taken(data, "startOffset", "endOffset", "maxTimestampMs"),
        "segmentLeaderEpochs": _epochs(data),
        "segmentSizeInBytes": data["segmentSizeInBytes"],
        "customMetadata": _custom(data["customMetadata"]),
        "state": _state(_SEGMENT_STATES, data["remoteLogSegmentState"]),
        "txnIdxEmpty": _has_no_transactions(data),
    }


_FIELDS: dict[str, Callable[[_Data], _Data]] = {
    "RemoteLogSegmentMetadata": _segment,
    "RemoteLogSegmentMetadataUpdate": _update,
    "RemotePartitionDeleteMetadata": _partition_delete,
    "RemoteLogSegmentMetadataSnapshot": _snapshot,
}


def _taken(data: _Data, *names: str) -> _Data:
    return {name: data[name] for name in names}


def _state(names: tuple[str, ...], number: int, error: str | None = "state can not be null") -> str:
    if not 0 <= number < len(names):
        raise UnreadableMessageError("null" if error is None else error)
    return names[number]


def _check_offsets(data: _Data) -> None:
    start, end = data["startOffset"], data["endOffset"]
    if start < 0:
        message = f"Unexpected start offset = {start}. StartOffset for a remote segment cannot be negative"
        raise UnreadableMessageError(message)
    if end < start:
        message = f"Unexpected end offset = {end}. EndOffset for a remote segment cannot be less than startOffset = "
        raise UnreadableMessageError(f"{message}{start}")


def _epochs(data: _Data) -> str:
    """Return epochs as in a TreeMap: the last offset of each epoch."""
    epochs = {entry["leaderEpoch"]: entry["offset"] for entry in data["segmentLeaderEpochs"]}
    if not epochs:
        raise UnreadableMessageError("segmentLeaderEpochs can not be null or empty")
    return "{" + ", ".join(f"{epoch}={offset}" for epoch, offset in sorted(epochs.items())) + "}"


def _custom(encoded: str | None) -> str:
    if encoded is None:
        return "Optional.empty"
    return f"Optional[CustomMetadata{{{len(base64.b64decode(encoded))} bytes}}]"


def _has_no_transactions(data: _Data) -> str:
    return "true" if data.get("txnIndexEmpty") else "false"


def _segment_id(data: _Data) -> str:
    return f"RemoteLogSegmentId{{topicIdPartition={_partition(data['topicIdPartition'])}, id={data['id']}}}"


def _partition(data: _Data) -> str:
    return f"{data['id']}:{data['name']}-{data['partition']}"
