"""Reading a log gives what a consumer got, from any place on, with indexes or without; what is left out is said."""

import gzip
import io
import random
import shutil
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import facts
import oracle
import recordpress
from log.some_partitions import of_each_kind
from recordpress.log import FileRecords, LogReader, _batch_table
from recordpress.log._header_walk import HeaderWalk
from recordpress.log.sidecars import AbortedTxn, ProducerState, write_snapshot, write_transaction_index
from recordpress.record.header import BatchHeader
from together import draws, together

pa = pytest.importorskip("pyarrow")

DEMO_LOGS = Path(__file__).resolve().parents[2] / "demo" / "logs"
SEGMENT = "00000000000000000000.log"
CONSUMED = [
    pytest.param(partition, isolation, marks=[] if partition.entry["dir"] in oracle.SHIPS else [pytest.mark.slow])
    for partition in oracle.PARTITIONS
    for isolation in ("read_committed", "read_uncommitted")
    if partition.entry.get(isolation)
]


def row_facts(row: dict[str, Any]) -> facts.Facts:
    """In the words of the consumer's results."""
    return {
        "partition": row["partition"],
        "offset": row["offset"],
        "timestamp": -1 if row["timestamp"] is None else row["timestamp"],
        "timestamp_type": facts.TIMESTAMP_TYPES[row["timestampType"]],
        "key": facts.bytes_fact(row["key"]),
        "value": facts.bytes_fact(row["value"]),
        "headers": [[header["key"], facts.bytes_fact(header["value"])] for header in row["headers"]],
    }


COLUMNS = ["partition", "offset", "timestamp", "timestampType", "key", "value", "headers"]


def rows_of(table: Any) -> list[facts.Facts]:
    table = table.set_column(2, "timestamp", table["timestamp"].cast("int64"))
    return [row_facts(row) for row in table.to_pylist()]


def without_epoch(row: facts.Facts) -> facts.Facts:
    return {name: value for name, value in row.items() if name != "leader_epoch"}


@together("files", ["all", "log only"])
@pytest.mark.parametrize(("partition", "isolation"), CONSUMED, ids=str)
def test_what_the_consumer_returned(partition: oracle.Partition, isolation: str, files: str, tmp_path: Path) -> None:
    directory = partition.write_to(tmp_path)
    if files == "log only":
        for path in directory.iterdir():
            if path.suffix != ".log":
                path.unlink()
    log = recordpress.open_log(directory)
    table = log.read(COLUMNS, isolation_level=isolation).to_pyarrow()  # type: ignore[arg-type]
    table.validate(full=True)
    expected = [without_epoch(row) for row in partition.consumed(isolation)]
    assert rows_of(table) == expected
    if isolation == "read_uncommitted":
        assert log.count() == len(expected)


@pytest.mark.parametrize(("partition", "isolation"), CONSUMED[::3], ids=str)
def test_from_any_offset_on(partition: oracle.Partition, isolation: str, tmp_path: Path) -> None:
    starts = draws(20)
    log = recordpress.open_log(partition.write_to(tmp_path))
    options: dict[str, Any] = {"isolation_level": isolation}
    everything = log.read(["offset"], **options).to_pyarrow()["offset"].to_pylist()
    for start in sorted({0, *everything[:: max(1, len(everything) // starts)], *[o + 1 for o in everything[-3:]]}):
        found = log.read(["offset"], start_offset=start, **options).to_pyarrow()["offset"].to_pylist()
        assert found == [offset for offset in everything if offset >= start]
        part = log.read(["offset"], start_offset=start, end_offset=start + 7, **options)
        assert part.to_pyarrow()["offset"].to_pylist() == [o for o in everything if start <= o < start + 7]


@oracle.each("partition", [p for p in oracle.PARTITIONS if p.entry.get("read_committed")][::3])
def test_from_any_time_on(partition: oracle.Partition, tmp_path: Path) -> None:
    directory = partition.write_to(tmp_path)
    log = recordpress.open_log(directory)
    data = b"".join(segment.read_bytes() for segment in sorted(directory.glob("*.log")))
    rows = pa.table(recordpress.read_columns(data, ["offset", "timestamp"])).cast(
        pa.schema([("offset", pa.int64()), ("timestamp", pa.int64())])
    )
    times = sorted({time for time in rows["timestamp"].to_pylist() if time is not None})
    for time in [*times[:: max(1, len(times) // 10)], *[t + 1 for t in times[-2:]]]:
        for end in (None, time + 50):
            found = log.read(["offset"], start_timestamp=time, end_timestamp=end).to_pyarrow()["offset"].to_pylist()
            whole = recordpress.read_columns(data, ["offset"], start_timestamp=time, end_timestamp=end)
            assert found == whole["offset"].to_pylist()


# ---- transactions


TRANSACTIONS = [p for p in oracle.PARTITIONS if "read_committed" in p.entry and str(p).endswith("txn_topic-0")]


def damage_missing(path: Path) -> None:
    path.unlink()


def damage_zeros(path: Path) -> None:
    path.write_bytes(path.read_bytes() + bytes(34 * 5))


def damage_all_zero(path: Path) -> None:
    path.write_bytes(bytes(len(path.read_bytes())))


def damage_cut_between_entries(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-34])


def damage_flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[9] ^= 1  # producer id of the first entry
    path.write_bytes(data)


def damage_last_offset(path: Path) -> None:
    """It seems to be aborted by a marker that the log does not have."""
    data = bytearray(path.read_bytes())
    data[20] ^= 1
    path.write_bytes(data[:34])


DAMAGES = [damage_last_offset, damage_missing, damage_zeros, damage_all_zero, damage_cut_between_entries, damage_flip]


@pytest.mark.parametrize("damage", DAMAGES)
@oracle.each("partition", TRANSACTIONS)
def test_aborted_records_stay_out_whatever_became_of_the_index(
    partition: oracle.Partition, damage: Any, tmp_path: Path
) -> None:
    directory = partition.write_to(tmp_path)
    indexes = sorted(directory.glob("*.txnindex"))
    assert indexes
    damage(indexes[0])
    reader = recordpress.open_log(directory).read(COLUMNS, isolation_level="read_committed")
    assert rows_of(reader.to_pyarrow()) == [without_epoch(row) for row in partition.consumed("read_committed")]
    if damage in (damage_last_offset, damage_zeros, damage_all_zero, damage_flip):
        assert any(finding.rule == "transaction index" for finding in reader.findings)


def transactional(base_offset: int, producer_id: int = 1, count: int = 3) -> bytes:
    return recordpress.write_records(
        [b"v"] * count,
        base_offset=base_offset,
        producer_id=producer_id,
        producer_epoch=0,
        base_sequence=0,
        is_transactional=True,
    )


def marker(offset: int, commit: bool, producer_id: int = 1) -> bytes:
    builder = recordpress.BatchBuilder(
        base_offset=offset, producer_id=producer_id, producer_epoch=0, is_transactional=True, is_control=True
    )
    builder.append_end_txn_marker(commit, 0)
    return builder.build()


def write(root: Path, segments: dict[int, bytes], name: str = "t-0") -> Path:
    directory = root / name
    directory.mkdir(exist_ok=True)
    for base, data in segments.items():
        (directory / f"{base:020}.log").write_bytes(data)
    return directory


def offsets(log: Any, **options: Any) -> list[int]:
    return log.read(["offset"], **options).to_pyarrow()["offset"].to_pylist()


def test_a_transaction_that_is_aborted_in_another_segment(tmp_path: Path) -> None:
    """The producer committed one before it, whose records stay."""
    first = transactional(0) + marker(3, True) + transactional(4)
    log = recordpress.open_log(write(tmp_path, {0: first, 7: marker(7, False) + transactional(8) + marker(11, True)}))
    assert offsets(log, isolation_level="read_committed") == [0, 1, 2, 8, 9, 10]
    assert offsets(log) == [0, 1, 2, 4, 5, 6, 8, 9, 10]
    assert offsets(log, isolation_level="read_committed", start_offset=5) == [8, 9, 10]


def test_an_open_transaction_ends_the_stream(tmp_path: Path) -> None:
    log = recordpress.open_log(
        write(tmp_path, {0: transactional(0), 3: recordpress.write_records([b"x"] * 3, base_offset=3)})
    )
    reader = log.read(["offset"], isolation_level="read_committed")
    assert reader.to_pyarrow().num_rows == 0
    assert reader.last_stable_offsets == {"t-0": 0}


# ---- what a log may look like


def plain(base_offset: int, count: int = 10, **options: Any) -> bytes:
    return recordpress.write_records([b"value"] * count, base_offset=base_offset, **options)


def test_overlapping_segments_are_read_once(tmp_path: Path) -> None:
    """The second begins in the middle of a batch of the first, the third lies in the second, the fourth goes on."""
    segments = {0: plain(0, 20) + plain(20, 20), 25: plain(25, 25), 30: plain(30, 5), 40: plain(40, 30)}
    log = recordpress.open_log(write(tmp_path, segments))
    reader = log.read(["offset"])
    assert reader.to_pyarrow()["offset"].to_pylist() == list(range(70))
    assert [(f.rule, f.offset) for f in reader.findings] == [("segment overlap", base) for base in (25, 30, 40)]
    assert "offsets from 25 to 39 are also in" in reader.findings[0].message
    assert log.count() == 70


def test_gaps_are_not_filled(tmp_path: Path) -> None:
    log = recordpress.open_log(write(tmp_path, {0: plain(0) + plain(20), 50: plain(57)}))
    assert offsets(log) == [*range(10), *range(20, 30), *range(57, 67)]
    assert offsets(log, start_offset=12, end_offset=58) == [*range(20, 30), 57]


@pytest.mark.parametrize(
    ("tail", "rule"),
    [(bytes(500), "preallocated file"), (plain(10)[:-3], "record set framing"), (b"\0", "preallocated file")],
)
def test_the_end_of_a_log_is_reported(tail: bytes, rule: str, tmp_path: Path) -> None:
    directory = write(tmp_path, {0: plain(0) + tail})
    log = recordpress.open_log(directory)
    reader = log.read(["offset"])
    assert reader.to_pyarrow().num_rows == 10 == log.count()
    [found] = reader.findings
    assert (found.file, found.position, found.size, found.offset, found.rule) == (
        str(directory / SEGMENT),
        len(plain(0)),
        len(tail),
        10,
        rule,
    )
    write(tmp_path, {10: plain(10)})
    for call in (recordpress.open_log(directory).count, recordpress.open_log(directory).read(["offset"]).to_pyarrow):
        with pytest.raises(recordpress.CorruptRecordError, match=r"zero bytes follow|last entry is truncated"):
            call()


def test_an_all_zero_segment_ends_the_log(tmp_path: Path) -> None:
    log = recordpress.open_log(write(tmp_path, {0: plain(0), 10: bytes(1 << 16)}))
    reader = log.read(["offset"])
    assert reader.to_pyarrow().num_rows == 10
    assert [(f.position, f.size, f.rule) for f in reader.findings] == [(0, 1 << 16, "preallocated file")]


# ---- damage


def flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


BATCHES = [plain(10 * i) for i in range(30)]
STARTS = [sum(map(len, BATCHES[:i])) for i in range(31)]


def with_bad_checksum(data: bytes) -> bytes:
    return flipped(data, STARTS[11] + 70)


def with_bad_length(data: bytes) -> bytes:
    return data[: STARTS[11] + 8] + b"\x7f\xff\xff\xff" + data[STARTS[11] + 12 :]


def with_a_zeroed_page(data: bytes) -> bytes:
    return data[: STARTS[11]] + bytes(len(BATCHES[11])) + data[STARTS[12] :]


def with_garbage(data: bytes) -> bytes:
    return data[: STARTS[11]] + b"\xaa" * len(BATCHES[11]) + data[STARTS[12] :]


HARMS = [with_bad_checksum, with_bad_length, with_a_zeroed_page, with_garbage]


@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("is_last", [True, False])
def test_damage(harm: Any, threads: int, is_last: bool, tmp_path: Path) -> None:
    directory = write(tmp_path, {0: harm(b"".join(BATCHES))} | ({} if is_last else {300: plain(300)}))
    log = recordpress.open_log(directory)
    after = [] if is_last else list(range(300, 310))
    reader = log.read(["offset"], threads=threads)
    before: list[int] = []
    with pytest.raises(recordpress.CorruptRecordError) as caught:
        before.extend(offset for columns in reader for offset in columns["offset"])
    assert before == list(range(110))
    assert caught.value.file == str(directory / SEGMENT)
    assert caught.value.position == STARTS[11]

    reader = log.read(["offset"], threads=threads, on_corrupt="skip")
    assert reader.to_pyarrow()["offset"].to_pylist() == [*range(110), *range(120, 300), *after]
    [found] = reader.findings
    assert found.position == STARTS[11]
    if harm is not with_bad_checksum:
        assert (found.position, found.size, found.offset) == (STARTS[11], len(BATCHES[11]), 110)
        assert f"skipped up to byte {STARTS[12]}" in found.message

    reader = log.read(["offset"], threads=threads, on_corrupt="stop")
    assert reader.to_pyarrow()["offset"].to_pylist() == list(range(110))
    assert len(reader.findings) == 1


def test_damage_up_to_the_end_is_skipped(tmp_path: Path) -> None:
    log = recordpress.open_log(write(tmp_path, {0: b"".join(BATCHES[:3]) + b"\xaa" * 500, 30: plain(30)}))
    reader = log.read(["offset"], on_corrupt="skip")
    assert reader.to_pyarrow()["offset"].to_pylist() == list(range(40))
    assert "no intact entry follows" in reader.findings[0].message


def test_transactions_across_damage(tmp_path: Path) -> None:
    """What is aborted after damage stays out; a marker that is damaged leaves its transaction open."""
    good = plain(0) + transactional(10) + b"\xaa" * 100 + marker(13, False) + plain(14)
    log = recordpress.open_log(write(tmp_path, {0: good}))
    committed: dict[str, Any] = {"isolation_level": "read_committed"}
    assert offsets(log, on_corrupt="skip", **committed) == [*range(10), *range(14, 24)]
    with pytest.raises(recordpress.CorruptRecordError, match="entry size"):
        offsets(log, **committed)
    assert offsets(log, on_corrupt="stop", **committed) == list(range(10))


def test_pyarrow_pandas_and_polars_raise_the_error_of_a_read(tmp_path: Path) -> None:
    """Consumers that we do not control raise their own, with the whole text."""
    pl = pytest.importorskip("polars")
    from recordpress.polars import scan_log

    data = bytearray(plain(0) + plain(10) + plain(20))
    data[-1] ^= 1
    log = recordpress.open_log(write(tmp_path, {0: bytes(data)}))
    with pytest.raises(recordpress.CorruptRecordError) as expected:
        list(log.read(["offset"]))
    for name in ("to_pyarrow", "to_pandas", "to_polars"):
        with pytest.raises(recordpress.CorruptRecordError) as caught:
            getattr(log.read(["offset"]), name)()
        assert vars(caught.value) == vars(expected.value), name
        assert caught.value.__context__ is None
    for consumer in (pa.table, pl.DataFrame, lambda reader: pa.RecordBatchReader.from_stream(reader).read_all()):
        with pytest.raises(Exception) as foreign:  # noqa: PT011 - of another library
            consumer(log.read(["offset"]))
        assert str(expected.value) in str(foreign.value)
    with pytest.raises((recordpress.CorruptRecordError, pl.exceptions.ComputeError)) as foreign:
        scan_log(tmp_path).select("offset").collect()
    assert str(expected.value) in str(foreign.value)
    assert log.read(["offset"], on_corrupt="skip").to_polars()["offset"].to_list() == list(range(20))


def test_a_transaction_that_was_aborted_before_damage_is_over_after_it(tmp_path: Path) -> None:
    data = transactional(0) + marker(3, False) + b"\xaa" * 100 + transactional(4) + marker(7, True)
    log = recordpress.open_log(write(tmp_path, {0: data}))
    assert offsets(log, on_corrupt="skip", isolation_level="read_committed") == [4, 5, 6]


# ---- far away


def producer_snapshot(first_offset: int) -> bytes:
    out = io.BytesIO()
    write_snapshot(out, [ProducerState(1, 0, 2, 12, 2, 0, 0, first_offset)])
    return out.getvalue()


def test_indexes_of_a_remote_log_are_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    """One transaction was aborted in the first segment, one is open since then; headers are read of the last one."""
    memory = pytest.importorskip("fsspec").filesystem("memory")
    second = plain(14) + recordpress.write_records([b"x"] * 3, base_offset=24)
    index = io.BytesIO()
    write_transaction_index(index, [AbortedTxn(1, 0, 3, 0)])
    files = {
        f"{0:020}.log": transactional(0) + marker(3, False) + plain(4, 6) + transactional(10) + plain(13, 1),
        f"{14:020}.log": second,
        f"{0:020}.txnindex": index.getvalue(),
        f"{14:020}.txnindex": b"",
        f"{14:020}.snapshot": producer_snapshot(10),
    }
    memory.pipe({f"/remote/t-0/{name}": data for name, data in files.items()})
    read: list[str] = []
    walk = FileRecords.walk

    def noted(self: FileRecords, headers: HeaderWalk, **options: Any) -> Iterator[BatchHeader]:
        read.append(self.path[-24:])
        return walk(self, headers, **options)

    monkeypatch.setattr(FileRecords, "walk", noted)
    log = recordpress.open_log("memory://remote/t-0")
    reader = log.read(["offset"], isolation_level="read_committed")
    assert reader.to_pyarrow()["offset"].to_pylist() == list(range(4, 10))
    assert reader.last_stable_offsets == {"t-0": 10}
    assert read == [f"{14:020}.log"]
    memory.rm_file(f"/remote/t-0/{0:020}.txnindex")
    assert offsets(recordpress.open_log("memory://remote/t-0"), isolation_level="read_committed") == list(range(4, 10))
    assert read[1:] == [f"{0:020}.log", f"{14:020}.log"]
    memory.pipe_file(f"/remote/t-0/{0:020}.txnindex", bytes(34))
    reader = recordpress.open_log("memory://remote/t-0").read(["offset"], isolation_level="read_committed")
    assert reader.to_pyarrow()["offset"].to_pylist() == list(range(4, 10))
    assert "padded with zeros" in reader.findings[0].message


def test_indexes_of_a_remote_log_are_checked_on_request() -> None:
    """A name that hides offsets of the segment before, and a transaction index without an aborted transaction."""
    memory = pytest.importorskip("fsspec").filesystem("memory")
    first = transactional(0) + marker(3, False) + plain(4, 6)
    files = {
        f"{0:020}.log": first + plain(10, 10),
        f"{10:020}.log": plain(10, 2),
        f"{0:020}.txnindex": b"",
        f"{10:020}.txnindex": b"",
        f"{10:020}.snapshot": producer_snapshot(-1),
    }
    memory.pipe({f"/checked/t-0/{name}": data for name, data in files.items()})
    log = recordpress.open_log("memory://checked/t-0")
    assert offsets(log, start_offset=15, check_indexes=True) == list(range(15, 20))
    assert offsets(log, start_offset=15) == []
    assert offsets(log, isolation_level="read_committed", check_indexes=True) == list(range(4, 20))
    assert offsets(log, isolation_level="read_committed")[:3] == [0, 1, 2]


def test_the_snapshot_of_a_tiered_segment_is_that_of_its_end() -> None:
    memory = pytest.importorskip("fsspec").filesystem("memory")
    stem = "{:020}-tqimKeZwStOEOwRzT3L5oQ"
    files = {
        ".log": (plain(0) + transactional(10), plain(13)),
        ".txnindex": (b"", b""),
        ".snapshot": (producer_snapshot(10), producer_snapshot(-1)),
    }
    for suffix, both in files.items():
        for base, data in zip((0, 13), both, strict=True):
            memory.pipe_file(f"/tier/t-MWJ6FHTfRYy67jzwZdeqSQ/0/{stem.format(base)}{suffix}", data)
    log = recordpress.open_log("memory://tier")
    assert offsets(log, isolation_level="read_committed") == list(range(10))


def test_an_index_that_lost_its_end_is_not_trusted_where_headers_are_near(tmp_path: Path) -> None:
    directory = write(tmp_path, {0: transactional(0) + marker(3, False), 4: plain(4)})
    for base in (0, 4):
        (directory / f"{base:020}.txnindex").touch()
    (directory / f"{4:020}.snapshot").write_bytes(producer_snapshot(-1))
    assert offsets(recordpress.open_log(directory), isolation_level="read_committed") == list(range(4, 14))


# ---- streams


def test_default_columns_and_places(tmp_path: Path) -> None:
    write(tmp_path, {0: plain(0)}, "orders-3")
    write(tmp_path, {0: plain(0)}, "a.b-c-0")
    log = recordpress.open_log(tmp_path)
    names = ["offset", "timestamp", "timestampType", "key", "value", "headers"]
    assert [field.name for field in log.read().schema] == ["topic", "partition", *names]
    assert [field.name for field in recordpress.open_log(tmp_path / "orders-3").read().schema] == names
    table = log.read(["value", "partition", "offset", "topic"]).to_pyarrow()
    assert table.column_names == ["value", "partition", "offset", "topic"]
    assert table["topic"].to_pylist() == ["a.b-c"] * 10 + ["orders"] * 10
    assert set(table["partition"].to_pylist()) == {0, 3}
    assert table["offset"].to_pylist() == [*range(10), *range(10)]
    only = log.read(["topic"]).to_pyarrow()
    assert only.num_rows == 20


def test_other_libraries_take_it() -> None:
    polars, duckdb = pytest.importorskip("polars"), pytest.importorskip("duckdb")
    pytest.importorskip("pandas")
    log = recordpress.open_log(DEMO_LOGS)
    expected = log.read(["topic", "offset", "value"]).to_pyarrow()
    assert polars.DataFrame(log.read(["topic", "offset", "value"])).equals(polars.from_arrow(expected))
    assert log.read(["offset"]).to_pandas()["offset"].tolist() == expected["offset"].to_pylist()
    reader = log.read(["topic", "offset"])  # duckdb finds it by its name
    [[rows, topics]] = duckdb.sql("select count(*), count(distinct topic) from reader").fetchall()
    reader.close()
    assert (rows, topics) == (expected.num_rows, 4)


def test_results_are_of_a_few_megabytes(tmp_path: Path) -> None:
    """Whatever the ratio: 100 MB that compress to almost nothing, and 30 MB that do not compress."""
    import os

    small = b"".join(
        recordpress.write_records([b"x" * 1000] * 1000, base_offset=1000 * i, compression_type="zstd")
        for i in range(100)
    )
    large = b"".join(recordpress.write_records([os.urandom(1000)] * 100, base_offset=100 * i) for i in range(300))
    for data in (small, large):
        log = recordpress.open_log(write(tmp_path, {0: data}))
        for threads in (1, 2):
            sizes = [columns.nbytes for columns in log.read(threads=threads)]
            middle = sizes[6:-1]
            assert middle and min(middle) > 3 << 20 and max(sizes) < 12 << 20


def test_each_stream_begins_again_but_after_an_iteration(tmp_path: Path) -> None:
    log = recordpress.open_log(write(tmp_path, {0: plain(0), 10: plain(10) + b"\0"}))
    reader = log.read()
    for _ in range(2):
        assert pa.table(reader).num_rows == 20
        assert len(reader.findings) == 1
    assert len(next(reader)) == 10
    assert pa.table(reader).num_rows == 10
    with pytest.raises(recordpress.ClosedError):
        pa.table(reader)
    assert list(reader) == []
    with log.read() as reader:
        pass
    assert list(reader) == []


@pytest.fixture
def opened() -> Iterator[Any]:
    def count() -> int:
        return sum(1 for path in Path("/proc/self/fd").iterdir() if path.exists())

    before = count()
    yield
    assert count() == before


def test_files_are_closed_wherever_reading_ends(opened: Any, tmp_path: Path) -> None:
    log = recordpress.open_log(write(tmp_path, {0: b"".join(BATCHES), 300: plain(300)}))
    reader = log.read()
    next(reader)
    reader.close()
    stream = pa.RecordBatchReader.from_stream(log.read(isolation_level="read_committed"))
    stream.read_next_batch()
    del stream
    (tmp_path / "t-0" / SEGMENT).write_bytes(with_garbage(b"".join(BATCHES)))
    with pytest.raises(recordpress.CorruptRecordError):
        list(recordpress.open_log(tmp_path / "t-0").read())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"columns": ["ofset"]},
            "unknown column 'ofset'; must be one of topic, partition, offset, .*: did you mean 'offset'",
        ),
        ({"columns": ["topic", "topic"]}, "named twice"),
        ({"isolation_level": "committed"}, "isolation_level must be one of read_uncommitted, read_committed"),
        ({"on_corrupt": "ignore"}, "on_corrupt must be one of raise, skip, stop"),
        ({"threads": 0}, "threads must be"),
        ({"start_timestamp": "yesterday"}, "start_timestamp must be ISO 8601"),
    ],
)
def test_what_is_not_accepted_is_told_at_once(options: dict[str, Any], message: str) -> None:
    with pytest.raises(recordpress.InvalidArgumentError, match=message):
        recordpress.open_log(DEMO_LOGS).read(**options)
    with pytest.raises(recordpress.ArgumentTypeError):
        recordpress.open_log(DEMO_LOGS).read("offset")


# ---- batches


def as_dicts(table: "pa.Table") -> list[dict[str, Any]]:
    """With times in ms since 1970."""
    times = [name for name in table.column_names if pa.types.is_timestamp(table.schema.field(name).type)]
    for name in times:
        table = table.set_column(table.column_names.index(name), name, table[name].cast(pa.int64()))
    return table.to_pylist()


def test_a_table_of_batches_with_all_that_headers_may_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Codecs that Kafka does not have, sequences that wrap around, wrong checksums, more rows than one piece has, zeros
    at the end."""
    monkeypatch.setattr(_batch_table, "_ROWS_AT_ONCE", 1 << 10)
    draw = random.Random(5)
    entries = []
    for number in range(300):
        entry = bytearray(recordpress.write_records([b"v"], base_offset=number))
        entry[22] = draw.randrange(256)
        entry[27:57] = draw.randbytes(30)
        entry[53:57] = draw.choice([b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", entry[53:57]])
        entries.append(bytes(entry))
    entries *= 4
    (tmp_path / SEGMENT).write_bytes(b"".join(entries) + bytes(100))
    log = recordpress.open_log(tmp_path)
    table = log.batch_table(check_crcs=True)
    assert table.num_rows == 1200
    assert as_dicts(table) == [batch.to_dict() for batch in log.batches(check_crcs=True)]
    (tmp_path / SEGMENT).write_bytes(b"".join(entries[:5]) + b"?" * 100)
    with pytest.raises(recordpress.CorruptRecordError):
        recordpress.open_log(tmp_path).batch_table()
    (tmp_path / SEGMENT).write_bytes(b"")
    assert recordpress.open_log(tmp_path).batch_table().schema == table.schema


@oracle.each("partition", of_each_kind(oracle.PARTITIONS))
def test_batches_have_the_fields_of_kafkas_dump(partition: oracle.Partition, tmp_path: Path) -> None:
    log = recordpress.open_log(partition.write_to(tmp_path))
    table = log.batch_table(check_crcs=True)
    rows = table.to_pylist()
    expected = [
        (Path(vector.file).name, batch) for vector in partition.logs for batch in vector.expected.get("batches", [])
    ]
    assert len(rows) == len(expected)
    for row, (name, batch) in zip(rows, expected, strict=True):
        assert Path(row["file"]).name == name
        assert (row["position"], row["size"], row["magic"]) == (batch["position"], batch["size"], batch["magic"])
        assert (row["lastOffset"], row["crc"], row["isValid"]) == (batch["last_offset"], batch["crc"], batch["valid"])
        if batch["magic"] == 2:
            assert row["lastSequence"] == batch["last_sequence"]
            horizon = row["deleteHorizonMs"]
            assert (None if horizon is None else round(horizon.timestamp() * 1000)) == batch["delete_horizon_ms"]
            assert (row["producerId"], row["isControl"]) == (batch["producer_id"], batch["is_control"])
    assert table["isValid"].null_count == 0
    assert as_dicts(table) == [batch.to_dict() for batch in log.batches(check_crcs=True)]
    assert as_dicts(log.batch_table()) == [batch.to_dict() for batch in log.batches()]
    assert log.batch_table()["isValid"].null_count == len(rows)


def test_a_copy_of_the_demo_without_indexes_has_the_same_records(tmp_path: Path) -> None:
    for path in DEMO_LOGS.glob("*/*.log"):
        (tmp_path / path.parent.name).mkdir(exist_ok=True)
        shutil.copy(path, tmp_path / path.parent.name / path.name)
    here, there = recordpress.open_log(tmp_path), recordpress.open_log(DEMO_LOGS)
    assert here.read().to_pyarrow().equals(there.read().to_pyarrow())
    assert here.count() == there.count()


def test_a_reader_shows_what_it_reads(tmp_path: Path) -> None:
    folder = tmp_path / "orders-0"
    folder.mkdir()
    (folder / f"{0:020}.log").write_bytes(recordpress.write_records([b"a"]))
    with recordpress.open_log(folder).read(["offset", "value"]) as reader:
        assert repr(reader) == "<recordpress.log.LogReader: 1 partition, columns offset, value; not begun>"
        next(reader)
        assert repr(reader).endswith("; begun>")
    assert repr(reader).endswith("; closed>")


def test_an_error_is_raised_again(tmp_path: Path) -> None:
    """A reader that failed does not end like a complete log."""
    data = bytearray(recordpress.write_records([b"value"] * 3) + recordpress.write_records([b"value"], base_offset=3))
    data[-1] ^= 1
    (tmp_path / f"{0:020d}.log").write_bytes(data)
    with recordpress.open_log(tmp_path).read(["offset"]) as reader:
        for _ in range(3):
            with pytest.raises(recordpress.CorruptRecordError):
                list(reader)
    with pytest.raises(recordpress.CorruptRecordError):
        next(reader)


def test_an_interrupt_is_raised_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / f"{0:020d}.log").write_bytes(recordpress.write_records([b"value"] * 3))

    def interrupted(*_: object, **__: object) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("recordpress.log._read.FileRecords.columns", interrupted)
    reader = recordpress.open_log(tmp_path).read(["offset"])
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            next(reader)


def test_another_thread_closes_a_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / f"{0:020d}.log").write_bytes(recordpress.write_records([b"value"] * 3))
    reader = recordpress.open_log(tmp_path).read(["offset"])
    refused: list[Exception] = []
    is_outside = LogReader._is_outside

    def closed(self: LogReader, *arguments: Any) -> bool:
        def close() -> None:
            try:
                self.close()
            except Exception as error:
                refused.append(error)

        thread = threading.Thread(target=close)
        thread.start()
        thread.join()
        return is_outside(self, *arguments)

    monkeypatch.setattr(LogReader, "_is_outside", closed)
    assert [columns.num_rows for columns in reader] == [3]
    assert [type(error) for error in refused] == [recordpress.InUseError]


def test_a_reader_at_its_end_is_no_empty_table() -> None:
    log = recordpress.open_log(Path(__file__).parents[2] / "demo" / "logs" / "sessions-0")
    reader = log.read(["offset"])
    assert sum(columns.num_rows for columns in reader) == 1634 and list(reader) == []
    with pytest.raises(recordpress.ClosedError, match=r"the reader is exhausted: call Log\.read for a new reader"):
        reader.to_pyarrow()


def test_a_frame_of_a_reader_is_refused() -> None:
    pandas = pytest.importorskip("pandas")
    log = recordpress.open_log(Path(__file__).parents[2] / "demo" / "logs" / "sessions-0")
    with pytest.raises(recordpress.ArgumentTypeError, match=r"use to_pandas\(\)"):
        pandas.DataFrame(log.read(["offset"]))
    assert log.read(["offset"]).to_pandas().shape == (1634, 1)
    with pytest.raises(recordpress.ArgumentTypeError, match=r"log\.batch_table\(\)\.to_pandas\(\)"):
        pandas.DataFrame(log.batches())
    assert len(log.batch_table().to_pandas()) == sum(1 for _ in log.batches())


def test_messages_of_one_wrapper_that_have_one_offset_are_counted_as_they_are_read(tmp_path: Path) -> None:
    """A wrapper of magic 0 has its messages' offsets as a broker stored them: here one of them twice."""
    messages = b"".join(recordpress.write_records([b"%d" % n], magic=0, base_offset=n) for n in (3, 4, 4, 5))
    wrapper = recordpress.write_records([gzip.compress(messages)], magic=0, base_offset=5)
    entry = bytearray(wrapper)
    entry[17] |= 1  # gzip
    entry[12:16] = zlib.crc32(entry[16:]).to_bytes(4, "big")
    (tmp_path / f"{0:020}.log").write_bytes(entry)
    log = recordpress.open_log(tmp_path)
    assert log.read(["offset"]).to_pyarrow()["offset"].to_pylist() == [3, 4, 4, 5]
    assert log.count() == 4
