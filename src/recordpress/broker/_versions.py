"""Broker behaviour by release, as it affects a record set, with sources.

A patch release behaves like its minor release, unless it has a separate row.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import lru_cache
from typing import Any, Literal

from recordpress._arguments import shown_value
from recordpress._protocol_errors import Errors
from recordpress._version import NEWEST_KAFKA
from recordpress.errors import ArgumentTypeError, InvalidArgumentError

Version = tuple[int, ...]
Answer = Literal["welcome", "out of order", "unknown"]


class MessageSets(IntEnum):
    """The code that accepts sets of messages before 0.11, by the release that introduced it."""

    V0_8_2 = 0
    V0_9 = 1
    V0_10_0 = 2
    V0_10_1 = 3
    V0_10_2 = 4


@dataclass(frozen=True, slots=True)
class BrokerRules:
    """Differences of one release's brokers from others."""

    version: Version
    max_magic: int = 0  # the newest message format that the log may hold
    produce_versions: tuple[int, int] = (0, 0)  # other Produce requests close the connection
    last_codec: int = 3  # the highest known codec id
    gates_zstd_by_protocol: bool = False  # zstd is rejected if inter.broker.protocol.version is below 2.1
    has_invalid_record: bool = False  # error 87
    has_inter_broker_protocol: bool = False  # which, like message.format.version, may choose an older format
    has_compression_levels: bool = False  # compression.<codec>.level
    has_timestamp_bounds: bool = False  # message.timestamp.before.max.ms and message.timestamp.after.max.ms
    has_max_record_size: bool = False  # max.decompressed.message.bytes
    default_after_max_ms: int = 2**63 - 1
    default_max_message_bytes: int = 1000012
    least_segment_bytes: int = 14
    verifies_transactions: bool = False  # with the coordinator, before the first batch of a transaction
    epoch_bump_produce_version: int | None = None  # from this Produce version, each transaction has its own epoch
    compares_producers: bool = False  # even without a transactional id, the producers of all batches are compared
    transactions_have_epochs: bool = False  # an open transaction is identified by its epoch, too
    fences_before_verification: bool = False  # an older epoch is rejected before the coordinator is called
    bumped_epochs_begin_at_0: bool = False  # an unknown producer must begin a bumped epoch with sequence 0
    markers_have_new_epochs: bool = False  # transaction.version 2: a marker needs a newer epoch than its transaction
    last_epoch_may_repeat: bool = False  # in a marker
    message_sets: MessageSets | None = None  # before 0.11: the code that accepts sets of messages
    # If the request layer rejects a set: "parser" closes the connection of Produce 3 and later; "first batch" closes it
    # if the first batch cannot be read; "partition" returns an error for the partition. "none": there is no such layer.
    request_checks: Literal["none", "parser", "first batch", "partition"] = "none"
    scans_magic_first: bool = False  # even in a truncated entry
    needs_transactional_id: bool = False  # for transactional batches
    remembered_batches: int = 5  # for each producer, to detect retries
    unknown_producer: Answer = "welcome"  # answer to an unknown producer whose first sequence is not 0
    unknown_sequence: Answer = "welcome"  # answer to a producer of which only the epoch is known
    record_errors: bool = False  # responses report single records
    record_errors_break_old_responses: bool = False  # responses before Produce 8 cannot be written
    quirks: tuple[str, ...] = ()  # names in recordpress.broker._validator.RULES

    @property
    def zstd(self) -> bool:
        """Whether the release knows zstd."""
        return self.last_codec >= 4

    @property
    def invalid_record(self) -> int:
        """The error code for a record or batch that breaks a rule."""
        return Errors.INVALID_RECORD if self.has_invalid_record else Errors.CORRUPT_MESSAGE

    def code_of(self, code: int) -> int:
        """Return this release's equivalent of a newer release's error code."""
        return self.invalid_record if code == Errors.INVALID_RECORD else code


def _without(names: tuple[str, ...], *dropped: str) -> tuple[str, ...]:
    return tuple(name for name in names if name not in dropped)


# Differences of validators before 3.6: see _check.pxd. A release that no longer has a rule drops it.
_OLD_VALIDATOR = (
    "ANY_ENTRIES",
    "COUNTS_FREE",
    "FIRST_ERROR",
    "WHOLE_RECORDS",
    "STRICT_LENGTHS",
    "TYPE_OF_ALL",
    "ZSTD_TAIL",
)
_OLD_READER = ("STRICT_LENGTHS", "TYPE_OF_ALL", "ZSTD_TAIL")

# Changes in each release, with their source. A release without a row behaves like the release before it.
_CHANGES: tuple[tuple[Version, dict[str, Any], str], ...] = (
    ((0, 8, 2), {"message_sets": MessageSets.V0_8_2}, "MessageSet, ByteBufferMessageSet.assignOffsets"),
    (
        (0, 9),
        {"produce_versions": (0, 1), "message_sets": MessageSets.V0_9},
        "KIP-13, ByteBufferMessageSet.validateMessagesAndAssignOffsets",
    ),
    (
        (0, 10),
        {
            "max_magic": 1,
            "produce_versions": (0, 2),
            "has_inter_broker_protocol": True,
            "message_sets": MessageSets.V0_10_0,
        },
        "KIP-31, KIP-32, KIP-57",
    ),
    ((0, 10, 1), {"message_sets": MessageSets.V0_10_1}, "KAFKA-3163, KAFKA-4298"),
    ((0, 10, 2), {"message_sets": MessageSets.V0_10_2}, "KAFKA-4390, LogValidator"),
    (
        (0, 11),
        {
            "max_magic": 2,
            "produce_versions": (0, 3),
            "message_sets": None,
            "request_checks": "parser",
            "remembered_batches": 1,
            "unknown_producer": "out of order",
            "unknown_sequence": "out of order",
            "quirks": _OLD_VALIDATOR,
        },
        "KIP-98, ProduceRequest",
    ),
    (
        (1, 0),
        {"produce_versions": (0, 5), "remembered_batches": 5, "unknown_producer": "unknown"},
        "KIP-112, KIP-107, KAFKA-5494, KAFKA-5793",
    ),
    ((1, 1), {"quirks": _without(_OLD_VALIDATOR, "COUNTS_FREE")}, "KAFKA-6554"),
    (
        (2, 0),
        {"produce_versions": (0, 6), "scans_magic_first": True, "unknown_sequence": "unknown"},
        "KIP-219, KAFKA-6834, ProducerAppendInfo.checkSequence",
    ),
    (
        (2, 1),
        {"produce_versions": (0, 7), "last_codec": 4, "request_checks": "first batch", "needs_transactional_id": True},
        "KIP-110, KAFKA-7549",
    ),
    ((2, 2), {"gates_zstd_by_protocol": True}, "KIP-110, KAFKA-7920"),
    (
        (2, 4),
        {
            "produce_versions": (0, 8),
            "has_invalid_record": True,
            "record_errors": True,
            "quirks": (*_without(_OLD_VALIDATOR, "COUNTS_FREE", "ANY_ENTRIES"), "OFFSETS_REFUSED"),
        },
        "KIP-467, KAFKA-8428, KAFKA-9669",
    ),
    ((2, 4, 0), {"record_errors_break_old_responses": True}, "KAFKA-9492"),
    ((2, 4, 1), {"record_errors_break_old_responses": False}, "KAFKA-9492"),
    (
        (2, 5),
        {
            "default_max_message_bytes": 1048588,
            "unknown_producer": "welcome",
            "unknown_sequence": "welcome",
            "quirks": ("WHOLE_RECORDS", *_OLD_READER),
        },
        "KAFKA-4203, KIP-360, KAFKA-8729, KAFKA-9669",
    ),
    ((2, 6), {"quirks": _OLD_READER}, "KAFKA-8106, KAFKA-9820"),
    ((2, 8), {"produce_versions": (0, 9), "request_checks": "partition"}, "KIP-482, KAFKA-9628"),
    ((3, 5), {"quirks": _without(_OLD_READER, "ZSTD_TAIL")}, "zstd-jni 1.5.5"),
    (
        (3, 6),
        {"has_timestamp_bounds": True, "verifies_transactions": True, "quirks": ()},
        "KIP-937, KIP-890, KAFKA-14633",
    ),
    ((3, 7), {"produce_versions": (0, 10)}, "KIP-951"),
    (
        (3, 8),
        {"produce_versions": (0, 11), "has_compression_levels": True, "compares_producers": True},
        "KIP-890, KIP-390, ReplicaManager.handleProduceAppend",
    ),
    (
        (4, 0),
        {
            "produce_versions": (3, 12),
            "has_inter_broker_protocol": False,
            "default_after_max_ms": 3600000,
            "least_segment_bytes": 1 << 20,
            "epoch_bump_produce_version": 12,
            "transactions_have_epochs": True,
        },
        "KIP-896, KIP-724, KIP-1030, KIP-890",
    ),
    (
        (4, 1),
        {"produce_versions": (3, 13), "fences_before_verification": True, "bumped_epochs_begin_at_0": True},
        "KIP-516, UnifiedLog.maybeStartTransactionVerification, ProducerAppendInfo.checkSequence",
    ),
    ((4, 2), {"markers_have_new_epochs": True}, "KIP-1228, KAFKA-19999"),
    ((4, 3), {"last_epoch_may_repeat": True}, "ProducerAppendInfo.checkProducerEpoch"),
    ((4, 4), {"has_max_record_size": True}, "DefaultRecord.readFrom, LogConfig"),
)
OLDEST: Version = (0, 8, 2)
NEWEST: Version = tuple(map(int, NEWEST_KAFKA.split(".")))
_LAST_OF_LINE = {0: 11, 1: 1, 2: 8, 3: 9}  # the last minor release of each major line except the newest
_VERSION = re.compile(r"[0-9]{1,3}(\.[0-9]{1,3}){1,3}")


def version_of(text: str, name: str) -> Version:
    """Return a release as numbers; settings may add a draft number, as in ``0.10.0-IV1`` (MetadataVersion)."""
    if not isinstance(text, str):
        message = f'{name} must be a str such as "3.9", not {type(text).__name__}'
        raise ArgumentTypeError(message, field=name)
    release = re.sub(r"-IV[0-9]+$", "", text.strip())
    if not _VERSION.fullmatch(release):
        message = f"{name} must be a release of Kafka such as 3.9 or 3.9.2, not {shown_value(text)}"
        raise InvalidArgumentError(message, field=name)
    return tuple(int(part) for part in release.split("."))


def _is_known(version: Version) -> bool:
    line, release = version[0], version[:2]
    last = NEWEST if line == NEWEST[0] else (line, _LAST_OF_LINE.get(line, -1))
    return version >= OLDEST and release <= last


@lru_cache(maxsize=64)
def _rules_of(version: Version) -> BrokerRules:
    rules = BrokerRules(version)
    for since, change, _ in _CHANGES:
        if version >= since:
            rules = replace(rules, **change)
    return rules


def rules_of(broker_version: str) -> BrokerRules:
    """Return the rules of a release; raise an InvalidArgumentError with the known range if it is unknown."""
    version = version_of(broker_version, "broker_version")
    if not _is_known(version):
        known = ".".join(map(str, OLDEST)), NEWEST_KAFKA
        message = f"broker_version must be a release from {known[0]} to {known[1]}, not {broker_version!r}"
        raise InvalidArgumentError(message, field="broker_version")
    return _rules_of(version)
