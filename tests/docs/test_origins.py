"""The page of the founding documents: its tests exist, its matrices are the recorded ones, its findings hold."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import recordpress
from recordpress.analysis import simulate
from together import THOROUGH

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "origins"))
pytest.importorskip("xxhash")

import claims
import matrices
import measures
import streams
from plugin_calls import SnappyPlugin

import origins

pytestmark = pytest.mark.build
BLOCK = re.compile(r"<!-- (?!end)([a-z0-9 -]+) -->\n(.*?)<!-- end -->", re.S)
EVERY = [claim for found in claims.CLAIMS.values() for claim in found]


@pytest.mark.parametrize("claim", EVERY, ids=lambda claim: claim.text[:40])
def test_a_claim_has_a_test_or_a_reason(claim: claims.Claim) -> None:
    assert bool(claim.test) is bool(claim.module) is not bool(claim.refused)
    if claim.test:
        file, _, name = claim.test.partition("::")
        assert re.search(rf"^ *def {name}\(", (ROOT / file).read_text(encoding="utf-8"), re.M), claim.test


def test_every_block_of_the_page_is_written() -> None:
    page = origins.PAGE.read_text(encoding="utf-8")
    blocks = dict(BLOCK.findall(page))
    assert all(text.strip() for text in blocks.values())
    assert blocks["claims"].strip() == origins.all_claims()
    with pytest.raises(ValueError, match="0 blocks are named nothing"):
        origins.with_blocks(page, {"nothing": ""})


@pytest.mark.parametrize("name", ["zstd clients", "zstd fetches", "lz4 clients", "lz4 sent"])
def test_matrices_are_the_recorded_answers(name: str) -> None:
    kind = {
        "zstd clients": matrices.codec_matrix,
        "zstd fetches": matrices.fetch_matrix,
        "lz4 clients": matrices.lz4_matrix,
        "lz4 sent": matrices.lz4_sent,
    }[name]
    written = dict(BLOCK.findall(origins.PAGE.read_text(encoding="utf-8")))[name].strip().splitlines()
    # the full collection of vectors has more Fetch responses than the repository
    assert len(written) > 4 and {*written} <= {*origins.table(*kind()).splitlines()}


@pytest.mark.slow
def test_findings_of_the_codecs(tmp_path: Path) -> None:
    """Sizes, and CPU times whose differences are far beyond noise."""
    log = streams.write_log(tmp_path / "requests-0", streams.requests(streams.REQUESTS))
    cells = {
        (cell.compression_type, cell.level): cell for cell in measures.codecs_of(log, "zstd,1,6,12/gzip,9/snappy").cells
    }
    assert cells["zstd", 1].output_bytes < 1.05 * cells["gzip", 9].output_bytes
    assert cells["zstd", 1].speed.compress_mb_s > 3 * cells["gzip", 9].speed.compress_mb_s
    levels = [cells["zstd", level].speed for level in (1, 6, 12)]
    writing, reading = ([getattr(speed, f"{name}_mb_s") for speed in levels] for name in ("compress", "decompress"))
    assert max(reading) / min(reading) < max(writing) / min(writing) / 2
    (_, none), (_, snappy), (_, zstd) = measures.one_topic(log, tmp_path / "copies")
    assert none > 2.25 * snappy and none > 4.5 * zstd


@pytest.mark.slow
def test_findings_of_the_policies(tmp_path: Path) -> None:
    found = {one.name: one for one in simulate(streams.ratio_streams(tmp_path)["50 topics"]).policies}
    assert found["kip-126"].split_share < 0.1 and found["packed"].splits == 0
    assert found["packed"].bytes < found["kip-126"].bytes < found["uncompressed"].bytes * 1.01
    assert found["damped"].splits > 0


def test_a_broker_of_cloudflare_recompresses_zero_offsets() -> None:
    found = measures.zero_offsets("1.0")
    assert found.verdict == "recompressed"
    assert [reason.name for reason in found.reasons] == ["NON_SEQUENTIAL_INNER_OFFSETS"]


@pytest.mark.slow
@pytest.mark.skipif(not THOROUGH, reason="takes long: make full")
def test_plug_ins_and_the_empty_registry_cost_little(tmp_path: Path) -> None:
    """KIP-984's limits, in instructions: 3 % with a plug-in, and 1 % without one."""
    log = streams.write_log(tmp_path / "requests-0", streams.requests(streams.REQUESTS))
    for name, _, seconds, instructions in measures.plugin_cost(log, tmp_path, (64 << 10,)):
        most = 1.01 if name.startswith("empty") else 1.03
        assert instructions is None or instructions <= most, name
        assert seconds < 1.25 or not name.startswith("empty")
    registry = recordpress.CodecRegistry()
    registry.register("org.example.snappy", SnappyPlugin())
    data = recordpress.write_records([b"a"] * 9, compression_type="org.example.snappy", codecs=registry)
    assert recordpress.read_columns(data, ["value"], codecs=registry).num_rows == 9
