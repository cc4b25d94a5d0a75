"""Jobs on a log in a real S3 server, with its requests counted."""

from __future__ import annotations

import os
from collections import Counter
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import recordpress
from files.conftest import S3Server, s3, s3_server  # noqa: F401

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

from recordpress.files import WALK_BYTES
from recordpress.spark import KafkaLogDataSource

LARGE = 20 << 20
READ_BYTES = 8 << 20  # of one request, unless less is left
MEETING_BYTES = 256 << 10  # the most that is read again where two tasks meet: a batch's start or end is found there


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two partitions; one has a segment that is large enough to be cut in two."""
    root = tmp_path_factory.mktemp("logs")
    for partition, sizes in ((0, (LARGE, 50_000)), (1, (50_000, 50_000))):
        path = root / f"t-{partition}"
        path.mkdir()
        offset = 0
        for size in sizes:
            data, base = bytearray(), offset
            while len(data) < size:
                data += recordpress.write_records([os.urandom(1000) for _ in range(100)], base_offset=offset)
                offset += 100
            (path / f"{base:020d}.log").write_bytes(data)
        recordpress.log.reindex(path)
    return root


@pytest.fixture
def stored(s3: S3Server, directory: Path) -> S3Server:  # noqa: F811
    for path in directory.rglob("*.*"):
        s3.put(f"logs/backup/{path.relative_to(directory)}", path.read_bytes())
    s3.requests.clear()
    return s3


def sizes_of(directory: Path) -> dict[str, int]:
    return {f"/logs/backup/{path.relative_to(directory)}": path.stat().st_size for path in directory.rglob("*.log")}


def ranges(server: S3Server, path: str) -> list[tuple[int, int]]:
    """First byte and end of each request for a part of a file."""
    found = [part.removeprefix("bytes=").split("-") for asked, part in server.asked("GET") if asked == path and part]
    return sorted((int(first), int(last) + 1) for first, last in found)


def is_listed_once(server: S3Server) -> bool:
    """Each directory; of the one that was asked for the store is also asked whether it is there."""
    wanted = {"backup/": 2, "backup/t-0/": 1, "backup/t-1/": 1}
    return Counter(prefix for _, prefix in server.asked("LIST") if (prefix or "").startswith("backup")) == wanted


def is_read_once(server: S3Server, directory: Path) -> bool:
    """In large pieces; but for what lies where two tasks meet."""
    for path, size in sizes_of(directory).items():
        end, small = 0, 0
        for first, last in ranges(server, path):
            again = end - first
            assert first <= end and min(again, last - first) <= MEETING_BYTES, (path, ranges(server, path))
            small += last - first < READ_BYTES
            end = max(end, last)
        assert end == size
        assert small <= (5 if size > LARGE else 2), (path, ranges(server, path))  # each task's last, and meetings
    return True


def test_a_plan_reads_no_data(stored: S3Server, directory: Path) -> None:
    source = KafkaLogDataSource({"path": stored.url("logs/backup"), "minPartitions": "2"})
    assert len(source.reader(source.schema()).partitions()) == 2
    assert is_listed_once(stored)
    assert stored.asked("GET") == []


def test_a_query(spark: Any, stored: S3Server, directory: Path) -> None:
    frame = spark.read.format("recordpress").option("minPartitions", "2").load(stored.url("logs/backup"))
    assert stored.requests == []
    assert frame.count() == recordpress.open_log(directory).count()
    assert is_listed_once(stored)
    assert is_read_once(stored, directory)
    indexes = [path for path, _ in stored.asked("GET") if not path.endswith(".log")]
    assert set(indexes) == {"/logs/backup/t-0/" + f"{0:020d}.index"} and len(indexes) <= 2  # of the one that is cut


def test_an_inventory(spark: Any, stored: S3Server, directory: Path) -> None:
    rows = recordpress.spark.inventory(spark, stored.url("logs/backup")).collect()
    assert sum(row.records for row in rows) == recordpress.open_log(directory).count()
    assert is_listed_once(stored)
    for path in sizes_of(directory):
        found = ranges(stored, path)
        assert all(left[1] <= right[0] for left, right in pairwise(found)), (path, found)
        assert all(end - first >= READ_BYTES for first, end in found[:-1])
    assert all(path.endswith(".log") for path, _ in stored.asked("GET"))


def test_a_copy(spark: Any, stored: S3Server, directory: Path) -> None:
    recordpress.spark.transcode(spark, stored.url("logs/backup"), stored.url("logs/copy"), "lz4", min_gain=None)
    assert is_read_once(stored, directory)
    assert recordpress.open_log(stored.url("logs/copy")).count() == recordpress.open_log(directory).count()
    left = [key for key in stored.keys("logs") if key.startswith("copy/") and not key.endswith("/")]
    files = {f"copy/{path.relative_to(directory)}" for path in directory.rglob("*.*")}
    assert set(left) == {*files, "copy/_SUCCESS", "copy/recordpress-manifest.jsonl"}


def test_verify(spark: Any, stored: S3Server, directory: Path) -> None:
    assert recordpress.spark.verify(spark, stored.url("logs/backup"), "record").collect() == []
    assert is_listed_once(stored)
    assert is_read_once(stored, directory)


def test_an_estimate(spark: Any, stored: S3Server, directory: Path) -> None:
    """A few ranges, which the walk over headers and the batches that are taken share."""
    url = stored.url("logs/backup")
    rows = recordpress.spark.estimate(spark, url, "lz4", sample_bytes=4 << 20).collect()
    assert rows and is_listed_once(stored)
    for path, size in sizes_of(directory).items():
        found = ranges(stored, path)
        assert all(left[1] <= right[0] for left, right in pairwise(found)), (path, found)
        assert all(end - first >= min(WALK_BYTES, size) for first, end in found)
        assert size < LARGE or 0 < sum(end - first for first, end in found) < size / 2


def test_a_comparison(spark: Any, stored: S3Server, directory: Path) -> None:
    rows = recordpress.spark.compare(spark, stored.url("logs/backup"), directory).collect()
    assert [row.isSame for row in rows] == [True, True]
    assert is_listed_once(stored)
    assert is_read_once(stored, directory)


def test_parquet(spark: Any, stored: S3Server, directory: Path) -> None:
    recordpress.spark.to_parquet(spark, stored.url("logs/backup"), stored.url("logs/parquet"))
    assert is_listed_once(stored)
    assert is_read_once(stored, directory)
    left = [key for key in stored.keys("logs") if key.startswith("parquet/") and not key.endswith("/")]
    assert [key for key in left if not key.endswith(".parquet")] == ["parquet/_SUCCESS"]
    import pyarrow.parquet as pq

    made = [stored.get(f"logs/{key}") for key in left if key.endswith(".parquet")]
    assert sum(pq.read_metadata(BytesIO(data)).num_rows for data in made) == recordpress.open_log(directory).count()


def test_a_write(spark: Any, stored: S3Server) -> None:
    """What tasks staged is read once, and so is the segment that is made of it; the store itself then copies that to
    its name. Of a partition that grows only the end is read: for the tasks, and by the commit."""
    rows = spark.range(0, 3000, 1, 2).selectExpr("CAST(id AS STRING) AS value")
    write = rows.write.format("recordpress").mode("append").options(topic="w", partitions="1")
    for base in (0, 3000):
        stored.requests.clear()
        write.save(stored.url("logs/written"))
        sent = Counter(path.rpartition("/")[2].split(".")[-1] for path, _ in stored.asked("PUT") if ".log" in path)
        published = f"/logs/written/w-0/{base:020d}.log"
        made = {path for path, _ in stored.asked("PUT") if path.endswith(".log")} - {published}
        read = Counter(path for path, _ in stored.asked("GET") if path.endswith(".log"))
        assert len(made) == 3 and sent["log"] == 4  # two that tasks staged, and the segment made of them
        end = {f"/logs/written/w-0/{0:020d}.log": 2} if base else {}
        assert read == dict.fromkeys(made, 1) | end
        assert all(count == 1 for count in Counter(stored.asked("DELETE")).values())
        assert recordpress.open_log(stored.url("logs/written")).count() == base + 3000
