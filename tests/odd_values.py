"""Whatever a caller can hand in as an argument, and what a call may make of it."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import recordpress


class Mine(Exception):
    """An exception of the caller's own."""


class MineAsTypeError(Mine, TypeError):
    """The same, as a type that the package itself catches."""


class MineAsValueError(Mine, ValueError):
    """The same."""


def _raising(error: type[Mine]) -> Any:
    """An object that raises `error` whatever is asked of it."""

    def fail(self: object, *arguments: object) -> Any:
        raise error("mine")

    numbers = ("__index__", "__int__", "__bool__", "__eq__", "__hash__")
    sequences = ("__len__", "__iter__", "__getitem__")
    text = ("__fspath__", "__repr__", "__str__")
    data = ("__arrow_c_array__", "__arrow_c_stream__", "__arrow_c_schema__", "readinto")
    return type("Raising", (), dict.fromkeys((*numbers, *sequences, *text, *data), fail))()


def _generator(error: type[Mine]) -> Iterator[Any]:
    raise error("mine")
    yield


class Nonsense:
    """Gives answers of the wrong type to whatever is asked."""

    def __index__(self) -> Any:
        return "1"

    def __len__(self) -> Any:
        return -1

    def __iter__(self) -> Any:
        return 5

    def __fspath__(self) -> Any:
        return 7

    def __repr__(self) -> Any:
        return b"bytes"

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return "no capsule"

    def readinto(self, buffer: object) -> Any:
        return "many"


def _released() -> memoryview:
    view = memoryview(bytearray(9))
    view.release()
    return view


PRIVATE = re.compile(r"recordpress(\.\w+)*\._\w")  # of a module that no user may import

HOSTILE: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "True": lambda: True,
    "0": lambda: 0,
    "-1": lambda: -1,
    "-2": lambda: -2,
    "2**31": lambda: 2**31,
    "2**63 - 1": lambda: 2**63 - 1,
    "-2**63": lambda: -(2**63),
    "2**64": lambda: 2**64,
    "5,001 digits": lambda: 10**5000,
    "-5,001 digits": lambda: -(10**5000),
    "list of 5,001 digits": lambda: [10**5000],
    "float": lambda: 1.5,
    "nan": lambda: math.nan,
    "complex": lambda: 1j,
    "text": lambda: "text",
    "empty text": lambda: "",
    "long text": lambda: "x" * 100_000,
    "NUL": lambda: "\0",
    "surrogate": lambda: "\ud800",
    "bytes": lambda: b"bytes",
    "no bytes": lambda: b"",
    "buffer with holes": lambda: memoryview(bytes(9))[::2],
    "released buffer": _released,
    "list": list,
    "list of None": lambda: [None],
    "list of text": lambda: ["text"],
    "list of pairs": lambda: [("a", 1)],
    "list that holds itself": lambda: (endless := [], endless.append(endless))[0],
    "tuple": lambda: (),
    "dict": dict,
    "set": lambda: {1},
    "range": lambda: range(3),
    "object": object,
    "type": lambda: type,
    "function": lambda: len,
    "module": lambda: os,
    "path": lambda: Path("no/such/file"),
    "naive datetime": lambda: datetime(2024, 1, 1),
    "class of the package": lambda: recordpress.BatchBuilder,
    "Columns": lambda: recordpress.read_columns(b""),
    "Batch": lambda: next(recordpress.read_batches(recordpress.write_records([b"v"]))),
    "builder": recordpress.BatchBuilder,
    "numpy integer": lambda: np.int16(1),
    "numpy float": lambda: np.float64(1),
    "numpy bool": lambda: np.True_,
    "numpy integers": lambda: np.arange(3),
    "numpy objects": lambda: np.array([object()]),
    "numpy matrix": lambda: np.zeros((2, 2)),
    "numpy nothing": lambda: np.array([]),
    "arrow array": lambda: pa.array([1, 2]),
    "arrow table": lambda: pa.table({"a": [1]}),
    "raising": lambda: _raising(Mine),
    "raising a TypeError": lambda: _raising(MineAsTypeError),
    "raising a ValueError": lambda: _raising(MineAsValueError),
    "generator that raises": lambda: _generator(Mine),
    "generator that raises a TypeError": lambda: _generator(MineAsTypeError),
    "generator that raises a ValueError": lambda: _generator(MineAsValueError),
    "nonsense": Nonsense,
}


def drain(result: object) -> None:
    """Take what a lazy result gives."""
    if isinstance(result, Iterator):
        for _ in zip(result, range(10), strict=False):
            pass


def wrong_answers(
    target: Callable[[], Callable[..., object]],
    good: Callable[[], dict[str, Any]],
    parameter: str,
    fields: set[str],
    *,
    may_fail: bool = False,
) -> Iterator[str]:
    """What goes wrong when one argument is each of HOSTILE: an error that does not name it, or none of ours.

    target makes the call again each time; may_fail: of a path, which may lead to nothing.
    """
    for kind, make in HOSTILE.items():
        arguments = good() | {parameter: make()}
        try:
            drain(target()(**arguments))
        except Mine:
            pass
        except recordpress.ArgumentTypeError as error:
            if PRIVATE.search(str(error)):
                yield f"{parameter} = {kind}: a private path: {error.message}"
            if error.field != parameter:
                yield f"{parameter} = {kind}: field {error.field}: {error.message}"
            if len(str(error)) > 1000:
                yield f"{parameter} = {kind}: a message of {len(str(error))} characters"
        except recordpress.InvalidArgumentError as error:
            if PRIVATE.search(str(error)):
                yield f"{parameter} = {kind}: a private path: {error.message}"
            if error.field not in fields and f"{error.field}s" not in fields:  # one of offsets: offset
                yield f"{parameter} = {kind}: field {error.field}: {error.message}"
            if len(str(error)) > 1000:
                yield f"{parameter} = {kind}: a message of {len(str(error))} characters"
        except recordpress.RecordpressError:
            pass
        except OSError as error:
            if not may_fail:
                yield f"{parameter} = {kind}: {type(error).__name__}: {str(error)[:200]}"
        except Exception as error:
            yield f"{parameter} = {kind}: {type(error).__name__}: {str(error)[:200]}"
