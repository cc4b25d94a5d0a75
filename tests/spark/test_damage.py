"""Damage of any kind, in every job by reference: it is reported, and where that is asked for it fails no job.

Tasks run in this process: what is tried here is what they do.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import recordpress
from recordpress._json_keys import camel_keys

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.spark, pytest.mark.usefixtures("in_this_process")]

from recordpress.checksum import crc32c
from recordpress.errors import RecordpressError
from recordpress.log import Finding
from recordpress.spark import KafkaLogDataSource

BATCHES, RECORDS = 6, 20
LENGTH, MAGIC, CRC, ATTRIBUTES, COUNT = 8, 16, 17, 21, 57  # where the fields of a v2 batch begin


def batches() -> list[bytes]:
    values = [b"value %d " % number * 20 for number in range(RECORDS)]
    values = [b"value %d " % number * 20 for number in range(RECORDS)]
    firsts = range(0, BATCHES * RECORDS, RECORDS)
    return [recordpress.write_records(values, compression_type="zstd", base_offset=first) for first in firsts]


def changed(at: int, data: bytes, *, checksum: bool = False) -> Callable[[Path], None]:
    """The third of six batches, with other bytes in it."""

    def change(path: Path) -> None:
        parts = [bytearray(batch) for batch in batches()]
        parts[2][at : at + len(data)] = data
        if checksum:
            parts[2][CRC:ATTRIBUTES] = struct.pack(">I", crc32c(parts[2][ATTRIBUTES:]))
        path.write_bytes(b"".join(parts))

    return change


def twice(path: Path) -> None:
    """The third and the fifth batch."""
    parts = [bytearray(batch) for batch in batches()]
    parts[2][100] ^= 1
    parts[4][100] ^= 1
    path.write_bytes(b"".join(parts))


def bomb(path: Path) -> None:
    """Ten megabytes of a few kilobytes, which say that they are one record."""
    parts = batches()
    parts[2] = recordpress.write_records([bytes(10 << 20)], compression_type="zstd", base_offset=2 * RECORDS)
    large = bytearray(parts[2])
    large[COUNT : COUNT + 4] = struct.pack(">i", RECORDS)
    large[CRC:ATTRIBUTES] = struct.pack(">I", crc32c(large[ATTRIBUTES:]))
    path.write_bytes(b"".join([*parts[:2], bytes(large), *parts[3:]]))


DAMAGE: dict[str, Callable[[Path], None]] = {
    "a bit of the records": changed(100, b"\xff\xff"),
    "a bit of two batches": twice,
    "records that do not decompress": changed(70, bytes(20), checksum=True),
    "an unknown codec": changed(ATTRIBUTES, b"\x00\x07", checksum=True),
    "too many records": changed(COUNT, struct.pack(">i", 1 << 30), checksum=True),
    "an unknown magic": changed(MAGIC, b"\x09"),
    "a length below that of a header": changed(LENGTH, struct.pack(">i", 3)),
    "a length beyond the file": changed(LENGTH, struct.pack(">i", (1 << 31) - 1)),
    "a hole of zeros": changed(0, bytes(200)),
    "more than it says": bomb,
    "a cut end": lambda path: path.write_bytes(b"".join(batches())[:-9]),
    "no batch at all": lambda path: path.write_bytes(b"no batch" * 1000),
    "zeros": lambda path: path.write_bytes(bytes(5000)),
}
# what headers do not show
DEEP = {
    "a bit of the records",
    "a bit of two batches",
    "records that do not decompress",
    "an unknown codec",
    "too many records",
    "more than it says",
}


@pytest.fixture(params=DAMAGE, ids=lambda name: name.replace(" ", "_"))
def damaged(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Path]:
    """A log of two partitions; the first segment of one is damaged."""
    for partition in (0, 1):
        directory = tmp_path / "logs" / f"t-{partition}"
        directory.mkdir(parents=True)
        intact = b"".join(batches())
        last = recordpress.write_records([b"last"] * RECORDS, base_offset=BATCHES * RECORDS)
        (directory / f"{0:020d}.log").write_bytes(intact)
        (directory / f"{BATCHES * RECORDS:020d}.log").write_bytes(last)
    DAMAGE[request.param](tmp_path / "logs" / "t-1" / f"{0:020d}.log")
    return request.param, tmp_path / "logs"


def findings_of(rows: Any, key: str = "findings") -> list[str]:
    return [str(finding) for row in rows for finding in row[key]]


def test_what_is_damaged_is_reported_and_the_rest_is_done(damaged: tuple[str, Path], tmp_path: Path) -> None:
    name, logs = damaged
    path = str(logs / "t-1" / f"{0:020d}.log")
    found: dict[str, list[str]] = {}

    for full in (False, True):
        rows = recordpress.spark.inventory(None, logs, full=full)
        assert [(row["partition"], row["segments"]) for row in rows] == [(0, 2), (1, 2)]
        assert rows[0]["findings"] == [] and rows[0]["records"] == (BATCHES + 1) * RECORDS
        found[f"inventory, full={full}"] = findings_of(rows)

    rows = recordpress.spark.estimate(None, logs, "lz4")
    assert rows[0]["sampledRecords"] >= (BATCHES + 2) * RECORDS
    found["estimate"] = findings_of(rows)

    rows = recordpress.spark.verify(None, logs, "record")
    assert {row["partition"] for row in rows if row["file"].endswith(".log")} == {1}
    found["verify"] = [str(Finding(*[row[name] for name in camel_keys(Finding.__annotations__)])) for row in rows]

    rows = recordpress.spark.to_parquet(None, logs, tmp_path / "parquet", on_corrupt="skip")
    assert sum(row["records"] for row in rows if row["partition"] == 0) == (BATCHES + 1) * RECORDS
    found["to_parquet"] = findings_of(rows)

    rows = recordpress.spark.compare(None, logs, logs, on_corrupt="skip")
    assert [row["isSame"] for row in rows] == [True, False]
    found["compare"] = findings_of(rows)

    rows = recordpress.spark.transcode(None, logs, tmp_path / "copy", "lz4", on_corrupt="quarantine")
    assert [row["quarantined"] for row in rows] == [[], [f"t-1/{0:020d}.log.quarantined"]]
    assert [row["records"] for row in rows] == [(BATCHES + 1) * RECORDS, RECORDS]
    found["transcode"] = findings_of(rows)

    for job, findings in found.items():
        is_expected = not (name in DEEP and job.startswith("inventory"))
        assert any(path in finding for finding in findings) == is_expected, (job, findings)


def test_a_partition_of_nothing_but_damage_has_no_parquet_file(tmp_path: Path) -> None:
    (tmp_path / "t-0").mkdir()
    DAMAGE["no batch at all"](tmp_path / "t-0" / f"{0:020d}.log")
    [row] = recordpress.spark.to_parquet(None, tmp_path / "t-0", tmp_path / "parquet", on_corrupt="skip")
    assert row["records"] == 0 and "file" not in row and len(row["findings"]) == 1
    assert [path.name for path in (tmp_path / "parquet").iterdir()] == ["_SUCCESS"]


def test_otherwise_the_job_fails_and_leaves_nothing(damaged: tuple[str, Path], tmp_path: Path) -> None:
    _, logs = damaged
    jobs: list[Callable[[], Any]] = [
        lambda: recordpress.spark.to_parquet(None, logs, tmp_path / "parquet"),  # type: ignore[arg-type]
        lambda: recordpress.spark.compare(None, logs, logs),  # type: ignore[arg-type]
        lambda: recordpress.spark.transcode(None, logs, tmp_path / "copy", "lz4"),  # type: ignore[arg-type]
    ]
    for job in jobs:
        with pytest.raises(RecordpressError, match=rf"t-1/{0:020d}\.log"):
            job()
    assert list(tmp_path.iterdir()) == [logs]


def rows_of(logs: Path, **options: str) -> list[dict[str, Any]]:
    """The rows of a query, task by task."""
    source = KafkaLogDataSource({"path": str(logs)} | options)
    reader = source.reader(source.schema())
    return [row for piece in reader.partitions() for batch in reader.read(piece) for row in batch.to_pylist()]


def test_each_mode_of_a_query(damaged: tuple[str, Path], tmp_path: Path) -> None:
    """FAILFAST says where; DROPMALFORMED gives what is whole; PERMISSIVE the same rows, and where the rest was."""
    name, logs = damaged
    path = str(logs / "t-1" / f"{0:020d}.log")
    with pytest.raises(RecordpressError, match=rf"t-1/{0:020d}\.log"):
        rows_of(logs)
    left = rows_of(logs, mode="DROPMALFORMED")
    intact = [(0, offset) for offset in range((BATCHES + 1) * RECORDS)]
    assert [row for row in left if row["partition"] == 0] == rows_of(logs / "t-0")
    found = [(row["partition"], row["offset"]) for row in left]
    assert sorted(found) == sorted(set(found)) and set(intact) < set(found)
    lost = {offset for _, offset in intact} - {offset for partition, offset in found if partition == 1}
    third, fifth = (set(range(number * RECORDS, (number + 1) * RECORDS)) for number in (2, 4))
    if name in ("no batch at all", "zeros"):
        assert lost == set(range(BATCHES * RECORDS))
    elif name == "a cut end":
        assert lost == set(range((BATCHES - 1) * RECORDS, BATCHES * RECORDS))
    else:
        assert lost == (third | fifth if name == "a bit of two batches" else third)

    reported = rows_of(logs, mode="PERMISSIVE")
    corrupt = [row for row in reported if row["_corrupt_record"] is not None]
    assert [row for row in reported if row not in corrupt] == [row | {"_corrupt_record": None} for row in left]
    assert len(corrupt) == (2 if name == "a bit of two batches" else 1)
    assert all(path in row["_corrupt_record"] for row in corrupt)


@pytest.mark.parametrize("options", [{}, {"maxRecordsPerPartition": str((BATCHES + 1) * RECORDS)}])
def test_every_partition_of_every_task_reports(options: dict[str, str], tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    for partition in range(3):
        (logs / f"t-{partition}").mkdir(parents=True)
        twice(logs / f"t-{partition}" / f"{0:020d}.log")
        last = recordpress.write_records([b"last"] * RECORDS, base_offset=BATCHES * RECORDS)
        (logs / f"t-{partition}" / f"{BATCHES * RECORDS:020d}.log").write_bytes(last)
    reported = rows_of(logs, mode="PERMISSIVE", **options)
    corrupt = [row for row in reported if row["_corrupt_record"] is not None]
    assert [(row["partition"], row["offset"]) for row in corrupt] == [
        (partition, number * RECORDS) for partition in range(3) for number in (2, 4)
    ]
    assert len(reported) == len(corrupt) + 3 * (BATCHES + 1 - 2) * RECORDS
