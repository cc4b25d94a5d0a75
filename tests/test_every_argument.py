"""Every argument of every public call, with whatever a caller can pass.

The calls and their parameters are those that the package shows; a new one fails here until it has a call to start
from. A call may succeed. If it does not, it raises an error of recordpress's that names the parameter, or the exception
that the caller's own object raised, and never anything else.
"""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import recordpress
import recordpress.log
from odd_values import drain, wrong_answers
from together import together

DATA = recordpress.write_records([b"value"] * 3, timestamps=[1, 2, 3])
ZSTD = recordpress.compress(b"value" * 9, "zstd")

# A log that each call reads again: small, but large enough for train.
_scratch = tempfile.TemporaryDirectory()
LOG = Path(_scratch.name) / "t-0"
LOG.mkdir()
VALUES = [b'{"user": %d, "item": %d}' % (number % 7, number * number) for number in range(300)]
(LOG / "00000000000000000000.log").write_bytes(recordpress.write_records(VALUES, timestamps=0, batch_records=50))


# Arguments with which each call succeeds: what is changed is one of its parameters at a time.
GOOD: dict[str, Callable[[], dict[str, Any]]] = {
    "BatchBuilder": dict,
    "BatchBuilder.abort": dict,
    "BatchBuilder.append": lambda: {"value": b""},
    "BatchBuilder.append_many": lambda: {"values": [b""]},
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
    "Compressor.reset": dict,
    "Decompressor.decompress": lambda: {"data": ZSTD},
    "Decompressor.flush": dict,
    "Record.is_valid": dict,
    "Record.to_dict": dict,
    "analyze": lambda: {
        "path": str(LOG),
        "candidates": "none",
        "depths": [1],
        "sample_bytes": 1024,
        "threads": 1,
    },
    "batch_table": lambda: {"data": DATA},
    "break_lz4_header": lambda: {"frame": bytearray(recordpress.compress(b"", "lz4"))},
    "compress": lambda: {"data": b"", "compression_type": "zstd"},
    "compress_bound": lambda: {"size": 5, "compression_type": "zstd"},
    "compress_into": lambda: {"data": b"", "out": bytearray(100), "compression_type": "zstd"},
    "compress_values": lambda: {"data": pa.array([b"value"]), "compression_type": "zstd"},
    "compressor": lambda: {"compression_type": "zstd"},
    "control_record": lambda: {"record": _control_record()},
    "crc32": lambda: {"data": b""},
    "crc32_combine": lambda: {"a": 0, "b": 0, "len_b": 0},
    "crc32_patch": lambda: {"crc": 0, "old": b"a", "new": b"b", "distance": 0},
    "crc32c": lambda: {"data": b""},
    "crc32c_combine": lambda: {"a": 0, "b": 0, "len_b": 0},
    "crc32c_patch": lambda: {"crc": 0, "old": b"a", "new": b"b", "distance": 0},
    "crc32c_path": dict,
    "crc32c_values": lambda: {"data": pa.array([b"value"])},
    "decompress": lambda: {"data": ZSTD, "compression_type": "zstd"},
    "decompress_into": lambda: {"data": ZSTD, "out": bytearray(100), "compression_type": "zstd"},
    "decompress_values": lambda: {"data": pa.array([ZSTD]), "compression_type": "zstd"},
    "decompressor": lambda: {"compression_type": "zstd"},
    "empty_batch": lambda: {"base_offset": 0, "last_offset": 5},
    "fits": lambda: {"records": [b"value"]},
    "fix_lz4_header": lambda: {"frame": bytearray(recordpress.compress(b"", "lz4"))},
    "iter_columns": lambda: {"source": DATA},
    "train": lambda: {
        "path": str(LOG),
        "size": 256,
        "depths": [1],
        "sample_bytes": 65536,
    },
    "transcode": lambda: {
        "src": str(LOG),
        "dst": str(Path(__file__).parent / "is" / "not" / "made"),
        "compression_type": "zstd",
        "dry_run": True,
    },
    "convert": lambda: {
        "src": str(LOG),
        "dst": str(Path(__file__).parent / "is" / "not" / "made"),
        "magic": 1,
        "compression_type": "gzip",
        "dry_run": True,
    },
    "explain": lambda: {"source": recordpress.write_records([b"a"]), "now_ms": 1},
    "open_log": lambda: {"path": str(LOG)},
    "pool_bytes": dict,
    "read_batches": lambda: {"data": DATA},
    "read_columns": lambda: {"data": DATA},
    "recompress": lambda: {"data": DATA, "compression_type": "zstd"},
    "release_unused": dict,
    "write_columns": lambda: {"data": pa.table({"value": [b"value"]})},
    "write_records": lambda: {"values": [b"value"]},
}

# Objects whose methods are their own calls.
OBJECTS: dict[str, Callable[[], Any]] = {
    "Batch": lambda: next(iter(recordpress.read_batches(bytearray(DATA)))),
    "BatchBuilder": recordpress.BatchBuilder,
    "Compressor": lambda: recordpress.compressor("zstd"),
    "Decompressor": lambda: recordpress.decompressor("zstd"),
    "Record": lambda: next(iter(next(iter(recordpress.read_batches(DATA))))),
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


def _control_record() -> recordpress.Record:
    builder = _builder("append_end_txn_marker")
    builder.append_end_txn_marker(True, 0)
    return next(iter(next(iter(recordpress.read_batches(builder.build())))))


def _builder(method: str) -> recordpress.BatchBuilder:
    return recordpress.BatchBuilder(**BUILDERS.get(method, {}))


def _target(call: str) -> Callable[..., object]:
    name, _, method = call.partition(".")
    if not method:
        return getattr(recordpress, name)
    return getattr(_builder(method) if name == "BatchBuilder" else OBJECTS[name](), method)


def _public_calls() -> set[str]:
    functions = {name for name in recordpress.__all__ if not isinstance(getattr(recordpress, name), type)}
    functions = {name for name in functions if callable(getattr(recordpress, name))}
    methods = {
        f"{owner}.{name}"
        for owner in OBJECTS
        for name in dir(getattr(recordpress, owner))
        if not name.startswith("_") and callable(getattr(getattr(recordpress, owner), name))
    }
    return functions | methods | {"BatchBuilder"}


def _parameters(call: str) -> list[str]:
    return list(inspect.signature(_target(call)).parameters)


# These may lead to nothing.
PATHS = {
    ("analyze", "path"),
    ("fits", "records"),
    ("train", "path"),
    ("open_log", "path"),
    ("transcode", "src"),
    ("convert", "src"),
    ("explain", "source"),
    ("explain", "config"),
}


def test_every_public_call_is_tried() -> None:
    assert _public_calls() == set(GOOD)


@together("call", GOOD)
def test_the_call_to_start_from_succeeds(call: str) -> None:
    drain(_target(call)(**GOOD[call]()))


@pytest.mark.parametrize("call", GOOD)
def test_an_argument_is_accepted_or_refused_by_its_name(call: str) -> None:
    parameters = _parameters(call)
    fields = {*parameters, *(["a"] if call == "write_columns" else [])}  # a is the column of the Arrow table
    wrong = [
        answer
        for parameter in parameters
        for answer in wrong_answers(
            lambda: _target(call), GOOD[call], parameter, fields, may_fail=(call, parameter) in PATHS
        )
    ]
    if wrong:
        pytest.fail("\n".join(wrong), pytrace=False)
