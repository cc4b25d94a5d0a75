"""Every argument of every public call, given whatever a caller can hand in.

The calls and their parameters are those that the package shows; a new one fails here until it has a call to start
from. A call may succeed. If it does not, it raises an error of kpress's that names the parameter, or the exception
that the caller's own object raised, and never anything else.
"""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import kpress
import kpress.log

DATA = kpress.write_records([b"value"] * 3, timestamps=[1, 2, 3])
ZSTD = kpress.compress(b"value" * 9, "zstd")


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
    "class of the package": lambda: kpress.BatchBuilder,
    "builder": kpress.BatchBuilder,
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

# Arguments with which each call succeeds: what is changed is one of its parameters at a time.
GOOD: dict[str, Callable[[], dict[str, Any]]] = {
    "BatchBuilder": dict,
    "BatchBuilder.abort": dict,
    "BatchBuilder.append": lambda: {"value": b""},
    "BatchBuilder.append_control": lambda: {"type": 0, "value": b"\0\0\0\0\0\0"},
    "BatchBuilder.append_end_txn_marker": lambda: {"commit": True, "coordinator_epoch": 0},
    "BatchBuilder.build": dict,
    "Batch.ensure_valid": dict,
    "Batch.is_valid": dict,
    "Batch.set_last_offset": lambda: {"offset": 5},
    "Batch.set_max_timestamp": lambda: {"timestamp_type": 0, "max_timestamp": 5},
    "Batch.set_partition_leader_epoch": lambda: {"epoch": 5},
    "Compressor.compress": lambda: {"data": b""},
    "Compressor.flush": dict,
    "Decompressor.decompress": lambda: {"data": ZSTD},
    "Decompressor.flush": dict,
    "Record.is_valid": dict,
    "batch_table": lambda: {"data": DATA},
    "break_lz4_header": lambda: {"frame": bytearray(kpress.compress(b"", "lz4"))},
    "compress": lambda: {"data": b"", "compression_type": "zstd"},
    "compress_bound": lambda: {"size": 5, "compression_type": "zstd"},
    "compress_into": lambda: {"data": b"", "out": bytearray(100), "compression_type": "zstd"},
    "compressor": lambda: {"compression_type": "zstd"},
    "control_record": lambda: {"record": _control_record()},
    "crc32": lambda: {"data": b""},
    "crc32_combine": lambda: {"a": 0, "b": 0, "len_b": 0},
    "crc32_patch": lambda: {"crc": 0, "old": b"a", "new": b"b", "distance": 0},
    "crc32c": lambda: {"data": b""},
    "crc32c_combine": lambda: {"a": 0, "b": 0, "len_b": 0},
    "crc32c_patch": lambda: {"crc": 0, "old": b"a", "new": b"b", "distance": 0},
    "crc32c_path": dict,
    "decompress": lambda: {"data": ZSTD, "compression_type": "zstd"},
    "decompress_into": lambda: {"data": ZSTD, "out": bytearray(100), "compression_type": "zstd"},
    "decompressor": lambda: {"compression_type": "zstd"},
    "empty_batch": lambda: {"base_offset": 0, "last_offset": 5},
    "fix_lz4_header": lambda: {"frame": bytearray(kpress.compress(b"", "lz4"))},
    "iter_columns": lambda: {"source": DATA},
    "transcode": lambda: {
        "src": str(Path(__file__).parents[1] / "demo" / "logs"),
        "dst": str(Path(__file__).parent / "is" / "not" / "made"),
        "compression_type": "zstd",
        "dry_run": True,
    },
    "convert": lambda: {
        "src": str(Path(__file__).parents[1] / "demo" / "logs"),
        "dst": str(Path(__file__).parent / "is" / "not" / "made"),
        "magic": 1,
        "compression_type": "gzip",
        "dry_run": True,
    },
    "explain": lambda: {"source": kpress.write_records([b"a"]), "now_ms": 1},
    "open_log": lambda: {"path": str(Path(__file__).parents[1] / "demo" / "logs")},
    "pool_bytes": dict,
    "read_batches": lambda: {"data": DATA},
    "read_columns": lambda: {"data": DATA},
    "recompress": lambda: {"data": DATA, "compression_type": "zstd"},
    "release_unused": dict,
    "write_columns": lambda: {"data": pa.table({"value": [b"value"]})},
    "write_records": lambda: {"values": [b"value"]},
}

# Objects whose methods are calls of their own.
OBJECTS: dict[str, Callable[[], Any]] = {
    "Batch": lambda: next(iter(kpress.read_batches(bytearray(DATA)))),
    "BatchBuilder": kpress.BatchBuilder,
    "Compressor": lambda: kpress.compressor("zstd"),
    "Decompressor": lambda: kpress.decompressor("zstd"),
    "Record": lambda: next(iter(next(iter(kpress.read_batches(DATA))))),
}

BUILDERS: dict[str, dict[str, Any]] = {
    "append_control": {"is_control": True},
    "append_end_txn_marker": {
        "is_control": True,
        "is_transactional": True,
        "producer_id": 1,
        "producer_epoch": 0,
    },
}


def _control_record() -> kpress.Record:
    builder = _builder("append_end_txn_marker")
    builder.append_end_txn_marker(True, 0)
    return next(iter(next(iter(kpress.read_batches(builder.build())))))


def _builder(method: str) -> kpress.BatchBuilder:
    return kpress.BatchBuilder(**BUILDERS.get(method, {}))


def _target(call: str) -> Callable[..., object]:
    name, _, method = call.partition(".")
    if not method:
        return getattr(kpress, name)
    return getattr(_builder(method) if name == "BatchBuilder" else OBJECTS[name](), method)


def _public_calls() -> set[str]:
    functions = {name for name in kpress.__all__ if not isinstance(getattr(kpress, name), type)}
    functions = {name for name in functions if callable(getattr(kpress, name))}
    methods = {
        f"{owner}.{name}"
        for owner in OBJECTS
        for name in dir(getattr(kpress, owner))
        if not name.startswith("_") and callable(getattr(getattr(kpress, owner), name))
    }
    return functions | methods | {"BatchBuilder"}


def _parameters(call: str) -> list[str]:
    return list(inspect.signature(_target(call)).parameters)


def _drain(result: object) -> None:
    """Take what a lazy result gives."""
    if isinstance(result, Iterator):
        for _ in zip(result, range(10), strict=False):
            pass


PATHS = {("open_log", "path"), ("transcode", "src"), ("convert", "src"), ("explain", "source"), ("explain", "config")}


def test_every_public_call_is_tried() -> None:
    assert _public_calls() == set(GOOD)


@pytest.mark.parametrize("call", GOOD)
def test_the_call_to_start_from_succeeds(call: str) -> None:
    _drain(_target(call)(**GOOD[call]()))


@pytest.mark.filterwarnings("ignore:max_size")
@pytest.mark.parametrize("call", GOOD)
def test_an_argument_is_accepted_or_refused_by_its_name(call: str) -> None:
    parameters = _parameters(call)
    fields = {*parameters, *(["a"] if call == "write_columns" else [])}  # a is the column of the Arrow table
    wrong = []
    for parameter in parameters:
        for kind, make in HOSTILE.items():
            arguments = GOOD[call]() | {parameter: make()}
            try:
                _drain(_target(call)(**arguments))
            except Mine:
                pass
            except kpress.ArgumentTypeError as error:
                if error.field != parameter:
                    wrong.append(f"{parameter} = {kind}: field {error.field}: {error.message}")
                if len(str(error)) > 1000:
                    wrong.append(f"{parameter} = {kind}: a message of {len(str(error))} characters")
            except kpress.InvalidArgumentError as error:
                if error.field not in fields and f"{error.field}s" not in fields:  # one of offsets: offset
                    wrong.append(f"{parameter} = {kind}: field {error.field}: {error.message}")
                if len(str(error)) > 1000:
                    wrong.append(f"{parameter} = {kind}: a message of {len(str(error))} characters")
            except kpress.KpressError:
                pass
            except OSError as error:  # a path may lead to nothing
                if (call, parameter) not in PATHS:
                    wrong.append(f"{parameter} = {kind}: {type(error).__name__}: {str(error)[:200]}")
            except Exception as error:
                wrong.append(f"{parameter} = {kind}: {type(error).__name__}: {str(error)[:200]}")
    if wrong:
        pytest.fail("\n".join(wrong), pytrace=False)
