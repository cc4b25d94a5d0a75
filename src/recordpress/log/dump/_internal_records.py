"""Records of Kafka's internal topics, as the decoders of Kafka's DumpLogSegments (4.4.0) print them.

The line reports unreadable parts in the words of the classes that the tool calls: CoordinatorRecordSerde and
AbstractApiMessageSerde.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Literal, TypeAlias

from recordpress._arguments import INT16_MAX
from recordpress.errors import InvalidRecordError
from recordpress.log.dump._internal_schemas import (
    CLUSTER_METADATA,
    CONSUMER_PROTOCOL_ASSIGNMENT,
    CONSUMER_PROTOCOL_SUBSCRIPTION,
    OFFSETS,
    REMOTE_LOG_METADATA,
    SHARE_GROUP_STATE,
    TRANSACTION_LOG,
)
from recordpress.log.dump._messages import Message, Schema, UnreadableMessageError, json_text, schema
from recordpress.log.dump._remote_metadata import remote_metadata_text
from recordpress.record import Record

_HEAD = re.compile(r"^(\w+) (\d+) (\d.*\n)", re.MULTILINE)
_GROUP_METADATA = 2
_TRANSACTION_STATES = (  # org.apache.kafka.coordinator.transaction.TransactionState
    "Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", "Dead", "PrepareEpochFence",
)  # fmt: skip
_CONSUMER = "consumer"  # ConsumerProtocol.PROTOCOL_TYPE

Contents = tuple[str | None, str | None]  # printed text of the key and of the value


def decoded(record: Record, decoder: str) -> Contents:
    """Return the key and the value of a record as the tool prints them with a decoder."""
    return DECODERS[decoder](record)


Plain: TypeAlias = Literal["string", "integer", "long", "default"]

_NUMBERS = {"integer": 4, "long": 8}  # bytes


def decoded_plainly(record: Record, key: Plain, value: Plain) -> Contents:
    """Return the key and the value as the tool prints them with StringDecoder and similar classes."""
    return _plain(record.key, key, "key", record.offset), _plain(record.value, value, "value", record.offset)


def _plain(data: bytes | None, kind: Plain, field: str, offset: int) -> str | None:
    if data is None:
        return None
    size = _NUMBERS.get(kind)
    if size is None:
        return data.decode("utf-8", "replace") if kind == "string" else data.hex()
    if len(data) < size:
        message = f"the {field} at offset {offset} has {len(data)} bytes, but the {kind} decoder needs {size}"
        raise InvalidRecordError(message, offset=offset, field=field, rule=f"{kind} decoder")
    return str(int.from_bytes(data[:size], "big", signed=True))


# ---- coordinators


def _coordinator_record(record: Record, text: str) -> Contents:
    if record.key is None:
        message = f"Failed to decode message at offset {record.offset} using the specified decoder"
        rule = "key of an internal topic"
        raise InvalidRecordError(f"{message} (it has no key)", offset=record.offset, field="key", rule=rule)
    try:
        return _key_and_value(Message(record.key), None if record.value is None else Message(record.value), text)
    except _UnknownTypeError as error:
        return f"Unknown record type {error.type} at offset {record.offset}, skipping.", None
    except UnreadableMessageError as error:
        return f"Error at offset {record.offset}, skipping. {error.message}", None


class _UnknownTypeError(Exception):
    def __init__(self, type: int) -> None:
        super().__init__(type)
        self.type = type


def _key_and_value(key: Message, value: Message | None, text: str) -> Contents:
    schemas = _schemas(text)
    type = _version(key, "key")
    if ("key", type) not in schemas:
        raise _UnknownTypeError(type)
    shown_key = json_text({"type": str(type), "data": _read(schemas["key", type], key, 0, type, "key")})
    if value is None:
        return shown_key, "<DELETE>"
    version = _version(value, "value")
    of_value = schemas["value", type]
    if not of_value.lowest_version <= version <= of_value.highest_version:
        raise UnreadableMessageError(f"Found an unknown record version {version} for {type} type")
    data = _read(of_value, value, version, version, "value")
    if text is OFFSETS and type == _GROUP_METADATA:
        data = _with_protocol(data)
    if text is TRANSACTION_LOG:
        status = data["transactionStatus"]
        data["transactionStatus"] = (
            _TRANSACTION_STATES[status] if 0 <= status < len(_TRANSACTION_STATES) else str(status)
        )
    return shown_key, json_text({"version": str(version), "data": data})


@cache
def _schemas(text: str) -> dict[tuple[str, int], Schema]:
    """Return schemas by ``key`` or ``value`` or the name of a metadata record, and by number."""
    return {(name, number): schema(fields) for name, number, fields in _split(text)}


def _split(text: str) -> Iterator[tuple[str, int, str]]:
    text = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)
    _, *parts = _HEAD.split(text)
    for name, number, versions, fields in zip(*(parts[start::4] for start in range(4)), strict=True):
        yield name, int(number), versions + fields


def _version(message: Message, name: str) -> int:
    if message.remaining < 2:
        raise UnreadableMessageError(f"Could not read version from {name}'s buffer.")
    return int(message.number("int16"))


def _read(of: Schema, message: Message, version: int, said: int, name: str) -> dict[str, Any]:
    try:
        return of.read(message, version)
    except UnreadableMessageError as error:
        reason = "null" if error.message is None else error.message
        text = f"Could not read record with version {said} from {name}'s buffer due to: {reason}."
        raise UnreadableMessageError(text) from None


def _with_protocol(group: dict[str, Any]) -> dict[str, Any]:
    """Show a consumer's subscription, which has its own encoding."""
    if group["protocolType"] == _CONSUMER:
        for member in group["members"]:
            for name, fields in _CONSUMER_PROTOCOL.items():
                member[name] = _consumer_protocol(member[name], schema(fields))
    return group


_CONSUMER_PROTOCOL = {"subscription": CONSUMER_PROTOCOL_SUBSCRIPTION, "assignment": CONSUMER_PROTOCOL_ASSIGNMENT}


def _consumer_protocol(encoded: str, of: Schema) -> Any:
    message = Message(base64.b64decode(encoded))
    try:
        return of.read(message, message.number("int16"))
    except UnreadableMessageError:
        return encoded


# ---- a quorum's metadata


def _metadata_record(record: Record) -> Contents:
    try:
        return None, _metadata(Message(record.value or b""))
    except UnreadableMessageError as error:
        return None, f"Error at {record.offset}, skipping. {error.message}"


def _metadata(message: Message) -> str:
    name, version, data = _framed(message, CLUSTER_METADATA)
    return json_text({"type": name, "version": version, "data": data})


def _framed(message: Message, text: str) -> tuple[str, int, dict[str, Any]]:
    """Return a record's name, version and fields (AbstractApiMessageSerde.read)."""
    frame = _unsigned_short(message, "frame version")
    if frame != 1:
        reason = f"due to unknown frame version {frame}(only frame version 1 is supported)"
        if frame == 0:
            reason = (
                "with frame version 0. Note that upgrades from the preview release of KRaft in 2.8 to newer versions "
                "are not supported."
            )
        raise UnreadableMessageError(f"Could not deserialize metadata record {reason}")
    type, version = _unsigned_short(message, "type"), _unsigned_short(message, "version")
    known = [(name, of) for (name, number), of in _schemas(text).items() if number == type]
    if not known:
        exception = "org.apache.kafka.common.errors.UnsupportedVersionException"
        raise UnreadableMessageError(f"{exception}: Unknown metadata id {type}")
    [(name, of)] = known
    try:
        data = of.read(message, version)
    except UnreadableMessageError:
        raise UnreadableMessageError(f"Failed to deserialize record with type {type}") from None
    if message.remaining:
        raise UnreadableMessageError(f"Found {message.remaining} byte(s) of garbage after {type}")
    return name, version, data


def _unsigned_short(message: Message, name: str) -> int:
    try:
        number = message.unsigned_varint()
    except UnreadableMessageError:
        raise UnreadableMessageError(f"Error while reading {name}") from None
    if number > INT16_MAX:
        raise UnreadableMessageError(f"Value for {name} was too large.")
    return (number + 0x8000 & 0xFFFF) - 0x8000


# ---- tiered storage


def _remote_log_metadata(record: Record) -> Contents:
    """Return records of TopicBasedRemoteLogMetadataManager as toString() of the Java objects prints them."""
    try:
        name, _, data = _framed(Message(record.value or b""), REMOTE_LOG_METADATA)
        return None, remote_metadata_text(name, data)
    except UnreadableMessageError as error:
        return None, f"Error at offset {record.offset}, skipping. {error.message}"


# By the tool's name for the decoder: --offsets-decoder and so on.
DECODERS: dict[str, Callable[[Record], Contents]] = {
    "offsets": lambda record: _coordinator_record(record, OFFSETS),
    "transaction-log": lambda record: _coordinator_record(record, TRANSACTION_LOG),
    "share-group-state": lambda record: _coordinator_record(record, SHARE_GROUP_STATE),
    "cluster-metadata": _metadata_record,
    "remote-log-metadata": _remote_log_metadata,
}
