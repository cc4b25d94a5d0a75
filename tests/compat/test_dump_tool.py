"""What `recordpress dump --format kafka` and DumpLogSegments of Kafka 4.3.1 and 4.4.0 write to stdout, byte for byte.

`make -f labs.mk broker` brings the jars and runs this; without them it is skipped.
"""

from __future__ import annotations

import struct
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from kafka_classes import JARS, missing

import recordpress
from patience import HANG
from recordpress.log.sidecars import ProducerState, write_snapshot

T = 1_700_000_000_000
NAME = f"{7:020}"
JAVA = ["java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=off"]

pytestmark = [pytest.mark.slow, pytest.mark.build]
VERSIONS = [
    pytest.param(version, marks=pytest.mark.skipif(missing(version) is not None, reason=str(missing(version))))
    for version in ("4.3", "4.4")
]


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A segment with its sidecar files, one without entries in them, and one that ends in the middle of a batch."""
    batches = [
        recordpress.write_records([b"a", b"b"], [b"k", None], [T + at] * 2, base_offset=at, compression_type="lz4")
        for at in (7, 9, 11)
    ]
    first, second = map(len, batches[:2])
    (tmp_path / f"{NAME}.log").write_bytes(b"".join(batches))
    (tmp_path / f"{NAME}.index").write_bytes(struct.pack(">iiii", 3, first, 5, first + second))
    (tmp_path / f"{NAME}.timeindex").write_bytes(struct.pack(">qiqi", T + 7, 1, T + 9, 3))
    (tmp_path / f"{NAME}.txnindex").write_bytes(struct.pack(">hqqqq", 0, 5, 7, 9, 10))
    write_snapshot(tmp_path / f"{NAME}.snapshot", [ProducerState(5, 0, 1, 10, 1, T, 3, -1)])
    for suffix in ("index", "timeindex", "txnindex", "log"):
        (tmp_path / f"{0:020}.{suffix}").write_bytes(b"")
    (tmp_path / f"{20:020}.log").write_bytes(recordpress.write_records([b"c"], base_offset=20) + batches[0][:30])
    return tmp_path


def printed(command: Sequence[object], directory: Path) -> bytes:
    return subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, cwd=directory, timeout=HANG).stdout


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    "flags", [[], ["--deep-iteration"], ["--print-data-log"], ["--index-sanity-check"], ["--verify-index-only"]]
)
def test_files_of_a_partition(version: str, flags: list[str], directory: Path) -> None:
    names = sorted(path.name for path in directory.iterdir())
    files = ",".join([*(f".//{name}" for name in names), f"{directory}/{NAME}.log"])
    tool = [*JAVA, "-cp", f"{JARS[version]}/*", "org.apache.kafka.tools.DumpLogSegments", "--files", files, *flags]
    own = [sys.executable, "-m", "recordpress", "dump", "--format", "kafka", "--files", files, *flags]
    expected = printed(tool, directory)
    assert expected.count(b"Dumping ") == len(names) + 1
    assert printed(own, directory).decode().splitlines() == expected.decode().splitlines()
