"""What is held out, and what train counts of it: against the same records written again."""

from __future__ import annotations

import functools
import random
from pathlib import Path

import pytest
import zstandard

import recordpress
from recordpress.analysis import _dictionary

RECORDS = 8000
BATCH_HEADER = 61
TIME = 1_700_000_000_000


@functools.cache
def values() -> list[bytes]:
    chance = random.Random(5)
    return [
        b'{"id": "%08x", "city": "%s", "amount": %d}'
        % (chance.getrandbits(32), chance.choice([b"Paris", b"Lyon", b"Nice"]), n % 977)
        for n in range(RECORDS)
    ]


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("log") / "00000000000000000000.log"
    path.write_bytes(recordpress.write_records(values(), timestamps=TIME, batch_records=4))
    return path


def held_out(stretches: int) -> list[list[bytes]]:
    """Every fourth of so many."""
    length = RECORDS // stretches
    return [values()[length * at : length * (at + 1)] for at in range(3, stretches, 4)]


@pytest.mark.parametrize(("depths", "stretches"), [((1, 7, 10), 16), ((3, 60), 8), ((1000, 2000), 4)])
def test_counts_and_sizes(log: Path, depths: tuple[int, ...], stretches: int) -> None:
    """A stretch holds four batches of the deepest kind, if there are at least four such stretches."""
    found = recordpress.train(log, 2048, depths=depths)
    plain = zstandard.ZstdCompressor()
    packer = zstandard.ZstdCompressor(dict_data=zstandard.ZstdCompressionDict(found.dictionary.data))
    assert [depth.batch_records for depth in found.depths] == sorted({4, *depths}) and not found.evaluation.skipped
    for depth in found.depths:
        sets = [
            recordpress.write_records(piece, timestamps=TIME, batch_records=depth.batch_records)
            for piece in held_out(stretches)
        ]
        batches = [batch for data in sets for batch in recordpress.read_batches(data)]
        assert (depth.batches, depth.records) == (len(batches), sum(batch.records_count for batch in batches))
        assert depth.input_bytes == sum(map(len, sets))
        without = sum(BATCH_HEADER + len(plain.compress(bytes(batch.payload))) for batch in batches)
        assert depth.plain_bytes == pytest.approx(without, rel=0.03)
        packed = sum(
            len(
                recordpress.write_records(
                    [packer.compress(value) for value in piece], timestamps=TIME, batch_records=depth.batch_records
                )
            )
            for piece in held_out(stretches)
        )
        assert depth.values_bytes == pytest.approx(packed, rel=0.02)


def test_a_depth_of_which_nothing_held_out_fills_a_batch_is_skipped(log: Path) -> None:
    longest = RECORDS // 4
    found = recordpress.train(log, 2048, depths=(longest, longest + 1))
    assert [depth.batch_records for depth in found.depths] == [4, longest]
    assert found.evaluation.skipped == (longest + 1,)


def test_no_more_is_measured_than_it_takes(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_dictionary, "_HELD_OUT_BYTES", 40_000)
    found = recordpress.train(log, 2048, depths=(1,))
    measured = found.evaluation.values["bytes"]
    assert 20_000 < measured <= 40_000
    first = [piece[: found.evaluation.values["records"] // 4] for piece in held_out(16)]
    assert measured == sum(len(value) for piece in first for value in piece)  # from the start of each stretch


def test_no_more_is_trained_on_than_makes_it_better(log: Path) -> None:
    """A hundred times the dictionary's size, from all stretches alike."""
    found = recordpress.train(log, 1024, depths=(1,)).evaluation
    assert 0.9 * 102_400 < found.sample_bytes <= 102_400  # by the column's bytes, offsets among them
    assert found.sample_bytes / found.samples == pytest.approx(sum(map(len, values())) / RECORDS, rel=0.02)


def test_the_size_that_is_not_given_is_a_tenth(log: Path) -> None:
    found = recordpress.train(log, depths=(1,))
    trained_on = sum(map(len, values())) * 3 / 4
    assert trained_on / 20 < len(found.dictionary) <= trained_on / 10 * 1.1


def test_what_is_compressed_is_read_back(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_dictionary, "decompress", lambda data, codec, size, dictionaries: bytes(size))
    with pytest.raises(recordpress.CorruptRecordError, match="differs after decompression"):
        recordpress.train(log, 2048, depths=(1,))
