"""Measurements: codecs and levels, policies of filling batches, plug-ins, and bytes that brokers compress again."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import NamedTuple

from plugin_calls import calls
from streams import mix, of_topic, ratio_streams, small_batch

import recordpress
from recordpress.analysis import Analysis, Cell, Simulation, extract, simulate

sys.path[:0] = [str(Path(__file__).parents[1] / "tests" / "broker" / "old")]
from sets import batch  # noqa: E402 (in tests/broker/old)

CODECS = "none/gzip,6/snappy/lz4/zstd,1,3,6"
LIST = "none/lz4/snappy/zstd,1-22/gzip,1-9"  # lzbench's list
MIXES = range(1, 100)
KIP_BATCH = 1024  # RecordAccumulatorTest.testSplitFrequency
_TIMES = 200
_COUNTED = "10"  # calls whose instructions are counted


class Codecs(NamedTuple):
    """Cells of one log, and the speed of memcpy."""

    cells: tuple[Cell, ...]
    memcpy_mb_s: float


def codecs_of(log: Path, candidates: str = CODECS) -> Codecs:
    """Measure codecs on the records of a log, at the stored depth."""
    found: Analysis = recordpress.analyze(log, candidates, depths=(1,), max_seconds=0.001)
    return Codecs(found.cells, found.sample["speed"]["memcpy_mb_s"])


def one_batch(log: Path, place: Path) -> tuple[Codecs, int]:
    """Measure lzbench's list on the first batch of a log, and return its uncompressed size."""
    size = len(extract(log, offset=0).data)
    first = next(recordpress.open_log(log).batches()).header.size
    segment = f"{0:020}.log"
    (place / "batch-0").mkdir()
    (place / "batch-0" / segment).write_bytes((log / segment).read_bytes()[:first])
    return codecs_of(place / "batch-0", LIST), size


def three_messages(place: Path) -> Codecs:
    """Measure one batch of three JSON messages of 1 kB."""
    text = b",".join(of_topic("access-json"))
    values = [b'{"lines": [%s]}' % text[1000 * number : 1000 * number + 985] for number in range(3)]
    return codecs_of(small_batch(place / "three-0", values), LIST)


def one_topic(log: Path, place: Path) -> list[tuple[str, int]]:
    """Copy a topic from none to snappy and to zstd 6, and return the bytes of each."""
    found = [("none", _size(log))]
    for codec, level in (("snappy", None), ("zstd", 6)):
        target = place / codec / log.name
        recordpress.transcode(log, target, compression_type=codec, level=level)
        found.append((codec if level is None else f"{codec} {level}", _size(target)))
    return found


def _size(log: Path) -> int:
    return sum(one.stat().st_size for one in log.glob("*.log"))


def zero_offsets(broker_version: str) -> recordpress.broker.BatchExplanation:
    """Explain a batch in which all offsets are 0, as sarama wrote it before its PR 1015."""
    data = batch("snappy", deltas=[0, 0, 0])
    found = recordpress.explain(data, broker_version=broker_version, topic_config={"compression.type": "snappy"})
    return found.batches[0]


# ---- KIP-126


def policies(place: Path) -> dict[str, Simulation]:
    """Simulate the four policies on each stream."""
    return {name: simulate(log, compression_type="gzip") for name, log in ratio_streams(place / "streams").items()}


def mixes(place: Path) -> dict[str, list[float]]:
    """Return the share of splits per policy over 99 mixes of records that compress well and badly."""
    shares: dict[str, list[float]] = {}
    for percent in MIXES:
        log = mix(place / "mixes" / f"mix{percent}-0", percent, seed=percent)
        for policy in simulate(log, KIP_BATCH, compression_type="gzip").policies:
            shares.setdefault(policy.name, []).append(policy.split_share)
    return shares


# ---- KIP-984


def plugin_cost(
    log: Path, place: Path, sizes: tuple[int, ...] = (64 << 10, 1 << 20)
) -> list[tuple[str, int, float, float | None]]:
    """Return the CPU time of a codec as a plug-in, and of an empty registry, as multiples of the call without; and the
    same of instructions, None without valgrind."""
    data = extract(log, offset=0).data
    found = []
    for size in sizes:
        payload, part = data[:size], place / f"payload-{size}"
        part.write_bytes(payload)
        pairs = calls(payload)
        counted = _instructions(part, list(pairs))
        found += [(name, len(payload), _multiple(*pair), counted[name]) for name, pair in pairs.items()]
    return found


def _instructions(part: Path, names: list[str]) -> dict[str, float | None]:
    """Return the instructions of each call with a registry as a multiple of the other one, by callgrind."""
    if shutil.which("valgrind") is None:
        return dict.fromkeys(names)
    nothing = _counted(part, names[0], "0", "0")
    direct: dict[str, int] = {}
    for name in names:
        verb = name.rpartition(" ")[2]
        direct[verb] = direct.get(verb) or _counted(part, name, "1", _COUNTED) - nothing
    return {name: (_counted(part, name, "0", _COUNTED) - nothing) / direct[name.rpartition(" ")[2]] for name in names}


def _counted(part: Path, *arguments: str) -> int:
    tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    command = [*tool, sys.executable, str(Path(__file__).with_name("plugin_calls.py")), str(part), *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ | {"PYTHONHASHSEED": "0"})
    return int(re.findall(r"Collected : (\d+)", done.stderr)[0])


def _multiple(call: Callable[[], object], base: Callable[[], object]) -> float:
    """Return the median of paired CPU times: other programs slow both calls of a pair."""
    pairs = [(_seconds(call), _seconds(base)) for _ in range(_TIMES)]
    return median(one / other for one, other in pairs)


def _seconds(call: Callable[[], object]) -> float:
    started = time.thread_time_ns()
    call()
    return max(time.thread_time_ns() - started, 1)
