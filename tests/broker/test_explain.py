"""recordpress.explain: what is said of record sets, requests and logs."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

import oracle
import recordpress
from cli.logs import SEGMENT, partition
from recordpress.broker import ExplainedBatch, Reason
from recordpress.broker._explain_log import as_produced

LINES = [b"a line of text that can be compressed %d" % number for number in range(50)]
NOW = 1_700_000_000_000
LZ4 = {"compression.type": "lz4"}


def record_set(codec: str = "snappy", lines: list[bytes] = LINES, **options: object) -> bytes:
    return recordpress.write_records(lines, timestamps=NOW, compression_type=codec, **options)  # type: ignore[call-overload]


def crafted(name: str) -> bytes:
    return oracle.read(f"batches/crafted/{name}.bin")


def only(explanation: recordpress.broker.Explanation) -> ExplainedBatch:
    [batch] = explanation.batches
    return batch


# ---- record sets


def test_a_batch_that_is_kept() -> None:
    explanation = recordpress.explain(record_set(), now_ms=NOW)
    batch = only(explanation)
    assert (explanation.kind, explanation.has_findings, explanation.reasons) == ("record set", False, [])
    assert (batch.verdict, batch.relation, batch.error_code, batch.error) == ("kept", "kept", 0, "NONE")
    assert (batch.magic, batch.compression_type, batch.records) == (2, "snappy", 50)
    assert (batch.cost.bytes_changed, batch.cost.size_after, batch.cost.compress_seconds) == (0, batch.size, 0)
    assert batch.cost.decompress_seconds > 0


def test_a_batch_that_is_recompressed_says_what_that_costs() -> None:
    sent = record_set()
    batch = only(recordpress.explain(sent, topic_config=LZ4, now_ms=NOW))
    assert (batch.verdict, batch.relation, batch.reasons) == ("recompressed", "rebuilt", [Reason.CODEC_DIFFERS])
    assert batch.cost.size_after == len(recordpress.recompress(sent, "lz4")) == batch.cost.bytes_changed
    assert batch.cost.decompress_seconds > 0 and batch.cost.compress_seconds > 0


def test_a_header_that_is_rewritten_says_how_many_bytes_change() -> None:
    batch = only(
        recordpress.explain(record_set(), topic_config={"message.timestamp.type": "LogAppendTime"}, now_ms=NOW + 1)
    )
    assert (batch.verdict, batch.relation) == ("rewritten", "header rewritten")
    assert batch.reasons == [Reason.LOG_APPEND_TIME]
    assert 6 <= batch.cost.bytes_changed <= 13  # type bit, checksum, largest timestamp


def test_a_batch_that_is_rejected() -> None:
    explanation = recordpress.explain(record_set(), topic_config={"cleanup.policy": "compact"}, now_ms=NOW)
    batch = only(explanation)
    assert (batch.verdict, batch.relation, batch.error_code) == ("rejected", "nothing stored", 87)
    assert batch.error == "INVALID_RECORD" and len(batch.record_errors) == 50
    assert batch.reasons == [Reason.NULL_KEY] and explanation.has_findings
    assert batch.cost.size_after == batch.cost.bytes_changed == 0


def test_damage_is_a_verdict_and_no_error() -> None:
    sent = bytearray(record_set())
    sent[-1] ^= 1
    batch = only(recordpress.explain(sent))
    assert (batch.verdict, batch.error_code, batch.reasons) == ("rejected", 2, [Reason.CHECKSUM])


@pytest.mark.parametrize("data", [b"", b"x", b"\0" * 30, bytes(range(256))])
def test_any_bytes_get_an_answer(data: bytes) -> None:
    explanation = recordpress.explain(data)
    assert explanation.kind == "record set"
    assert [batch.verdict for batch in explanation.batches] == ["rejected"]


def test_two_batches_share_their_verdict() -> None:
    one = record_set()
    explanation = recordpress.explain(one + one)
    assert [batch.position for batch in explanation.batches] == [0, len(one)]
    assert {batch.verdict for batch in explanation.batches} == {"rejected"}
    assert explanation.groups[0].batches == 2


def test_the_codec_s_level_is_the_topic_s() -> None:
    sent = record_set("none", LINES * 20)
    sizes = [
        only(recordpress.explain(sent, topic_config={"compression.type": "gzip", "compression.gzip.level": level})).cost
        for level in (1, 9)
    ]
    assert sizes[0].size_after > sizes[1].size_after


# ---- Cloudflare's case


@pytest.mark.parametrize(
    ("name", "shown", "says"),
    [
        ("deltas_zero_gzip", "all 0: 4 records", "PR 1015"),
        ("deltas_zero_header_zero_gzip", "all 0: 4 records", "PR 1015"),
        ("deltas_gap_gzip", "not 0, 1, 2, ...: record 1 has 2", "PR 1015"),
        ("deltas_from_1_lz4", "not from 0: record 0 has 1", "PR 1015"),
        ("deltas_zero_none", "all 0: 4 records", "twice or out of order"),
        ("lz4_block_1m", "0, 1, 2, ...", None),
    ],
)
def test_offsets_inside_of_a_batch(name: str, shown: str, says: str | None) -> None:
    batch = only(recordpress.explain(crafted(name)))
    assert batch.inner_offsets == shown
    assert batch.diagnosis is None if says is None else says in (batch.diagnosis or "")


def sarama(magic: int) -> bytes:
    """A wrapper whose messages all have offset 0, as sarama wrote it before PR 1002."""
    inner = b"".join(
        recordpress.write_records([b"line %d" % number], timestamps=NOW, magic=magic, base_offset=0)
        for number in range(4)
    )
    wrapper = recordpress.write_records([recordpress.compress(inner, "gzip")], timestamps=NOW, magic=magic)
    marked = bytearray(wrapper)
    marked[17] |= 1  # gzip
    marked[12:16] = recordpress.crc32(marked[16:]).to_bytes(4, "big")
    return bytes(marked)


@pytest.mark.parametrize(("magic", "says"), [(0, "cost nothing extra"), (1, "PR 1002")])
def test_offsets_inside_of_a_compressed_message(magic: int, says: str) -> None:
    settings = {"message.format.version": ("0.9.0", "0.10.0")[magic], "inter.broker.protocol.version": "2.8"}
    batch = only(recordpress.explain(sarama(magic), broker_version="2.8", topic_config=settings, now_ms=NOW))
    assert (batch.verdict, batch.records, batch.inner_offsets) == ("recompressed", 4, "all 0: 4 records")
    assert says in (batch.diagnosis or "")
    assert batch.reasons == [(Reason.TARGET_V0, Reason.NON_SEQUENTIAL_INNER_OFFSETS)[magic]]
    assert batch.cost.decompress_seconds > 0 and batch.cost.compress_seconds > 0


@pytest.mark.parametrize(
    ("options", "broken", "reason"),
    [
        ({"store_size": False}, True, None),
        ({"store_size": False}, False, Reason.LZ4_HEADER_CHECKSUM),
        ({"store_size": True}, True, Reason.LZ4_CONTENT_SIZE),
        ({"store_size": False, "content_checksum": True}, True, Reason.LZ4_CONTENT_SIZE),
    ],
)
def test_lz4_as_kafka_0_9_has_it(options: dict[str, bool], broken: bool, reason: Reason | None) -> None:
    """KIP-57 tells why old brokers take nothing but the frames of old clients."""
    lz4 = pytest.importorskip("lz4.frame")
    frame = bytearray(lz4.compress(recordpress.write_records([b"line"], magic=0), **options))
    if broken:
        recordpress.break_lz4_header(frame)
    wrapper = bytearray(recordpress.write_records([bytes(frame)], magic=0))
    wrapper[17] |= 3  # lz4
    wrapper[12:16] = recordpress.crc32(wrapper[16:]).to_bytes(4, "big")
    batch = only(recordpress.explain(wrapper, broker_version="0.9"))
    assert batch.reasons == [reason or Reason.TARGET_V0]
    assert (batch.verdict, batch.error_code) == (("rejected", -1) if reason else ("recompressed", 0))


# ---- requests


def request(records: bytes, version: int) -> bytes:
    producer = pytest.importorskip("kafka.protocol.producer")
    topic = producer.ProduceRequest.TopicProduceData
    parts = [topic.PartitionProduceData(index=index, records=records) for index in (0, 5)]
    made = producer.ProduceRequest(
        version=version, acks=-1, timeout_ms=9, topic_data=[topic(name="orders", partition_data=parts)]
    )
    made.with_header(correlation_id=1, client_id="app")
    return bytes(made.encode(version=version, header=True, framed=False))


@pytest.mark.parametrize(("version", "verdict"), [(6, "rejected"), (7, "kept"), (9, "kept")])
def test_a_request_is_judged_by_its_version(version: int, verdict: str, tmp_path: Path) -> None:
    sent = record_set("zstd")
    data = request(sent, version)
    path = tmp_path / "produce.bin"
    path.write_bytes(data)
    for explanation in (recordpress.explain(data, now_ms=NOW), recordpress.explain(path, now_ms=NOW)):
        assert explanation.kind == "Produce request" and explanation.notes == []
        assert [(one.topic, one.partition, one.verdict) for one in explanation.batches] == [
            ("orders", 0, verdict),
            ("orders", 5, verdict),
        ]
        for batch in explanation.batches:
            assert data[batch.position :].startswith(sent)
    rejected = [Reason.ZSTD_PRODUCE_VERSION] if verdict == "rejected" else []
    assert explanation.batches[0].reasons == rejected


def test_a_version_that_is_given_goes_before_that_of_the_request() -> None:
    data = request(record_set("zstd"), 9)
    assert {batch.verdict for batch in recordpress.explain(data, produce_version=6, now_ms=NOW).batches} == {"rejected"}


# ---- settings


def test_settings_of_a_broker(tmp_path: Path) -> None:
    path = tmp_path / "server.properties"
    path.write_text("log.dirs=/data\nssl.key.password=secret\ncompression.type=zstd\nconfluent.license=abc\n")
    explanation = recordpress.explain(record_set(), config=path, now_ms=NOW)
    assert only(explanation).reasons == [Reason.CODEC_DIFFERS]
    assert explanation.topic_config == {"compression.type": "zstd"}
    assert explanation.notes == [f"{path}: skipped settings that Kafka does not have: confluent.license"]
    explanation = recordpress.explain(
        record_set(), config=path, topic_config={"compression.type": "snappy"}, now_ms=NOW
    )
    assert only(explanation).verdict == "kept"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"topic_config": {"compresion.type": "lz4"}}, "did you mean 'compression.type'"),
        ({"topic_config": {"compression.type": "brotli"}}, "compression.type must be one of"),
        ({"broker_version": "5.0"}, "from 0.8.2 to 4"),
    ],
)
def test_settings_that_are_refused(options: dict[str, object], says: str) -> None:
    with pytest.raises(recordpress.InvalidArgumentError, match=says):
        recordpress.explain(record_set(), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("source", [7, None, [], [b"x"], [7]])
def test_sources_that_are_refused(source: object) -> None:
    with pytest.raises(recordpress.ArgumentTypeError, match="source must"):
        recordpress.explain(source)  # type: ignore[arg-type]


@pytest.mark.parametrize("items", [">i4", [("a", "u1"), ("b", "<u2")]], ids=["big-endian", "structured"])
def test_a_buffer_of_any_items_is_its_bytes(items: Any) -> None:
    np = pytest.importorskip("numpy")
    sent = record_set()
    sent += bytes(-len(sent) % 12)
    array = np.frombuffer(sent, np.dtype(items))
    assert only(recordpress.explain(array, now_ms=NOW)).likeness == only(recordpress.explain(sent, now_ms=NOW)).likeness


def test_a_buffer_with_holes_is_refused() -> None:
    with pytest.raises(recordpress.InvalidArgumentError, match="source must be a contiguous buffer"):
        recordpress.explain(memoryview(record_set())[::2], now_ms=NOW)


# ---- logs


def log_of(tmp_path: Path, *codecs: str, **options: object) -> Path:
    data, offset = b"", 0
    for codec in codecs:
        data += record_set(codec, base_offset=offset, partition_leader_epoch=4, **options)
        offset += len(LINES)
    return partition(tmp_path, data)


def test_a_log_is_explained_as_it_was_sent(tmp_path: Path) -> None:
    path = log_of(tmp_path, "gzip", "lz4", "gzip", producer_id=9, producer_epoch=0, base_sequence=0)
    explanation = recordpress.explain(path, topic_config=LZ4)
    assert explanation.kind == "log"
    assert [(group.first.verdict, group.batches) for group in explanation.groups] == [("recompressed", 2), ("kept", 1)]
    recompressed = explanation.groups[0]
    assert recompressed.first.reasons == [Reason.CODEC_DIFFERS]
    assert recompressed.producers == {9: (2, recompressed.bytes)}
    assert recompressed.clients == {"gzip, Java 16, Go or Python": 2}
    assert recompressed.bytes_after == 2 * len(recordpress.recompress(record_set("gzip"), "lz4"))
    assert min(recompressed.cpu_seconds) > 0
    assert (explanation.groups[1].first.file, explanation.groups[1].first.topic) == (str(path / SEGMENT), "orders")
    assert explanation.groups[1].first.position == len(record_set("gzip"))
    for kept in (path, path / SEGMENT, str(path)):
        assert not recordpress.explain(kept).has_findings


SETTINGS = {
    "1.1.1-format-0.10": {"message.format.version": "0.10.0"},
    "1.1.1-format-0.9": {"message.format.version": "0.9.0"},
}
# A log of magic 0 has absolute offsets in its compressed messages, which its broker wrote.
REBUILT = ("0.8.2.2", "0.9.0.1", "1.1.1-format-0.9")


def is_cleaned(batch: oracle.Facts) -> bool:
    offsets = batch["last_offset"] - batch["base_offset"] + 1
    return bool(batch["count"] != offsets or batch["delete_horizon_ms"] is not None)


@oracle.each("stored", oracle.PARTITIONS)
def test_what_a_broker_stored_is_what_it_would_store_again(stored: oracle.Partition, tmp_path: Path) -> None:
    """As its producers sent it. Brokers' own batches and those of the log cleaner are passed over."""
    label = str(stored).partition("/")[0].removeprefix("kafka-")
    release = label.partition("-")[0]
    path = stored.write_to(tmp_path)
    explanation = recordpress.explain(path, broker_version=release, topic_config=SETTINGS.get(label))
    batches = [batch for log in stored.logs for batch in log.expected["batches"]]
    control = [batch for batch in batches if batch.get("is_control")]
    assert explanation.control_batches == len(control)
    cleaned = [batch for batch in batches if batch["magic"] == 2 and batch not in control and is_cleaned(batch)]
    assert explanation.compacted_batches == len(cleaned)
    assert sum(group.batches for group in explanation.groups) == len(batches) - len(control) - len(cleaned)
    is_compressed = any(batch["attributes"] & 7 for batch in batches)
    expected = {"recompressed"} if label in REBUILT and is_compressed else {"kept"}
    assert {group.first.verdict for group in explanation.groups} <= expected
    assert {group.first.diagnosis for group in explanation.groups} <= {None}


@pytest.mark.parametrize("magic", [0, 1, 2])
@pytest.mark.parametrize("codec", ["none", "gzip", "lz4"])
@pytest.mark.parametrize("count", [1, 3])
def test_as_produced(magic: int, codec: str, count: int) -> None:
    """Kafka's broker patches what this takes back."""
    count = 1 if magic < 2 and codec == "none" else count
    times = [NOW - number for number in range(count)]
    options = dict(compression_type=codec, magic=magic, **({} if magic == 0 else {"timestamps": times}))
    sent = recordpress.write_records([b"x"] * count, **options)  # type: ignore[call-overload]
    stored = bytearray(sent)
    [batch] = recordpress.read_batches(stored)
    batch.set_last_offset(1000)
    if magic == 2:
        batch.set_partition_leader_epoch(7)
    if magic > 0 and (magic == 2 or codec != "none"):
        batch.set_max_timestamp(1, NOW + 5)
    assert bytes(stored) != sent
    produced = as_produced(stored)
    assert produced is not None and produced.max_timestamp == (NOW if magic else -1)
    assert bytes(stored) == sent


def test_damage_in_a_log_is_a_finding(tmp_path: Path) -> None:
    path = log_of(tmp_path, "gzip", "lz4")
    data = bytearray((path / SEGMENT).read_bytes())
    (path / SEGMENT).write_bytes(data[:-5] + b"\xff" * 40)
    explanation = recordpress.explain(path)
    assert [group.first.reasons for group in explanation.groups] == [[Reason.CHECKSUM], []]
    assert explanation.findings and explanation.findings[0].file == str(path / SEGMENT)
    assert explanation.has_findings


def test_the_cut_end_of_a_log_is_told(tmp_path: Path) -> None:
    path = log_of(tmp_path, "gzip", "lz4")
    (path / SEGMENT).write_bytes((path / SEGMENT).read_bytes()[:-5])
    explanation = recordpress.explain(path)
    size = len(record_set("lz4")) - 5
    assert explanation.notes == [f"{path / SEGMENT}: {size} bytes follow the last complete entry"]
    assert not explanation.has_findings


def test_a_batch_of_a_log_whose_checksum_is_wrong_is_rejected(tmp_path: Path) -> None:
    path = log_of(tmp_path, "gzip", "lz4")
    data = bytearray((path / SEGMENT).read_bytes())
    data[100] ^= 1
    (path / SEGMENT).write_bytes(data)
    rejected, kept = recordpress.explain(path).groups
    assert (rejected.first.reasons, rejected.batches, kept.first.verdict) == ([Reason.CHECKSUM], 1, "kept")


def test_damage_in_a_log_with_append_times_stays_visible(tmp_path: Path) -> None:
    """What is taken back of a batch must not repair its checksum, nor trip over what it says."""
    stored = bytearray(record_set("gzip"))
    [batch] = recordpress.read_batches(stored)
    batch.set_max_timestamp(1, NOW)
    for position in (*range(12, 61), *range(61, len(stored), 40)):
        damaged = bytearray(stored)
        damaged[position] ^= 0x80
        (tmp_path / "orders-0").mkdir(exist_ok=True)
        (tmp_path / "orders-0" / SEGMENT).write_bytes(damaged)
        explanation = recordpress.explain(tmp_path)
        reasons = [group.first.reasons for group in explanation.groups]
        is_covered = position > 16  # not the leader epoch, and the magic ends the walk
        passed_over = explanation.control_batches or explanation.compacted_batches or explanation.findings
        assert reasons == [[Reason.CHECKSUM]] if is_covered and not passed_over else len(reasons) <= 1


def test_any_damage_gets_an_answer() -> None:
    generator = random.Random(5)
    vectors = [vector for vector in oracle.RECORD_SETS if 0 < len(vector.data) < 4000]
    for vector in generator.sample(vectors, 20):
        for _ in range(5):
            data = bytearray(vector.data)
            data[generator.randrange(len(data))] = generator.randrange(256)
            if data[16:17] == b"\2" and len(data) > 61:
                data[17:21] = recordpress.crc32c(bytes(data[21:])).to_bytes(4, "big")
            for settings in ({}, LZ4, {"message.timestamp.type": "LogAppendTime", "cleanup.policy": "compact"}):
                json.dumps(recordpress.explain(data, topic_config=settings, broker_version="3.9").to_list())


def test_large_logs_are_sampled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = log_of(tmp_path, *["gzip"] * 40)
    monkeypatch.setattr("recordpress.broker._explain_log.OPENED_BATCHES", 4)
    monkeypatch.setattr("recordpress.broker._explain_log.OPENED_THEN", 9)
    sampled, full = (recordpress.explain(path, topic_config=LZ4, full=full) for full in (False, True))
    assert sampled.notes == ["8 of 40 batches were opened; the others are assumed to be alike"]
    assert full.notes == []
    for explanation in (sampled, full):
        [group] = explanation.groups
        assert (group.batches, group.bytes) == (40, 40 * len(record_set("gzip")))
        assert group.bytes_after == 40 * len(recordpress.recompress(record_set("gzip"), "lz4"))


def test_a_log_in_an_object_store_is_read_in_large_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    fsspec = pytest.importorskip("fsspec")
    from recordpress.files import _fsspec

    reads = []
    read_at = _fsspec._FsspecFile.read_at
    monkeypatch.setattr(_fsspec._FsspecFile, "read_at", lambda *args: reads.append(args[1:]) or read_at(*args))
    lines = [number.to_bytes(4, "big") * 100 for number in range(50)]
    log = b"".join(record_set("none", lines, base_offset=50 * number) for number in range(60))
    files = fsspec.filesystem("memory")
    files.pipe(f"/explained/orders-0/{SEGMENT}", log)
    try:
        explanation = recordpress.explain("memory://explained/orders-0", topic_config=LZ4)
    finally:
        files.rm("/explained", recursive=True)
    assert [group.batches for group in explanation.groups] == [60]
    assert len(reads) < 5 and sum(length for _, length in reads) < 2 * len(log)


def test_a_log_and_a_request_are_not_one_source(tmp_path: Path) -> None:
    path = tmp_path / "batch.bin"
    path.write_bytes(record_set())
    with pytest.raises(recordpress.InvalidArgumentError, match="explain it separately from logs"):
        recordpress.explain([log_of(tmp_path, "gzip"), path])


def test_a_file_that_is_too_large_for_a_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recordpress.broker._explain.MOST_BYTES", 10)
    path = tmp_path / "batch.bin"
    path.write_bytes(record_set())
    with pytest.raises(recordpress.InvalidArgumentError, match="too large for a request"):
        recordpress.explain(path)


def test_all_of_it_can_be_json() -> None:
    [batch] = recordpress.explain(record_set(), topic_config=LZ4).to_list()
    assert list(batch)[:5] == ["position", "verdict", "errorCode", "relation", "reasons"]
    assert list(batch["reasons"][0]) == ["id", "rule", "source", "message", "advice"]
    assert json.loads(json.dumps(batch)) == batch


@pytest.mark.parametrize(("magic", "value_length"), [(0, 22), (1, 30)])
def test_no_client_is_read_from_a_value_that_does_not_fit(magic: int, value_length: int) -> None:
    data = bytearray(record_set("gzip", magic=magic))
    assert only(recordpress.explain(bytes(data), now_ms=NOW)).client != "gzip"
    data[value_length : value_length + 4] = (len(data) - value_length).to_bytes(4, "big")
    assert only(recordpress.explain(bytes(data), now_ms=NOW)).client == "gzip"
