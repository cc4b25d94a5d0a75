"""Pieces of a log in S3: planned from listings, read by other processes, and copied by them."""

import os
import pickle
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import recordpress
from recordpress.codecs.choice import CodecChoice
from recordpress.log import _extent, _file_records, splits
from recordpress.log.copy import _copy_parts, tasks as copy_tasks

pytestmark = pytest.mark.slow  # an S3 server

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
            data += recordpress.write_records([os.urandom(500) for _ in range(20)], base_offset=offset)
            offset += 20
        (path / f"{base:020d}.log").write_bytes(data)
    recordpress.log.reindex(path)
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
            found += [
                columns.to_pyarrow()
                for columns in splits.read_split(split, ["offset", "value"], splits.ReadOptions(), [])
            ]
    return pa.concat_tables(found)


def test_a_plan_lists_and_reads_nothing(stored: Any, directory: Path) -> None:
    for size in (1 << 20, 1 << 30):
        log = recordpress.open_log(stored.url("logs/backup"))
        pieces = splits.plan(log.partitions, size)
        assert stored.asked("GET") == []
        assert len(pieces) == (4 if size == 1 << 20 else 1)
    assert len(stored.asked("LIST")) <= 2 * 3


def test_parts_of_a_segment_are_fetched_once(stored: Any, directory: Path) -> None:
    """But for an index and one batch where two parts meet."""
    pieces = splits.plan(recordpress.open_log(stored.url("logs/backup")).partitions, 1 << 20)
    table = read(pieces)
    assert table.equals(recordpress.open_log(directory).read(["offset", "value"]).to_pyarrow().combine_chunks())
    fetched = 0
    for path, part in stored.asked("GET"):
        if path.endswith(".log") and part:
            first, last = part.removeprefix("bytes=").split("-")
            fetched += int(last) + 1 - int(first)
    stored_bytes = sum(path.stat().st_size for path in directory.glob("*.log"))
    assert stored_bytes <= fetched < stored_bytes + (6 << 18) * 2  # a quarter of a megabyte at each end of a part


@pytest.mark.parametrize("tail_bytes", [2000, 1 << 20])
def test_segments_that_overlap_without_an_index(s3: Any, tail_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one before a part is asked where it ends: it costs as much as its last batch may have, unless it overlaps."""
    monkeypatch.setattr(_extent, "_TAIL_BYTES", tail_bytes)
    batches = [recordpress.write_records([b"v" * 5000], base_offset=number) for number in range(200)]
    for first, end in ((0, 100), (50, 150), (150, 200)):
        s3.put(f"logs/flat/t-0/{first:020d}.log", b"".join(batches[first:end]))
    pieces = splits.plan(recordpress.open_log(s3.url("logs/flat")).partitions, 1 << 19)
    assert len(pieces) > 2
    assert read(pieces)["offset"].to_pylist() == list(range(200))


def test_a_copy_made_by_others(stored: Any, directory: Path, tmp_path: Path) -> None:
    """The manifest and _SUCCESS are there last; a job that was lost is gone on with."""

    def lost(groups: Any) -> list[Any]:
        send(groups[:2])
        raise RuntimeError("the driver is lost")

    def send(groups: Any) -> list[Any]:
        return [copy_tasks.copy_group(group) for group in pickle.loads(pickle.dumps(groups))]

    job = copy_tasks.TranscodeJob(CodecChoice("lz4"), min_gain=None)
    source, target = stored.url("logs/backup"), stored.url("logs/copy")
    with pytest.raises(RuntimeError, match="lost"):
        copy_tasks.transcode_by(lost, job, source, target, group_bytes=lambda total: 1)
    assert "copy/_SUCCESS" not in stored.keys("logs")
    manifest = copy_tasks.transcode_by(send, job, source, target, group_bytes=lambda total: 1)
    assert manifest.resumed_segments == 2
    names = {key.removeprefix("copy/") for key in stored.keys("logs") if key.startswith("copy/")}
    logs = {f"t-0/{path.name}" for path in directory.glob("*.log")}
    assert logs | {"_SUCCESS", "recordpress-manifest.jsonl"} <= names
    assert not [name for name in names if "_done" in name or name.rpartition("/")[2].startswith(".")]
    copied = recordpress.open_log(target).read(["offset", "value"]).to_pyarrow()
    assert copied.equals(recordpress.open_log(directory).read(["offset", "value"]).to_pyarrow())


def test_a_large_segment_copied_in_parts(
    stored: Any, directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job that was lost left parts; the next one removes them. The result is that of one process."""
    for module in (_file_records, _copy_parts, copy_tasks):
        monkeypatch.setattr(module, "CHUNK_BYTES", 1 << 20)
    rounds = []

    def send(groups: Any) -> list[Any]:
        rounds.append([type(group).__name__ for group in groups])
        return [copy_tasks.copy_group(group) for group in pickle.loads(pickle.dumps(groups))]

    def lost(groups: Any) -> list[Any]:
        send(groups[-1:])
        rounds.clear()
        raise RuntimeError("the driver is lost")

    def transcode(how: Any) -> Any:
        return copy_tasks.transcode_by(
            how,
            copy_tasks.TranscodeJob(CodecChoice("zstd"), min_gain=None),
            source,
            target,
            group_bytes=lambda total: 1 << 20,
            side_by_side=lambda: 2,
        )

    source, target = stored.url("logs/backup"), stored.url("logs/copy")
    with pytest.raises(RuntimeError, match="lost"):
        transcode(lost)
    stored.put(f"logs/copy/t-0/.{0:020d}.log.part.{0:032x}", b"part")
    stored.requests.clear()
    assert transcode(send).resumed_segments == 2
    assert [sorted(set(kinds)) for kinds in rounds] == [["CopyPart"], ["JoinGroup"]]
    fetched = sum(
        int(part.removeprefix("bytes=").split("-")[1]) + 1 - int(part.removeprefix("bytes=").split("-")[0])
        for path, part in stored.asked("GET")
        if path.endswith(".log") and part and "backup" in path
    )
    size = sum(path.stat().st_size for path in directory.glob("*.log"))
    assert fetched < 1.5 * size  # each part is fetched once, and some batches where two of them meet
    recordpress.transcode(directory, tmp_path / "t-0", "zstd", min_gain=None)
    for path in (tmp_path / "t-0").glob("*.log"):
        assert stored.get(f"logs/copy/t-0/{path.name}") == path.read_bytes()
    names = [key.rpartition("/")[2] for key in stored.keys("logs") if key.startswith("copy/")]
    assert not [name for name in names if name.startswith((".", "_done"))]


# ---- files of any kind: there as a whole, or not at all


def write(work: Any, name: str) -> None:
    path = work.files.join(work.path, name)
    work.files.make_directory(work.files.parent(path))
    with work.files.create(path) as writer:
        writer.write(b"data")
        writer.publish()


def left(s3: Any) -> set[str]:
    return {key for key in s3.keys("logs") if key.startswith("out/") and not key.endswith("/")}


def test_files_are_published_as_a_whole(s3: Any) -> None:
    target = s3.url("logs/out")
    with copy_tasks.complete_directory(target) as work:
        write(work, "topic=t/a.parquet")
        assert "out/_SUCCESS" not in left(s3)
        with (
            pytest.raises(recordpress.InvalidArgumentError, match="another call is writing"),
            copy_tasks.complete_directory(target),
        ):
            raise AssertionError("two at once")
    assert left(s3) == {"out/topic=t/a.parquet", "out/_SUCCESS"}
    with pytest.raises(recordpress.InvalidArgumentError, match="exists"), copy_tasks.complete_directory(target):
        raise AssertionError("again")
    assert left(s3) == {"out/topic=t/a.parquet", "out/_SUCCESS"}


def test_what_failed_or_was_killed_leaves_nothing(s3: Any) -> None:
    target = s3.url("logs/out")

    def failing() -> None:
        with copy_tasks.complete_directory(target) as work:
            write(work, "topic=t/a.parquet")
            raise RuntimeError("a task failed")

    with pytest.raises(RuntimeError, match="a task failed"):
        failing()
    assert left(s3) == set()
    s3.put("logs/out/_recordpress-unfinished", b"")  # a driver that was killed
    s3.put("logs/out/topic=t/partition=0/old.parquet", b"old")
    with copy_tasks.complete_directory(target) as work:
        assert left(s3) == {"out/_recordpress-unfinished", *[key for key in left(s3) if "at-work" in key]}
        write(work, "topic=t/b.parquet")
    assert left(s3) == {"out/topic=t/b.parquet", "out/_SUCCESS"}


def test_files_of_others_are_not_touched(s3: Any) -> None:
    s3.put("logs/out/deep/theirs", b"")
    with (
        pytest.raises(recordpress.InvalidArgumentError, match="exists"),
        copy_tasks.complete_directory(s3.url("logs/out")),
    ):
        raise AssertionError("written")
    assert left(s3) == {"out/deep/theirs"}
