"""Measure the tables of the founding documents, print them, and write them into docs/origins.md.

python origins/origins.py
"""

from __future__ import annotations

import re
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import claims
import matrices
import measures
import plots
import streams

from recordpress.analysis import Cell, Simulation
from recordpress.analysis.machine import machine_facts, software_versions

PAGE = Path(__file__).parents[1] / "docs" / "origins.md"
_WORKS_OF_2018 = {  # Cloudflare's second table: seconds per million messages, CPU ratio, bytes per message, ratio
    ("none", None): ("8.06", "1.00", "1,594", "1.00"),
    ("gzip", 6): ("81.74", "10.14", "445", "3.58"),
    ("snappy", None): ("12.97", "1.61", "679", "2.35"),
    ("lz4", None): ("20.22", "2.51", "881", "1.81"),
}


def main() -> None:
    """Run all sections and write the page."""
    started = time.process_time()
    blocks: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as directory:
        for name, text in sections(Path(directory)):
            print(f"\n{name}\n\n{text}", flush=True)
            blocks[name] = text
    facts, versions = machine_facts(), software_versions()
    blocks["conditions"] = (
        f"Measured on {facts['processor']}, {facts['cores']} cores, Python {facts['python']}, "
        f"with {', '.join(f'{name} {version}' for name, version in sorted(versions.items()))}."
    )
    PAGE.write_text(with_blocks(PAGE.read_text(encoding="utf-8"), blocks), encoding="utf-8")
    print(f"\nwrote {PAGE}: {time.process_time() - started:.0f} CPU seconds")


def with_blocks(page: str, blocks: dict[str, str]) -> str:
    """Return the page with the text of every block between its marks."""
    for name, text in blocks.items():
        marks = re.compile(rf"(<!-- {re.escape(name)} -->\n).*?(<!-- end -->)", re.S)
        page, found = marks.subn(lambda match, text=text: f"{match[1]}{text}\n{match[2]}", page)  # type: ignore[misc]
        if found != 1:
            raise ValueError(f"{PAGE}: {found} blocks are named {name}")
    return page


def sections(place: Path) -> Iterable[tuple[str, str]]:
    """Yield the name and the text of each block."""
    logs = streams.shapes(place)
    yield "codecs", table(("records", *_NAMES), list(codec_rows(logs)))
    found, size = measures.one_batch(logs["binary requests"], place)
    yield (
        "batch",
        table(_LIST, [("memcpy", "", f"{found.memcpy_mb_s:,.0f}", "", f"{size:,}", ""), *list_rows(found.cells)]),
    )
    yield "knob", knob(found.cells)
    yield "batch plot", plots.write(
        "codecs", "Ratio and compression speed of each codec and level", 320,
        lambda canvas: plots.ratio_and_speed(canvas, found.cells),
    )  # fmt: skip
    yield "knob plot", plots.write(
        "levels", "Compression and decompression speed of zstd by level", 280,
        lambda canvas: plots.speed_by_level(canvas, found.cells),
    )  # fmt: skip
    yield "zero offsets", table(("broker", "verdict", "reasons"), list(zero_offset_rows()))
    yield (
        "one topic",
        table(("codec", "bytes", "smaller"), topic_rows(measures.one_topic(logs["binary requests"], place))),
    )
    yield "three messages", table(_LIST, list_rows(measures.three_messages(place).cells))
    yield "zstd clients", table(*matrices.codec_matrix())
    yield "zstd fetches", table(*matrices.fetch_matrix())
    yield "lz4 clients", table(*matrices.lz4_matrix())
    yield "lz4 sent", table(*matrices.lz4_sent())
    cost = measures.plugin_cost(logs["binary requests"], place)
    yield "plug-in", table(("call", "bytes", "CPU time", "instructions"), list(cost_rows(cost)))
    simulated = measures.policies(place)
    yield "policies", table(_POLICIES, list(policy_rows(simulated)))
    yield (
        "policies plot",
        plots.write(
            "policies", "Fill of batches by policy and stream", 420, lambda canvas: plots.fills(canvas, simulated)
        ),
    )
    yield "mixes", table(("policy", "splits, mean of 99 mixes", "worst mix"), list(mix_rows(measures.mixes(place))))
    yield "claims", all_claims()


def cost_rows(cost: Sequence[tuple[str, int, float, float | None]]) -> Iterable[tuple[str, ...]]:
    for name, size, seconds, instructions in cost:
        yield name, f"{size:,}", f"{seconds:.2f}x", "-" if instructions is None else f"{instructions:.3f}x"


def all_claims() -> str:
    """Return a table of sentences for each document."""
    names = ("claim", "module", "test, or why not")
    return "\n\n".join(f"### {document}\n\n{table(names, claims.rows(document))}" for document in claims.CLAIMS)


def table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [names, ["---"] * len(names), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


_NAMES = ("codec", "CPU s per 1 M", "CPU ratio", "bytes per message", "ratio", "Cloudflare, 2018: the same four")
_LIST = ("codec", "level", "compress MB/s", "decompress MB/s", "bytes", "ratio")
_POLICIES = ("stream", "policy", "batches", "splits", "of sent", "bytes", "fill", "CPU ms")


def _level(cell: Cell) -> str:
    return "" if cell.level is None else str(cell.level)


def codec_rows(logs: dict[str, Path]) -> Iterable[Sequence[str]]:
    for name, log in logs.items():
        for cell in measures.codecs_of(log).cells:
            theirs = _WORKS_OF_2018.get((cell.compression_type, cell.level), ())
            yield (
                name, f"{cell.compression_type} {_level(cell)}".strip(), f"{cell.cpu_seconds_per_million:.2f}",
                f"{cell.cpu_ratio:.2f}", f"{cell.bytes_per_record:,.0f}", f"{cell.ratio:.2f}",
                " / ".join(theirs) if name == "binary requests" else "",
            )  # fmt: skip


def list_rows(cells: Sequence[Cell]) -> list[Sequence[str]]:
    return [
        (
            cell.compression_type, _level(cell), f"{cell.speed.compress_mb_s:,.1f}",
            f"{cell.speed.decompress_mb_s:,.0f}", f"{cell.output_bytes:,}", f"{cell.ratio:.2f}",
        )
        for cell in cells
    ]  # fmt: skip


def knob(cells: Sequence[Cell]) -> str:
    """Compare how much the speeds of zstd vary over its levels."""
    speeds = [cell.speed for cell in cells if cell.compression_type == "zstd"]
    writing = [speed.compress_mb_s for speed in speeds]
    reading = [speed.decompress_mb_s for speed in speeds]
    return (
        f"From level to level of zstd, the compression speed varies {max(writing) / min(writing):,.0f}-fold, "
        f"the decompression speed {max(reading) / min(reading):.1f}-fold."
    )


def zero_offset_rows() -> Iterable[Sequence[str]]:
    for version in ("1.0", "2.4", "2.5", "3.9"):
        found = measures.zero_offsets(version)
        yield version, found.verdict, ", ".join(f"`{reason.name}`" for reason in found.reasons)


def topic_rows(sizes: Sequence[tuple[str, int]]) -> list[Sequence[str]]:
    first = sizes[0][1]
    return [(codec, f"{size:,}", f"{first / size:.2f}x") for codec, size in sizes]


def policy_rows(simulated: dict[str, Simulation]) -> Iterable[Sequence[str]]:
    for stream, found in simulated.items():
        for policy in found.policies:
            yield (
                stream, policy.name, f"{policy.batches:,}", str(policy.splits), f"{100 * policy.split_share:.1f} %",
                f"{policy.bytes:,}", f"{100 * policy.fill:.0f} %", f"{1000 * policy.cpu_seconds:,.0f}",
            )  # fmt: skip


def mix_rows(shares: dict[str, list[float]]) -> Iterable[Sequence[str]]:
    for policy, found in shares.items():
        yield policy, f"{100 * sum(found) / len(found):.2f} %", f"{100 * max(found):.2f} %"


if __name__ == "__main__":
    main()
