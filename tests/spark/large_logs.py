"""A store of very many segments that lists page by page, and counts; run as a program, it plans their reading."""

import json
import pickle
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from threading import Lock
from typing import Any

from recordpress.files import LISTS_AT_ONCE, FileInfo, FileSystem, RandomAccessFile, Writer, results

DELAY = 0.03  # seconds of a call
PAGE = 1000  # names that one call lists
ROOT = "b/backup"
SUFFIXES = (".index", ".log", ".snapshot", ".timeindex")
TOPICS = 100  # or fewer, of partitions 0, 1, 2 ...


class Store(FileSystem):
    """Segments of 1 kB and their files, by rule; it lists the keys of several directories at once, as S3 does."""

    def __init__(self, partitions: int, segments: int, delay: float = 0.0) -> None:
        self.partitions, self.segments, self.delay = partitions, segments, delay
        self.calls: Counter[str] = Counter()
        self.running: Counter[str] = Counter()  # calls now, and at most
        self.lock = Lock()

    def __reduce__(self) -> Any:
        return Store, (self.partitions, self.segments, self.delay)

    def call(self, what: str, names: int = 1) -> None:
        pages = -(-max(names, 1) // PAGE)
        with self.lock:
            self.calls[what] += pages
            self.running["now"] += 1
            self.running["most"] = max(self.running.values())
        time.sleep(self.delay * pages)
        with self.lock:
            self.running["now"] -= 1

    def info(self, path: str) -> FileInfo:
        self.call("info")
        if path == ROOT:
            return FileInfo(path, "backup", "directory")
        raise FileNotFoundError(path)

    def entries(self, path: str) -> list[FileInfo]:
        names = [f"{1000 * number:020d}{suffix}" for number in range(self.segments) for suffix in SUFFIXES]
        return [FileInfo(f"{path}/{name}", name, "file", 1000 + len(path), 1.7e9 + at) for at, name in enumerate(names)]

    def list(self, path: str) -> list[FileInfo]:
        if path == ROOT:
            names = sorted(f"topic-{number % TOPICS}-{number // TOPICS}" for number in range(self.partitions))
            found = [FileInfo(f"{path}/{name}", name, "directory") for name in names]
        else:
            found = self.entries(path)
        self.call("list", len(found))
        return found

    def list_each(self, groups: Sequence[Sequence[str]]) -> "Iterator[list[FileInfo]]":
        def listed(paths: Sequence[str]) -> "list[list[FileInfo]]":
            found = [self.entries(path) for path in paths]
            self.call("list", sum(map(len, found)))
            return found

        return (found for _, several in results(groups, listed, LISTS_AT_ONCE) for found in several)

    def open(self, path: str) -> RandomAccessFile:
        raise AssertionError(f"a plan opens no file: {path}")

    def create(self, path: str) -> Writer:
        raise AssertionError(path)

    def delete(self, path: str) -> None:
        raise AssertionError(path)

    def move(self, source: str, target: str) -> None:
        raise AssertionError(source)

    def make_directory(self, path: str) -> None:
        raise AssertionError(path)


def peak() -> float:
    """MB; getrusage's number is, at first, that of the process that started this one."""
    with open("/proc/self/status") as status:
        return int(next(line for line in status if line.startswith("VmHWM")).split()[1]) / 1024


def planned(store: Store) -> dict[str, float]:
    """What the plan of a query over the whole store takes, and what travels."""
    from recordpress.spark import KafkaLogDataSource, datasource

    datasource.located = lambda *_: ([ROOT], store)  # type: ignore[assignment]
    before = peak()
    cpu, begun = time.process_time(), time.monotonic()
    source = KafkaLogDataSource({"path": f"s3://{ROOT}"})
    tasks = source.reader(source.schema()).partitions()
    listed = time.process_time() - cpu
    plan_bytes = sum(len(pickle.dumps(task)) for task in tasks)
    return {
        "seconds": time.monotonic() - begun,
        "listed_cpu": listed,
        "cpu": time.process_time() - cpu,
        "calls": sum(store.calls.values()),
        "at_once": store.running["most"],
        "before": before,
        "mb": peak(),
        "tasks": len(tasks),
        "segments": sum(len(split.segments) for task in tasks for split in task.splits),
        "plan_bytes": plan_bytes,
    }


if __name__ == "__main__":
    print(json.dumps(planned(Store(int(sys.argv[1]), int(sys.argv[2]), DELAY))))
