"""Implementation of `recordpress.analyze`, from a path to a recommendation."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from itertools import groupby
from typing import Any, Literal, TypeAlias

from recordpress._arguments import INT16_MAX, INT64_MAX, MOST_THREADS, integer, shown_value
from recordpress._file_names import without_secrets
from recordpress.analysis._analysis import Analysis, Cell, Speed, pareto
from recordpress.analysis._dictionary import evaluate
from recordpress.analysis._grid import Setting, parse_candidates
from recordpress.analysis._lines import is_lines, sample_lines
from recordpress.analysis._measure import SPEED_BYTES, Calls, Measure, Size, memcpy_mb_s
from recordpress.analysis._rate import Rate, parse_rate, positive
from recordpress.analysis._recommend import DEPTHS, Choice, Prices, Situation, choose, recommend
from recordpress.analysis._sample import Sample, sample_log
from recordpress.analysis.machine import machine_facts, software_versions
from recordpress.codecs import CodecRegistry
from recordpress.codecs.choice import CodecChoice
from recordpress.errors import ArgumentTypeError, InvalidArgumentError
from recordpress.files import FileSystem, resolve
from recordpress.log import Log, Progress, open_log
from recordpress.log.copy.transcode import TranscodeJob
from recordpress.typing import Integer

Timing: TypeAlias = Literal["fastest", "median"]
Paths: TypeAlias = "str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | Log"

PATIENCE = 10.0  # maximum seconds of repeated calls until the recommendation is certain; chosen, not measured
LEAST_SAMPLE, MOST_SAMPLE = 1 << 10, 1 << 40  # bytes
_MOST_MULTIPLE = 10_000  # of the stored depth: batches of far more records than producers send
_BY_DEPTH_BYTES = 32 << 20  # of the sample, to measure the recommended codec at other depths
_STEP_BYTES = 1 << 20  # between two reports of progress; chosen, not measured
_SAVINGS_PART = 4  # the savings' sample has stored bytes, at a typical ratio of 4: a quarter of the uncompressed bytes


def analyze_log(
    path: Paths,
    candidates: str,
    depths: Sequence[Integer],
    sample_bytes: Integer,
    seed: Integer,
    threads: Integer | None,
    timing: Timing,
    rate: str | float | None,
    prices: Prices,
    max_seconds: float | None,
    codecs: CodecRegistry | None,
    progress: Callable[[Progress], object] | None,
) -> Analysis:
    """Measure and recommend, as `recordpress.analyze` describes."""
    if codecs is not None and not isinstance(codecs, CodecRegistry):
        message = f"codecs must be a recordpress.CodecRegistry, not {type(codecs).__name__}"
        raise ArgumentTypeError(message, field="codecs")
    settings = parse_candidates(candidates, codecs)
    multiples = _multiples(depths)
    limit = integer(sample_bytes, "sample_bytes", LEAST_SAMPLE, MOST_SAMPLE)
    number = integer(seed, "seed", 0, INT64_MAX)
    workers = None if threads is None else integer(threads, "threads", 1, MOST_THREADS)
    if not isinstance(timing, str) or timing not in ("fastest", "median"):
        raise InvalidArgumentError(f"timing={shown_value(timing)} is neither 'fastest' nor 'median'", field="timing")
    produced = parse_rate(rate)
    patience = PATIENCE if max_seconds is None else positive(max_seconds, "max_seconds")
    checked_progress(progress)
    started, begun = datetime.now(UTC), time.monotonic()

    sample, log = sample_of(path, limit, number, codecs)
    meter = Meter(progress, len(sample.data) * len(settings) * len(multiples))
    measure = Measure(sample, workers, codecs=codecs)
    timed = _timed(sample, measure, settings, multiples, timing, meter)
    cells, choice = _settled(measure, timed, timing, patience)
    chosen = choice.cell
    by_depth = _by_depth(sample, measure, Setting(chosen.compression_type, chosen.level), meter)
    total = round(sample.stored_bytes / sample.covered_bytes * sample.total_bytes)
    dictionary = _dictionary(sample)
    savings = None
    if log is not None:
        job = TranscodeJob(CodecChoice(chosen.compression_type, chosen.level, codecs))
        savings = job.estimate(log.partitions, limit // _SAVINGS_PART, seed=number, findings=sample.findings)
        sample.findings[:] = dict.fromkeys(sample.findings)  # the estimate reads some batches again
    now = Situation(sample.stored_bytes, total, sample.record_bytes, sample.partitions, produced, prices)
    return Analysis(
        baseline=_baseline(sample),
        cells=cells,
        recommendation={**recommend(choice, by_depth, cells, now), "dictionary": dictionary},
        savings=savings,
        sample={**facts_of(sample, number), "skipped": skipped_in(log), "speed": _speeds(cells, timing)},
        measurement={
            "paths": _paths_of(path, log),
            "topics": [] if log is None else list(log.topics),
            "started": started.isoformat(timespec="seconds"),
            "seconds": time.monotonic() - begun,
            "machine": machine_facts(),
        },
        versions=software_versions(),
        findings=tuple(sample.findings),
        rate_bytes=_rate_bytes(produced, sample),
    )


def prices_of(
    price_gb: float | None,
    replication: Integer,
    price_network_gb: float | None,
    consumers: Integer,
    price_consumer_gb: float | None,
) -> Prices:
    """Check the prices and return them."""

    def price(number: float | None, name: str) -> float | None:
        return None if number is None else positive(number, name)

    return Prices(
        price(price_gb, "price_gb"),
        integer(replication, "replication", 1, INT16_MAX),
        price(price_network_gb, "price_network_gb"),
        integer(consumers, "consumers", 0, 1_000_000),
        price(price_consumer_gb, "price_consumer_gb"),
    )


def _paths_of(path: Paths, log: Log | None) -> list[str]:
    """Return the given path, or the paths of all partitions for several paths or a Log."""
    if isinstance(path, str | os.PathLike) or log is None:
        return [without_secrets(str(path))]
    return [partition.url for partition in log.partitions]


def checked_progress(progress: Callable[[Progress], object] | None) -> None:
    """Raise an error if `progress` is not callable."""
    if progress is not None and not callable(progress):
        raise ArgumentTypeError(f"progress must be callable, not {type(progress).__name__}", field="progress")


def _multiples(depths: Sequence[Integer]) -> list[int]:
    if not isinstance(depths, list | tuple | range):
        raise ArgumentTypeError(f"depths must be a list of ints, not {type(depths).__name__}", field="depths")
    found = {integer(depth, "depths", 1, _MOST_MULTIPLE) for depth in depths}
    return sorted(found | {1})


# ---- input


def lines_at(path: Paths) -> tuple[FileSystem, str] | None:
    """Return the file system and name of a file of lines; None for a log."""
    if isinstance(path, str | os.PathLike):
        files, name = resolve(path, None)
        if is_lines(files, name):
            return files, name
    return None


def sample_of(path: Paths, limit: int, seed: int, codecs: CodecRegistry | None) -> tuple[Sample, Log | None]:
    """Return the sample of a log or a file of lines, and the log, which is None for a file of lines."""
    if lines := lines_at(path):
        files, name = lines
        with files.open(name) as file:
            return sample_lines(file, limit, seed), None
    log = path if isinstance(path, Log) else open_log(path, codecs=codecs)
    sample = sample_log(log, limit, seed)
    if not sample.counts:
        raise InvalidArgumentError("it has no intact record", field="path")
    return sample, log


def skipped_in(log: Log | None) -> list[dict[str, Any]]:
    """Return the skipped files of a log, for JSON."""
    return [] if log is None else [finding.to_dict() for finding in log.skipped]


def _baseline(sample: Sample) -> dict[str, Any]:
    stats = sample.stats
    return {
        "kind": "log" if stats else "lines",
        "bytes": sample.total_bytes,
        "partitions": sample.partitions,
        "segments": stats.segments if stats else 0,
        "codecs": {
            codec: {**share.to_dict(), "ratio": stats.ratio(codec)} for codec, share in sorted(stats.codecs.items())
        }
        if stats
        else {},
        "batch_records": sample.batch_records,
        "mean_batch_records": sample.mean_batch_records,
        "mean_batch_bytes": sample.stored_bytes / len(sample.counts),
        "bytes_per_record": sample.stored_bytes / sample.records,
        "ratio": len(sample.data) / sample.stored_bytes,
    }


def facts_of(sample: Sample, seed: int) -> dict[str, Any]:
    """Return the facts of a sample, for JSON."""
    return {
        "seed": seed,
        "bytes": len(sample.data),
        "stored_bytes": sample.stored_bytes,
        "batches": len(sample.counts),
        "records": sample.records,
        "runs": sample.runs,
        "coverage": sample.covered_bytes / sample.total_bytes,
        "findings": [finding.to_dict() for finding in sample.findings],
    }


def _rate_bytes(rate: Rate | None, sample: Sample) -> float | None:
    return None if rate is None else rate.bytes_per_second(sample.record_bytes)


# ---- measurements


class Meter:
    """Reporter that calls `progress`, in the calling thread, after each MiB measured."""

    def __init__(self, progress: Callable[[Progress], object] | None, total: int) -> None:
        self._progress, self._total, self._done, self._next = progress, total, 0, _STEP_BYTES

    def advance(self, size: int) -> None:
        self._done += size
        if self._progress is not None and self._done >= self._next:
            self._next = self._done + _STEP_BYTES
            self._progress(Progress(self._done, max(self._total, self._done), 0, 0))


@dataclass
class _Timed:
    """Cell without its speed, and the calls that measure the speed."""

    cell: Callable[[Speed], Cell]
    setting: Setting
    payloads: list[bytes]
    calls: Calls


def _timed(
    sample: Sample, measure: Measure, settings: Sequence[Setting], multiples: Sequence[int], timing: str, meter: Meter
) -> list[_Timed]:
    depths = [None if multiple == 1 else _depth(sample, multiple) for multiple in multiples]
    sizes = [measure.sizes(depth, settings, meter.advance) for depth in depths]
    timed = []
    for multiple, depth, found in zip(multiples, depths, sizes, strict=True):
        payloads = measure.payloads(depth)
        encode_seconds = measure.encode_seconds(_depth(sample, multiple), timing)
        for setting, size in zip(settings, found, strict=True):
            cell = partial(_cell, sample, setting, multiple, depth, size, encode_seconds)
            timed.append(_Timed(cell, setting, payloads, measure.calls(setting, payloads)))
    return timed


def _settled(
    measure: Measure, timed: Sequence[_Timed], timing: str, patience: float
) -> tuple[tuple[Cell, ...], Choice]:
    """Repeat the calls of cells whose order is not certain, for at most `patience` seconds."""
    deadline = time.monotonic() + patience
    while True:
        cells = _with_front([one.cell(one.calls.speed(timing)) for one in timed])
        choice = choose(cells)
        if not choice.contested or time.monotonic() >= deadline:
            return cells, choice
        for one, cell in zip(timed, cells, strict=True):
            if cell in choice.contested:
                one.calls = one.calls.and_more(measure.calls(one.setting, one.payloads))


def _with_front(cells: Sequence[Cell]) -> tuple[Cell, ...]:
    """Mark the cells that no other cell of the same depth beats in both size and speed."""
    best: list[bool] = []
    for _, row in groupby(cells, key=lambda cell: cell.depth):
        best += pareto([(cell.output_bytes, cell.speed.compress_mb_s) for cell in row])
    return tuple(replace(cell, is_best=is_best) for cell, is_best in zip(cells, best, strict=True))


def _depth(sample: Sample, multiple: int) -> int:
    return max(1, round(multiple * sample.mean_batch_records))


def _cell(
    sample: Sample, setting: Setting, multiple: int, depth: int | None, size: Size, encode_seconds: float, speed: Speed
) -> Cell:
    return Cell(
        compression_type=setting.compression_type,
        level=setting.level,
        batch_records=sample.batch_records if depth is None else depth,
        depth=multiple,
        input_bytes=size.input_bytes,
        output_bytes=size.output_bytes,
        batches=size.batches,
        records=sample.records,
        speed=speed,
        encode_seconds=encode_seconds,
    )


def _speeds(cells: Sequence[Cell], timing: str) -> dict[str, Any]:
    """Return how speeds were measured; rounds and spreads are in the order of `cells`."""
    return {
        "timing": timing,
        "most_bytes": SPEED_BYTES,
        "rounds": [cell.speed.rounds for cell in cells],
        "compress_spread": [cell.speed.compress_spread for cell in cells],
        "decompress_spread": [cell.speed.decompress_spread for cell in cells],
        "memcpy_mb_s": memcpy_mb_s(timing),
    }


def _by_depth(sample: Sample, measure: Measure, setting: Setting, meter: Meter) -> dict[int, Size]:
    most = max(1, int(_BY_DEPTH_BYTES / sample.record_bytes))
    return {
        multiple: measure.sizes(_depth(sample, multiple), [setting], meter.advance, most)[0]
        for multiple in (1, *DEPTHS)
    }


def _dictionary(sample: Sample) -> dict[str, Any] | None:
    """Return the evaluation of a dictionary; None if there are too few records to train one."""
    try:
        return evaluate(sample).to_dict()
    except InvalidArgumentError:
        return None
