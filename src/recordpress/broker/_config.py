"""Topic and broker settings that affect a record set, keyed by Kafka's property names.

A topic's setting overrides the broker's, which overrides the default of the broker's version (LogConfig,
ServerTopicConfigSynonyms). Values are read and checked as in ConfigDef.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TypeAlias

from recordpress._arguments import INT32_MAX, INT64_MAX, shown_value
from recordpress.broker._config_names import BROKER_NAMES, TOPIC_NAMES, is_setting
from recordpress.broker._versions import BrokerRules, Version, version_of
from recordpress.codecs.choice import stored_as
from recordpress.codecs.table import CodecTable
from recordpress.errors import ArgumentTypeError, InvalidArgumentError

Value: TypeAlias = str | int | bool
TopicConfig: TypeAlias = Mapping[str, Value]

CODEC_IDS = CodecTable().ids
_PLUGGABLE, _PLUGIN = "pluggable", "pluggable.factory.plugin"  # KIP-984: valid only with plug-ins
_LONGEST_NAME = 80  # characters to compare with known names, the longest of which has 59
_LEVELS = CodecTable().levels
_LARGEST_ARRAY = INT32_MAX - 8  # in Java
_ZSTD_PROTOCOL: Version = (2, 1)  # LogValidator: IBP_2_1_IV0
_FORMAT_CHOSEN_BEFORE: Version = (3, 0)  # from this inter.broker.protocol.version, only magic 2 (KIP-724)


@dataclass(frozen=True, slots=True)
class LogConfig:
    """Settings of a partition's log."""

    compression_type: str
    levels: dict[str, int]
    log_append_time: bool
    compacted: bool
    downconversion_enable: bool
    verifies_transactions: bool
    before_max_ms: int
    after_max_ms: int
    max_message_bytes: int
    max_record_bytes: int
    segment_bytes: int
    target_magic: int
    takes_zstd: bool

    def target(self, source_codec: int, codecs: CodecTable | None) -> tuple[int, int | None]:
        """Return the target codec, as its row in `codecs`, and its level for a set with this source codec
        (BrokerCompressionType.targetCompression)."""
        if self.compression_type == "producer":
            return source_codec, None
        if self.compression_type == "uncompressed":
            return 0, None
        ids = CODEC_IDS if codecs is None else codecs.ids
        return ids[self.compression_type], self.levels.get(self.compression_type)


class _Settings:
    """The given settings, checked as they are read."""

    def __init__(self, given: Iterable[tuple[str, Value]], codecs: CodecTable | None) -> None:
        self.plugins = None if codecs is None else {name for name in codecs.ids if stored_as(name) is None}
        self.values = {self._name(name): self._value(name, value) for name, value in given}

    def _name(self, name: str) -> str:
        if not isinstance(name, str):
            message = f"names of settings must be str, not {type(name).__name__}"
            raise ArgumentTypeError(message, field="topic_config")
        if not (is_setting(name) or (name == _PLUGIN and self.plugins is not None)):
            near = get_close_matches(name[:_LONGEST_NAME], TOPIC_NAMES | BROKER_NAMES, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise InvalidArgumentError(f"Kafka has no setting {shown_value(name)}{hint}", field="topic_config")
        return name

    def _value(self, name: str, value: Value) -> Value:
        if isinstance(value, str):
            return value.strip()
        if not isinstance(value, int):
            message = f"the value of {name} must be a str, an int or a bool, not {type(value).__name__}"
            raise ArgumentTypeError(message, field=name)
        return value

    def find(self, *names: str) -> tuple[str, Value] | None:
        """Return the first name that is set, with its value."""
        return next(((name, self.values[name]) for name in names if name in self.values), None)

    def number(self, names: tuple[str, ...], default: int, least: int, most: int, also: int | None = None) -> int:
        found = self.find(*names)
        if found is None:
            return default
        name, value = found
        number = _number_of(name, value)
        if least <= number <= most or number == also:
            return number
        either = f" or {also}" if also is not None else ""
        message = f"{name} must be between {least} and {most}{either}, not {shown_value(value)}"
        raise InvalidArgumentError(message, field=name)

    def flag(self, names: tuple[str, ...], default: bool) -> bool:
        found = self.find(*names)
        if found is None:
            return default
        name, value = found
        if isinstance(value, bool):
            return value
        if str(value).lower() not in ("true", "false"):
            raise InvalidArgumentError(f"{name} must be true or false, not {shown_value(value)}", field=name)
        return str(value).lower() == "true"

    def choice(self, names: tuple[str, ...], default: str, choices: tuple[str, ...]) -> str:
        found = self.find(*names)
        if found is None:
            return default
        name, value = found
        if value not in choices:
            message = f"{name} must be one of {', '.join(choices)}, not {shown_value(value)}"
            raise InvalidArgumentError(message, field=name)
        return str(value)


def _number_of(name: str, value: Value) -> int:
    """Parse a number as Java's parseInt and parseLong do: ASCII digits after at most one sign."""
    if isinstance(value, bool):
        raise ArgumentTypeError(f"the value of {name} must be a number, not bool", field=name)
    if isinstance(value, int):
        return value
    digits = value[1:] if value[:1] in ("+", "-") else value
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 40):
        raise InvalidArgumentError(f"{name} must be a number, not {shown_value(value)}", field=name)
    return int(value)


def _by_topic_or_broker(name: str) -> tuple[str, ...]:
    return name, f"log.{name}"


def log_config(given: TopicConfig | None, rules: BrokerRules, codecs: CodecTable | None = None) -> LogConfig:
    """Return a log's settings from a mapping of Kafka's property names to values."""
    settings = _Settings(_items(given), codecs)
    protocol = _inter_broker_protocol(settings, rules)
    before, after = _timestamp_bounds(settings, rules)
    timestamp_type = settings.choice(
        _by_topic_or_broker("message.timestamp.type"), "CreateTime", ("CreateTime", "LogAppendTime")
    )
    return LogConfig(
        compression_type=_compression_type(settings, rules),
        levels=_levels(settings, rules),
        log_append_time=timestamp_type == "LogAppendTime" and rules.max_magic > 0,
        compacted=_is_compacted(settings),
        downconversion_enable=settings.flag(_by_topic_or_broker("message.downconversion.enable"), True),
        verifies_transactions=rules.verifies_transactions
        and settings.flag(("transaction.partition.verification.enable",), True),
        before_max_ms=before,
        after_max_ms=after,
        max_message_bytes=settings.number(
            ("max.message.bytes", "message.max.bytes"), rules.default_max_message_bytes, 0, INT32_MAX
        ),
        max_record_bytes=settings.number(("max.decompressed.message.bytes",), _LARGEST_ARRAY, 1, _LARGEST_ARRAY)
        if rules.has_max_record_size
        else 0,
        segment_bytes=_segment_bytes(settings, rules),
        target_magic=_target_magic(settings, rules, protocol),
        takes_zstd=protocol >= _ZSTD_PROTOCOL or not rules.gates_zstd_by_protocol,
    )


def _items(given: TopicConfig | None) -> tuple[tuple[str, Value], ...]:
    if given is not None and not isinstance(given, Mapping):
        message = f"topic_config must be a mapping of names to values, not {type(given).__name__}"
        raise ArgumentTypeError(message, field="topic_config")
    return tuple(given.items()) if given else ()


def fetch_max_bytes(given: TopicConfig | None, default: int | None, codecs: CodecTable | None = None) -> int:
    """Return the broker's limit on a Fetch response; `default` is None in releases without this setting."""
    settings = _Settings(_items(given), codecs)
    return INT32_MAX if default is None else settings.number(("fetch.max.bytes",), default, 1024, INT32_MAX)


def _compression_type(settings: _Settings, rules: BrokerRules) -> str:
    codecs = tuple(name for name, id in CODEC_IDS.items() if 0 < id <= rules.last_codec)
    if settings.plugins is not None and rules.max_magic == 2:
        codecs += (_PLUGGABLE,)
    chosen = settings.choice(("compression.type",), "producer", ("producer", "uncompressed", *codecs))
    found = settings.find(_PLUGIN)
    if chosen != _PLUGGABLE:
        if found:
            warnings.warn(f"{_PLUGIN} has no effect: compression.type is {chosen}", stacklevel=2)
        return chosen
    name, plugins = found[1] if found else None, settings.plugins or ()
    if name not in plugins:
        known = ", ".join(sorted(plugins)) or "none"
        message = f"{_PLUGIN} must be a codec that is registered ({known}), not {shown_value(name)}"
        raise InvalidArgumentError(message, field=_PLUGIN)
    return str(name)


def _levels(settings: _Settings, rules: BrokerRules) -> dict[str, int]:
    found: dict[str, int] = {}
    for codec, (least, most, default) in _LEVELS.items():
        names = (f"compression.{codec}.level",)
        if settings.find(*names) and rules.has_compression_levels:
            found[codec] = settings.number(names, default, least, most, also=default)
    return found


def _timestamp_bounds(settings: _Settings, rules: BrokerRules) -> tuple[int, int]:
    """Return both bounds; message.timestamp.difference.max.ms replaces an unset bound (LogConfig of 3.6 to 3.9)."""
    both = INT64_MAX
    if rules.version < (4, 0):
        both = settings.number(_by_topic_or_broker("message.timestamp.difference.max.ms"), both, 0, INT64_MAX)
    if not rules.has_timestamp_bounds:
        return both, both

    def bound(which: str, default: int) -> int:
        names = _by_topic_or_broker(f"message.timestamp.{which}.max.ms")
        value = settings.number(names, default, 0, INT64_MAX)
        return both if value == INT64_MAX else value

    return bound("before", INT64_MAX), bound("after", rules.default_after_max_ms)


def _is_compacted(settings: _Settings) -> bool:
    found = settings.find(*_by_topic_or_broker("cleanup.policy"))
    if found is None:
        return False
    name, value = found
    policies = [policy.strip() for policy in str(value).split(",")] if value != "" else []
    if any(policy not in ("compact", "delete") for policy in policies):
        raise InvalidArgumentError(f"{name} must be compact, delete or both, not {shown_value(value)}", field=name)
    return "compact" in policies


def _segment_bytes(settings: _Settings, rules: BrokerRules) -> int:
    size = settings.number(_by_topic_or_broker("segment.bytes"), 1 << 30, rules.least_segment_bytes, INT32_MAX)
    if rules.version >= (4, 0):  # smaller segments, for Kafka's own tests
        size = settings.number(("internal.segment.bytes",), size, -INT32_MAX - 1, INT32_MAX)
    return size


def _release(settings: _Settings, name: str, rules: BrokerRules) -> Version | None:
    """Return the release that a setting names, which must not be newer than the broker; None if it is unset."""
    found = settings.find(*_by_topic_or_broker(name)) if name.startswith("message.") else settings.find(name)
    if found is None:
        return None
    given, value = found
    version = version_of(str(value), given)
    if version[:2] > rules.version[:2]:
        broker = ".".join(map(str, rules.version))
        message = f"{given} must not be newer than the broker, {broker}: {shown_value(value)}"
        raise InvalidArgumentError(message, field=given)
    return version


def _inter_broker_protocol(settings: _Settings, rules: BrokerRules) -> Version:
    if not rules.has_inter_broker_protocol:
        return rules.version
    return _release(settings, "inter.broker.protocol.version", rules) or rules.version


def _target_magic(settings: _Settings, rules: BrokerRules, protocol: Version) -> int:
    if not rules.has_inter_broker_protocol or protocol >= _FORMAT_CHOSEN_BEFORE:
        return rules.max_magic
    version = _release(settings, "message.format.version", rules)
    return min(_magic_of(protocol), _magic_of(version or rules.version))


def _magic_of(version: Version) -> int:
    """Return the magic of a release (MetadataVersion.highestSupportedRecordVersion, ApiVersion.recordVersion)."""
    return 0 if version < (0, 10) else 1 if version < (0, 11) else 2
