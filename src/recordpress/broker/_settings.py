"""A release of Kafka with a topic's settings; both hold for every record set of the topic.

Reading settings takes longer than the verdict on a small batch, so the settings of the last calls are cached.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from recordpress.broker._config import CODEC_IDS, LogConfig, TopicConfig, Value, log_config
from recordpress.broker._validator import RULES
from recordpress.broker._versions import BrokerRules, rules_of
from recordpress.codecs import CodecRegistry
from recordpress.codecs.table import PLUGGABLE, CodecTable, codecs_given

_NAMES, _VALUES = frozenset((str,)), frozenset((str, int, bool))


@dataclass(frozen=True, slots=True)
class Settings:
    """Release and configuration by which a broker decides."""

    rules: BrokerRules
    config: LogConfig
    codecs: CodecTable | None
    known_codecs: frozenset[int]
    last_codec: int
    quirks: int


def settings_of(broker_version: str, topic_config: TopicConfig | None, codecs: CodecRegistry | None) -> Settings:
    """Return the rules of a release with the topic's settings, which are keyed by Kafka's property names."""
    given = {} if topic_config is None else topic_config
    if codecs is None and type(given) is dict and type(broker_version) is str:
        types = tuple(map(type, given.values()))
        if _VALUES.issuperset(types) and _NAMES.issuperset(map(type, given)):  # subclasses may hash differently
            return _remembered(broker_version, tuple(given.items()), types)
    table = codecs_given(codecs)
    kafkas = None if table is None else CodecTable(table.plugins)  # a broker reads with Kafka's implementation
    return _read(broker_version, topic_config, kafkas)


@lru_cache(maxsize=64)
def _remembered(broker_version: str, items: tuple[tuple[str, Value], ...], types: tuple[type, ...]) -> Settings:
    """Cache settings by types as well, because 1 == True."""
    return _read(broker_version, dict(items), None)


def _read(broker_version: str, topic_config: Mapping[str, Value] | None, codecs: CodecTable | None) -> Settings:
    rules = rules_of(broker_version)
    known = {id for id in CODEC_IDS.values() if id <= rules.last_codec}
    if codecs is not None:
        known.add(PLUGGABLE)
    quirks = sum(RULES[name] for name in rules.quirks)
    return Settings(rules, log_config(topic_config, rules, codecs), codecs, frozenset(known), max(known), quirks)
