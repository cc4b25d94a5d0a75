"""recordpress.transcode: a log under another codec; killed, run again, refused, and what its manifest says."""

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import oracle
import recordpress
from log.copy.test_join import Writer
from log.some_partitions import of_each_kind, without_slow
from patience import HANG
from recordpress.files import _local, read_back
from recordpress.log import Manifest, Progress, reindex
from recordpress.log.copy import _copy_log
from recordpress.log.sidecars import read_snapshot
from segments import read_content
from together import THOROUGH, thinned

DEMO = Path(__file__).parents[3] / "demo" / "logs"
MANIFEST = "recordpress-manifest.jsonl"
STILL_VALID = {".snapshot", ".txnindex"}
T = 1_700_000_000_000


def segment(first: int, batches: int = 20, records: int = 50, codec: str = "snappy") -> bytes:
    return b"".join(
        recordpress.write_records(
            [b"a line of text, number %d" % (first + i * records + j) for j in range(records)],
            timestamps=[T + i] * records,
            base_offset=first + i * records,
            compression_type=codec,
        )
        for i in range(batches)
    )


def make_logs(root: Path, partitions: int = 2, segments: int = 3, batches: int = 20) -> Path:
    for partition in range(partitions):
        directory = root / f"orders-{partition}"
        directory.mkdir(parents=True)
        for number in range(segments):
            first = number * batches * 50
            (directory / f"{first:020d}.log").write_bytes(segment(first, batches))
            (directory / f"{first:020d}.index").write_bytes(b"")
        (directory / "leader-epoch-checkpoint").write_text("0\n1\n0 0\n")
    return root


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    return make_logs(tmp_path / "logs")


def contents(root: Path) -> dict[str, str]:
    return {str(path.relative_to(root)): read_content(path).digest for path in sorted(root.rglob("*.log"))}


def names(root: Path) -> set[str]:
    return {path.name for path in root.iterdir()}


# ---- what is written


def test_every_directory_of_the_brokers(tmp_path: Path) -> None:
    """At once, and each segment's records are those of its source."""
    found = 0
    for number, partition in enumerate(of_each_kind(without_slow(oracle.PARTITIONS))):
        root = tmp_path / f"{number}"
        source = partition.write_to(root)
        codec = "zstd" if all(b.magic == 2 for log in partition.logs for b in _batches(log)) else "gzip"
        try:
            before = contents(source)
        except recordpress.RecordpressError:
            with pytest.raises(recordpress.RecordpressError):
                recordpress.transcode(source, root / "copy", codec)
            assert names(root) == {source.name}
            continue
        if not before:
            continue
        manifest = recordpress.transcode(source, root / "copy", codec, threads=2, batch_bytes=1 << 16)
        assert isinstance(manifest, Manifest)
        copy = root / "copy" / source.name
        assert contents(copy) == before
        assert {one.file: one.digest for one in manifest.segments} == before
        valid = {path.name for path in source.iterdir() if path.suffix in STILL_VALID}
        assert valid <= names(copy)
        snapshots = {name for name in valid if name.endswith(".snapshot")}
        assert all((copy / name).read_bytes() == (source / name).read_bytes() for name in valid - snapshots)
        for name in snapshots:  # the last batches of producers may have grown
            old, new = (read_snapshot(place / name) for place in (source, copy))
            assert len(old) == len(new)
            for was, state in zip(old, new, strict=True):
                assert was == state._replace(offset_delta=was.offset_delta, timestamp=was.timestamp)
        found += 1
    assert found >= 10


PINNED = {
    "snappy": "cd70d519a2b28ba6a25775c5585d222f25555063f78115026a3c44d32a242d82",
    "none": "af4a8aced3a9c77f452003e59ca19bed3d3205f302029beb4a6efa141961f1e5",
}


@pytest.mark.parametrize("codec", thinned(PINNED, 2))
def test_without_a_join_no_byte_changes(codec: str, tmp_path: Path) -> None:
    """All files of copies of Kafka's logs in the repository and of the demo's, under codecs that no library of the
    system writes; they are what they were before batches of producers could be joined."""
    found = hashlib.sha256()
    shipped = {entry["dir"] for entry in oracle.shipped_manifest()["segments"]}
    of_kafka = sorted((partition for partition in oracle.PARTITIONS if str(partition) in shipped), key=str)
    for number, partition in enumerate([*of_kafka, *sorted(DEMO.glob("*-[0-9]"))]):
        source, copy = tmp_path / f"{number}", tmp_path / f"copy-{number}"
        source = shutil.copytree(partition, source) if isinstance(partition, Path) else partition.write_to(source)
        try:
            recordpress.transcode(source, copy, codec)
        except recordpress.RecordpressError:
            continue
        for path in sorted(copy.rglob("*")):
            if path.is_file() and path.name != MANIFEST:
                found.update(f"{number}/{path.name}".encode() + path.read_bytes())
    assert found.hexdigest() == PINNED[codec]


@pytest.mark.parametrize("read_back_bytes", [100, 5000, 8 << 20])
def test_a_copy_is_read_back_once(read_back_bytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For its checksum and for its indexes, which are those that reindex makes."""
    monkeypatch.setattr(read_back, "READ_BYTES", read_back_bytes)
    source, read = tmp_path / "t-0", [0]
    source.mkdir()
    (source / f"{0:020d}.log").write_bytes(segment(0, 100))
    (source / f"{5000:020d}.log").write_bytes(segment(5000, 3, 20_000) + segment(65_000, 200, 1))

    class Counted(_local._LocalFile):
        def read_into(self, position: int, buffer: Any) -> int:
            return self.count(super().read_into(position, buffer))

        def read_at(self, position: int, length: int) -> bytes:
            data = super().read_at(position, length)
            self.count(len(data))
            return data

        def count(self, size: int) -> int:
            read[0] += size if self.name.startswith(f"{tmp_path}/cold/") and ".log" in self.name else 0
            return size

    monkeypatch.setattr(_local, "_LocalFile", Counted)
    manifest = recordpress.transcode(source, tmp_path / "cold" / "t-0", "lz4")
    assert read[0] == manifest.totals["bytes"] > 100_000
    monkeypatch.undo()
    made = {path.name: path.read_bytes() for path in (tmp_path / "cold" / "t-0").glob("*index")}
    (tmp_path / "again").mkdir()
    recordpress.log.reindex(tmp_path / "cold" / "t-0", tmp_path / "again")
    again = {path.name: path.read_bytes() for path in (tmp_path / "again").glob("*index")}
    assert made == again and len(made) == 4 and min(map(len, made.values())) > 8


def _batches(log: oracle.Vector) -> list[recordpress.Batch]:
    try:
        return list(recordpress.read_batches(log.data))
    except recordpress.RecordpressError:
        return []


def test_a_log_dir(logs: Path, tmp_path: Path) -> None:
    manifest = recordpress.transcode(logs, tmp_path / "cold", "zstd", level=9, threads=2)
    assert isinstance(manifest, Manifest)
    assert contents(tmp_path / "cold") == contents(logs)
    assert names(tmp_path) == {"logs", "cold"}
    assert names(tmp_path / "cold") == {MANIFEST, "orders-0", "orders-1"}
    assert "leader-epoch-checkpoint" in names(tmp_path / "cold" / "orders-0")
    assert len(list((tmp_path / "cold").rglob("*.index"))) == 6
    read = json.loads(Manifest.read(tmp_path / "cold").to_json())
    assert read["complete"] and read["options"]["level"] == 9
    assert read["totals"]["sourceBytes"] == manifest.totals["source_bytes"]
    assert manifest.totals["records"] == 6000
    assert manifest.totals["bytes"] == sum(path.stat().st_size for path in (tmp_path / "cold").rglob("*.log"))
    for partition in read["partitions"]:
        for one in partition["segments"]:
            path = tmp_path / "cold" / partition["directory"] / one["file"]
            assert one["crc32c"] == f"{recordpress.crc32c(path.read_bytes()):08x}"
            content = read_content(path)
            assert [one["digest"], one["nextOffset"], one["bytes"]] == [
                content.digest,
                content.next_offset,
                content.bytes,
            ]
            assert one["compressionTypes"] == ["zstd"] and one["source"]["compressionTypes"] == ["snappy"]
    assert Manifest.read(tmp_path / "cold") == manifest == Manifest.from_json(manifest.to_json())


def test_the_manifest_is_what_its_schema_says(logs: Path, tmp_path: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    (logs / "orders-0" / f"{0:020d}.log.deleted").write_bytes(b"")
    schema = json.loads((Path(__file__).parents[3] / "docs" / "manifest.schema.json").read_text())
    manifest = recordpress.transcode(logs, tmp_path / "cold", "zstd")
    assert isinstance(manifest, Manifest) and manifest.skipped
    jsonschema.validate(json.loads(Manifest.read(tmp_path / "cold").to_json()), schema)
    jsonschema.validate(json.loads(manifest.to_json()), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(json.loads(manifest.to_json()) | {"complete": 1}, schema)


def test_where_one_partition_goes(logs: Path, tmp_path: Path) -> None:
    for dst, directory in (("cold", "cold/orders-0"), ("renamed-7", "renamed-7")):
        recordpress.transcode(logs / "orders-0", tmp_path / dst, "gzip")
        assert contents(tmp_path / directory) == contents(logs / "orders-0")
        recordpress.open_log(tmp_path / dst)


def test_one_segment(logs: Path, tmp_path: Path) -> None:
    source = next((logs / "orders-0").glob("*.log"))
    manifest = recordpress.transcode(source, tmp_path / source.name, "zstd")
    assert isinstance(manifest, Manifest) and manifest.complete
    assert read_content(tmp_path / source.name).digest == read_content(source).digest
    assert names(tmp_path) == {"logs", source.name}
    with pytest.raises(recordpress.InvalidArgumentError, match="exists"):
        recordpress.transcode(source, tmp_path / source.name, "zstd")


def test_an_empty_directory_may_be_there(logs: Path, tmp_path: Path) -> None:
    (tmp_path / "cold").mkdir()
    recordpress.transcode(logs, tmp_path / "cold", "zstd")
    assert contents(tmp_path / "cold") == contents(logs)


# ---- refused


def test_what_is_refused(logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    monkeypatch.chdir(tmp_path)
    for dst in ("full", "full/file", "link", "logs"):
        with pytest.raises(recordpress.InvalidArgumentError, match=r"exists|inside"):
            recordpress.transcode(logs, dst, "zstd")
        with pytest.raises(recordpress.InvalidArgumentError, match=r"exists|inside"):
            recordpress.transcode(logs, tmp_path / dst, "zstd")
    for dst in ("logs/orders-0/copy", "logs/orders-1", "logs/new", "logs"):
        with pytest.raises(recordpress.InvalidArgumentError, match=r"inside|exists"):
            recordpress.transcode(logs, tmp_path / dst, "zstd")
    for options, error in (
        ({"compression_type": "brotli"}, recordpress.InvalidArgumentError),
        ({"compression_type": "zstd", "level": 99}, recordpress.InvalidArgumentError),
        ({"compression_type": "zstd", "batch_bytes": 0}, recordpress.InvalidArgumentError),
        ({"compression_type": "zstd", "threads": 0}, recordpress.InvalidArgumentError),
        ({"compression_type": "zstd", "min_gain": 2}, recordpress.InvalidArgumentError),
        ({"compression_type": "zstd", "batch_bytes": "1m"}, recordpress.ArgumentTypeError),
    ):
        with pytest.raises(error):
            recordpress.transcode(logs, tmp_path / "cold", **options)  # type: ignore[arg-type]
    assert names(tmp_path) == {"logs", "full", "link"}


@pytest.mark.slow
def test_a_second_call_on_the_same_target_is_refused(logs: Path, tmp_path: Path) -> None:
    """Before it works; the first one goes on."""
    begun, go_on = threading.Event(), threading.Event()

    def wait(progress: Progress) -> None:
        begun.set()
        go_on.wait(HANG)

    first = threading.Thread(
        target=recordpress.transcode, args=(logs, tmp_path / "cold", "zstd"), kwargs={"progress": wait}
    )
    first.start()
    begun.wait(HANG)
    try:
        with pytest.raises(recordpress.InvalidArgumentError, match="another call is writing"):
            recordpress.transcode(logs, tmp_path / "cold", "zstd")
    finally:
        go_on.set()
        first.join()
    assert contents(tmp_path / "cold") == contents(logs)


# ---- done again


def test_a_copy_that_is_there_is_checked_and_not_made_again(logs: Path, tmp_path: Path) -> None:
    first = recordpress.transcode(logs, tmp_path / "cold", "zstd")
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "cold").rglob("*")}
    again = recordpress.transcode(logs, tmp_path / "cold", "zstd")
    assert isinstance(first, Manifest) and isinstance(again, Manifest)
    assert (first.resumed_segments, again.resumed_segments) == (0, 6)
    assert again.partitions == first.partitions
    assert times == {path: path.stat().st_mtime_ns for path in (tmp_path / "cold").rglob("*")}
    with pytest.raises(recordpress.InvalidArgumentError, match="other options"):
        recordpress.transcode(logs, tmp_path / "cold", "zstd", level=5)
    path = next((tmp_path / "cold").rglob("*.log"))
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(recordpress.CorruptRecordError, match="differs from the manifest"):
        recordpress.transcode(logs, tmp_path / "cold", "zstd")


class Stop(Exception):
    pass


def stopped(logs: Path, dst: Path, after: int, **options: Any) -> None:
    """A call that ends when so many segments are done."""

    def stop(progress: Progress) -> None:
        if progress.segments_done >= after:
            raise Stop

    with pytest.raises(Stop):
        recordpress.transcode(logs, dst, "zstd", progress=stop, **options)


def test_a_call_that_was_stopped_goes_on(logs: Path, tmp_path: Path) -> None:
    stopped(logs, tmp_path / "cold", 3)
    assert names(tmp_path) == {"logs", ".cold.unfinished"}
    [work] = (tmp_path / ".cold.unfinished").iterdir()
    stray = work / "orders-0" / f".{9:020d}.log.{'0' * 32}"
    stray.write_bytes(b"of a killed attempt at a segment that is no longer there")
    manifest = recordpress.transcode(logs, tmp_path / "cold", "zstd")
    assert isinstance(manifest, Manifest) and manifest.resumed_segments >= 3
    assert contents(tmp_path / "cold") == contents(logs)
    assert names(tmp_path) == {"logs", "cold"} and not list((tmp_path / "cold").rglob(".*"))


def test_what_the_manifest_does_not_prove_is_done_again(logs: Path, tmp_path: Path) -> None:
    for spoil in ("bytes", "gone", "source", "options", "manifest", "resume"):
        stopped(logs, tmp_path / "cold", 6)
        [work] = (tmp_path / ".cold.unfinished").iterdir()
        path = work / "orders-0" / f"{0:020d}.log"
        options: dict[str, Any] = {}
        expected = 5
        if spoil == "bytes":
            data = bytearray(path.read_bytes())
            data[100] ^= 1
            path.write_bytes(data)
        elif spoil == "gone":
            path.unlink()
        elif spoil == "source":
            os.utime(logs / "orders-0" / path.name, (T / 1000, T / 1000))
        elif spoil == "options":
            options, expected = {"level": 5}, 0
        elif spoil == "manifest":
            (work / MANIFEST).write_bytes(b"{}")
            expected = 0
        else:
            options, expected = {"resume": False}, 0
        manifest = recordpress.transcode(logs, tmp_path / "cold", "zstd", **options)
        assert isinstance(manifest, Manifest)
        assert (spoil, manifest.resumed_segments) == (spoil, expected)
        assert contents(tmp_path / "cold") == contents(logs)
        for file in [*(tmp_path / "cold").rglob("*.log"), tmp_path / "cold" / MANIFEST]:
            file.unlink()
        os.rename(tmp_path / "cold", tmp_path / f"done {spoil}")


def test_damage_leaves_what_was_done_and_no_name(logs: Path, tmp_path: Path) -> None:
    path = sorted((logs / "orders-1").glob("*.log"))[1]
    good = path.read_bytes()
    path.write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
    with pytest.raises(recordpress.CorruptRecordError, match="checksum") as caught:
        recordpress.transcode(logs, tmp_path / "cold", "zstd")
    assert caught.value.file == str(path)
    assert "cold" not in names(tmp_path)
    path.write_bytes(good)
    recordpress.transcode(logs, tmp_path / "cold", "zstd")
    assert contents(tmp_path / "cold") == contents(logs)


def test_damage_in_all_leaves_nothing(tmp_path: Path) -> None:
    directory = make_logs(tmp_path / "logs", 1, 1)
    path = next(directory.rglob("*.log"))
    path.write_bytes(path.read_bytes()[:-1] + b"\xff\xff")
    with pytest.raises(recordpress.RecordpressError):
        recordpress.transcode(directory, tmp_path / "cold", "zstd")
    assert names(tmp_path) == {"logs"}


def test_a_source_that_is_replaced_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    logs = make_logs(tmp_path / "logs", 1, 2)
    path = logs / "orders-0" / f"{0:020d}.log"

    def replace(progress: Progress) -> None:
        if not replaced:
            (tmp_path / "new").write_bytes(segment(0, 20, codec="lz4"))
            os.replace(tmp_path / "new", path)
            replaced.append(1)

    replaced: list[int] = []
    from recordpress.log.copy import _copy_log

    copy_segment = _copy_log.copy_segment

    def slow(*arguments: Any) -> Any:
        done = copy_segment(*arguments)
        if Path(arguments[0].path).name == path.name:
            replace(Progress(0, 0, 0, 0))
        return done

    monkeypatch.setattr(_copy_log, "copy_segment", slow)
    with pytest.raises(recordpress.CorruptRecordError, match="replaced or written to"):
        recordpress.transcode(logs, tmp_path / "cold", "zstd")
    assert not list((tmp_path / ".cold.unfinished").rglob(path.name))
    recordpress.transcode(logs, tmp_path / "cold", "zstd")
    assert contents(tmp_path / "cold") == contents(logs)


# ---- faults

RUN = """
import json, sys, recordpress
recordpress.transcode(sys.argv[1], sys.argv[2], 'zstd', level=19, threads=2, **json.loads(sys.argv[3]))
"""
JOINS: dict[str, dict[str, Any]] = {
    "alone": {},
    "keep": {"batch_records": 100, "min_gain": None},
    "settle": {"batch_records": 100, "min_gain": None, "producers": "settle"},
}


def start(logs: Path, dst: Path | str, joins: str = "alone") -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", RUN, str(logs), str(dst), json.dumps(JOINS[joins])]
    return subprocess.Popen(command, stderr=subprocess.PIPE)


def logs_of_producers(root: Path, batches: int) -> Path:
    """Two partitions of interleaved producers, with transactions, gaps and epochs."""
    for partition in range(2):
        Writer(random.Random(partition), root / f"orders-{partition}", log_append_time=False).write(batches)
    reindex(root)
    return root


def begun(child: subprocess.Popen[bytes], tmp_path: Path) -> float:
    """When the call has begun to work."""
    while child.poll() is None and not (tmp_path / ".cold.unfinished").exists():
        time.sleep(0.002)
    return time.monotonic()


def check_after_kill(logs: Path, tmp_path: Path, wanted: dict[str, str]) -> str:
    """What is under a final name is whole, and nothing of the source was lost."""
    assert names(tmp_path) <= {"logs", "cold", ".cold.unfinished", ".cold.lock"}
    if (tmp_path / "cold").exists():
        assert contents(tmp_path / "cold") == wanted
        return "complete"
    begun = list((tmp_path / ".cold.unfinished").glob("*"))
    if not begun:
        return "nothing"
    [work] = begun
    for path in work.rglob("[0-9]*.log"):
        assert read_content(path).digest == wanted[str(path.relative_to(work))]
    return "part"


@pytest.mark.slow
@pytest.mark.parametrize("joins", JOINS)
def test_killed_at_random_moments(joins: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What an earlier call left, and the copy that the next one makes of it, are those of one call, byte for byte."""
    logs = logs_of_producers(tmp_path / "logs", 1500)
    draw = random.Random(7)
    kills = 100 if THOROUGH else 4
    child = start(logs, tmp_path / "cold", joins)
    started = begun(child, tmp_path)
    child.communicate()
    assert child.returncode == 0
    whole = time.monotonic() - started
    wanted = files_of(tmp_path / "cold")
    seen: dict[str, int] = {}
    resumed = 0
    for _ in range(kills):
        _remove(tmp_path / "cold")
        child = start(logs, tmp_path / "cold", joins)
        begun(child, tmp_path)
        time.sleep(draw.uniform(0.0, 1.1 * whole))
        child.send_signal(signal.SIGKILL)
        child.communicate()
        state = what_is_left(tmp_path, wanted)
        seen[state] = seen.get(state, 0) + 1
        manifest = recordpress.transcode(logs, tmp_path / "cold", "zstd", level=19, threads=2, **JOINS[joins])
        assert isinstance(manifest, Manifest)
        if state != "complete":
            resumed += manifest.resumed_segments
        assert files_of(tmp_path / "cold") == wanted
        assert names(tmp_path) == {"logs", "cold"}
    with capsys.disabled():
        print(f"\n{joins}: {kills} kills: {seen}, {resumed} segments were not done again")


def files_of(root: Path) -> dict[str, bytes]:
    """All but the manifest, which says what was done when."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and path.name != MANIFEST
    }


def what_is_left(tmp_path: Path, wanted: dict[str, bytes]) -> str:
    """What is under a final name is whole."""
    assert names(tmp_path) <= {"logs", "cold", ".cold.unfinished", ".cold.lock"}
    if (tmp_path / "cold").exists():
        assert files_of(tmp_path / "cold") == wanted
        return "complete"
    begun = list((tmp_path / ".cold.unfinished").glob("*"))
    if not begun:
        return "nothing"
    [work] = begun
    left = {name: data for name, data in files_of(work).items() if not Path(name).name.startswith(".")}
    assert left.items() <= wanted.items()
    return "part"


def _remove(path: Path) -> None:
    shutil.rmtree(path, ignore_errors=True)


def test_an_interrupt_waits_for_a_thread_that_just_began(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pool does not know the thread yet, which must not write to a directory that is being removed."""
    start = threading.Thread.start
    began, ended = threading.Event(), threading.Event()

    def interrupted(thread: threading.Thread) -> None:
        start(thread)
        if thread.name.startswith("recordpress-copy"):
            assert began.wait(HANG)
            raise KeyboardInterrupt

    def work(*arguments: Any) -> None:
        began.set()
        try:
            while True:  # until it is cancelled
                arguments[-1](0)
        finally:
            time.sleep(0.05)  # it cleans up
            ended.set()

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    monkeypatch.setattr(_copy_log, "copy_to_target", work)
    with pytest.raises(KeyboardInterrupt):
        recordpress.transcode(logs, tmp_path / "copy", "zstd", threads=1)
    assert ended.is_set() and not (tmp_path / "copy").exists()


@pytest.mark.slow
def test_an_interrupt_leaves_nothing_half(tmp_path: Path) -> None:
    logs = make_logs(tmp_path / "logs", 2, 4, 150)
    wanted = contents(logs)
    child = start(logs, tmp_path / "cold")
    begun(child, tmp_path)
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate()
    assert b"KeyboardInterrupt" in errors or child.returncode == 0
    check_after_kill(logs, tmp_path, wanted)
    assert not list((tmp_path / ".cold.unfinished").rglob(".*.log.*"))
    recordpress.transcode(logs, tmp_path / "cold", "zstd", level=19)
    assert contents(tmp_path / "cold") == wanted


@pytest.mark.slow
def test_a_full_disk(tmp_path: Path) -> None:
    """RLIMIT_FSIZE stands for it: a write of more than that fails."""
    logs = make_logs(tmp_path / "logs", 1, 3, 150)
    first = logs / "orders-0" / f"{0:020d}.log"
    first.write_bytes(segment(0, 150, codec="none"))
    wanted = contents(logs)
    limited = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)); " + RUN
    )
    command = [sys.executable, "-c", limited, str(logs), str(tmp_path / "cold"), "{}"]
    result = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    assert result.returncode == 1 and "File too large" in result.stderr
    check_after_kill(logs, tmp_path, wanted)
    assert not (tmp_path / "cold").exists()
    assert not list(tmp_path.rglob(".*.log.*"))
    recordpress.transcode(logs, tmp_path / "cold", "zstd", level=9)
    assert contents(tmp_path / "cold") == wanted


# ---- object stores


def test_an_object_store(logs: Path, tmp_path: Path) -> None:
    """Files get their names one by one; the manifest says when all are there."""
    fsspec = pytest.importorskip("fsspec")
    store = fsspec.filesystem("memory")
    name = f"store{os.getpid()}"
    store.put(str(logs), f"/{name}/logs", recursive=True)

    def wanted(root: str) -> dict[str, str]:
        found = {}
        for path in store.find(root):
            if path.endswith(".log"):
                digest = recordpress.log.RecordDigest()
                digest.update(store.cat(path))
                found[path.removeprefix(f"{root}/")] = digest.hexdigest()
        return found

    dst = f"memory://{name}/cold"
    stopped(logs, dst, 3)  # type: ignore[arg-type]
    assert not Manifest.read(dst).complete
    manifest = recordpress.transcode(logs, dst, "zstd")
    assert isinstance(manifest, Manifest) and manifest.complete and manifest.resumed_segments >= 3
    assert wanted(f"/{name}/cold") == wanted(f"/{name}/logs") == contents(logs)
    again = recordpress.transcode(logs, dst, "zstd")
    assert isinstance(again, Manifest) and again.resumed_segments == 6
    other = recordpress.transcode(f"memory://{name}/logs", tmp_path / "local", "zstd")
    assert isinstance(other, Manifest)
    assert contents(tmp_path / "local") == contents(logs)
    with pytest.raises(recordpress.InvalidArgumentError, match="exists"):
        recordpress.transcode(logs, f"memory://{name}/logs", "zstd")
    store.rm(f"/{name}", recursive=True)


# ---- an estimate


def test_a_dry_run_writes_nothing(logs: Path, tmp_path: Path) -> None:
    estimate = recordpress.transcode(logs, tmp_path / "cold", "zstd", dry_run=True)
    assert not isinstance(estimate, Manifest)
    assert names(tmp_path) == {"logs"}
    manifest = recordpress.transcode(logs, tmp_path / "cold", "zstd")
    assert isinstance(manifest, Manifest)
    assert estimate.bytes_before == manifest.totals["source_bytes"] and estimate.segments == 6
    assert estimate.bytes_after == manifest.totals["bytes"]  # all of it was sampled
    assert estimate.cpu_seconds > 0


def test_progress(logs: Path, tmp_path: Path) -> None:
    told: list[Progress] = []
    recordpress.transcode(logs, tmp_path / "cold", "zstd", progress=told.append)
    size = sum(path.stat().st_size for path in logs.rglob("*.log"))
    assert told[-1] == (size, size, 6, 6)
    assert [one.bytes_done for one in told] == sorted(one.bytes_done for one in told)
