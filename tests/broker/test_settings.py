"""Kafka's property names and releases: what is taken, what is refused, and what a release's defaults are."""

from __future__ import annotations

from typing import Any

import pytest

import recordpress
from recordpress.broker._config import LogConfig, log_config
from recordpress.broker._versions import BrokerRules, rules_of
from recordpress.codecs.table import codecs_given

LONG_MAX = 2**63 - 1


def config(given: Any = None, version: str = "4.3") -> LogConfig:
    return log_config(given, rules_of(version))


@pytest.mark.parametrize("version", ["0.8.2", "0.9.0.1", "0.10.2", "0.11.0.3", "1.1.1", "2.8.2", "3.9", "4.3.1"])
def test_releases_that_are_known(version: str) -> None:
    assert ".".join(map(str, rules_of(version).version)) == version


@pytest.mark.parametrize("version", ["0.8.1", "0.12", "1.2", "2.9", "3.10", "4.5", "5.0", "3", "", "x", "3.9.x", "٣.٩"])
def test_releases_that_are_not_known(version: str) -> None:
    with pytest.raises(recordpress.InvalidArgumentError) as error:
        rules_of(version)
    assert error.value.field == "broker_version"


def test_an_unknown_release_is_told_the_range() -> None:
    with pytest.raises(recordpress.InvalidArgumentError, match=r"from 0\.8\.2 to 4\.4, not '4\.9'"):
        rules_of("4.9")


@pytest.mark.parametrize("version", [4.4, None, (4, 3), b"4.3"])
def test_a_release_is_text(version: Any) -> None:
    with pytest.raises(recordpress.ArgumentTypeError):
        rules_of(version)


@pytest.mark.parametrize(
    ("version", "produce", "after", "size"),
    [
        ("0.8.2", (0, 0), LONG_MAX, 1000012),
        ("2.4", (0, 8), LONG_MAX, 1000012),
        ("2.5", (0, 8), LONG_MAX, 1048588),
        ("3.9", (0, 11), LONG_MAX, 1048588),
        ("4.0", (3, 12), 3600000, 1048588),
        ("4.4", (3, 13), 3600000, 1048588),
    ],
)
def test_defaults_by_release(version: str, produce: tuple[int, int], after: int, size: int) -> None:
    rules: BrokerRules = rules_of(version)
    settings = log_config(None, rules)
    assert rules.produce_versions == produce
    assert (settings.before_max_ms, settings.after_max_ms, settings.max_message_bytes) == (LONG_MAX, after, size)
    assert settings.segment_bytes == 1 << 30
    assert settings.target(3, None) == (3, None)


def test_a_topic_goes_before_its_broker() -> None:
    both = {"log.segment.bytes": 1 << 21, "segment.bytes": "1048576", "message.max.bytes": 7, "max.message.bytes": "8 "}
    assert (config(both).segment_bytes, config(both).max_message_bytes) == (1 << 20, 8)
    assert config({"log.segment.bytes": 1 << 21, "log.cleanup.policy": "compact"}).segment_bytes == 1 << 21


@pytest.mark.parametrize(
    ("given", "field", "value"),
    [
        ({"message.timestamp.type": "LogAppendTime"}, "log_append_time", True),
        ({"log.message.timestamp.type": "LogAppendTime"}, "log_append_time", True),
        ({"cleanup.policy": "compact,delete"}, "compacted", True),
        ({"cleanup.policy": "delete"}, "compacted", False),
        ({"cleanup.policy": ""}, "compacted", False),
        ({"message.downconversion.enable": "FALSE"}, "downconversion_enable", False),
        ({"transaction.partition.verification.enable": False}, "verifies_transactions", False),
        ({"message.timestamp.before.max.ms": 5}, "before_max_ms", 5),
        ({"message.timestamp.after.max.ms": LONG_MAX}, "after_max_ms", LONG_MAX),
        ({"internal.segment.bytes": 20000}, "segment_bytes", 20000),
        ({"compression.type": "zstd", "compression.zstd.level": "19"}, "levels", {"zstd": 19}),
        ({"message.format.version": "0.9.0"}, "target_magic", 2),  # 4.x has no such setting any more
        ({"listener.name.internal.ssl.key.password": "x", "process.roles": "broker"}, "compacted", False),
    ],
)
def test_a_setting(given: dict[str, Any], field: str, value: object) -> None:
    assert getattr(config(given), field) == value


def test_the_older_bound_fills_both() -> None:
    settings = config({"message.timestamp.difference.max.ms": 9, "message.timestamp.before.max.ms": 5}, "3.9")
    assert (settings.before_max_ms, settings.after_max_ms) == (5, 9)
    assert config({"message.timestamp.difference.max.ms": 9}, "2.8").after_max_ms == 9


@pytest.mark.parametrize(
    ("version", "given", "magic"),
    [
        ("0.9.0.1", {}, 0),
        ("0.10.2", {}, 1),
        ("2.8", {}, 2),
        ("2.8", {"message.format.version": "0.10.2"}, 1),
        ("2.8", {"log.message.format.version": "0.9.0-IV0"}, 0),
        ("2.8", {"inter.broker.protocol.version": "0.10.2"}, 1),
        ("3.9", {"message.format.version": "0.10.2"}, 2),
        ("3.9", {"message.format.version": "0.10.2", "inter.broker.protocol.version": "2.8"}, 1),
    ],
)
def test_the_format_of_the_log(version: str, given: dict[str, Any], magic: int) -> None:
    assert config(given, version).target_magic == magic


@pytest.mark.parametrize("protocol", ["2.0", "0.11.0-IV2"])
def test_an_old_protocol_takes_no_zstd_for_the_topic(protocol: str) -> None:
    assert not config({"inter.broker.protocol.version": protocol}, "2.8").takes_zstd
    assert config({"inter.broker.protocol.version": "2.1-IV2"}, "2.8").takes_zstd


@pytest.mark.parametrize(
    "given",
    [
        {"compression.type": "ZSTD"},
        {"compression.type": "none"},
        {"compression.gzip.level": 0},
        {"compression.lz4.level": 18},
        {"compression.zstd.level": "23"},
        {"compression.zstd.level": "three"},
        {"max.message.bytes": "-1"},
        {"max.message.bytes": "2147483648"},
        {"segment.bytes": 1000},
        {"message.timestamp.type": "createtime"},
        {"message.timestamp.before.max.ms": -1},
        {"message.timestamp.after.max.ms": 2**63},
        {"cleanup.policy": "compact,none"},
        {"message.downconversion.enable": "yes"},
        {"compression.typ": "zstd"},
        {"": 1},
    ],
)
def test_what_kafka_refuses(given: dict[str, Any]) -> None:
    with pytest.raises(recordpress.InvalidArgumentError):
        config(given)


def test_settings_that_are_equal_to_python_are_told_apart() -> None:
    assert config({"message.downconversion.enable": True}).downconversion_enable
    with pytest.raises(recordpress.InvalidArgumentError):
        config({"message.downconversion.enable": 1})


def test_a_setting_is_not_newer_than_its_broker() -> None:
    with pytest.raises(recordpress.InvalidArgumentError, match="newer than the broker"):
        config({"message.format.version": "2.9"}, "2.8")
    with pytest.raises(recordpress.InvalidArgumentError, match="zstd"):
        config({"compression.type": "zstd"}, "2.0")


def test_a_name_with_a_slip_is_told_the_right_one() -> None:
    with pytest.raises(recordpress.InvalidArgumentError, match=r"did you mean 'compression\.type'"):
        config({"compresion.type": "zstd"})


@pytest.mark.parametrize(
    "given",
    [{"max.message.bytes": 10**5000}, {"segment.bytes": "9" * 5000}, {"x" * 5000: 1}, {"cleanup.policy": "x" * 5000}],
)
def test_messages_stay_short(given: Any) -> None:
    with pytest.raises(recordpress.InvalidArgumentError) as error:
        config(given)
    assert len(str(error.value)) < 300


@pytest.mark.parametrize(
    "given",
    [3, [("segment.bytes", 1)], "segment.bytes=1", {1: 1}, {"segment.bytes": 1.5}, {"segment.bytes": True}],
)
def test_types(given: Any) -> None:
    with pytest.raises(recordpress.ArgumentTypeError):
        config(given)


class Plain:
    def compress(self, data: bytes) -> bytes:
        return data

    def decompress(self, data: bytes, max_output: int) -> bytes:
        return data


def plug_ins() -> recordpress.CodecRegistry:
    codecs = recordpress.CodecRegistry()
    codecs.register("com.example.Plain", Plain())
    codecs.register("other", Plain())
    return codecs


def test_a_plug_in() -> None:
    given = {"compression.type": "pluggable", "pluggable.factory.plugin": "com.example.Plain"}
    table = codecs_given(plug_ins())
    assert table is not None
    found = log_config(given, rules_of("4.3"), table)
    assert found.compression_type == "com.example.Plain"
    assert found.target(0, table) == (table.ids["com.example.Plain"], None)
    for refused in ("pluggable", "com.example.Plain"):
        with pytest.raises(recordpress.InvalidArgumentError, match="must be one of"):
            config({"compression.type": refused})
    with pytest.raises(recordpress.InvalidArgumentError, match="has no setting 'pluggable"):
        config(given)
    with pytest.raises(recordpress.InvalidArgumentError, match="must be one of"):
        log_config({"compression.type": "other"}, rules_of("4.3"), table)


@pytest.mark.parametrize("name", [None, "", "Other", "zstd", "com.example.plain", 3])
def test_a_plug_in_that_is_not_registered(name: Any) -> None:
    given = {"compression.type": "pluggable"} | ({} if name is None else {"pluggable.factory.plugin": name})
    with pytest.raises(recordpress.InvalidArgumentError, match=r"registered \(com.example.Plain, other\)") as caught:
        recordpress.broker.PartitionLog(broker_version="4.3", topic_config=given, codecs=plug_ins())
    assert caught.value.field == "pluggable.factory.plugin"


def test_a_plug_in_that_is_not_asked_for() -> None:
    given = {"compression.type": "zstd", "pluggable.factory.plugin": "other"}
    with pytest.warns(UserWarning, match="no effect: compression.type is zstd"):
        assert log_config(given, rules_of("4.3"), codecs_given(plug_ins())).compression_type == "zstd"


def test_the_largest_record_of_a_compressed_batch() -> None:
    name = "max.decompressed.message.bytes"
    sizes = [log_config({name: 100}, rules_of(version)).max_record_bytes for version in ("4.3", "4.4")]
    assert sizes == [0, 100]
    assert log_config(None, rules_of("4.4")).max_record_bytes == 2**31 - 9
    for wrong in (0, 2**31 - 8):
        with pytest.raises(recordpress.InvalidArgumentError, match=name):
            log_config({name: wrong}, rules_of("4.4"))
