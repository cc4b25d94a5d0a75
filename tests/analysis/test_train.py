"""recordpress.train: what is measured was not trained on, and is what others make of it."""

from __future__ import annotations

import functools
import json
import random
from pathlib import Path

import jsonschema
import pytest
import zstandard

import recordpress
from recordpress.analysis import DictionaryTraining
from recordpress.log import Progress

ROOT = Path(__file__).parents[2]
SEGMENT = "00000000000000000000.log"
BATCH_HEADER = 61
NAME = 1 + len("zstd-dict")


@functools.cache
def values(number: int) -> list[bytes]:
    chance = random.Random(3)
    return [
        b'{"id": "%08x", "user": {"name": "u%d", "city": "%s"}, "amount": %d, "currency": "EUR"}'
        % (chance.getrandbits(32), chance.randrange(500), chance.choice([b"Paris", b"Lyon", b"Nice"]), n % 977)
        for n in range(number)
    ]


def log_of(path: Path, records: list[bytes], depth: int) -> Path:
    path.mkdir()
    (path / SEGMENT).write_bytes(
        recordpress.write_records(
            records,
            [b"k%d" % (n % 50) for n in range(len(records))],
            1_700_000_000_000,
            batch_records=depth,
            compression_type="zstd",
        )
    )
    return path


@pytest.fixture(scope="module")
def shallow(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, DictionaryTraining]:
    path = log_of(tmp_path_factory.mktemp("shallow") / "orders-0", values(8000), 4)
    return path, recordpress.train(path, 4096, depths=(1, 10, 25))


def test_shallow_batches_gain_from_a_dictionary(shallow: tuple[Path, DictionaryTraining]) -> None:
    _, found = shallow
    assert found.pays and found.saves > 0.2 and found.evaluation.stored.batch_records == 4
    assert [depth.batch_records for depth in found.depths] == [1, 4, 10, 25]
    assert [depth.saves for depth in found.depths] == sorted((depth.saves for depth in found.depths), reverse=True)
    assert found.summary.startswith("a dictionary pays: at the stored depth of 4, batches compressed with it")
    assert len(found.dictionary) <= 4096
    breaks_even = found.evaluation.break_even_records
    assert breaks_even is not None
    stored = found.evaluation.stored
    saved = (stored.plain_bytes - min(stored.values_bytes, stored.batches_bytes)) / stored.records
    assert breaks_even == round(len(found.dictionary) / saved)


def test_the_sizes_are_those_that_others_make(shallow: tuple[Path, DictionaryTraining]) -> None:
    """zstandard with the same dictionary, on the records that were held out: every fourth of 16 stretches."""
    _, found = shallow
    records = values(8000)
    held_out = [records[500 * at : 500 * (at + 1)] for at in (3, 7, 11, 15)]
    packer = zstandard.ZstdCompressor(dict_data=zstandard.ZstdCompressionDict(found.dictionary.data))
    assert found.evaluation.values["records"] == 2000
    theirs = sum(len(packer.compress(value)) for piece in held_out for value in piece)
    assert found.evaluation.values["dictionary_bytes"] == pytest.approx(theirs, rel=0.02)
    for depth in found.depths:
        whole = with_dictionary = 0
        for at, piece in zip((3, 7, 11, 15), held_out, strict=True):
            keys = [b"k%d" % ((500 * at + n) % 50) for n in range(500)]
            record_set = recordpress.write_records(piece, keys, 1_700_000_000_000, batch_records=depth.batch_records)
            whole += len(record_set)
            for batch in recordpress.read_batches(record_set):
                with_dictionary += BATCH_HEADER + NAME + len(packer.compress(bytes(batch.payload)))
        assert depth.input_bytes == whole
        assert depth.batches_bytes == pytest.approx(with_dictionary, rel=0.02)


def test_the_dictionary_is_as_good_as_the_one_that_others_train(shallow: tuple[Path, DictionaryTraining]) -> None:
    _, found = shallow
    records = values(8000)
    seen = [value for at in range(16) if at % 4 != 3 for value in records[500 * at : 500 * (at + 1)]]
    theirs = zstandard.ZstdCompressor(dict_data=zstandard.train_dictionary(4096, seen))
    held_out = [value for at in (3, 7, 11, 15) for value in records[500 * at : 500 * (at + 1)]]
    expected = sum(len(theirs.compress(value)) for value in held_out)
    assert found.evaluation.values["dictionary_bytes"] <= 1.02 * expected


def test_nothing_that_is_measured_was_trained_on(shallow: tuple[Path, DictionaryTraining]) -> None:
    _, found = shallow
    ids = [value[8:16] for at in (3, 7, 11, 15) for value in values(8000)[500 * at : 500 * (at + 1)]]
    assert not any(id in found.dictionary.data for id in ids)


def test_it_is_told_that_a_dictionary_does_not_pay(tmp_path: Path) -> None:
    """Deep batches have learned their own dictionary; noise has none."""
    deep = recordpress.train(log_of(tmp_path / "deep-0", values(8000), 1000), 2048, depths=(1,))
    assert not deep.pays and deep.saves < 0.05
    assert deep.summary.startswith("a dictionary does not pay: at the stored depth of 1000, ")
    assert deep.summary.endswith("; it pays if it saves 5 % or more, here up to 1 records per batch")
    noise = random.Random(1)
    path = tmp_path / "noise"
    path.write_text("".join(f"{noise.getrandbits(400):0100x}\n" for _ in range(3000)))
    found = recordpress.train(path, depths=(10,))
    assert not found.pays and found.evaluation.stored.saves < 0.02


def test_the_json_is_what_its_schema_says(shallow: tuple[Path, DictionaryTraining]) -> None:
    path, found = shallow
    schema = json.loads((ROOT / "docs" / "train.schema.json").read_text())
    jsonschema.validate(json.loads(json.dumps(found.to_dict())), schema)
    again = recordpress.train(path, 4096, depths=(1, 10, 25))
    assert again.to_dict() == found.to_dict() and again.dictionary == found.dictionary


def test_options(tmp_path: Path) -> None:
    path = log_of(tmp_path / "orders-0", values(4000), 10)
    told: list[Progress] = []
    found = recordpress.train(
        [path], 1024, level=9, depths=[1, 5000], seed=7, dictionary_id=66_666, progress=told.append
    )
    assert found.dictionary.id == 66_666 and found.evaluation.level == 9 and found.sample["seed"] == 7
    assert [depth.batch_records for depth in found.depths] == [1, 10] and found.evaluation.skipped == (5000,)
    assert len(recordpress.train(path, depths=()).dictionary) <= sum(map(len, values(4000))) // 10
    one = recordpress.train(path, 1024, sample_bytes=100_000, seed=1)
    assert one.dictionary != recordpress.train(path, 1024, sample_bytes=100_000, seed=2).dictionary


def test_nulls_and_empty_values(tmp_path: Path) -> None:
    records = [None if n % 7 == 0 else b"" if n % 11 == 0 else value for n, value in enumerate(values(3000))]
    (tmp_path / SEGMENT).write_bytes(recordpress.write_records(records, [b"key"] * 3000, batch_records=3))
    found = recordpress.train(tmp_path / SEGMENT, 1024, depths=(1,))
    assert found.pays and 0 < found.evaluation.values["records"] < 750


def test_damage_is_a_finding(tmp_path: Path) -> None:
    path = log_of(tmp_path / "orders-0", values(2000), 10) / SEGMENT
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    found = recordpress.train(path, 1024, depths=(1,))
    assert len(found.findings) == 1 and found.sample["findings"]


def test_what_cannot_be_trained_on(tmp_path: Path) -> None:
    for number, content, sentence in (
        (0, b"", "no line"),
        (1, b"a\nb\n", "2 records are too few"),
        (2, b"\n" * 100, "too few"),
    ):
        path = tmp_path / str(number)
        path.write_bytes(content)
        with pytest.raises(recordpress.InvalidArgumentError, match=sentence):
            recordpress.train(path)


def test_analyze_says_the_same(tmp_path: Path) -> None:
    path = log_of(tmp_path / "orders-0", values(2000), 4)
    advice = recordpress.analyze(path, "none/zstd,3", depths=[1]).recommendation["dictionary"]
    found = recordpress.train(path).to_dict()
    assert advice == {key: found[key] for key in advice}
    few = tmp_path / "few"
    few.write_bytes(b"a\nb\n")
    assert recordpress.analyze(few, "none", depths=[1]).recommendation["dictionary"] is None
