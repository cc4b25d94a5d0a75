"""Measurements and their results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from recordpress._html import html_table
from recordpress._json_keys import camel_keys
from recordpress.codecs import ZstdParameters
from recordpress.codecs.choice import level_as_json
from recordpress.log import Estimate, Finding

DAY = 86_400  # seconds


class Speed(NamedTuple):
    """MB/s (10^6 bytes) of uncompressed records, by one thread.

    Attributes
    ----------
    compress_mb_s, decompress_mb_s : float
        Speed of the fastest or the median call.
    compress_spread, decompress_spread : float
        Interquartile range of all calls, as a share of the median.
    rounds : int
        Number of calls that were timed, in CPU time.
    compress_range, decompress_range : (float, float)
        Lowest and highest speed among parts of the calls.

    Examples
    --------
    >>> import recordpress
    >>> found = recordpress.analyze("demo/logs/sessions-0", "none/zstd,3", depths=(1,), sample_bytes=100_000)
    >>> speed = found.cells[-1].speed
    >>> speed.compress_mb_s > 0, speed.rounds > 0
    (True, True)
    """

    compress_mb_s: float
    decompress_mb_s: float
    compress_spread: float
    decompress_spread: float
    rounds: int
    compress_range: tuple[float, float]
    decompress_range: tuple[float, float]


@dataclass(frozen=True)
class Cell:
    """Measurement of a codec at one level and depth.

    Attributes
    ----------
    compression_type : str
    level : int | ZstdParameters | None
        As for `recordpress.write_columns`; None is the default level of Kafka's clients.
    batch_records : int | None
        Records per batch; None at the stored depth, if that varies.
    depth : float
        Records per batch, as a multiple of the stored depth.
    input_bytes, output_bytes : int
        Size of the whole record sets, with headers, before and after compression.
    batches, records : int
    speed : Speed
    encode_seconds : float
        CPU time to write the records as batches without compression.
    is_best : bool
        Whether the cell is on the Pareto front of its depth: no other cell is both smaller and faster to write.

    Examples
    --------
    >>> import recordpress
    >>> found = recordpress.analyze("demo/logs/sessions-0", "none/zstd,3", depths=(1,), sample_bytes=100_000)
    >>> cell = found.cells[-1]
    >>> cell.compression_type, cell.level, cell.ratio > 1
    ('zstd', 3, True)
    """

    compression_type: str
    level: int | ZstdParameters | None
    batch_records: int | None
    depth: float
    input_bytes: int
    output_bytes: int
    batches: int
    records: int
    speed: Speed
    encode_seconds: float
    is_best: bool = False

    @property
    def ratio(self) -> float:
        """Uncompressed size divided by compressed size; the ratio of KIP-126 is the inverse."""
        return self.input_bytes / self.output_bytes

    @property
    def batch_bytes(self) -> int:
        """Mean size of a batch before compression, including its header."""
        return round(self.input_bytes / self.batches)

    @property
    def bytes_per_record(self) -> float:
        """Compressed bytes per record of a whole record set, including headers."""
        return self.output_bytes / self.records

    @property
    def decoder_bytes(self) -> int | None:
        """Memory that Kafka's reader needs to decompress a zstd batch, in bytes; None for other codecs."""
        if self.compression_type != "zstd":
            return None
        parameters = self.level if isinstance(self.level, ZstdParameters) else ZstdParameters(self.level)
        return parameters.decoder_bytes

    @property
    def cpu_seconds_per_million(self) -> float:
        """CPU time to write a million records as compressed batches."""
        return self.cpu_ratio * self.encode_seconds / self.records * 1e6

    @property
    def cpu_ratio(self) -> float:
        """CPU time to write the records as compressed batches, as a multiple of the time without compression."""
        compressing = self.input_bytes / 1e6 / self.speed.compress_mb_s if self.compression_type != "none" else 0.0
        return 1 + compressing / self.encode_seconds

    def cpu_seconds_a_day(self, bytes_per_second: float) -> tuple[float, float]:
        """Return the CPU time to compress and to decompress once the data produced in a day at this rate."""
        work = bytes_per_second * DAY / 1e6
        return work / self.speed.compress_mb_s, work / self.speed.decompress_mb_s

    def to_dict(self) -> dict[str, Any]:
        """Return the cell for JSON."""
        return {
            "compressionType": self.compression_type,
            "level": level_as_json(self.level),
            "batchRecords": self.batch_records,
            "batchBytes": self.batch_bytes,
            "inputBytes": self.input_bytes,
            "outputBytes": self.output_bytes,
            "ratio": self.ratio,
            "compressMbS": self.speed.compress_mb_s,
            "decompressMbS": self.speed.decompress_mb_s,
            "cpuSecondsPerMillion": self.cpu_seconds_per_million,
            "cpuRatio": self.cpu_ratio,
            "decoderBytes": self.decoder_bytes,
        }


@dataclass(frozen=True)
class Analysis:
    """Result of `recordpress.analyze`.

    Attributes
    ----------
    baseline : dict
        Facts about the data that is stored today.
    cells : tuple of Cell
        Cells ordered by depth, then as in the `candidates`.
    recommendation : dict
        Recommended settings, and what they save.
    savings : Estimate | None
        Sizes of copies with the recommended codec and level: with these alone, with joined batches, and with settled
        producers; see `recordpress.log.Estimate`. None for a file of lines.
    sample : dict
        What was measured, and its share of the data.
    measurement : dict
        Where, when and on which machine: ``paths`` and ``topics``, ``started`` (ISO 8601, UTC) and ``seconds``, and
        ``machine`` with processor, cores, system and Python.
    versions : dict of str to str
    findings : tuple of Finding
        Damage; the damaged batches were omitted.
    rate_bytes : float | None
        Bytes per second of uncompressed record sets, if a rate was given.

    Examples
    --------
    >>> import recordpress
    >>> found = recordpress.analyze("demo/logs/sessions-0", "none/zstd,3", depths=(1,), sample_bytes=100_000)
    >>> len(found.cells), sorted(found.baseline)[:3]
    (2, ['batch_records', 'bytes', 'bytes_per_record'])
    """

    baseline: Mapping[str, Any]
    cells: tuple[Cell, ...]
    recommendation: Mapping[str, Any]
    savings: Estimate | None
    sample: Mapping[str, Any]
    measurement: Mapping[str, Any]
    versions: Mapping[str, str]
    findings: tuple[Finding, ...] = ()
    rate_bytes: float | None = None

    def _repr_html_(self) -> str:
        rows = (
            (
                "*" if cell.is_best else "",
                cell.compression_type,
                level_as_json(cell.level),
                cell.batch_records,
                f"{cell.ratio:.2f}",
                f"{cell.speed.compress_mb_s:,.0f}",
                f"{cell.speed.decompress_mb_s:,.0f}",
            )
            for cell in self.cells
        )
        names = ("", "codec", "level", "records per batch", "ratio", "compress MB/s", "decompress MB/s")
        return html_table(", ".join(self.recommendation["lines"]), names, rows, len(self.cells))

    def to_dict(self) -> dict[str, Any]:
        """Return the result for JSON."""
        return {
            "baseline": camel_keys(self.baseline) | {"codecs": self.baseline["codecs"]},
            "cells": [cell.to_dict() for cell in self.cells],
            "recommendation": camel_keys(self.recommendation),
            "savings": self.savings and self.savings.to_dict(),
            "sample": camel_keys(self.sample),
            "measurement": dict(self.measurement),
            "versions": dict(self.versions),
        }


def pareto(points: Sequence[tuple[int, float]]) -> list[bool]:
    """Return for each (bytes, speed) pair whether no other pair beats it in both."""
    return [
        not any(other != point and other[0] <= point[0] and other[1] >= point[1] for other in points)
        for point in points
    ]
