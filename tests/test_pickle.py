"""Pickle and copy: errors keep their data (Spark sends them to the driver); objects that point into memory fail."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import recordpress

ERRORS = [
    error for error in vars(recordpress.errors).values() if isinstance(error, type) and issubclass(error, Exception)
]
BATCH = next(iter(recordpress.read_batches(recordpress.write_records([b"v"], keys=[b"k"], headers=[[("h", None)]]))))
COPIES = [lambda thing: pickle.loads(pickle.dumps(thing)), copy.copy, copy.deepcopy]


@pytest.mark.parametrize("copied", COPIES, ids=["pickle", "copy", "deepcopy"])
@pytest.mark.parametrize("kind", ERRORS)
def test_errors_keep_what_they_know(kind: type[recordpress.RecordpressError], copied: Callable[[Any], Any]) -> None:
    error = kind("sentence", file="a.log", position=3, offset=4, field="crc", rule="checksum")
    again = copied(error)
    assert type(again) is kind
    assert (str(again), vars(again)) == (str(error), vars(error))


@pytest.mark.parametrize("copied", COPIES, ids=["pickle", "copy", "deepcopy"])
@pytest.mark.parametrize(
    "thing",
    [
        BATCH,
        next(iter(BATCH)),
        iter(BATCH),
        recordpress.read_batches(b""),
        recordpress.read_columns(b""),
        recordpress.batch_table(b""),
        recordpress.BatchBuilder(),
        recordpress.compressor("lz4"),
        recordpress.decompressor("lz4"),
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_what_points_into_memory_is_refused(thing: object, copied: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError, match=r"pickle|__reduce__"):
        copied(thing)
