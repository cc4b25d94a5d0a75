"""Checksums of one buffer, and of a buffer in which one byte has changed."""

import ctypes
import random
import timeit
import zlib

import crc32c as pypi_crc32c
import google_crc32c
import pytest
from aiokafka.record._crecords.cutil import crc32c_cython
from isal import isal_zlib

import recordpress
from bench import native
from bench.answers import equal
from bench.race import Cell, Contender

SIZES = {"64 B": 64, "1 KB": 1 << 10, "64 KB": 1 << 16, "1 MB": 1 << 20}
RANDOM = random.Random(3)
sizes = pytest.mark.parametrize("size", SIZES)


def _contender(name, expected, compute, *arguments):
    """A call from Python so short that a function around it would count: timeit has it in its loop."""
    values = {f"argument{i}": value for i, value in enumerate(arguments)}
    loop = timeit.Timer(f"compute({', '.join(values)})", globals=values | {"compute": compute})
    return Contender(name, lambda: compute(*arguments), lambda: equal(compute(*arguments), expected, name), loop.timeit)


def _race(race, operation, size, ours, peers):
    """The peers are called first: that all of them agree is what makes the answer."""
    data = RANDOM.randbytes(SIZES[size])
    (expected,) = {compute(data) for compute in peers.values()}
    race(
        Cell(operation, size, size=len(data), unit="calls"),
        _contender("recordpress", expected, ours, data),
        *(_contender(name, expected, compute, data) for name, compute in peers.items()),
    )


@sizes
def bench_crc32c(race, size):
    _race(
        race,
        "CRC-32C",
        size,
        recordpress.crc32c,
        {"aiokafka": crc32c_cython, "google crc32c": google_crc32c.value, "crc32c": pypi_crc32c.crc32c},
    )


@sizes
def bench_crc32(race, size):
    _race(race, "CRC-32", size, recordpress.crc32, {"zlib": zlib.crc32, "isal": isal_zlib.crc32})


@sizes
def bench_crc32c_in_c(race, size):
    """Without Python between the calls: ISA-L, for which no Python package has CRC-32C, and the table of our portable
    path, which is how aiokafka computes it."""
    data, count = RANDOM.randbytes(SIZES[size]), SIZES[size]
    expected = google_crc32c.value(data)

    def contender(name, compute, loop):
        return Contender(name, compute, lambda: equal(compute(), expected, name), loop)

    rivals = [
        contender(
            "table",
            lambda: native.crc32c_table(data, count),
            lambda calls: native.loop_crc32c_table(data, count, calls),
        )
    ]
    if native.crc32_iscsi is not None:
        address = ctypes.cast(native.crc32_iscsi, ctypes.c_void_p)
        rivals.append(
            contender(
                "isa l",
                lambda: ~native.crc32_iscsi(data, count, 0xFFFFFFFF) & 0xFFFFFFFF,
                lambda calls: native.loop_isal(address, data, count, calls),
            )
        )
    race(
        Cell("CRC-32C in C", size, size=count, unit="calls"),
        contender(
            "recordpress", lambda: native.crc32c(data, count), lambda calls: native.loop_crc32c(data, count, calls)
        ),
        *rivals,
    )


def _changed_byte():
    """A megabyte in which the byte 500,000 from the end changes: (before, old, new, distance, after)."""
    before, distance = RANDOM.randbytes(SIZES["1 MB"]), 500_000
    at = len(before) - distance - 1
    old, new = before[at : at + 1], bytes([before[at] ^ 8])
    return before, old, new, distance, before[:at] + new + before[at + 1 :]


def bench_patch(race):
    """From Python, where the call is most of it."""
    before, old, new, distance, after = _changed_byte()
    crc, expected = google_crc32c.value(before), google_crc32c.value(after)
    race(
        Cell("CRC-32C patch", "1 B of 1 MB", unit="calls"),
        _contender("recordpress", expected, recordpress.crc32c_patch, crc, old, new, distance),
        _contender("recompute", expected, recordpress.crc32c, after),
        _contender("recompute google crc32c", expected, google_crc32c.value, after),
    )


def bench_patch_in_c(race):
    before, old, new, distance, after = _changed_byte()
    crc, expected = google_crc32c.value(before), google_crc32c.value(after)
    ours = Contender(
        "recordpress",
        lambda: native.patch(crc, old, new, 1, distance),
        lambda: equal(native.patch(crc, old, new, 1, distance), expected, "patch"),
        lambda calls: native.loop_patch(crc, old, new, 1, distance, calls),
    )
    race(
        Cell("CRC-32C patch in C", "1 B of 1 MB", unit="calls"),
        ours,
        Contender(
            "recompute",
            lambda: native.crc32c(after, len(after)),
            None,
            lambda calls: native.loop_crc32c(after, len(after), calls),
        ),
    )
