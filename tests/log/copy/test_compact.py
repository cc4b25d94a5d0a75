"""compact: small segments merged where they are. Records, offsets and what a broker keeps about producers stay."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import recordpress
from recordpress.files import JoinedFiles, LocalFileSystem
from recordpress.log import compact, reindex, scan, verify
from recordpress.log.publish import commit_staged as _publish

T = 1_700_000_000_000


def values(start: int, count: int) -> list[bytes]:
    return [b"%d of some words" % number for number in range(start, start + count)]


def segment(directory: Path, start: int, count: int, codec: str = "none", base: int | None = None) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{start if base is None else base:020}.log"
    options: Any = {"timestamps": T, "base_offset": start, "compression_type": codec}
    path.write_bytes(recordpress.write_records(values(start, count), **options))
    return path


def small(root: Path, count: int = 20, codecs: Sequence[str] = ("none",)) -> Path:
    """A partition of segments with 10 records each, as a streaming sink leaves it."""
    for number in range(count):
        segment(root / "t-0", 10 * number, 10, codecs[number * len(codecs) // count])
    reindex(root)
    return root / "t-0"


def records(path: Path, **options: Any) -> list[Any]:
    names = ["topic", "partition", "offset", "timestamp", "key", "value", "headers"]
    return [
        row
        for columns in recordpress.open_log(path).read(names, **options)
        for row in zip(*(columns[name].to_pylist() for name in names), strict=True)
    ]


def names(directory: Path, ending: str = ".log") -> list[int]:
    return sorted(int(path.name[:20]) for path in directory.glob(f"*{ending}"))


def is_clean(root: Path) -> bool:
    return not list(root.rglob(".*")) and scan(root).findings == [] and verify(root, "record").findings == []


def test_small_segments_become_one(tmp_path: Path) -> None:
    directory = small(tmp_path)
    before = records(tmp_path)
    whole = sum(path.stat().st_size for path in sorted(directory.glob("*.log"))[:-1])
    [done] = compact(tmp_path)
    expected = recordpress.write_records(values(0, 190), timestamps=T)
    assert (directory / f"{0:020}.log").read_bytes() == expected
    assert done == recordpress.log.CompactedPartition("t", 0, 19, 1, 190, 19, 1, whole, len(expected))
    assert names(directory) == names(directory, ".index") == names(directory, ".timeindex") == [0, 190]
    assert names(directory, ".snapshot") == [190, 200]
    assert records(tmp_path) == before
    assert is_clean(tmp_path)
    assert compact(tmp_path) == []


def test_batches_keep_their_codec_and_are_joined_up_to_a_size(tmp_path: Path) -> None:
    codecs = ("zstd", "lz4", "none", "gzip")
    directory = small(tmp_path, 40, codecs)
    before = records(tmp_path)
    compact(tmp_path, batch_bytes=2000)
    headers = list(recordpress.read_batches((directory / f"{0:020}.log").read_bytes()))
    assert [one.compression_type for one in headers] == sorted(
        (one.compression_type for one in headers), key=codecs.index
    )
    assert {one.compression_type for one in headers} == set(codecs)
    assert 8 <= len(headers) < 20 and all(one.size <= 2100 for one in headers)
    assert records(tmp_path) == before
    compact(tmp_path, compression_type="lz4", include_active_segment=True, batch_bytes=1 << 20)
    [batch] = recordpress.read_batches((directory / f"{0:020}.log").read_bytes())
    assert (batch.compression_type, batch.records_count) == ("lz4", 400)
    assert records(tmp_path) == before
    assert is_clean(tmp_path)


def test_which_segments_are_merged(tmp_path: Path) -> None:
    """Neighbours up to a size, and within the offsets that an index can hold; not those that are large already."""
    directory = tmp_path / "t-0"
    for start, count in ((0, 10), (10, 10), (20, 100), (120, 10), (130, 10), (140, 10), (150, 10)):
        segment(directory, start, count)
    far = 200 + (1 << 31)
    segment(directory, 200, 1)
    segment(directory, far, 1)
    segment(directory, far + 1, 1)
    reindex(tmp_path)
    before = records(tmp_path)
    size = (directory / f"{130:020}.log").stat().st_size
    done = compact(tmp_path, segment_bytes=3 * size, batch_bytes=1)
    assert names(directory) == [0, 20, 120, 150, 200, far, far + 1]
    assert [(one.segments_before, one.segments_after, one.batches_after) for one in done] == [(5, 2, 5)]
    compact(tmp_path, include_active_segment=True)
    assert names(directory) == [0, 200, far]
    assert records(tmp_path) == before
    assert is_clean(tmp_path)


def test_other_topics_and_files_stay(tmp_path: Path) -> None:
    small(tmp_path / "logs" / "x", 3)
    (tmp_path / "logs" / "t-0").symlink_to(tmp_path / "logs" / "x" / "t-0")
    segment(tmp_path / "logs" / "one-0", 0, 10)
    (tmp_path / "logs" / "one-0" / "partition.metadata").write_text("version: 0\n")
    assert compact(tmp_path / "logs") == []
    with pytest.raises(recordpress.InvalidArgumentError, match="pass the log dir"):
        compact(tmp_path / "logs" / "one-0")
    with pytest.raises(recordpress.InvalidArgumentError, match="segment_bytes"):
        compact(tmp_path, segment_bytes=0)
    with pytest.raises(FileNotFoundError):
        compact(tmp_path / "none")


# ---- producers


def batch(start: int, producer: int, sequence: int, **options: Any) -> bytes:
    made = recordpress.BatchBuilder(
        base_offset=start, producer_id=producer, producer_epoch=0, base_sequence=sequence, **options
    )
    for value in values(start, 2):
        made.append(value, timestamp=T)
    return made.build()


def marker(start: int, producer: int, commits: bool) -> bytes:
    made = recordpress.BatchBuilder(
        base_offset=start, is_control=True, is_transactional=True, producer_id=producer, producer_epoch=0
    )
    made.append_end_txn_marker(commits, 3, timestamp=T)
    return made.build()


def test_producers_are_kept(tmp_path: Path) -> None:
    """A broker compares a retry with the last five batches of a producer, in every snapshot that stays."""
    directory = tmp_path / "t-0"
    directory.mkdir()
    for number in range(20):
        (directory / f"{2 * number:020}.log").write_bytes(batch(2 * number, 7, 2 * number))
    reindex(tmp_path)
    snapshot = (directory / f"{38:020}.snapshot").read_bytes()
    before = records(tmp_path)
    compact(tmp_path)
    data = (directory / f"{0:020}.log").read_bytes()
    assert [one.records_count for one in recordpress.read_batches(data)] == [28, 2, 2, 2, 2, 2]
    assert {(one.producer_id, one.base_sequence - one.base_offset) for one in recordpress.read_batches(data)} == {
        (7, 0)
    }
    assert (directory / f"{38:020}.snapshot").read_bytes() == snapshot
    assert names(directory, ".snapshot") == [38, 40]
    assert records(tmp_path) == before
    assert is_clean(tmp_path)


def test_transactions_are_kept(tmp_path: Path) -> None:
    """Aborted ones that begin before the merged segments, in them and after; without their index they are not lost."""
    directory = tmp_path / "t-0"
    directory.mkdir()
    parts: list[bytes] = []
    for number in range(16):
        start = 3 * number
        producer = 8 if number in (3, 4) else 7
        parts.append(batch(start, producer, 2 * number, is_transactional=True))
        if number in (1, 4, 6, 8, 15):
            parts[-1] += marker(start + 2, producer, commits=number not in (1, 4, 15))
    sizes = [(0, 1), (1, 2), (2, 5), (5, 9), (9, 15), (15, 16)]
    for first, end in sizes:
        (directory / f"{3 * first:020}.log").write_bytes(b"".join(parts[first:end]))
    reindex(tmp_path)
    assert names(directory, ".txnindex") == [3, 6, 45]
    before = [records(tmp_path, isolation_level=level) for level in ("read_committed", "read_uncommitted")]
    aborted = recordpress.open_log(tmp_path).partitions[0].transactions()
    without = directory / f"{6:020}.txnindex"
    hidden = without.rename(tmp_path / "hidden")
    with pytest.raises(recordpress.CorruptRecordError, match="run recordpress reindex") as caught:
        compact(tmp_path)
    assert caught.value.file == str(directory / f"{6:020}.log")
    hidden.rename(without)
    compact(tmp_path)
    assert names(directory) == [0, 45] and names(directory, ".txnindex") == [0, 45]
    assert [records(tmp_path, isolation_level=level) for level in ("read_committed", "read_uncommitted")] == before
    assert recordpress.open_log(tmp_path).partitions[0].transactions() == aborted
    index = (directory / f"{0:020}.txnindex").read_bytes()
    (directory / f"{0:020}.txnindex").unlink()
    reindex(tmp_path)
    assert (directory / f"{0:020}.txnindex").read_bytes() == index
    assert is_clean(tmp_path)


# ---- when something fails


def test_damage_is_named_and_nothing_changes(tmp_path: Path) -> None:
    directory = small(tmp_path)
    path = directory / f"{70:020}.log"
    good = path.read_bytes()
    for data, position in ((good[:100] + b"\xff" + good[101:], 0), (good + bytes(30), None), (good + good, None)):
        path.write_bytes(data)
        before = {one: one.read_bytes() for one in directory.iterdir()}
        with pytest.raises(recordpress.CorruptRecordError) as caught:
            compact(tmp_path, threads=2)
        if position is not None:
            assert (caught.value.file, caught.value.position) == (str(path), position)
        assert {one: one.read_bytes() for one in directory.iterdir()} == before
        assert os.listdir(tmp_path) == ["t-0"]
    path.write_bytes(good)
    last = directory / f"{190:020}.log"
    last.write_bytes(last.read_bytes() + b"cut")
    with pytest.raises(recordpress.CorruptRecordError, match="the last 3 bytes are not an entry"):
        compact(tmp_path, include_active_segment=True)
    [done] = compact(tmp_path)
    assert done.segments_before == 19


def test_a_segment_that_another_program_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After it was listed or after it was merged: the job ends, and the segment stays."""
    directory = small(tmp_path)
    path = directory / f"{70:020}.log"
    other = recordpress.write_records(values(5000, 10), timestamps=T, base_offset=70)
    check = _publish._check_merged

    def late(*arguments: Any) -> None:
        path.write_bytes(other)
        check(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(_publish, "_check_merged", late)
        with pytest.raises(recordpress.StorageError, match="run the job again") as caught:
            compact(tmp_path)
    assert caught.value.file == str(path)
    opened = JoinedFiles.read_at

    def longer(self: JoinedFiles, *arguments: Any) -> bytes:
        path.write_bytes(other + other)
        return opened(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(JoinedFiles, "read_at", longer)
        with pytest.raises(recordpress.CorruptRecordError, match="replaced or written to"):
            compact(tmp_path)
    path.write_bytes(other)
    assert len(names(directory)) == 20 and os.listdir(tmp_path) == ["t-0"]
    assert records(tmp_path)[70][5] == b"5000 of some words"


class Killed(BaseException):
    pass


@pytest.mark.slow
def test_a_call_that_is_killed_between_any_two_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every record is there at any time, and the next call leaves what an uninterrupted one does."""
    calls = ("move", "delete", "create", "list", "make_directory", "delete_directory", "info")
    finished = 0
    for step in range(1, 400, 3):
        root = tmp_path / str(step)
        small(root, 4)
        before = records(root)
        left = [step]

        def dying(function: Any, left: list[int] = left) -> Any:
            def call(*arguments: Any) -> Any:
                left[0] -= 1
                if left[0] <= 0:
                    raise Killed
                return function(*arguments)

            return call

        with monkeypatch.context() as patch:
            for name in calls:
                patch.setattr(LocalFileSystem, name, dying(getattr(LocalFileSystem, name)))
            patch.setattr(_publish, "is_dead", lambda *arguments: True)
            try:
                compact(root)
            except Killed:
                pass
            else:
                break
        assert records(root) == before, step
        for job in root.glob(".recordpress-staging/*/*.owner.json"):
            job.write_text(json.dumps(json.loads(job.read_text()) | {"process": 1 << 40}))
        for path in root.glob(".recordpress-staging/*"):
            if not list(path.glob("*.owner.json")):
                os.utime(path, (0, 0))
        finished += compact(root) == []
        assert names(root / "t-0") == [0, 30] and records(root) == before, step
        assert is_clean(root), step
    assert step > 20 and finished > 2


def test_a_committed_file_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The segments that it was to replace stay."""
    directory = small(tmp_path, 6)

    def killed(*arguments: Any) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(LocalFileSystem, "move", killed)
        with pytest.raises(Killed):
            compact(tmp_path)
    [merged] = tmp_path.glob(".recordpress-staging/*/*/*.log")
    merged.unlink()
    for _ in range(2):
        with pytest.raises(recordpress.StorageError, match="a segment of a committed job is gone"):
            compact(tmp_path)
    assert names(directory) == [0, 10, 20, 30, 40, 50] and len(records(tmp_path)) == 60


def test_a_log_that_was_opened_before(tmp_path: Path) -> None:
    """It is no longer what its listing says: records would be there twice."""
    small(tmp_path)
    opened = recordpress.open_log(tmp_path)
    reader = opened.read(["offset"], start_offset=5)
    compact(tmp_path)
    for read in (lambda: list(reader), lambda: list(opened.read(["offset"])), lambda: list(opened.batches())):
        with pytest.raises(recordpress.CorruptRecordError, match="open the log again") as caught:
            read()
        assert caught.value.file == str(tmp_path / "t-0" / f"{0:020}.log")


def test_offsets_that_go_back_are_refused(tmp_path: Path) -> None:
    directory = small(tmp_path, 4)
    segment(directory, 15, 3, base=20)
    with pytest.raises(recordpress.CorruptRecordError, match="no index can hold them") as caught:
        compact(tmp_path)
    assert caught.value.rule == "offset order" and names(directory) == [0, 10, 20, 30]
    assert os.listdir(tmp_path) == ["t-0"]
