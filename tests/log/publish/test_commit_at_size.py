"""The commit of very many staged segments: what it costs the driver, without the segments themselves."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from patience import HANG
from together import THOROUGH

pytestmark = pytest.mark.slow
pytest.importorskip("pyspark", reason="pyspark is not installed")  # its modules are part of the driver's memory

# tasks and partitions; each task has a segment in each partition
SCRIPT = """
import json, pickle, sys, time
import recordpress.spark._sink
from recordpress.files import FileInfo, LocalFileSystem, resolve
from recordpress.log.publish import _roll_forward, commit_staged
from recordpress.log.publish.staging import Stage, StagedSegment

GROUP = 64
tasks, partitions, root = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]


class Store(LocalFileSystem):
    '''A local directory, where groups of tasks list files that are not there.'''

    def list(self, path):
        what, _, group = self.name(path).partition("-")
        if what != "files":
            return super().list(path)
        group = range(GROUP * int(group), min(GROUP * (int(group) + 1), tasks))
        return [FileInfo("", one.file.rpartition("/")[2], "file", one.bytes) for task in group for one in of_task(task)]


def of_task(task):
    attempt = f"files-{task // GROUP}/{task:032x}"
    rest = (500, 0, 500, False, False)
    return [
        StagedSegment("orders", number, attempt, number, -1, 100_000 + task, task * 7919 + number, *rest)
        for number in range(partitions)
    ]


def peak():
    '''kB: getrusage's number is, at first, that of the process that started this one.'''
    with open("/proc/self/status") as status:
        return int(next(line for line in status if line.startswith("VmHWM")).split()[1])


moved = 0


def count(self):
    global moved
    moved += sum(len(one.staged) for one in self._partition.segments)


_roll_forward._Partition.publish = count
base = peak()
start = time.process_time()
given = [pickle.loads(pickle.dumps(of_task(task))) for task in range(tasks)]  # as messages arrive from tasks
stage = Stage(Store(), root, "0" * 32, b"")
staged = [one for part in given for one in part]
published = commit_staged.commit_staged(stage, staged, segment_bytes=int(sys.argv[4]), index_interval_bytes=4096)
used = peak()
print(json.dumps({
    "cpu": time.process_time() - start, "mb": used / 1024, "before": base / 1024, "moved": moved,
    "records": sum(one.records for one in published), "segments": sum(one.segments for one in published),
}))
"""


def commit(root: Path, tasks: int, partitions: int, segment_bytes: int) -> dict[str, float]:
    command = [sys.executable, "-c", SCRIPT, str(tasks), str(partitions), str(root), str(segment_bytes)]
    # modules are compiled before, as in an installation: the compiler takes memory
    compiled = os.environ | {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(root / "compiled")}
    subprocess.run([*command[:3], "0", "0", str(root / "none"), "1"], check=True, env=compiled, timeout=HANG)
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=compiled, timeout=HANG)
    found: dict[str, float] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("segment_bytes", [1, 1 << 30])
def test_a_commit_of_many_segments(segment_bytes: int, tmp_path: Path) -> None:
    found = commit(tmp_path, 400, 50, segment_bytes)
    assert (found["moved"], found["records"]) == (20_000, 10_000_000)
    assert found["segments"] == (20_000 if segment_bytes == 1 else 50)


@pytest.mark.skipif(not THOROUGH, reason="takes long: make full")
def test_a_commit_of_a_million_segments(tmp_path: Path) -> None:
    """A journal above 256 MiB, which no later job could read, was of 840,000 segments."""
    found = commit(tmp_path, 10_000, 100, 1)
    assert found["moved"] == 1_000_000
    # 400 here; imports take 85 to 115 more, by how much of Arrow the system maps at a time
    assert found["mb"] - found["before"] < 420, found
