"""A segment that retention deletes after a query was planned and before its task reads it.

Tasks run in this process: what is tried here is what they do.
"""

from __future__ import annotations

import json
import logging
import pickle
from pathlib import Path
from typing import Any

import pytest

import recordpress

pytest.importorskip("pyspark", reason="pyspark is not installed")
pa: Any = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.spark]

from recordpress.spark import KafkaLogDataSource

MODES = ("FAILFAST", "DROPMALFORMED", "PERMISSIVE")
READ: list[dict[str, str]] = [{}, {"isolation.level": "read_committed"}, {"rows": "batches"}, {"rows": "bytes"}]
BASES = (0, 10, 20, 30)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    directory = tmp_path / "t-0"
    directory.mkdir()
    for base in BASES:
        data = recordpress.write_records([b"%d" % offset for offset in range(base, base + 10)], base_offset=base)
        (directory / f"{base:020d}.log").write_bytes(data)
    return directory


def tasks(log: Path, **options: str) -> tuple[Any, list[Any]]:
    given = {"path": str(log)} | options
    source = KafkaLogDataSource(given)
    reader = source.reader(source.schema())
    return reader, [pickle.loads(pickle.dumps(piece)) for piece in reader.partitions()]


def rows(reader: Any, pieces: list[Any]) -> list[dict[str, Any]]:
    return [row for piece in pieces for batch in reader.read(piece) for row in batch.to_pylist()]


def delete(log: Path, *bases: int) -> list[str]:
    gone = [log / f"{base:020d}.log" for base in bases]
    for path in gone:
        path.unlink()
    return [str(path) for path in gone]


@pytest.mark.parametrize("how", READ, ids=str)
@pytest.mark.parametrize("mode", MODES)
def test_it_is_an_error_in_every_mode(mode: str, how: dict[str, str], log: Path) -> None:
    """Which names the file: it is not damage, which a mode is for."""
    reader, pieces = tasks(log, mode=mode, **how)
    [gone] = delete(log, 0)
    with pytest.raises((FileNotFoundError, recordpress.CorruptRecordError)) as caught:
        rows(reader, pieces)
    assert gone in str(caught.value)
    if isinstance(caught.value, FileNotFoundError):
        assert "failOnDataLoss=false" in "".join(caught.value.__notes__)
    else:
        assert "the file was removed while the log was read" in str(caught.value) and "isolation.level" in how


@pytest.mark.parametrize("how", READ, ids=str)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("bases", [(0,), (0, 10), (10,), (30,), BASES], ids=str)
def test_what_is_there_is_read(
    bases: tuple[int, ...], mode: str, how: dict[str, str], log: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """With failOnDataLoss=false; and what is not is reported, as damage is."""
    reader, pieces = tasks(log, mode=mode, **how, failOnDataLoss="false")
    gone = delete(log, *bases)
    with caplog.at_level(logging.WARNING, "recordpress.spark"):
        found = rows(reader, pieces)
    is_records = "rows" not in how
    reported = [json.loads(row["_corrupt_record"])["file"] for row in found if row.get("_corrupt_record")]
    kept = [row for row in found if not row.get("_corrupt_record")]
    expected = [base for base in BASES if base not in bases]
    assert [row["offset" if is_records else "baseOffset"] for row in kept] == [
        offset for base in expected for offset in (range(base, base + 10) if is_records else [base])
    ]
    assert reported == (gone if mode == "PERMISSIVE" else [])
    assert bool(reported) or all(any(name in message for message in caplog.messages) for name in gone)


def test_parts_of_segments(tmp_path: Path) -> None:
    """A large segment is read in parts: all of them are gone, and each says so."""
    directory = tmp_path / "t-0"
    directory.mkdir()
    for base in (0, 100):
        batches = [recordpress.write_records([bytes(100_000)], base_offset=base + number) for number in range(100)]
        (directory / f"{base:020d}.log").write_bytes(b"".join(batches))
    reader, pieces = tasks(directory, minPartitions="4", failOnDataLoss="false", columns="offset")
    assert len(pieces) > 2
    delete(directory, 0)
    assert [row["offset"] for row in rows(reader, pieces)] == list(range(100, 200))


@pytest.mark.parametrize("lenient", [False, True])
def test_of_a_batch_of_a_stream(lenient: bool, log: Path) -> None:
    """Its offsets are in the checkpoint already: it is an error, or the query continues after what is gone."""
    given = {"path": str(log), "failOnDataLoss": str(not lenient).lower(), "columns": "offset"}
    source = KafkaLogDataSource(given)
    reader = source.streamReader(source.schema())
    start, end = reader.initialOffset(), {"t": {"0": 30}}
    pieces = pickle.loads(pickle.dumps(reader.partitions(start, end)))
    delete(log, 0)
    if lenient:
        assert [row["offset"] for row in rows(reader, pieces)] == list(range(10, 30))
    else:
        with pytest.raises(FileNotFoundError):
            rows(reader, pieces)
