"""Values with a zstd dictionary, one by one and as a column, against zstandard with the same dictionary.

A column is also raced against the same calls for one value after another."""

import functools

import pyarrow as pa
import pytest
import zstandard

import recordpress
from bench.answers import equal
from bench.corpus import SETS
from bench.race import Cell, Contender

LEVEL = 3


@functools.cache
def _values():
    """Of the record set that has the most text."""
    columns = recordpress.read_columns(SETS["apache5000"].batch("none"), ["value"])
    return columns["value"].to_pylist()


@functools.cache
def _dictionary():
    return recordpress.dictionaries.train_values(_values(), 16384)


def _theirs():
    dictionary = zstandard.ZstdCompressionDict(_dictionary().data)
    dictionary.precompute_compress(level=LEVEL)
    return (
        zstandard.ZstdCompressor(level=LEVEL, dict_data=dictionary),
        zstandard.ZstdDecompressor(dict_data=dictionary),
    )


def _cell(operation, codec="zstd"):
    return Cell(operation, "apache5000", codec, len(_values()), sum(map(len, _values())), "values")


@pytest.mark.parametrize("given", ["dictionary", "by id"])
def bench_decompress_with_a_dictionary(race, given):
    values, dictionary, theirs = _values(), _dictionary(), _theirs()[1]
    packed = [recordpress.compress(value, "zstd", dictionary=dictionary) for value in values]
    known = dictionary if given == "dictionary" else {dictionary.id: dictionary}

    def ours():
        return [recordpress.decompress(value, "zstd", dictionaries=known) for value in packed]

    def others():
        return [theirs.decompress(value) for value in packed]

    race(
        _cell("decompress values", f"zstd, {given}"),
        Contender("recordpress", ours, lambda: equal(ours(), values, "recordpress")),
        Contender("zstandard", others, lambda: equal(others(), values, "zstandard")),
    )


def bench_compress_with_a_dictionary(race):
    values, dictionary, (theirs, reader) = _values(), _dictionary(), _theirs()

    def ours():
        return [recordpress.compress(value, "zstd", dictionary=dictionary) for value in values]

    def others():
        return [theirs.compress(value) for value in values]

    race(
        _cell("compress values"),
        Contender(
            "recordpress", ours, lambda: equal([reader.decompress(one) for one in ours()], values, "recordpress")
        ),
        Contender("zstandard", others, lambda: equal([reader.decompress(one) for one in others()], values, "zstd")),
    )


def bench_columns_with_a_dictionary(race):
    """One call for all values, against one call for each."""
    values, dictionary, theirs = pa.array(_values()), _dictionary(), _theirs()[0]
    objects = _values()

    def ours():
        return recordpress.compress_values(values, "zstd", dictionary=dictionary)

    def others():
        return [theirs.compress(value) for value in objects]

    def one_by_one():
        return [recordpress.compress(value, "zstd", dictionary=dictionary) for value in objects]

    def back(packed):
        return recordpress.decompress_values(packed, "zstd", dictionaries=dictionary).to_pylist()

    race(
        _cell("compress a column"),
        Contender("recordpress", ours, lambda: equal(back(ours()), objects, "recordpress")),
        Contender("zstandard", others, lambda: equal(back(pa.array(others())), objects, "zstandard")),
        Contender("one by one", one_by_one, lambda: equal(back(pa.array(one_by_one())), objects, "one by one")),
    )


def bench_decompress_a_column_with_a_dictionary(race):
    values, dictionary, theirs = _values(), _dictionary(), _theirs()[1]
    packed = recordpress.compress_values(pa.array(values), "zstd", dictionary=dictionary)
    column, objects = pa.array(packed), packed.to_pylist()

    def ours():
        return recordpress.decompress_values(column, "zstd", dictionaries=dictionary)

    def others():
        return [theirs.decompress(value) for value in objects]

    def one_by_one():
        return [recordpress.decompress(value, "zstd", dictionaries=dictionary) for value in objects]

    race(
        _cell("decompress a column"),
        Contender("recordpress", ours, lambda: equal(ours().to_pylist(), values, "recordpress")),
        Contender("zstandard", others, lambda: equal(others(), values, "zstandard")),
        Contender("one by one", one_by_one, lambda: equal(one_by_one(), values, "one by one")),
    )
