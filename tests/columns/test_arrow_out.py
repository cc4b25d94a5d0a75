"""What consumers of the Arrow C data interface may do with the structs that they get."""

from __future__ import annotations

import ctypes
import os
from typing import Any

import pytest

import recordpress
from arrow_structs import RELEASE, ArrowArray, ArrowSchema, struct_of

LARGE = b"v" * (1 << 20)  # of memory that pool_bytes counts
DATA = recordpress.write_records([b"first", LARGE], headers=[[("h", LARGE)], None])


def release(struct_: Any) -> None:
    RELEASE(ctypes.cast(struct_.release, ctypes.c_void_p).value)(ctypes.addressof(struct_))


def moved(struct_: Any) -> Any:
    """Move a struct as the interface says: copy it, and mark the one it came from as released."""
    copy = type(struct_)()
    ctypes.memmove(ctypes.addressof(copy), ctypes.addressof(struct_), ctypes.sizeof(copy))
    struct_.release = RELEASE()
    return copy


def in_use() -> int:
    return recordpress.pool_bytes()[0]


# With a sanitizer the pool hands every block back at once, and the sanitizer itself sees what is freed twice or kept.
POOLED = "RECORDPRESS_SANITIZED" not in os.environ


@pytest.mark.parametrize("order", ["the child first", "the parent first"])
@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_child_that_is_moved_out_of_its_array(number: int, order: str) -> None:
    """It keeps its memory alive; the last of the two frees it, once."""
    before = in_use()
    columns = recordpress.read_columns(DATA, ["value", "offset", "headers"])
    _, capsule = columns.__arrow_c_array__()
    parent = moved(struct_of(capsule, ArrowArray))
    del columns, capsule
    child = moved(parent.children[number].contents)
    assert in_use() > before or not POOLED
    first, second = (child, parent) if order == "the child first" else (parent, child)
    release(first)
    assert in_use() > before or not POOLED
    if second is child and number == 0:
        assert ctypes.string_at(child.buffers[2], 6) == b"firstv"
    release(second)
    assert in_use() == before


def test_a_grandchild_that_is_moved_out() -> None:
    before = in_use()
    _, capsule = recordpress.read_columns(DATA, ["headers"]).__arrow_c_array__()
    parent = moved(struct_of(capsule, ArrowArray))
    keys = moved(parent.children[0].contents.children[0].contents.children[0].contents)
    release(parent)
    assert ctypes.string_at(keys.buffers[2], 1) == b"h"
    release(keys)
    assert in_use() == before


def test_a_child_that_is_moved_out_of_its_schema() -> None:
    capsule = recordpress.read_columns(DATA).__arrow_c_schema__()
    parent = moved(struct_of(capsule, ArrowSchema))
    child = moved(parent.children[5].contents)
    grandchild = moved(child.children[0].contents)
    release(parent)
    release(child)
    assert [grandchild.children[i].contents.name for i in range(2)] == [b"key", b"value"]
    release(grandchild)


def test_capsules_that_nobody_takes_give_back_their_memory() -> None:
    before = in_use()
    columns = recordpress.read_columns(DATA)
    for _ in range(3):
        columns.__arrow_c_array__(), columns.__arrow_c_stream__(), columns["value"].__arrow_c_array__()
        columns[1:].__arrow_c_stream__(), columns["headers"][:1].__arrow_c_stream__()
    del columns
    assert in_use() == before
