"""The report of a run: each cell against the ceiling, the peers and its targets.

usage: python -m bench.report RESULTS.json [--markdown]

RESULTS.json is the file that pytest-benchmark writes with --benchmark-json. Every run ends by printing the same table.
"""

import json
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from bench.targets import CEILING_OVER, NATIVE_PEERS, TARGETS


@dataclass(frozen=True)
class Line:
    """A measured cell. `measures` are those of targets.py, `estimated` the names among them that were not timed."""

    operation: str
    set: str
    codec: str
    rate: str
    measures: dict[str, float]
    estimated: frozenset[str]

    @property
    def key(self) -> tuple[str, str, str]:
        return self.operation, self.set, self.codec

    def text(self, measure: str, bounds: bool = True) -> str:
        """A number with its target after it, and `MISS` where it is not reached."""
        if measure not in self.measures:
            return ""
        value = self.measures[measure]
        out = ("~" if measure in self.estimated else "") + _number(value)
        targets = [target for target in TARGETS.get(self.key, []) if target.measure == measure]
        if bounds:
            for target in targets:
                out += f" ({target})" + ("" if target.met(value) else " MISS")
        return out

    def missed(self) -> list[str]:
        return [
            target.measure
            for target in TARGETS.get(self.key, [])
            if target.measure in self.measures and not target.met(self.measures[target.measure])
        ]


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _ratio(rival: list[float], ours: list[float]) -> float:
    """How many times as fast we are: the median over the rounds that both ran in."""
    return statistics.median(theirs / own for theirs, own in zip(rival, ours, strict=False))


def _rate(cell: dict, seconds: float) -> str:
    records = f"{_number(cell['records'] / seconds / 1e6)} M {cell['unit']}/s"
    return records + (f", {cell['size'] / seconds / 1e6:,.0f} MB/s" if cell["size"] else "")


def line(info: dict) -> Line:
    """From the extra_info that race.py leaves with a benchmark."""
    cell, measures = info["cell"], dict(info["measures"])
    seconds = {name: times for name, times in info["seconds"].items() if times}
    ours = seconds.pop("recordpress")
    key = cell["operation"], cell["set"], cell["codec"]
    one, nothing = seconds.pop("one in C", None), seconds.pop("nothing in C", None)
    if one and nothing:
        bare = [call - empty for call, empty in zip(one, nothing, strict=True)]
        measures["over_c_us"] = 1e6 * statistics.median(own - c for own, c in zip(ours, bare, strict=True))
        measures["over_c_percent"] = 100 * statistics.median(own / c - 1 for own, c in zip(ours, bare, strict=True))
    for name, times in seconds.items():
        measures[name] = _ratio(times, ours) * (100 if name.startswith("limit") else 1)
    if all(name in measures for name in NATIVE_PEERS):
        measures["native peer"] = min(measures[name] for name in NATIVE_PEERS)
    measures["per_second"] = cell["records"] / statistics.median(ours)
    estimated = {}
    if "limit" in seconds:
        estimated = {
            name: over * measures["limit"] / 100
            for name, over in CEILING_OVER.get(key, {}).items()
            if name not in measures
        }
    return Line(*key, _rate(cell, statistics.median(ours)), measures | estimated, frozenset(estimated))


def lines(infos: list[dict]) -> list[Line]:
    """Of the cells in which recordpress was timed."""
    return [line(info) for info in infos if info.get("seconds", {}).get("recordpress")]


def failures(infos: list[dict]) -> list[str]:
    """Which contenders failed, where and how. One that ran out of time, or was interrupted, left no times either."""
    out = []
    for info in infos:
        failed = dict(info.get("failed", {}))
        failed |= {name: "not timed" for name, times in info.get("seconds", {}).items() if not times}
        place = ", ".join(info["cell"][name] for name in ("operation", "set", "codec")) if failed else ""
        out += [f"  {place}: {name}: {' '.join(how.split())[:200]}" for name, how in failed.items()]
    return out


FIXED = {
    "limit": "% of limit",
    "aiokafka long-lived": "x aiokafka, long-lived",
    "aiokafka": "x aiokafka, new process",
    "kafka python long-lived": "x kafka-python, long-lived",
    "kafka python": "x kafka-python, new process",
}


def _others(one: Line, bounds: bool) -> str:
    """What has no column of its own: other peers, and measures that have a target."""
    targeted = {target.measure for target in TARGETS.get(one.key, [])}
    unshown = {"per_second", "over_c_us", "over_c_percent"} - targeted
    shown = [name for name in one.measures if name not in FIXED and name not in unshown]
    return ", ".join(f"{name} {one.text(name, bounds)}" for name in shown)


def rows(report: list[Line], bounds: bool = True) -> list[list[str]]:
    head = ["operation", "records", "codec", "recordpress", *FIXED.values(), "other"]
    return [head] + [
        [one.operation, one.set, one.codec, one.rate, *(one.text(name, bounds) for name in FIXED), _others(one, bounds)]
        for one in report
    ]


def markdown(report: list[Line]) -> str:
    """The table for a README: what was reached, without the targets."""
    head, *body = rows(report, bounds=False)
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *body])


def plain(report: list[Line], failed: Sequence[str] = ()) -> str:
    """The table, with what missed a target and what failed after it."""
    table = rows(report)
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    out = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]
    missed = [f"  {', '.join(one.key)}: {', '.join(one.missed())}" for one in report if one.missed()]
    what_failed = ["", f"contenders that failed: {len(failed)}", *failed] if failed else []
    return "\n".join([*out, "", f"{len(missed)} of {len(report)} cells miss a target", *missed, *what_failed])


def main(arguments: list[str]) -> None:
    if not arguments or arguments[0].startswith("-"):
        sys.exit(__doc__)
    with open(arguments[0]) as file:
        infos = [entry["extra_info"] for entry in json.load(file)["benchmarks"]]
    report = lines(infos)
    print(markdown(report) if "--markdown" in arguments else plain(report, failures(infos)))


if __name__ == "__main__":
    main(sys.argv[1:])
