"""Recommended settings and their savings.

A codec is worth its CPU time if each doubling of that time saves a twentieth of the bytes; a depth is worth its delay
if it saves as much. Both are rules of thumb: the cells allow other choices.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from recordpress.analysis._analysis import DAY, Cell
from recordpress.analysis._grid import Setting
from recordpress.analysis._measure import Size
from recordpress.analysis._rate import Rate
from recordpress.codecs import ZstdParameters
from recordpress.codecs.choice import level_as_json, stored_as
from recordpress.codecs.table import CodecTable
from recordpress.producer.settings import LINGER_MS, MAX_REQUEST_SIZE, batch_size_of, linger_ms_of

DEPTHS = (2, 10, 100)  # multiples of the stored depth, to show the effect of deeper batches
SAVED_PER_DOUBLING = 0.05  # of the bytes, for doubled CPU time; a judgement: see above
SHALLOW = 0.9  # batches are shallow if ten times the depth takes less than this share of the bytes

_CPU_WEIGHT = -math.log2(1 - SAVED_PER_DOUBLING)
_SURE = 0.002  # differences in cost below this do not count: 2 % of the speed
_WITH_LEVEL = CodecTable().levels.keys()  # KIP-390


@dataclass(frozen=True)
class Prices:
    """Numbers of replicas and consumers, and prices of a GB (10^9 bytes) that is stored, sent to a follower in another
    zone, or read by a consumer; None is unknown."""

    storage: float | None
    replication: int
    network: float | None
    consumers: int
    reading: float | None


@dataclass(frozen=True)
class Situation:
    """Input of the advice in addition to the cells."""

    stored_bytes: int
    total_bytes: int
    record_bytes: float
    partitions: int
    rate: Rate | None
    prices: Prices


class Choice(NamedTuple):
    """Recommended cell, and larger cells that the measurement does not distinguish from it."""

    cell: Cell
    ties: tuple[Cell, ...]

    @property
    def contested(self) -> tuple[Cell, ...]:
        """Cells to measure again, because their speeds are too uncertain to order them."""
        found = (*self.ties, self.cell) if self.ties else ()
        return tuple(cell for cell in found if _costs(cell)[1] - _costs(cell)[0] > _SURE)


def choose(cells: Sequence[Cell]) -> Choice:
    """Return the cell with the best saving for its CPU time and delay; without a candidate ``none``, even if no cell
    saves enough. If the measurement leaves the order of cells open, return the smallest of them."""
    worthwhile = [cell for cell in cells if cell.compression_type == "none" or _saves(cell)]
    cells = worthwhile if {cell.depth for cell in worthwhile} == {cell.depth for cell in cells} else cells
    shallow = min(cells, key=lambda cell: cell.depth).depth
    best, ties = _best([cell for cell in cells if cell.depth == shallow])
    deeper = [cell for cell in cells if cell.depth > shallow and _batch_size(cell) <= MAX_REQUEST_SIZE]
    for depth in sorted({cell.depth for cell in deeper}):
        other, others = _best([cell for cell in deeper if cell.depth == depth])
        least, most = (cost + _CPU_WEIGHT for cost in _costs(other))  # the delay counts as much as doubled CPU time
        lowest, highest = _costs(best)
        if _saves(other) and least <= highest:
            best, ties = other, (*others, best) if most > lowest else others
    return Choice(best, ties)


def _best(cells: Sequence[Cell]) -> Choice:
    """Return the smallest of the cells of one depth that may be the best."""
    highest = _costs(min(cells, key=_cost))[1]
    near = [cell for cell in cells if _costs(cell)[0] <= highest]
    first, *others = sorted(near, key=lambda cell: (cell.output_bytes, _needs_recordpress(cell), _cost(cell)))
    return Choice(first, tuple(others))


def _needs_recordpress(cell: Cell) -> bool:
    """Return whether Kafka's producers have no setting for the cell."""
    is_providers = stored_as(cell.compression_type) not in (None, cell.compression_type)
    return is_providers or isinstance(cell.level, ZstdParameters)


def _saves(cell: Cell) -> bool:
    """Return whether a cell saves enough to be worth any CPU time."""
    return cell.output_bytes <= (1 - SAVED_PER_DOUBLING) * cell.input_bytes


def _cost(cell: Cell) -> float:
    return _cost_at(cell, cell.speed.compress_mb_s, cell.speed.decompress_mb_s)


def _costs(cell: Cell) -> tuple[float, float]:
    """Return the lowest and highest cost of a cell within the spread of its measured speeds."""
    low, high = zip(cell.speed.compress_range, cell.speed.decompress_range, strict=True)
    return _cost_at(cell, *high), _cost_at(cell, *low)


def _cost_at(cell: Cell, compress_mb_s: float, decompress_mb_s: float) -> float:
    """Return the cost of a cell: doubled CPU time counts as much as a saving of `SAVED_PER_DOUBLING`."""
    seconds = 1 / compress_mb_s + 1 / decompress_mb_s
    return math.log2(cell.output_bytes / cell.input_bytes) + _CPU_WEIGHT * math.log2(seconds)


def recommend(choice: Choice, by_depth: Mapping[int, Size], cells: Sequence[Cell], now: Situation) -> dict[str, Any]:
    """Return the advice, for JSON."""
    chosen = choice.cell
    settings = _settings(chosen, now)
    return {
        "compression_type": chosen.compression_type,
        "level": level_as_json(chosen.level),
        "batch_records": chosen.batch_records,
        "depth": chosen.depth,
        "ratio": chosen.ratio,
        "settings": settings,
        "lines": [f"{name}={value}" for name, value in settings.items()],
        "saves": _savings(chosen, now),
        "by_depth": [
            {"depth": depth, "ratio": size.input_bytes / size.output_bytes, "batches": size.batches}
            for depth, size in sorted(by_depth.items())
        ],
        "pareto": [number for number, cell in enumerate(cells) if cell.is_best],
        "ties": [number for number, cell in enumerate(cells) if cell in choice.ties],
        "warnings": _warnings(choice, by_depth, now),
    }


def _settings(chosen: Cell, now: Situation) -> dict[str, str | int]:
    settings: dict[str, str | int] = {"compression.type": stored_as(chosen.compression_type) or "pluggable"}
    if settings["compression.type"] == "pluggable":
        settings["pluggable.factory.plugin"] = chosen.compression_type  # KIP-984
    if chosen.level is not None and chosen.compression_type in _WITH_LEVEL:
        level = chosen.level.level if isinstance(chosen.level, ZstdParameters) else chosen.level
        settings[f"compression.{chosen.compression_type}.level"] = level
    settings["batch.size"] = _batch_size(chosen)
    settings["linger.ms"] = _linger_ms(chosen, now)
    return settings


def _batch_size(cell: Cell) -> int:
    return batch_size_of(
        cell.output_bytes / cell.batches, cell.input_bytes / cell.records, cell.compression_type != "none"
    )


def _linger_ms(cell: Cell, now: Situation) -> int:
    """Return the time in which a producer fills a batch for each partition; Kafka's default if the rate is unknown."""
    if now.rate is None:
        return LINGER_MS
    rate = now.rate.records_per_second(now.record_bytes) / now.partitions
    return linger_ms_of(cell.records / cell.batches, rate)


def _savings(chosen: Cell, now: Situation) -> dict[str, Any]:
    share = 1 - chosen.output_bytes / now.stored_bytes
    saves: dict[str, Any] = {"share": share, "bytes": round(share * now.total_bytes)}
    prices, followers = now.prices, now.prices.replication - 1

    def add(name: str, size: float, price: float | None) -> None:
        if price is not None:
            saves[name] = size / 1e9 * price

    add("price", saves["bytes"] * prices.replication, prices.storage)
    if now.rate is None:
        return saves
    rate = now.rate.bytes_per_second(now.record_bytes)
    compress, decompress = chosen.cpu_seconds_a_day(rate)
    a_day = rate * DAY * (now.stored_bytes - chosen.output_bytes) / chosen.input_bytes
    saves |= {
        "bytes_a_day": round(a_day),
        "compress_cpu_seconds_a_day": compress,
        "decompress_cpu_seconds_a_day": decompress,
        "network_bytes_a_day": round(a_day * followers),
        "consumer_bytes_a_day": round(a_day * prices.consumers),
    }
    add("price_a_day", a_day * prices.replication, prices.storage)
    add("network_price_a_day", a_day * followers, prices.network)
    add("consumer_price_a_day", a_day * prices.consumers, prices.reading)
    return saves


def _warnings(choice: Choice, by_depth: Mapping[int, Size], now: Situation) -> list[str]:
    chosen, found = choice.cell, []
    if choice.ties:
        others = ", ".join(f"{Setting(one.compression_type, one.level)} at {one.depth:g}x" for one in choice.ties)
        found.append(f"the measurement does not distinguish {others} from the recommendation, which is smaller")
    if stored_as(chosen.compression_type) not in (None, chosen.compression_type):
        found.append(f"Kafka's producers have no setting for {chosen.compression_type}: only recordpress supports it")
    if isinstance(chosen.level, ZstdParameters):
        found.append("Kafka's producers have no setting for windowLog or strategy: only recordpress supports them")
    if is_shallow(by_depth):
        ratios = ", ".join(
            f"{depth}x: {size.input_bytes / size.output_bytes:.2f}" for depth, size in sorted(by_depth.items())
        )
        found.append(f"batches are too small to compress well; ratios by depth: {ratios}")
    if chosen.output_bytes > now.stored_bytes:
        found.append("the data stored today is smaller, but takes more CPU time")
    if _batch_size(chosen) > MAX_REQUEST_SIZE:
        found.append("the stored batches exceed the default max.request.size")
    if now.rate is None:
        found.append("linger.ms is Kafka's default: without a rate, the time to fill a batch is unknown")
    return found


def is_shallow(by_depth: Mapping[int, Size]) -> bool:
    """Return whether batches of ten times as many records take much less space."""
    now, deeper = by_depth[1], by_depth[10]
    return deeper.output_bytes / deeper.input_bytes < SHALLOW * now.output_bytes / now.input_bytes
