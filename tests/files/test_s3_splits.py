"""Pieces of a log in S3: planned from listings, read by other processes, and copied by them."""

import os
import pickle
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import kpress
from kpress.log import copy_tasks, splits

SEGMENT_BYTES = 3 << 20


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A partition of one large segment with an index and two small ones, of bytes that do not compress."""
    path = tmp_path_factory.mktemp("logs") / "t-0"
    path.mkdir()
    offset = 0
    for size in (SEGMENT_BYTES, 50_000, 50_000):
        data, base = b"", offset
        while len(data) < size:
            data += kpress.write_records([os.urandom(500) for _ in range(20)], base_offset=offset)
            offset += 20
        (path / f"{base:020d}.log").write_bytes(data)
    kpress.log.reindex(path)
    return path


@pytest.fixture
def stored(s3: Any, directory: Path) -> Any:
    for path in directory.iterdir():
        s3.put(f"logs/backup/t-0/{path.name}", path.read_bytes())
    s3.requests.clear()
    return s3


def read(pieces: Any) -> pa.Table:
    found = []
    for piece in pickle.loads(pickle.dumps(pieces)):
        for split in piece:
            found += [columns.to_pyarrow() for columns in splits.read_split(split, ["offset", "value"], findings=[])]
    return pa.concat_tables(found)


def test_a_plan_lists_and_reads_nothing(stored: Any, directory: Path) -> None:
    for size in (1 << 20, 1 << 30):
        log = kpress.open_log(stored.url("logs/backup"))
        pieces = splits.plan(log.partitions, size)
        assert stored.asked("GET") == []
        assert len(pieces) == (4 if size == 1 << 20 else 1)
    assert len(stored.asked("LIST")) <= 2 * 3


def test_parts_of_a_segment_are_fetched_once(stored: Any, directory: Path) -> None:
    """But for an index and one batch where two parts meet."""
    pieces = splits.plan(kpress.open_log(stored.url("logs/backup")).partitions, 1 << 20)
    table = read(pieces)
    assert table.equals(kpress.open_log(directory).read(["offset", "value"]).to_pyarrow().combine_chunks())
    fetched = 0
    for path, part in stored.asked("GET"):
        if path.endswith(".log") and part:
            first, last = part.removeprefix("bytes=").split("-")
            fetched += int(last) + 1 - int(first)
    stored_bytes = sum(path.stat().st_size for path in directory.glob("*.log"))
    assert stored_bytes <= fetched < stored_bytes + (6 << 18) * 2  # a quarter of a megabyte at each end of a part


def test_a_copy_made_by_others(stored: Any, directory: Path, tmp_path: Path) -> None:
    """The manifest and _SUCCESS are there last; a job that was lost is gone on with."""

    def lost(groups: Any) -> list[Any]:
        send(groups[:2])
        raise RuntimeError("the driver is lost")

    def send(groups: Any) -> list[Any]:
        return [copy_tasks.copy_group(group) for group in pickle.loads(pickle.dumps(groups))]

    source, target = stored.url("logs/backup"), stored.url("logs/copy")
    with pytest.raises(RuntimeError, match="lost"):
        copy_tasks.transcode_by(lost, source, target, "lz4", min_gain=None, group_bytes=lambda total: 1)
    assert "copy/_SUCCESS" not in stored.keys("logs")
    manifest = copy_tasks.transcode_by(send, source, target, "lz4", min_gain=None, group_bytes=lambda total: 1)
    assert manifest.resumed_segments == 2
    names = {key.removeprefix("copy/") for key in stored.keys("logs") if key.startswith("copy/")}
    logs = {f"t-0/{path.name}" for path in directory.glob("*.log")}
    assert logs | {"_SUCCESS", "kpress-manifest.json"} <= names
    assert not [name for name in names if "_done" in name or name.rpartition("/")[2].startswith(".")]
    copied = kpress.open_log(target).read(["offset", "value"]).to_pyarrow()
    assert copied.equals(kpress.open_log(directory).read(["offset", "value"]).to_pyarrow())
