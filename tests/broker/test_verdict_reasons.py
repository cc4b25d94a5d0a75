"""Each relation has its reasons, and the first check that fails is the one that is told."""

from __future__ import annotations

from typing import Any

import pytest

import oracle
import recordpress
from recordpress.broker import Reason, validate

NOW = 1700000000000
APPEND_TIME = {"message.timestamp.type": "LogAppendTime"}


def batch(name: str) -> bytes:
    """A crafted one, or a gzip batch of three lines with more attribute bits."""
    if not name.startswith("bits"):
        return oracle.find(f"crafted/{name}").data
    data = bytearray(recordpress.write_records([b"line"] * 3, timestamps=NOW, compression_type="gzip"))
    data[22] |= int(name.removeprefix("bits "), 16)
    data[17:21] = recordpress.crc32c(data[21:]).to_bytes(4, "big")
    return bytes(data)


def messages(count: int, **options: Any) -> bytes:
    return recordpress.write_records([b"line"] * count, timestamps=NOW, magic=1, **options)


@pytest.mark.parametrize(
    ("name", "config", "reasons"),
    [
        ("bits 00", {}, []),
        ("bits 00", APPEND_TIME, [Reason.LOG_APPEND_TIME]),
        ("bits 00", {"compression.type": "lz4"}, [Reason.CODEC_DIFFERS]),
        ("bits 00", APPEND_TIME | {"compression.type": "lz4"}, [Reason.CODEC_DIFFERS, Reason.LOG_APPEND_TIME]),
        ("max_ts_high_gzip", {}, [Reason.MAX_TIMESTAMP]),
        ("max_ts_low_none", {}, [Reason.MAX_TIMESTAMP]),
        ("max_ts_low_none", APPEND_TIME, [Reason.LOG_APPEND_TIME]),
        ("bits 80", {}, []),
        ("bits 80", APPEND_TIME, [Reason.LOG_APPEND_TIME, Reason.ATTRIBUTE_BITS]),
        ("deltas_gap_lz4", {"compression.type": "zstd"}, [Reason.CODEC_DIFFERS, Reason.NON_SEQUENTIAL_INNER_OFFSETS]),
    ],
)
def test_what_is_stored_differs_for_these_reasons(name: str, config: dict[str, Any], reasons: list[Reason]) -> None:
    verdict = validate(batch(name), now_ms=NOW * 2, topic_config=config)
    assert verdict.accepted
    assert verdict.reasons == reasons


def test_a_mark_of_append_time_is_cleared() -> None:
    sent = recordpress.write_records([b"a"], timestamps=NOW, timestamp_type=1, log_append_time=NOW)
    verdict = validate(sent, now_ms=NOW)
    assert (verdict.relation, verdict.reasons) == ("header rewritten", [Reason.TIMESTAMP_TYPE])
    rebuilt = validate(sent, now_ms=NOW, topic_config={"compression.type": "gzip"})
    assert (rebuilt.relation, rebuilt.reasons) == ("rebuilt", [Reason.CODEC_DIFFERS, Reason.TIMESTAMP_TYPE])


def test_of_messages_the_last_may_be_the_one_that_is_rewritten() -> None:
    config = {"message.format.version": "0.10.2", "inter.broker.protocol.version": "2.8"}
    old_format: dict[str, Any] = {"broker_version": "3.9", "topic_config": config}
    marked = messages(1, timestamp_type=1, log_append_time=NOW)
    kept, rewritten = (validate(messages(2) + tail, now_ms=NOW, **old_format) for tail in (messages(1), marked))
    assert (kept.relation, kept.reasons) == ("kept", [])
    assert (rewritten.relation, rewritten.reasons) == ("header rewritten", [Reason.TIMESTAMP_TYPE])
    assert kept.records == rewritten.records


def test_a_client_of_old_messages_sends_produce_2() -> None:
    verdict = validate(messages(2), broker_version="3.9", now_ms=NOW)
    assert (verdict.relation, verdict.reasons) == ("rebuilt", [Reason.MAGIC_CONVERSION])
    assert validate(messages(2), broker_version="4.0", now_ms=NOW).reasons == [Reason.REQUEST_MAGIC]


def test_a_batch_that_grows_beyond_the_limit() -> None:
    sent = recordpress.write_records([b"line" * 100], timestamps=NOW, compression_type="zstd")
    config = {"compression.type": "uncompressed", "max.message.bytes": 300}
    verdict = validate(sent, now_ms=NOW, topic_config=config)
    assert (verdict.error_code, verdict.reasons) == (10, [Reason.REBUILT_TOO_LARGE, Reason.CODEC_DIFFERS])
    assert validate(sent, now_ms=NOW, topic_config=config | {"max.message.bytes": 1000}).accepted


def test_the_request_is_looked_at_first() -> None:
    sent = recordpress.write_records([b"a"], timestamps=NOW)
    small = {"max.message.bytes": 10}
    assert validate(sent + sent, now_ms=NOW, topic_config=small).reasons == [Reason.MORE_THAN_ONE_BATCH]
    assert validate(sent, now_ms=NOW, topic_config=small).reasons == [Reason.BATCH_TOO_LARGE]
    zstd = recordpress.write_records([b"a"], timestamps=NOW, compression_type="zstd")
    assert validate(zstd + zstd, produce_version=6, now_ms=NOW).reasons == [Reason.ZSTD_PRODUCE_VERSION]


@pytest.mark.parametrize(("protocol", "code"), [("2.0", 76), ("2.1", 0)])
def test_zstd_for_the_topic_needs_the_protocol(protocol: str, code: int) -> None:
    config = {"compression.type": "zstd", "inter.broker.protocol.version": protocol}
    sent = recordpress.write_records([b"a"], timestamps=NOW)
    verdict = validate(sent, broker_version="2.8", topic_config=config, now_ms=NOW)
    assert verdict.error_code == code
    assert verdict.reasons == [Reason.ZSTD_INTER_BROKER_PROTOCOL if code else Reason.CODEC_DIFFERS]
