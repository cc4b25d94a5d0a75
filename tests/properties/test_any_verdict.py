"""Any bytes, any settings, any release: a verdict that holds together, or one of our errors."""

from __future__ import annotations

import contextlib
from typing import Any

from hypothesis import given, strategies as st

import recordpress
from recordpress.broker import PartitionLog, Verdict, validate
from strategies import DrawnRecord, formats, records

NOW = 1_700_000_050_000
RELEASES = [
    "0.8.2",
    "0.9",
    "0.10.0",
    "0.10.2",
    "0.11.0",
    "1.1",
    "2.0",
    "2.1",
    "2.4.1",
    "2.8",
    "3.9",
    "4.0",
    "4.3",
    "4.4",
]
CODECS = ["producer", "uncompressed", "gzip", "snappy", "lz4"]

settings = st.fixed_dictionaries(
    {},
    optional={
        "compression.type": st.sampled_from(CODECS),
        "message.timestamp.type": st.sampled_from(["CreateTime", "LogAppendTime"]),
        "message.timestamp.before.max.ms": st.sampled_from([0, 1000, 10**6, 2**63 - 1]),
        "message.timestamp.after.max.ms": st.sampled_from([0, 1000, 2**63 - 1]),
        "max.decompressed.message.bytes": st.sampled_from([1, 10, 100, 2**31 - 9]),
        "max.message.bytes": st.sampled_from([0, 61, 100, 1000, 2**31 - 1]),
        "segment.bytes": st.sampled_from([1 << 20, 1 << 30]),
        "internal.segment.bytes": st.sampled_from([100, 1 << 20]),
        "cleanup.policy": st.sampled_from(["delete", "compact", "compact,delete"]),
        "log.message.format.version": st.sampled_from(["0.8.2", "0.9.0", "0.10.0"]),
    },
)


def written(drawn: list[DrawnRecord], magic: int, codec: str, **options: Any) -> bytes:
    """Records as a client sends them."""
    return recordpress.write_records(
        [record.value for record in drawn],
        [record.key for record in drawn],
        [record.timestamp for record in drawn] if magic else None,
        [record.headers for record in drawn] if magic == 2 else None,
        magic=magic,
        compression_type=codec,  # type: ignore[arg-type]
        **options,
    )


@st.composite
def sent(draw: st.DrawFn) -> bytes:
    """A record set that a client might send, or what became of it."""
    magic, codec = draw(formats)
    data = bytearray(written(draw(records(magic, max_size=6, gaps=False)), magic, codec))
    for at, value in draw(st.lists(st.tuples(st.integers(0, len(data) - 1), st.integers(0, 255)), max_size=3)):
        data[at] = value
    if draw(st.booleans()) and len(data) > 61 and data[16] == 2:  # the checksum fits whatever the rest says
        data[17:21] = recordpress.crc32c(data[21:]).to_bytes(4, "big")
    tail = draw(st.one_of(st.just(b""), st.binary(max_size=40)))
    return bytes(data) + tail


def check(verdict: Verdict, next_offset: int) -> None:
    stored = bool(verdict.records)
    assert stored == (verdict.relation != "nothing stored")
    assert bool(verdict.reasons) == (verdict.relation != "kept")
    assert verdict.accepted == (verdict.error_code == 0) == (verdict.error == "NONE")
    if not stored:
        return
    assert verdict.accepted
    assert verdict.base_offset == next_offset
    batches = list(recordpress.read_batches(verdict.records))
    assert sum(batch.size for batch in batches) == len(verdict.records)
    assert all(batch.is_valid() for batch in batches)
    assert batches[0].magic < 2 or batches[0].base_offset == next_offset


@given(sent(), settings, st.sampled_from(RELEASES), st.booleans(), st.integers(0, 13) | st.none())
def test_a_record_set(data: bytes, config: dict[str, Any], release: str, helpful: bool, version: int | None) -> None:
    if release in ("0.8.2", "0.9") and "log.message.format.version" in config:
        config = {name: value for name, value in config.items() if name != "log.message.format.version"}
    verdict = validate(
        data,
        broker_version=release,
        produce_version=version,
        topic_config=config,
        next_offset=1000,
        leader_epoch=4,
        now_ms=NOW,
        helpful=helpful,
    )
    check(verdict, 1000)


@given(st.binary(max_size=200), st.sampled_from(RELEASES), st.booleans())
def test_any_bytes(data: bytes, release: str, helpful: bool) -> None:
    check(validate(data, broker_version=release, helpful=helpful, now_ms=NOW), 0)


names = st.sampled_from(["compression.type", "segment.bytes", "cleanup.policy", "x", "message.timestamp.type", ""])


@given(st.dictionaries(names, st.text(max_size=20) | st.integers() | st.booleans() | st.none() | st.binary()))
def test_any_settings(config: Any) -> None:
    with contextlib.suppress(recordpress.InvalidArgumentError, recordpress.ArgumentTypeError):
        check(validate(recordpress.write_records([b"a"], timestamps=NOW), topic_config=config, now_ms=NOW), 0)


@given(records(2, max_size=8, gaps=False), st.sampled_from(["none", "gzip", "snappy", "lz4", "zstd"]))
def test_what_is_kept_is_kept_again(drawn: list[DrawnRecord], codec: str) -> None:
    config = {"message.timestamp.after.max.ms": 2**63 - 1}
    data = written(drawn, 2, codec)
    first = validate(data, topic_config=config, next_offset=50, now_ms=NOW)
    assert (first.error, first.relation) == ("NONE", "kept")
    again = validate(b"\0" * 8 + first.records[8:], topic_config=config, next_offset=50, now_ms=NOW)
    assert (again.relation, again.records) == ("kept", first.records)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 5), st.integers(1, 3)), max_size=12))
def test_offsets_follow_each_other(steps: list[tuple[int, int, int, int]]) -> None:
    """Producers, epochs and sequences in any order: each batch that is stored goes right after the last one."""
    log = PartitionLog(broker_version="4.3")
    for producer, epoch, sequence, count in steps:
        before = log.next_offset
        data = recordpress.write_records(
            [b"a"] * count, timestamps=NOW, producer_id=producer, producer_epoch=epoch, base_sequence=sequence
        )
        verdict = log.append(data, now_ms=NOW)
        assert log.next_offset == before + (count if verdict.records else 0)
        if verdict.records:
            check(verdict, before)
    known = log.producers
    assert len({state.producer_id for state in known}) == len(known)
    assert all(state.last_offset < log.next_offset for state in known)
