"""Codecs and levels in the form of lzbench, with ranges."""

from __future__ import annotations

import pytest

import recordpress
from recordpress.analysis import parse_candidates


@pytest.mark.parametrize(
    ("candidates", "expected"),
    [
        ("zstd,1-4", [("zstd", 1), ("zstd", 2), ("zstd", 3), ("zstd", 4)]),
        ("zstd,-2-1", [("zstd", -2), ("zstd", -1), ("zstd", 0), ("zstd", 1)]),
        ("zstd,-7--5", [("zstd", -7), ("zstd", -6), ("zstd", -5)]),
        ("gzip,8-9,1/none", [("gzip", 8), ("gzip", 9), ("gzip", 1), ("none", None)]),
        ("zstd,1-2,2,2-3", [("zstd", 1), ("zstd", 2), ("zstd", 3)]),
        ("lz4 , 9 / snappy", [("lz4", 9), ("snappy", None)]),
    ],
)
def test_ranges(candidates: str, expected: list[tuple[str, int | None]]) -> None:
    assert list(parse_candidates(candidates)) == expected


def test_parameters_are_for_all_levels_of_their_part() -> None:
    found = parse_candidates("zstd,1-2,windowLog=17,strategy=fast/zstd,windowLog=20/zstd,1")
    assert [str(setting) for setting in found] == [
        "zstd 1,windowLog=17,strategy=fast", "zstd 2,windowLog=17,strategy=fast", "zstd 3,windowLog=20", "zstd 1"
    ]  # fmt: skip


def test_all_of_zstd_and_gzip() -> None:
    assert len(parse_candidates("zstd,1-22/gzip,1-9")) == 31


@pytest.mark.parametrize(
    ("candidates", "message"),
    [
        ("zstd,3-1", "3-1 is not a range of 1 to 100 levels"),
        ("zstd,-131072-22", "not a range of 1 to 100 levels"),
        ("zstd,1-23", "23"),
        ("zstd,1-", "not of the form"),
        ("zstd,1-2-3", "not of the form"),
        ("gzip,0-3", "level"),
        ("gzip,windowLog=20", "gzip has no windowLog"),
        ("zstd,3,windowLog=28", "Kafka's readers refuse a larger window"),
        ("zstd,workers=2", "not 'workers=2'"),
        ("snappy,1-2", "level"),
    ],
)
def test_wrong_ranges(candidates: str, message: str) -> None:
    with pytest.raises(recordpress.InvalidArgumentError, match=message) as caught:
        parse_candidates(candidates)
    assert caught.value.field == "candidates"
