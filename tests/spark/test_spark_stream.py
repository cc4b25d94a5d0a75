"""spark.readStream.format("recordpress"): a log that grows is read once, also after restarts or removed
meanwhile."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import oracle
import recordpress

pytest.importorskip("pyspark", reason="pyspark is not installed")
pa: Any = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.spark]

from pyspark import cloudpickle

from recordpress.log import reindex
from recordpress.log.growing import ends_by_offsets
from recordpress.spark import KafkaLogDataSource, _stream

limits: Any = pytest.importorskip("pyspark.sql.streaming.datasource", reason="Spark before 4.2 has no limits")

ALL = limits.ReadAllAvailable()


def grow(root: Path, place: str, *segments: tuple[int, int]) -> None:
    """Segments by their first offsets and numbers of records; each batch has ten of them."""
    (root / place).mkdir(parents=True, exist_ok=True)
    for base, count in segments:
        batches = [
            recordpress.write_records(
                [b"%s %d" % (place.encode(), o) for o in range(first, first + 10)], base_offset=first
            )
            for first in range(base, base + count, 10)
        ]
        (root / place / f"{base:020}.log").write_bytes(b"".join(batches))


def stream(root: Path | str, **options: str) -> Any:
    """The reader that Spark's process on the driver holds."""
    source = KafkaLogDataSource({"path": str(root)} | {name.replace("_", "."): one for name, one in options.items()})
    return source.streamReader(source.schema())


def rows(reader: Any, start: Any, end: Any) -> list[tuple[str, int, int]]:
    """What the tasks of a batch give; offsets go through JSON, tasks through pickle."""
    start, end = json.loads(json.dumps(start)), json.loads(json.dumps(end))
    found: list[tuple[str, int, int]] = []
    for task in reader.partitions(start, end):
        for batch in cloudpickle.loads(cloudpickle.dumps(reader)).read(cloudpickle.loads(cloudpickle.dumps(task))):
            columns = batch.select(["topic", "partition", "offset"]).to_pydict()
            found += zip(*columns.values(), strict=True)
    return found


def offsets(found: list[tuple[str, int, int]], place: str) -> list[int]:
    return [offset for topic, number, offset in found if f"{topic}-{number}" == place]


def until_the_end(reader: Any, start: Any, limit: Any) -> Iterator[tuple[Any, list[tuple[str, int, int]]]]:
    """Each batch of a query, until there is no other."""
    while (end := reader.latestOffset(start, limit)) != start:
        yield end, rows(reader, start, end)
        start = end


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """Two closed segments and an active one; and a partition with an active one alone."""
    grow(tmp_path / "logs", "t-0", (0, 50), (50, 30), (80, 20))
    grow(tmp_path / "logs", "t-1", (0, 40))
    return tmp_path / "logs"


# ---- how far


def test_closed_segments_are_read_and_then_those_that_close(logs: Path) -> None:
    reader = stream(logs)
    first = reader.initialOffset()
    assert first == {"t": {"0": 0, "1": 0}}
    end = reader.latestOffset(first, ALL)
    assert end == reader.reportLatestOffset() == {"t": {"0": 80, "1": 0}}
    assert offsets(rows(reader, first, end), "t-0") == list(range(80))
    assert reader.latestOffset(end, ALL) == end and reader.partitions(end, end) == []
    grow(logs, "t-0", (100, 20))
    grow(logs, "t-1", (40, 10))
    grow(logs, "other-3", (0, 10), (10, 10))  # a topic that came
    later = reader.latestOffset(end, ALL)
    assert later == {"other": {"3": 10}, "t": {"0": 100, "1": 40}}
    found = rows(reader, end, later)
    assert offsets(found, "t-0") == list(range(80, 100))
    assert offsets(found, "t-1") == list(range(40))
    assert offsets(found, "other-3") == list(range(10))


def test_the_active_segment_up_to_its_last_whole_batch(logs: Path) -> None:
    reader = stream(logs, includeActiveSegment="true")
    start = reader.initialOffset()
    with open(logs / "t-0" / f"{80:020}.log", "ab") as file:
        following = recordpress.write_records([b"x"] * 10, base_offset=100)
        file.write(following[:-3])
        file.flush()
        end = reader.latestOffset(start, ALL)
        assert end == {"t": {"0": 100, "1": 40}}
        assert offsets(rows(reader, start, end), "t-0") == list(range(100))
        file.write(following[-3:])
        file.flush()
        again = reader.latestOffset(end, ALL)
        assert again == {"t": {"0": 110, "1": 40}}
        assert rows(reader, end, again) == [("t", 0, offset) for offset in range(100, 110)]
    # what was read of the active segment is not read again where only closed ones are
    assert stream(logs).latestOffset(again, ALL) == again


def test_a_directory_that_is_empty_at_first(tmp_path: Path) -> None:
    reader = stream(tmp_path)
    assert reader.initialOffset() == {} and reader.latestOffset({}, ALL) == {} and reader.partitions({}, {}) == []
    grow(tmp_path, "t-0", (0, 10), (10, 10))
    assert reader.latestOffset({}, ALL) == {"t": {"0": 10}}
    with pytest.raises(FileNotFoundError):
        stream(tmp_path / "none").initialOffset()


TRANSACTIONS = [
    p for p in oracle.PARTITIONS if p.entry.get("read_committed") and len(p.logs) > 2 and "txn" in p.entry["topic"]
]


@oracle.each("partition", TRANSACTIONS)
@pytest.mark.parametrize("isolation", ["read_committed", "read_uncommitted"])
def test_transactions(partition: oracle.Partition, isolation: str, tmp_path: Path) -> None:
    """Segments come one by one, as a broker writes them: each row is read once, and none of an open transaction."""
    source = partition.write_to(tmp_path / "source")
    place = tmp_path / "logs" / source.name
    place.mkdir(parents=True)
    reader = stream(tmp_path / "logs", isolation_level=isolation)
    start = reader.initialOffset()
    found: list[tuple[str, int, int]] = []
    names = sorted(path.name for path in source.glob("*.log"))
    for number, name in enumerate(names):
        if number % 2 == 0 or number == len(names) - 1:
            for path in source.glob(f"{name[:20]}.*"):  # indexes and snapshots of some
                shutil.copy(path, place)
        else:
            shutil.copy(source / name, place)
        if number == len(names) - 1:
            reader = stream(tmp_path / "logs", isolation_level=isolation, includeActiveSegment="true")
        for end, some in until_the_end(reader, start, ALL):
            start, found = end, found + some
    expected = [row["offset"] for row in partition.consumed(isolation)]
    assert [offset for _, _, offset in found] == expected


# ---- where it begins


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"startingOffsets": "earliest"}, {"0": 0, "1": 0}),
        ({"startingOffsets": "latest"}, {"0": 80, "1": 0}),
        ({"startingOffsets": "latest", "includeActiveSegment": "true"}, {"0": 100, "1": 40}),
        ({"startingOffsets": '{"t": {"0": 33}}'}, {"0": 33, "1": 0}),
        ({"startingOffsets": '{"t": {"0": -1, "1": -2}}'}, {"0": 80, "1": 0}),
        ({"assign": '{"t": [1]}'}, {"1": 0}),
        ({"subscribe": "t", "startingOffsets": "latest"}, {"0": 80, "1": 0}),
    ],
)
def test_beginnings(options: dict[str, str], expected: dict[str, int], logs: Path) -> None:
    grow(logs, "unwanted-0", (0, 10), (10, 10))
    if "assign" not in options:
        options = options | {"subscribePattern": "t"} if "subscribe" not in options else options
    reader = stream(logs, **options)
    start = reader.initialOffset()
    assert start == {"t": expected}
    end = reader.latestOffset(start, ALL)
    assert offsets(rows(reader, start, end), "t-0") == list(range(expected.get("0", 80), end["t"].get("0", 80)))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"startingTimestamp": "1330"}, {"0": 33, "1": 33}),
        ({"startingTimestamp": "1325"}, {"0": 33, "1": 33}),
        ({"startingTimestamp": "0"}, {"0": 0, "1": 0}),
        ({"startingOffsetsByTimestamp": '{"t": {"0": 1500, "1": 1010}}'}, {"0": 50, "1": 1}),
        ({"assign": '{"t": [0]}', "startingTimestamp": "1790"}, {"0": 79}),
    ],
)
def test_a_beginning_by_time(options: dict[str, str], expected: dict[str, int], tmp_path: Path) -> None:
    """The first record that is as late; where it continues is then by offset."""
    for partition in (0, 1):
        directory = tmp_path / f"t-{partition}"
        directory.mkdir()
        for base in (0, 40, 80):
            times = range(1000 + 10 * base, 1400 + 10 * base, 10)
            data = recordpress.write_records([b"v"] * 40, timestamps=list(times), base_offset=base)
            (directory / f"{base:020}.log").write_bytes(data)
        reindex(directory)
    reader = stream(tmp_path, **options)
    start = reader.initialOffset()
    assert start == {"t": expected}
    end = reader.latestOffset(start, ALL)
    assert end == {"t": dict.fromkeys(expected, 80)}
    for number, first in expected.items():
        assert offsets(rows(reader, start, end), f"t-{number}") == list(range(first, 80))


# ---- limits


@pytest.fixture
def long(tmp_path: Path) -> Path:
    root = tmp_path / "long"
    grow(root, "t-0", *((base, 100) for base in range(0, 1100, 100)))
    grow(root, "t-1", *((base, 20) for base in range(0, 220, 20)))
    reindex(root, index_interval_bytes=300)
    return root


@pytest.mark.parametrize("limit", [limits.ReadMaxRows(70), limits.ReadMaxFiles(3), limits.ReadMaxBytes(5000)])
def test_limits(limit: Any, long: Path) -> None:
    """Every batch keeps them, and together they give all."""
    reader = stream(long)
    batches = [found for _, found in until_the_end(reader, reader.initialOffset(), limit)]
    together = [row for found in batches for row in found]
    for place, end in (("t-0", 1000), ("t-1", 200)):
        assert offsets(together, place) == list(range(end))
    assert len(batches) > 3
    per_record = (long / "t-0" / f"{0:020}.log").stat().st_size / 100
    for found in batches:
        if isinstance(limit, limits.ReadMaxRows):
            assert len(found) <= 70
        elif isinstance(limit, limits.ReadMaxFiles):
            assert len({(number, offset // (100, 20)[number]) for _, number, offset in found}) <= 3
        else:
            assert len(found) * per_record <= 5500


@pytest.mark.parametrize("most", [1, 7, 100, 1000, 10**6])
def test_shares_are_fair(most: int) -> None:
    """Of 100 partitions each goes on in every batch, by what it has left (KafkaMicroBatchStream.rateLimit), and all of
    them end after about as many batches."""
    sizes = {("t", number): 5 * number for number in range(100)}
    at = dict.fromkeys(sizes, 0)
    total = sum(sizes.values())
    batches = 0
    while at != sizes:
        then = ends_by_offsets({key: (at[key], end) for key, end in sizes.items()}, most)
        assert all(then[key] > at[key] or at[key] == end for key, end in sizes.items())
        assert all(then[key] <= end for key, end in sizes.items())
        left = sum(sizes.values()) - sum(at.values())
        assert sum(then.values()) - sum(at.values()) <= most + 100
        for key, end in sizes.items():
            share = most * (end - at[key]) // left
            assert then[key] - at[key] <= max(share, 1) or left <= most
        at = then
        batches += 1
    assert batches <= max(2 * -(-total // most), 5 * 99) and batches >= -(-total // (most + 100))


@pytest.mark.parametrize("limit", [limits.ReadMaxFiles(1), limits.ReadMaxBytes(1)])
@pytest.mark.parametrize("ages", ["same", "mixed"])
def test_no_partition_waits_until_another_one_is_empty(ages: str, limit: Any, tmp_path: Path) -> None:
    """The oldest segment is next; of the same age, one of the partition that lags most."""
    for number in range(3):
        grow(tmp_path, f"t-{number}", *((base, 10) for base in range(0, 50, 10)))
    for number, path in enumerate(sorted(tmp_path.rglob("*.log"), key=lambda path: (path.name, path.parent.name))):
        os.utime(path, (1e9, 1e9 + (0 if ages == "same" else number)))
    reader = stream(tmp_path)
    batches = list(until_the_end(reader, reader.initialOffset(), limit))
    served = [found[0][1] for _, found in batches]
    assert served == [0, 1, 2] * 4
    first = tmp_path / "t-2" / f"{0:020}.log"
    os.utime(first, (1e9 - 1, 1e9 - 1))
    assert reader.latestOffset(reader.initialOffset(), limit) == {"t": {"0": 0, "1": 0, "2": 10}}


def test_a_limit_that_is_less_than_a_segment_without_an_index(logs: Path) -> None:
    reader = stream(logs)
    assert [end for end, _ in until_the_end(reader, reader.initialOffset(), limits.ReadMaxBytes(1))] == [
        {"t": {"0": 50, "1": 0}},
        {"t": {"0": 80, "1": 0}},
    ]


@pytest.mark.parametrize(
    ("option", "limit"),
    [
        ("maxOffsetsPerTrigger", limits.ReadMaxRows(5)),
        ("maxFilesPerTrigger", limits.ReadMaxFiles(5)),
        ("maxBytesPerTrigger", limits.ReadMaxBytes(5)),
    ],
)
def test_options_are_limits(option: str, limit: Any, logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert stream(logs, **{option: "5"}).getDefaultReadLimit() == limit
    assert stream(logs).getDefaultReadLimit() == ALL
    monkeypatch.setattr(_stream, "limits", None)
    with pytest.raises(recordpress.InvalidArgumentError, match=f"option {option} needs Spark 4.2 or newer, not"):
        stream(logs, **{option: "5"})


def test_spark_without_limits(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_stream, "limits", None)
    reader = stream(logs)
    start, end = reader.initialOffset(), reader.latestOffset()
    assert end == {"t": {"0": 80, "1": 0}}
    assert offsets(rows(reader, start, end), "t-0") == list(range(80))


def test_what_comes_later_is_not_for_a_query_that_ends(logs: Path) -> None:
    reader = stream(logs)
    reader.prepareForTriggerAvailableNow()
    grow(logs, "t-0", (100, 20))
    grow(logs, "new-0", (0, 10), (10, 10))
    batches = list(until_the_end(reader, reader.initialOffset() | {"new": {"0": 0}}, limits.ReadMaxFiles(1)))
    assert batches[-1][0]["t"] == {"0": 80, "1": 0}
    assert sum(len(found) for _, found in batches) == 80


@pytest.mark.parametrize("is_last_run", [False, True])
def test_partitions_that_are_not_selected_any_more(
    is_last_run: bool, logs: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Their offsets stay, so nothing is lost or there twice when they are selected again; one that is gone is lost."""
    grow(logs, "u-0", (0, 10), (10, 10))
    start = {"t": {"0": 50, "1": 0}, "u": {"0": 5}}
    for options in ({"subscribe": "t"}, {"subscribePattern": "t"}, {"assign": '{"t": [0, 1]}'}):
        reader = stream(logs, **options)
        if is_last_run:
            reader.prepareForTriggerAvailableNow()
        caplog.clear()
        end = reader.latestOffset(start, ALL)
        assert end == {"t": {"0": 80, "1": 0}, "u": {"0": 5}} and reader.latestOffset(end, ALL) == end
        assert caplog.messages == ["u-0 is no longer selected: the query keeps its offset 5"]
        assert rows(reader, start, end) == [("t", 0, offset) for offset in range(50, 80)]
    assert rows(stream(logs), end, stream(logs).latestOffset(end, ALL)) == [("u", 0, offset) for offset in range(5, 10)]
    shutil.rmtree(logs / "u-0")
    reader = stream(logs)
    if is_last_run:
        reader.prepareForTriggerAvailableNow()
    with pytest.raises(recordpress.CorruptRecordError, match="u-0 was deleted; the next offset to read was 5"):
        reader.latestOffset(start, ALL)


@pytest.mark.parametrize("strict", ["true", "false"])
def test_a_planned_batch_is_read_although_its_topic_is_not_selected_any_more(strict: str, logs: Path) -> None:
    """An earlier run planned it, and after it Spark counts its offsets as read."""
    grow(logs, "u-0", (0, 10), (10, 10))
    start, end = {"t": {"0": 50, "1": 0}, "u": {"0": 5}}, {"t": {"0": 80, "1": 0}, "u": {"0": 10}}
    reader = stream(logs, subscribe="t", failOnDataLoss=strict)
    reader.prepareForTriggerAvailableNow()
    expected = [("t", 0, offset) for offset in range(50, 80)] + [("u", 0, offset) for offset in range(5, 10)]
    assert sorted(rows(reader, start, end)) == expected
    assert reader.latestOffset(end, ALL) == end
    shutil.rmtree(logs / "u-0")
    if strict == "true":
        with pytest.raises(recordpress.CorruptRecordError, match="u-0 was deleted before offsets 5 to 9 were read"):
            reader.partitions(start, end)


@pytest.mark.parametrize("options", [{"subscribe": "t,v"}, {"assign": '{"t": [0], "v": [1]}'}], ids=str)
def test_a_query_that_ends_names_the_topics_that_are_not_there(
    options: dict[str, str], logs: Path, caplog: pytest.LogCaptureFixture
) -> None:
    reader = stream(logs, **options)
    assert reader.initialOffset()["t"]["0"] == 0 and caplog.messages == []
    reader.prepareForTriggerAvailableNow()
    assert caplog.messages == [f"{logs} has no topic v now, so this query reads nothing of it"]


# ---- what is gone


def test_retention(logs: Path) -> None:
    """Offsets that are gone are an error which names them, or are passed over."""
    start = {"t": {"0": 20, "1": 0}}
    (logs / "t-0" / f"{0:020}.log").unlink()
    strict, lenient = stream(logs), stream(logs, failOnDataLoss="false")
    with pytest.raises(recordpress.CorruptRecordError, match="t-0: offsets 20 to 49 were deleted before"):
        strict.latestOffset(start, ALL)
    with pytest.raises(
        recordpress.CorruptRecordError,
        match=r"t-0: offsets 20 to 49 were deleted before they were read.*failOnDataLoss=false",
    ):
        strict.partitions(start, {"t": {"0": 80, "1": 0}})
    end = lenient.latestOffset(start, ALL)
    assert end == {"t": {"0": 80, "1": 0}}
    assert offsets(rows(lenient, start, end), "t-0") == list(range(50, 80))
    assert strict.initialOffset() == {"t": {"0": 50, "1": 0}}  # of a new query


def test_partitions_that_are_gone_or_were_made_again(logs: Path) -> None:
    start = {"t": {"0": 50, "1": 0}, "old": {"0": 7}}
    with pytest.raises(recordpress.CorruptRecordError, match="old-0 was deleted; the next offset to read was 7"):
        stream(logs).latestOffset(start, ALL)
    lenient = stream(logs, failOnDataLoss="false")
    assert lenient.latestOffset(start, ALL) == {"t": {"0": 80, "1": 0}}
    with pytest.raises(recordpress.CorruptRecordError, match="old-0 was deleted before offsets 7 to 8 were read"):
        stream(logs).partitions(start, {"old": {"0": 9}})
    assert lenient.partitions(start, {"old": {"0": 9}}) == []
    with pytest.raises(recordpress.CorruptRecordError, match="t-0 ends at offset 100; the next offset to read was 500"):
        stream(logs).latestOffset({"t": {"0": 500, "1": 0}}, ALL)
    assert lenient.latestOffset({"t": {"0": 500, "1": 0}}, ALL) == {"t": {"0": 80, "1": 0}}
    with pytest.raises(recordpress.CorruptRecordError, match="t-0 ends at offset 100; offsets 100 to 119 were"):
        stream(logs).partitions(start, {"t": {"0": 120}})
    grow(logs, "late-0", (30, 10), (40, 10))
    with pytest.raises(
        recordpress.CorruptRecordError, match="late-0: offsets 0 to 29 were deleted before they were read"
    ):
        stream(logs).latestOffset({"t": {"0": 50, "1": 0}}, ALL)


# ---- what is refused


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"endingOffsets": '{"t": {"0": 5}}'}, "option endingOffsets needs spark.read"),
        ({"endingTimestamp": "5"}, "option endingTimestamp needs spark.read"),
        ({"maxFilesPerTrigger": "1", "maxBytesPerTrigger": "1"}, "only one of maxFilesPerTrigger, maxBytesPerTrigger"),
        ({"maxFilesPerTrigger": "0"}, "option maxFilesPerTrigger must be a number from 1"),
        (
            {"maxFilePerTrigger": "1"},
            "unknown option maxFilePerTrigger .did you mean 'maxFilesPerTrigger'.*; options for reading: path",
        ),
        ({"includeActiveSegment": "yes"}, "option includeActiveSegment must be true or false"),
    ],
)
def test_what_a_stream_does_not_take(options: dict[str, str], message: str, logs: Path) -> None:
    with pytest.raises(recordpress.InvalidArgumentError, match=message):
        stream(logs, **options)


def test_what_a_batch_query_does_not_take(logs: Path) -> None:
    for name, value in (
        ("maxOffsetsPerTrigger", "5"),
        ("includeActiveSegment", "true"),
        ("startingOffsets", "latest"),
        ("startingOffsets", '{"t": {"0": -1}}'),
    ):
        source = KafkaLogDataSource({"path": str(logs), name: value})
        with pytest.raises(recordpress.InvalidArgumentError, match=f"option {name}"):
            source.reader(source.schema())


def test_what_has_no_place_in_offsets(logs: Path) -> None:
    with pytest.raises(recordpress.InvalidArgumentError, match="names t-7, which does not exist"):
        stream(logs, startingOffsets='{"t": {"7": 5}}').initialOffset()
    flat = logs.parent / "flat"
    shutil.copytree(logs / "t-0", flat)
    with pytest.raises(recordpress.InvalidArgumentError, match="does not name its topic and partition"):
        stream(flat).initialOffset()


# ---- Spark


def test_a_query_is_started_again(spark: Any, logs: Path, tmp_path: Path) -> None:
    """From its checkpoint, with nothing lost and nothing twice; files of its sink count as one."""

    def run(**options: str) -> list[int]:
        query = (
            spark.readStream.format("recordpress").options(**options).load(str(logs))
            .writeStream.format("parquet").option("path", str(tmp_path / "rows"))
            .option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True).start()
        )  # fmt: skip
        query.awaitTermination(300)
        return [progress.numInputRows for progress in query.recentProgress]

    assert max(run(maxFilesPerTrigger="1")) == 50
    grow(logs, "t-0", (100, 20))
    grow(logs, "t-1", (40, 10))
    grow(logs, "t-2", (0, 10), (10, 10))
    # a batch that was planned but not committed is made again
    for name in ("1", ".1.crc"):
        (tmp_path / "checkpoint" / "commits" / name).unlink()
    run()
    found = spark.read.parquet(str(tmp_path / "rows")).select("topic", "partition", "offset").collect()
    assert sorted(map(tuple, found)) == [
        ("t", number, offset) for number, end in ((0, 100), (1, 40), (2, 10)) for offset in range(end)
    ]
    batch = json.loads(max((tmp_path / "checkpoint" / "offsets").glob("[0-9]*")).read_text().splitlines()[-1])
    assert batch == {"t": {"0": 100, "1": 40, "2": 10}}
    (logs / "t-0" / f"{80:020}.log").unlink()
    (logs / "t-0" / f"{50:020}.log").unlink()
    (logs / "t-0" / f"{0:020}.log").unlink()
    (logs / "t-0" / f"{100:020}.log").unlink()
    grow(logs, "t-0", (200, 10), (210, 10))
    with pytest.raises(Exception, match="t-0: offsets 100 to 199 were deleted before they were read"):
        run()
    run(failOnDataLoss="false")
    found = spark.read.parquet(str(tmp_path / "rows")).where("partition = 0 AND offset >= 100").collect()
    assert sorted(row.offset for row in found) == list(range(200, 210))


def test_what_a_stream_writes_is_there_once(spark: Any, logs: Path, tmp_path: Path) -> None:
    """Batch by batch, with an id for each: one that was written, but not committed to the checkpoint, is made again."""
    written: list[int] = []

    def write(rows: Any, number: int) -> None:
        rows.write.format("recordpress").mode("append").option("writeId", f"copy {number}").save(str(tmp_path / "copy"))
        written.append(number)

    def run() -> None:
        source = spark.readStream.format("recordpress").option("maxFilesPerTrigger", "1").load(str(logs))
        query = source.drop("offset").writeStream.foreachBatch(write).trigger(availableNow=True)
        query.option("checkpointLocation", str(tmp_path / "checkpoint")).start().awaitTermination(300)

    run()
    last = max(written)
    for name in (str(last), f".{last}.crc"):
        (tmp_path / "checkpoint" / "commits" / name).unlink()
    grow(logs, "t-0", (100, 20))
    run()
    assert written.count(last) == 2 and max(written) > last
    found = recordpress.open_log(tmp_path / "copy").read(["partition", "value"]).to_pyarrow().to_pylist()
    assert [row["value"] for row in found] == [b"t-0 %d" % offset for offset in range(100)]
