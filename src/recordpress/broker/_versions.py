"""Broker behaviour by release, as it affects a record set, with sources.

Patch releases are as their line, except for releases with a separate row.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import lru_cache
from typing import Any, Literal

from recordpress._arguments import shown_value
from recordpress._protocol_errors import Errors
from recordpress.errors import ArgumentTypeError, InvalidArgumentError

Version = tuple[int, ...]
Answer = Literal["welcome", "out of order", "unknown"]


class MessageSets(IntEnum):
    """The code that takes sets of messages before 0.11, by the release in which it came."""

    V0_8_2 = 0
    V0_9 = 1
    V0_10_0 = 2
    V0_10_1 = 3
    V0_10_2 = 4


@dataclass(frozen=True, slots=True)
class BrokerRules:
    """How the brokers of one release differ from others.

    Attributes
    ----------
    version : tuple of int
    max_magic : int
        Of message formats that the log may hold.
    produce_versions : (int, int)
        Of the Produce requests that are answered; others close the connection.
    zstd : bool
        Whether codec id 4 is known.
    gates_zstd_by_protocol : bool
        Whether zstd is refused where inter.broker.protocol.version is below 2.1.
    has_invalid_record : bool
        Whether error 87 exists.
    has_inter_broker_protocol : bool
        Whether inter.broker.protocol.version, and with it message.format.version, may choose an older format.
    has_compression_levels, has_timestamp_bounds : bool
        Whether compression.<codec>.level, and the bounds before.max.ms and after.max.ms, are settings.
    default_after_max_ms, default_max_message_bytes, least_segment_bytes : int
        Of message.timestamp.after.max.ms, max.message.bytes and segment.bytes.
    verifies_transactions : bool
        Whether the coordinator is asked before the first batch of a transaction is appended.
    compares_producers : bool
        Whether that needs no transactional id: the producers of all batches in the set are read and compared.
    epoch_bump_produce_version : int | None
        From this Produce on, each transaction has its own epoch; None if no Produce does that.
    transactions_have_epochs, fences_before_verification, bumped_epochs_begin_at_0 : bool
        Whether an open transaction is identified by its epoch, too; whether an older epoch is refused before the
        coordinator
        is asked; and whether a producer of which nothing is known must begin with sequence 0 in such an epoch.
    message_sets : MessageSets | None
        Before 0.11: which code takes sets of messages.
    request_checks : {'none', 'parser', 'first batch', 'partition'}
        What happens to a record set that the request layer refuses: there is no such layer; the request of Produce 3
        and later is not parsed, and the connection closed; so it is, in every Produce without a first batch;
        the partition gets an error.
    scans_magic_first : bool
        Whether a scanner looks at the magic of an entry that is cut.
    needs_transactional_id : bool
        Whether transactional batches need a transactional id in the request.
    remembered_batches : int
        Of each producer, for retries.
    unknown_producer : {'welcome', 'out of order', 'unknown'}
        What a producer gets of which nothing is known, if its first sequence is not 0.
    unknown_sequence : {'welcome', 'out of order', 'unknown'}
        The same for one of which nothing is known but its epoch.
    record_errors : bool
        Whether responses report single records.
    record_errors_break_old_responses : bool
        Whether a response before Produce 8 cannot be written if there are such errors.
    quirks : tuple of str
        Names in `recordpress.broker._validator.RULES`.
    """

    version: Version
    max_magic: int = 0
    produce_versions: tuple[int, int] = (0, 0)
    zstd: bool = False
    gates_zstd_by_protocol: bool = False
    has_invalid_record: bool = False
    has_inter_broker_protocol: bool = False
    has_compression_levels: bool = False
    has_timestamp_bounds: bool = False
    default_after_max_ms: int = 2**63 - 1
    default_max_message_bytes: int = 1000012
    least_segment_bytes: int = 14
    verifies_transactions: bool = False
    epoch_bump_produce_version: int | None = None
    compares_producers: bool = False
    transactions_have_epochs: bool = False
    fences_before_verification: bool = False
    bumped_epochs_begin_at_0: bool = False
    message_sets: MessageSets | None = None
    request_checks: Literal["none", "parser", "first batch", "partition"] = "none"
    scans_magic_first: bool = False
    needs_transactional_id: bool = False
    remembered_batches: int = 5
    unknown_producer: Answer = "welcome"
    unknown_sequence: Answer = "welcome"
    record_errors: bool = False
    record_errors_break_old_responses: bool = False
    quirks: tuple[str, ...] = ()

    @property
    def invalid_record(self) -> int:
        """The code of a record or batch that breaks a rule."""
        return Errors.INVALID_RECORD if self.has_invalid_record else Errors.CORRUPT_MESSAGE

    def code_of(self, code: int) -> int:
        """The code that this release has for a newer one's."""
        return self.invalid_record if code == Errors.INVALID_RECORD else code


def _without(names: tuple[str, ...], *dropped: str) -> tuple[str, ...]:
    return tuple(name for name in names if name not in dropped)


# What validators before 3.6 do otherwise: see _check.pxd. A rule is dropped by the release that no longer has it.
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

# What each release brought, and the source. A release without a row is as the one before it.
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
        {
            "produce_versions": (0, 7),
            "zstd": True,
            "request_checks": "first batch",
            "needs_transactional_id": True,
        },
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
)
OLDEST: Version = (0, 8, 2)
NEWEST: Version = (4, 3)
_LAST_OF_LINE = {0: 11, 1: 1, 2: 8, 3: 9}  # the last minor release of each major line but the newest
_VERSION = re.compile(r"[0-9]{1,3}(\.[0-9]{1,3}){1,3}")


def version_of(text: str, name: str) -> Version:
    """A release as numbers; settings may add a draft number, as in ``0.10.0-IV1`` (MetadataVersion)."""
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
    """How brokers of a release decide.

    Raises
    ------
    InvalidArgumentError
        The release is unknown; the message lists the known ones.
    """
    version = version_of(broker_version, "broker_version")
    if not _is_known(version):
        known = ".".join(map(str, OLDEST)), ".".join(map(str, NEWEST))
        message = f"broker_version must be a release from {known[0]} to {known[1]}, not {broker_version!r}"
        raise InvalidArgumentError(message, field="broker_version")
    return _rules_of(version)
