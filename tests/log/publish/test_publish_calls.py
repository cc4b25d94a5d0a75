"""What a store is asked for when a job publishes many large segments: a model of a store that is slow, and counts."""

import time
from collections import Counter
from threading import Condition
from typing import Any

import pytest

from patience import HANG
from recordpress.files import FileInfo, FileSystem, RandomAccessFile, Writer
from recordpress.log.publish.commit_staged import commit_staged
from recordpress.log.publish.staging import Stage, StagedSegment
from together import THOROUGH

pytestmark = pytest.mark.slow

FILES = 100_000 if THOROUGH else 1_000
DELAY = 0.03  # seconds of a call
AT_ONCE = 64  # calls
PAGE = 1000  # names that one call lists or deletes
LARGE = 64 << 20


class Store(FileSystem):
    """Objects in memory; of staged segments only the sizes. Each call takes some time, on its own thread."""

    def __init__(self) -> None:
        self.directories: dict[str, dict[str, Any]] = {}
        self.calls: Counter[str] = Counter()
        self.lock = Condition()
        self.running: Counter[str] = Counter()  # calls now, and at most

    def call(self, what: str, pages: int = 1) -> None:
        with self.lock:
            self.calls[what] += pages
            self.running["now"] += 1
            self.running["most"] = max(self.running.values())
            self.lock.notify_all()
            if what == "copy":  # a machine may be slow to start threads
                self.lock.wait_for(lambda: self.running["most"] >= AT_ONCE, HANG)
        time.sleep(DELAY * pages)
        with self.lock:
            self.running["now"] -= 1

    def put(self, path: str, content: Any) -> None:
        with self.lock:
            parent, _, name = path.rpartition("/")
            self.directories.setdefault(parent, {})[name] = (content, time.time())
            while parent:
                parent, _, name = parent.rpartition("/")
                self.directories.setdefault(parent, {}).setdefault(name, None)

    def found(self, path: str) -> FileInfo:
        parent, _, name = path.rpartition("/")
        if name not in self.directories.get(parent, {}):
            raise FileNotFoundError(path)
        entry = self.directories[parent][name]
        if entry is None:
            return FileInfo(path, name, "directory")
        return FileInfo(path, name, "file", entry[0] if isinstance(entry[0], int) else len(entry[0]), entry[1])

    def info(self, path: str) -> FileInfo:
        self.call("info")
        return self.found(path)

    def list(self, path: str) -> list[FileInfo]:
        if path not in self.directories:
            self.call("list")
            raise FileNotFoundError(path)
        found = [self.found(f"{path}/{name}") for name in sorted(self.directories[path])]
        self.call("list", -(-max(len(found), 1) // PAGE))
        return found

    def open(self, path: str) -> RandomAccessFile:
        self.call("open")
        self.found(path)
        return Object(self, path)

    def create(self, path: str) -> Writer:
        return Upload(self, path)

    def copy(self, source: str, target: str) -> bool:
        self.call("copy")
        self.found(source)
        parent, _, name = source.rpartition("/")
        self.put(target, self.directories[parent][name][0])
        return True

    def move(self, source: str, target: str) -> None:
        raise AssertionError("a store that copies need not move")

    def delete(self, path: str) -> None:
        self.call("delete")
        self.found(path)
        parent, _, name = path.rpartition("/")
        with self.lock:
            del self.directories[parent][name]

    def delete_directory(self, path: str) -> None:
        with self.lock:
            inside = [one for one in self.directories if one == path or one.startswith(f"{path}/")]
            count = sum(entry is not None for one in inside for entry in self.directories.pop(one).values())
            parent, _, name = path.rpartition("/")
            self.directories.get(parent, {}).pop(name, None)
        self.call("delete a directory", 2 * -(-max(count, 1) // PAGE))

    def make_directory(self, path: str) -> None:
        pass


class Object(RandomAccessFile):
    def __init__(self, store: Store, path: str) -> None:
        parent, _, name = path.rpartition("/")
        self.name, self.store, self.content = path, store, store.directories[parent][name][0]
        self.size = len(self.content)

    def read_at(self, position: int, length: int) -> bytes:
        self.store.call("read")
        return bytes(self.content[position : position + length])

    def close(self) -> None:
        pass


class Upload(Writer):
    def __init__(self, store: Store, path: str) -> None:
        self.store, self.path, self.content = store, path, bytearray()

    def write(self, data: Any) -> None:
        self.content += data

    def publish(self) -> None:
        self.store.call("put")
        self.store.put(self.path, bytes(self.content))

    def discard(self) -> None:
        pass


def staged(store: Store, stage: Stage) -> list[StagedSegment]:
    """Ten segments of each task, one in each partition, as tasks on executors stage them."""
    found = []
    for task in range(FILES // 10):
        first = stage.first_offset("t", 0, task)
        for partition in range(10):
            attempt = f"files-{task // 64}/{task:032x}"
            segment = StagedSegment(
                "t", partition, attempt, partition, -1, LARGE, 7, 500, first, first + 500, False, True
            )
            for suffix, size in ((".log", LARGE), (".index", 8), (".timeindex", 12)):
                store.put(f"{stage.path}/{segment.stem}{suffix}", size if suffix == ".log" else bytes(size))
            found.append(segment)
    return found


def test_calls_and_time_of_a_large_job() -> None:
    """64 calls at a time, of which 100,000 segments take less than three minutes; only the journal is read."""
    store = Store()
    stage = Stage(store, "b/logs", "0" * 32, b"{}")
    segments = staged(store, stage)
    cpu, begun = time.process_time(), time.monotonic()
    published = commit_staged(stage, segments, segment_bytes=1 << 30, index_interval_bytes=4096)
    cpu, seconds = time.process_time() - cpu, time.monotonic() - begun
    calls = sum(store.calls.values())
    print(f"\n{FILES} segments: {seconds:.1f} s, {cpu / FILES * 1000:.2f} CPU ms each, {dict(store.calls)}")
    assert sum(one.records for one in published) == 500 * FILES
    for partition in range(10):
        names = store.directories[f"b/logs/t-{partition}"]
        assert sum(name.endswith(".log") for name in names) == FILES // 10
    assert not [name for name in store.directories if name.startswith("b/logs/.recordpress-staging/")]
    assert store.calls["copy"] <= 3.1 * FILES
    assert calls - store.calls["copy"] <= 0.15 * FILES + 100
    assert AT_ONCE <= store.running["most"] <= AT_ONCE + 8  # eight list the next partitions
    assert calls * DELAY / AT_ONCE <= 180 * FILES / 100_000 + 1
