"""However noisy the machine is, `analyze` recommends one thing, or says what is as good."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import recordpress
from recordpress.analysis import Analysis, _analyze
from recordpress.analysis._measure import Calls, Measure
from together import THOROUGH

SPEEDS = {"none": (9000, 9000), "snappy": (420, 1300), "lz4": (380, 2400), "gzip": (30, 290), "zstd": (240, 800)}


def analysis(path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, noise: float = 0.4, **options: Any) -> Analysis:
    """With calls that take what the table says, and as much longer as others on the machine like."""
    draw = random.Random(seed)

    def calls(self: Measure, setting: Any, payloads: Any) -> Calls:
        size = sum(map(len, payloads))
        slower = 1 + getattr(setting.level, "level", setting.level or 0) / 8
        compressing, decompressing = (
            [size / 1e6 / speed * slower * (1 + draw.expovariate(1 / noise)) for _ in range(draw.randrange(3, 9))]
            for speed in SPEEDS[setting.compression_type]
        )
        return Calls(size, compressing, decompressing)

    monkeypatch.setattr(Measure, "calls", calls)
    monkeypatch.setattr(_analyze, "_dictionary", lambda sample: None)  # to train one takes most of the time
    return recordpress.analyze(path, depths=(1, 10), sample_bytes=200_000, **options)


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    draw = random.Random(1)
    path = tmp_path / "lines.txt"
    text = (f"GET /articles/{draw.randrange(1000)}?user={draw.randrange(10**6)} 200\n" for _ in range(3000))
    path.write_text("".join(text))
    return path


def recommended(found: Analysis) -> tuple[Any, ...]:
    return tuple(found.recommendation[name] for name in ("compression_type", "level", "depth"))


def test_one_recommendation_on_a_noisy_machine(lines: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [recommended(analysis(lines, monkeypatch, seed, max_seconds=1.0)) for seed in range(5 if THOROUGH else 3)]
    assert len(set(found)) == 1, found
    assert recommended(analysis(lines, monkeypatch, 0, noise=1e-9)) == found[0]


def test_the_smallest_of_what_is_as_good(lines: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There was no time to tell them apart."""
    found = analysis(lines, monkeypatch, 1, noise=3.0, candidates="gzip,8,9/lz4/none", max_seconds=1e-9)
    advice = found.recommendation
    [chosen] = [cell for cell in found.cells if (cell.compression_type, cell.level, cell.depth) == recommended(found)]
    ties = [found.cells[number] for number in advice["ties"]]
    assert ties and all(chosen.output_bytes <= cell.output_bytes for cell in ties if cell.depth == chosen.depth)
    assert advice["warnings"][0].startswith("the measurement does not distinguish ")
    assert f"{ties[0].compression_type} {ties[0].level} at {ties[0].depth:g}x" in advice["warnings"][0]


def test_of_equal_sizes_the_one_that_producers_have(lines: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches smaller than the window have the same bytes, whatever the noise says of their speeds."""
    for seed in range(8 if THOROUGH else 4):
        found = analysis(lines, monkeypatch, seed, noise=3.0, candidates="zstd,3,windowLog=17/zstd,3", max_seconds=1e-9)
        assert found.recommendation["level"] == 3
