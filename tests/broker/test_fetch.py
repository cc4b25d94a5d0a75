"""fetch beside what a 3.9.2 broker sent of its logs: the same bytes."""

from __future__ import annotations

import random
import re
import struct
from pathlib import Path
from typing import Any

import pytest

import oracle
import recordpress
from drawn_logs import cut, damage, draw_log
from recordpress.broker import Fetched, Finding, Reason, fetch
from recordpress.log.sidecars import write_offset_index
from together import draws, grouped, together

LARGE = 1 << 24
SENT = re.compile(r"fetched-3\.9\.2/(?P<topic>.+)_v(?P<version>\d+)_o(?P<offset>\d+)_m(?P<limit>\d+)")
FETCHED = {str(vector): vector for vector in oracle.RECORD_SETS if SENT.fullmatch(str(vector))}
LOGS = {str(partition): partition for partition in oracle.PARTITIONS}


def log_of(topic: str, offset: int, limit: int) -> list[bytes] | None:
    """The segments, or what a newer client was sent of them, if that ends with a whole batch."""
    if found := LOGS.get(f"kafka-3.9.2/{topic}-0"):
        return [log.data for log in found.logs]
    for version in (4, 9, 10):
        vector = FETCHED.get(f"fetched-3.9.2/{topic}_v{version}_o{offset}_m{limit}")
        if vector and vector.entry["size"] and not vector.expected["trailing_bytes"]:
            return [vector.data]
    return None


def known() -> list[Any]:
    found = []
    for name, vector in FETCHED.items():
        match = SENT.fullmatch(name)
        assert match
        version, offset, limit = (int(match[group]) for group in ("version", "offset", "limit"))
        log = log_of(match["topic"], offset, limit)
        if log is not None:
            found.append((vector, log, offset, version, limit))
    return found


def facts(data: bytes) -> list[tuple[Any, ...]]:
    """The whole entries but for what another build of zlib changes: sizes and checksums."""
    return [
        (batch.magic, batch.base_offset, batch.last_offset, batch.attributes, batch.max_timestamp, rows(batch))
        for batch in recordpress.read_batches(data)
    ]


def rows(batch: recordpress.Batch) -> list[tuple[Any, ...]]:
    return [(record.offset, record.timestamp, record.key, record.value) for record in batch]


@grouped(
    "vector, log, offset, version, limit", known(), lambda row: str(row[0]).partition("/")[0], lambda row: str(row[0])
)
def test_what_a_broker_sent(vector: oracle.Vector, log: list[bytes], offset: int, version: int, limit: int) -> None:
    fetched = fetch(log, offset, fetch_version=version, partition_max_bytes=limit)
    assert fetched.error_code == vector.entry["error_code"]
    assert fetched.size == len(fetched.records)
    if fetched.magic is not None and "gzip" in str(vector):
        assert_same_but_for_zlib(fetched, vector.data)
    else:
        assert fetched.records == vector.data


def assert_same_but_for_zlib(fetched: Fetched, sent: bytes) -> None:
    ours, theirs = facts(fetched.records), facts(sent)
    both = min(len(ours), len(theirs))  # one more may have room
    assert ours[:both] == theirs[:both] and abs(len(ours) - len(theirs)) <= 1
    if len(sent) == fetched.read_bytes:
        assert fetched.size == len(sent)


def test_enough_is_known() -> None:
    assert len(known()) > (170 if oracle.FULL_SET else 35)


# --- what no log of that broker shows -------------------------------------------------------------------------------

LINES = [f"line {number:05}".encode() * 4 for number in range(300)]


def batch(offset: int, codec: str = "none", count: int = 20, **options: Any) -> bytes:
    values = LINES[offset % 100 : offset % 100 + count]
    return recordpress.write_records(values, base_offset=offset, compression_type=codec, **options)  # type: ignore[arg-type]


def marker(offset: int) -> bytes:
    """A commit marker, as the transaction coordinator writes it."""
    builder = recordpress.BatchBuilder(
        base_offset=offset, is_control=True, is_transactional=True, producer_id=7, producer_epoch=1
    )
    builder.append_end_txn_marker(True, coordinator_epoch=3, timestamp=5)
    return builder.build()


def offsets(fetched: Fetched) -> list[int]:
    return [record.offset for one in recordpress.read_batches(fetched.records) for record in one]


# --- isolation levels: a log of nine entries


def written_by(producer: int, offset: int, count: int = 10) -> bytes:
    return batch(offset, count=count, producer_id=producer, producer_epoch=0, base_sequence=0, is_transactional=True)


def end_of_transaction(producer: int, offset: int, committed: bool) -> bytes:
    builder = recordpress.BatchBuilder(
        base_offset=offset, is_control=True, is_transactional=True, producer_id=producer, producer_epoch=0
    )
    builder.append_end_txn_marker(committed, coordinator_epoch=0, timestamp=5)
    return builder.build()


ABORTED, COMMITTED = (1, 10), (2, 20)  # producer, first offset
TRANSACTIONS = [
    batch(0, count=10)
    + written_by(1, 10)
    + written_by(2, 20)
    + end_of_transaction(1, 30, False)
    + end_of_transaction(2, 31, True),
    batch(32, count=8) + written_by(3, 40) + batch(50, count=10) + end_of_transaction(3, 60, False),
]


@pytest.mark.parametrize(
    ("offset", "watermark", "limit", "stable", "end", "aborted"),
    [
        (0, None, LARGE, 61, 32, [ABORTED]),
        (0, 31, LARGE, 20, 20, [ABORTED]),  # the COMMIT marker is not replicated
        (0, 30, LARGE, 10, 10, [ABORTED]),
        (0, 20, LARGE, 10, 10, [ABORTED]),
        (0, 5, LARGE, 5, 0, [ABORTED]),  # the bound of a list is not that of the records
        (30, None, LARGE, 61, 32, [ABORTED]),
        (31, None, LARGE, 61, 32, []),
        (32, None, LARGE, 61, 61, [(3, 40)]),
        (32, 60, LARGE, 40, 40, [(3, 40)]),
        (40, 60, LARGE, 40, 40, []),  # where it may not read, nothing is listed
        (50, 60, LARGE, 40, 50, []),
        (61, None, LARGE, 61, 61, []),
        (0, None, 0, 61, 10, [ABORTED]),
    ],
)
def test_reading_committed_records(
    offset: int, watermark: int | None, limit: int, stable: int, end: int, aborted: list[tuple[int, int]]
) -> None:
    fetched = fetch(
        TRANSACTIONS, offset, fetch_version=12, isolation_level="read_committed", end_offset=watermark,
        partition_max_bytes=limit,
    )  # fmt: skip
    assert (fetched.error_code, fetched.last_stable_offset) == (0, stable)
    assert fetched.high_watermark == (61 if watermark is None else watermark)
    last = [one.last_offset + 1 for one in recordpress.read_batches(fetched.records)]
    assert last[-1:] == ([end] if end > offset else [])
    assert fetched.aborted_transactions == aborted


def test_a_client_leaves_aborted_records_out() -> None:
    both = [fetch(TRANSACTIONS, at, fetch_version=12, isolation_level="read_committed") for at in (0, 32)]
    found = [
        offset
        for one in both
        for offset in recordpress.read_columns(
            one.records, ["offset"], aborted_transactions=one.aborted_transactions
        )["offset"].to_pylist()
    ]  # fmt: skip
    assert found == [*range(10), *range(20, 30), *range(32, 40), *range(50, 60)]


@pytest.mark.parametrize(
    "options",
    [
        {"fetch_version": 3},
        {"fetch_version": 12, "follower": True},
        {"fetch_version": 12, "isolation_level": "read_uncommitted"},
    ],
)
def test_who_cannot_ask_for_committed_records(options: dict[str, Any]) -> None:
    fetched = fetch(TRANSACTIONS, 40, end_offset=60, **{"isolation_level": "read_committed", **options})
    assert (fetched.last_stable_offset, fetched.aborted_transactions, fetched.high_watermark) == (-1, None, 60)
    assert {40, 50} <= {*offsets(fetched)}


def test_without_room_for_the_first_batch_nothing_is_listed() -> None:
    options: dict[str, Any] = {"isolation_level": "read_committed", "minimum_one_batch": False}
    fetched = fetch(TRANSACTIONS, 0, fetch_version=12, partition_max_bytes=100, **options)
    assert (fetched.records, fetched.last_stable_offset, fetched.aborted_transactions) == (b"", 61, None)


@pytest.mark.parametrize(
    ("index", "aborted"),
    [
        ({}, [(1, 40)]),
        ({19: 1}, [(1, 40)]),  # the search does not meet the entry for the end itself, if it is the first one
        ({19: 1, 29: 2}, []),
        ({39: 3}, []),
        ({50: 5}, [(1, 40)]),
    ],
)
def test_a_list_ends_where_the_offset_index_says(
    index: dict[int, int], aborted: list[tuple[int, int]], tmp_path: Path
) -> None:
    batches = [*(batch(at, count=10) for at in (0, 10, 20, 30)), written_by(1, 40), end_of_transaction(1, 50, False)]
    place = tmp_path / "a-0"
    place.mkdir()
    (place / f"{0:020}.log").write_bytes(b"".join(batches))
    entries = [(offset, sum(map(len, batches[:number]))) for offset, number in index.items()]
    write_offset_index(place / f"{0:020}.index", entries)
    fetched = fetch(
        recordpress.open_log(place), 0, fetch_version=12, isolation_level="read_committed", partition_max_bytes=1
    )  # fmt: skip
    assert (fetched.records, fetched.aborted_transactions) == (batches[0], aborted)


def test_an_isolation_level_that_there_is_not() -> None:
    with pytest.raises(
        recordpress.InvalidArgumentError, match="isolation_level must be one of read_uncommitted, read_committed"
    ):
        fetch(b"", 0, fetch_version=12, isolation_level="serializable")  # type: ignore[arg-type]


def test_a_filler_is_a_cut_entry_to_every_reader() -> None:
    """Whatever its size: KIP-283's entry says to be longer than it is."""
    first = batch(0, "lz4")
    for rest in [*range(61, 400, 7), 1 << 16, (1 << 17) - 2000]:
        log = first + zstd_batch(20, rest) + batch(21)
        fetched = fetch(log, 0, fetch_version=2, partition_max_bytes=len(log) - 10)
        assert (fetched.error, fetched.size) == ("NONE", len(log) - 10)
        assert fetched.filler_bytes and Finding.OVERFLOW_FILLER in fetched.findings
        assert fetched.reasons == [Reason.DOWN_CONVERSION, Reason.ZSTD_DOWN_CONVERSION]
        read = recordpress.read_batches(fetched.records)
        assert [(one.magic, one.last_offset) for one in read] == [(1, 19)]
        assert recordpress.read_columns(fetched.records).num_rows == 20


@together("left", [*range(1, 80), 131071, 131072, 131073, 300000])
def test_readers_take_a_filler_of_any_size_for_a_cut_entry(left: int) -> None:
    """By the rules of LazyDownConversionRecordsSend.buildOverflowBatch, also in several parts."""
    good, filler, rest = batch(0), b"", left
    while rest > 0:
        one = struct.pack(">qi", -1, max(rest + 1, 61)) + bytes(max(0, min(rest + 1, 131072) - 12))
        filler += one[:rest]
        rest -= len(one)
    assert len(filler) == left
    assert [one.last_offset for one in recordpress.read_batches(good + filler)] == [19]
    assert recordpress.read_columns(good + filler).num_rows == 20


def zstd_batch(offset: int, size: int) -> bytes:
    """A batch under zstd of about that size."""
    return recordpress.write_records([random.Random(size).randbytes(size)], base_offset=offset, compression_type="zstd")


# --- which versions, and which log ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("broker", "answered"),
    [("0.8.2", range(1)), ("0.9", range(2)), ("0.10.0", range(3)), ("0.10.2", range(4)), ("0.11", range(6)),
     ("1.0", range(7)), ("1.1", range(8)), ("2.0", range(9)), ("2.2", range(11)), ("2.6", range(12)),
     ("3.0", range(13)), ("3.4", range(14)), ("3.6", range(16)), ("3.8", range(17)), ("3.9", range(18)),
     ("4.0", range(4, 18)), ("4.4", range(4, 19))],
)  # fmt: skip
def test_versions_that_a_broker_answers(broker: str, answered: range) -> None:
    log = recordpress.write_records([b"x"], magic=0)
    for version in range(20):
        fetched = fetch(log, 0, fetch_version=version, broker_version=broker)
        if version in answered:
            assert fetched.error_code == 0 and offsets(fetched) == [0]
        else:
            assert fetched == Fetched(None, "CONNECTION_CLOSED", reasons=[Reason.FETCH_VERSION])


@together(
    "broker, log_magic, version, magic",
    [("3.9", 2, 0, 0), ("3.9", 2, 1, 0), ("3.9", 2, 2, 1), ("3.9", 2, 3, 1), ("3.9", 2, 4, None),
     ("3.9", 1, 1, 0), ("3.9", 1, 3, 1), ("3.9", 0, 1, 0), ("3.9", 1, 4, None),
     ("2.8", 2, 1, 0), ("2.8", 2, 3, 1), ("2.8", 1, 3, None), ("2.8", 1, 1, 0), ("2.8", 0, 1, None),
     ("1.1", 2, 1, 0), ("1.1", 2, 3, 1), ("1.1", 1, 3, None), ("0.11", 2, 2, 1),
     ("0.10.2", 1, 1, 0), ("0.10.2", 1, 2, None), ("0.10.2", 0, 1, None), ("0.9", 0, 1, None)],
)  # fmt: skip
@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4"])
def test_the_magic_that_a_client_gets(broker: str, log_magic: int, version: int, magic: int | None, codec: Any) -> None:
    log = recordpress.write_records(
        LINES[:9], magic=log_magic, compression_type=codec, timestamps=[5] * 9, base_offset=100
    )
    fetched = fetch(log, 100, fetch_version=version, broker_version=broker)
    assert fetched.magic == magic
    read = list(recordpress.read_batches(fetched.records))
    assert {one.magic for one in read} == {log_magic if magic is None else min(magic, log_magic)}
    assert [(r.offset, r.value) for one in read for r in one] == [(100 + i, line) for i, line in enumerate(LINES[:9])]
    if magic is not None:
        assert fetched.converted_records == (9 if log_magic > magic else 0)
        assert fetched.lost == ({"timestamps": 9} if log_magic and not magic else {})


def test_the_format_of_the_topic_decides_before_3_0() -> None:
    log = batch(0)
    as_it_is = fetch(log, 0, fetch_version=3, broker_version="2.8", topic_config={"message.format.version": "0.10.2"})
    assert as_it_is.magic is None and as_it_is.records == log
    settings = {"inter.broker.protocol.version": "3.3", "message.format.version": "0.10.2"}
    assert fetch(log, 0, fetch_version=3, topic_config=settings).magic == 1


def test_topics_of_zstd_need_fetch_10() -> None:
    for version in range(10):
        fetched = fetch(batch(0), 99, fetch_version=version, topic_config={"compression.type": "zstd"})
        assert (fetched.error_code, fetched.reasons) == (76, [Reason.ZSTD_FETCH_VERSION])
    assert fetch(batch(0), 0, fetch_version=10, topic_config={"compression.type": "zstd"}).error_code == 0
    assert fetch(batch(0, "zstd"), 0, fetch_version=4).error_code == 0
    settings = {"compression.type": "zstd"}
    for broker, code in (("2.1", 76), ("3.9", 76), ("4.0", 0), ("4.4", 0)):  # KIP-724 took the check away
        assert fetch(batch(0), 0, fetch_version=4, broker_version=broker, topic_config=settings).error_code == code


def test_conversion_may_be_switched_off() -> None:
    settings = {"message.downconversion.enable": "false"}
    fetched = fetch(batch(0), 0, fetch_version=3, topic_config=settings)
    assert (fetched.error_code, fetched.reasons) == (35, [Reason.DOWN_CONVERSION_DISABLED])
    assert fetch(batch(0), 99, fetch_version=3, topic_config=settings).error_code == 35
    assert fetch(batch(0), 0, fetch_version=3, topic_config=settings, follower=True).magic == 1
    assert fetch(batch(0), 0, fetch_version=4, topic_config=settings).magic is None
    assert fetch(batch(0), 0, fetch_version=3, topic_config=settings, broker_version="1.1").magic == 1  # before KIP-283


# --- where it reads -------------------------------------------------------------------------------------------------


def test_offsets_and_the_ends_of_the_log() -> None:
    log = [batch(0), batch(20, "lz4") + batch(40)]
    known = ((-1, 1, None), (0, 0, 0), (19, 0, 0), (20, 0, 20), (45, 0, 40), (60, 0, None), (61, 1, None))
    for offset, code, first in known:
        fetched = fetch(log, offset, fetch_version=12)
        assert (fetched.error_code, fetched.high_watermark) == (code, -1 if code else 60)
        assert (offsets(fetched)[0] if fetched.records else None) == first
    assert offsets(fetch(log, 20, fetch_version=12, end_offset=40)) == list(range(20, 40))
    assert fetch(log, 40, fetch_version=12, end_offset=40).records == b""
    assert fetch(log, 3, fetch_version=12, log_start_offset=4).reasons == [Reason.OFFSET_OUT_OF_RANGE]


def test_records_before_the_offset_are_dropped_where_they_are_messages_of_their_own() -> None:
    log = batch(0) + batch(20, "lz4")
    fetched = fetch(log, 7, fetch_version=2)
    found = offsets(fetched)  # messages of v1 take more room than records of v2
    assert found == list(range(7, 7 + len(found))) and len(found) > 10 and fetched.dropped_records == 7
    assert offsets(fetch(log, 27, fetch_version=2)) == list(range(20, 40))


def test_limits_and_the_first_batch() -> None:
    """KIP-74."""
    log = batch(0, "snappy") + batch(20)
    size = len(batch(0, "snappy"))
    whole = fetch(log, 0, fetch_version=4, partition_max_bytes=10)
    assert whole.records == log[:size] and not whole.findings
    assert fetch(log, 0, fetch_version=4, max_bytes=0).records == log[:size]
    assert fetch(log, 0, fetch_version=4, partition_max_bytes=10, minimum_one_batch=False).records == b""
    cut = fetch(log, 0, fetch_version=4, partition_max_bytes=size + 30)
    assert (cut.records, cut.cut_bytes, cut.findings) == (log[: size + 30], 30, [Finding.CUT_ENTRY])
    messages = recordpress.write_records([b"x"] * 3, magic=1)
    old = fetch(messages, 0, fetch_version=2, broker_version="2.8", partition_max_bytes=5)
    assert old.size == old.cut_bytes == 5
    assert fetch(log, 0, fetch_version=2, partition_max_bytes=size - 1).size == 0  # nothing to convert in it
    assert fetch(log, 0, fetch_version=2, partition_max_bytes=size, max_bytes=3).converted_batches == 1
    assert fetch(log, 0, fetch_version=4, partition_max_bytes=-1).reasons == [Reason.FETCH_SIZE]
    limit = {"fetch.max.bytes": 1024}
    assert fetch(batch(0) * 5, 0, fetch_version=12, topic_config=limit, minimum_one_batch=False).size == 1024


def test_a_log_on_disk(tmp_path: Path) -> None:
    """By header, from where the index leads; what a crash left at its end is not sent."""
    directory = tmp_path / "orders-0"
    directory.mkdir()
    segments = [b"".join(batch(offset, count=10) for offset in range(base, base + 500, 10)) for base in (0, 500)]
    for base, data in zip((0, 500), segments, strict=True):
        (directory / f"{base:020}.log").write_bytes(data)
    recordpress.log.reindex(directory)
    with open(directory / f"{500:020}.log", "ab") as file:
        file.write(batch(1000)[:100])
    log = recordpress.open_log(directory)
    for offset in (0, 255, 499, 500, 777, 1000):
        on_disk = fetch(log, offset, fetch_version=3, partition_max_bytes=5000)
        assert on_disk == fetch(segments, offset, fetch_version=3, partition_max_bytes=5000)
        assert on_disk.high_watermark == 1000
    assert fetch(log.partitions[0], 1001, fetch_version=3).error == "OFFSET_OUT_OF_RANGE"
    with pytest.raises(recordpress.errors.InvalidArgumentError, match="the log has 2"):
        fetch(recordpress.log.Log(log.partitions * 2), 0, fetch_version=3)


# --- what is lost, and what goes wrong ------------------------------------------------------------------------------


def test_what_an_older_magic_cannot_say() -> None:
    builder = recordpress.BatchBuilder(
        base_offset=5, producer_id=7, producer_epoch=1, base_sequence=0, is_transactional=True, partition_leader_epoch=3
    )
    for number in range(4):
        builder.append(b"value", timestamp=9, headers=[("a", b"1")] * number)
    log = builder.build() + marker(9) + recordpress.empty_batch(10, 12) + batch(13)
    fetched = fetch(log, 0, fetch_version=3)
    assert fetched.lost == {
        "headers": 6, "producers": 4, "transactions": 4, "markers": 1, "leader_epochs": 4, "empty_batches": 1,
    }  # fmt: skip
    assert fetched.dropped_control_batches == 1 and offsets(fetched)[:6] == [5, 6, 7, 8, 13, 14]
    assert fetched.findings[:2] == [Finding.LOST_FIELDS, Finding.DROPPED_MARKERS]
    assert fetch(log, 0, fetch_version=1).lost["timestamps"] == 4


def test_batches_after_leading_markers_are_sent_twice() -> None:
    """The sender skips one batch for its first result, which has come from a later one."""
    log = marker(0) + marker(1) + batch(2, "lz4") + batch(22)
    real, helpful = (fetch(log, 0, fetch_version=2, helpful=helpful) for helpful in (False, True))
    assert (real.repeated_batches, helpful.repeated_batches) == (1, 0)
    assert offsets(real)[:40] == [*range(2, 22), *range(2, 22)] and Finding.REPEATED_BATCHES in real.findings
    assert offsets(helpful)[:30] == list(range(2, 32))
    assert real.dropped_control_batches == helpful.dropped_control_batches == 2
    assert offsets(fetch(marker(0) + batch(1, "lz4"), 0, fetch_version=2)) == list(range(1, 21))


def test_one_filler_is_all_that_is_sent_after_zstd() -> None:
    log = batch(0) + zstd_batch(20, 140000)
    assert fetch(log, 0, fetch_version=2).reasons == [Reason.RESPONSE_UNFINISHED]
    helpful = fetch(log, 0, fetch_version=2, helpful=True)
    assert helpful.filler_bytes > 131072 and offsets(helpful) == list(range(20))


def test_nothing_but_markers_is_a_filler() -> None:
    fetched = fetch(marker(0) + marker(1), 0, fetch_version=3)
    assert fetched.records == b"\xff" * 8 + struct.pack(">i", 61)
    assert fetched.filler_bytes == 12 and fetched.dropped_control_batches == 2
    assert list(recordpress.read_batches(fetched.records)) == []


def test_damage_is_answered_as_a_broker_does() -> None:
    log = bytearray(batch(0) + batch(20))
    second = len(batch(0))
    log[61] ^= 0xFF  # the length of the first record
    first = fetch(log, 0, fetch_version=3)
    assert (first.error_code, first.reasons) == (87, [Reason.CONVERSION_FAILED]) and first.message
    assert fetch(log, 0, fetch_version=3, broker_version="2.2").error_code == 2
    assert fetch(log, 0, fetch_version=4).records == log
    assert offsets(fetch(log, 20, fetch_version=3)) == list(range(20, 40))
    log[61] ^= 0xFF
    log[second + 61] ^= 0xFF
    assert fetch(log, 0, fetch_version=3).reasons == [Reason.RESPONSE_UNFINISHED]
    log[second + 8 : second + 12] = struct.pack(">i", 5)
    assert fetch(log, 0, fetch_version=3).high_watermark == 20


def test_a_size_that_no_entry_has_in_a_segment_before_the_last() -> None:
    log = bytearray(batch(0) + batch(20))
    log[8:12] = struct.pack(">i", 5)
    fetched = fetch([log, batch(40)], 30, fetch_version=3)
    assert (fetched.error_code, fetched.reasons) == (2, [Reason.DAMAGED_LOG])


@pytest.mark.parametrize("size", [0, 13, -12])
def test_a_size_that_no_entry_has_in_what_is_converted(size: int) -> None:
    """FileLogInputStream: CorruptRecordException."""
    log = bytearray(batch(0) + batch(20))
    second = len(batch(0))
    log[second + 8 : second + 12] = struct.pack(">i", size)
    fetched = fetch([log, batch(40)], 0, fetch_version=3)
    assert (fetched.error_code, fetched.reasons) == (2, [Reason.CONVERSION_FAILED])
    assert fetched.message and f"entry size {size} is less than the minimum of 14 (byte {second}," in fetched.message


def test_a_large_batch_is_capped() -> None:
    log = recordpress.write_records([bytes(1 << 20)], compression_type="gzip")
    with pytest.raises(recordpress.errors.OutputTooLargeError):
        fetch(log, 0, fetch_version=3, max_decompressed_bytes=1 << 19)


def test_headers_could_not_be_converted_at_first() -> None:
    """KAFKA-6739."""
    log = recordpress.write_records([b"x"], headers=[[("a", b"1")]])
    codes = {broker: fetch(log, 0, fetch_version=3, broker_version=broker).error_code for broker in
             ("0.11.0.3", "1.0.1", "1.0.2", "1.1.0", "1.1.1", "2.0")}  # fmt: skip
    assert codes == {"0.11.0.3": -1, "1.0.1": -1, "1.0.2": 0, "1.1.0": -1, "1.1.1": 0, "2.0": 0}


def test_all_records_were_one_batch_before_0_11() -> None:
    """FileMessageSet.toMessageFormat: the first message's codec is that of all."""
    log = recordpress.write_records(LINES[:3], magic=1, compression_type="lz4") + recordpress.write_records(
        LINES[:3], magic=1, base_offset=3
    )
    fetched = fetch(log, 0, fetch_version=1, broker_version="0.10.1")
    [wrapper] = recordpress.read_batches(fetched.records)
    assert wrapper.compression_type == "lz4" and [record.offset for record in wrapper] == list(range(6))


@pytest.mark.parametrize("log", [None, 3, "text", [3], object()])
def test_what_is_no_log(log: Any) -> None:
    with pytest.raises(recordpress.errors.ArgumentTypeError):
        fetch(log, 0, fetch_version=3)


@together("seed", range(draws(40)))
def test_any_bytes_are_answered(seed: int) -> None:
    """With an answer or one of our errors; sanitizers see what is read."""
    draw = random.Random(seed)
    for _ in range(10):
        log = cut(draw, damage(draw, draw_log(draw, 0)))
        for version in (1, 3, 4):
            for broker in ("0.10.2", "1.1", "2.8", "3.9"):
                try:
                    fetched = fetch(log, 0, fetch_version=version, broker_version=broker, max_decompressed_bytes=LARGE)
                except recordpress.RecordpressError:
                    continue
                assert fetched.size == len(fetched.records) <= max(len(log), 12) * 200
    for size in range(40):
        noise = draw.randbytes(size * 3)
        assert isinstance(fetch(noise, 0, fetch_version=2), Fetched)
