"""Record sets that are nearly right: what Kafka wrote, with a few bytes changed and mostly a right checksum."""

from __future__ import annotations

import functools
import random
import sys
from pathlib import Path

TESTS = Path(__file__).parents[2]
sys.path[:0] = [str(TESTS), str(TESTS / "hostile")]

import hostile_sets

import oracle

MOST_SEED_BYTES = 3000
FIELDS = (0, 8, 12, 16, 17, 18, 21, 22, 23, 26, 27, 30, 34, 35, 43, 51, 53, 57, 61, 62, 63, 77)
NUMBERS = (0, 1, 2, *((1 << bits - 1) + more for bits in (8, 16, 32, 64) for more in (-1, 0, (1 << bits - 1) - 1)))


@functools.cache
def seeds() -> list[bytes]:
    vectors = [data for vector in oracle.RECORD_SETS if 0 < len(data := vector.data) <= MOST_SEED_BYTES]
    return [*hostile_sets.SMALL_SETS.values(), *vectors]


def _change_number(data: bytearray, rng: random.Random) -> None:
    at = rng.choice(FIELDS) if rng.random() < 0.5 else rng.randrange(len(data))
    width = rng.choice((1, 2, 4, 8))
    number = rng.choice(NUMBERS) if rng.random() < 0.5 else rng.getrandbits(5)
    data[at : at + width] = (number & ((1 << 8 * width) - 1)).to_bytes(width, rng.choice(("big", "little")))


def _flip(data: bytearray, rng: random.Random) -> None:
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def _cut(data: bytearray, rng: random.Random) -> None:
    start = rng.randrange(len(data))
    del data[start : start + rng.choice((1, 2, 4, 61, len(data)))]


def _repeat(data: bytearray, rng: random.Random) -> None:
    start = rng.randrange(len(data))
    part = data[start : start + rng.choice((1, 4, 12, 61, 300))]
    data[start:start] = part * rng.choice((1, 2, 9))


def _splice(data: bytearray, rng: random.Random) -> None:
    other = rng.choice(seeds())
    start = rng.randrange(len(other))
    at = rng.randrange(len(data))
    data[at : at + rng.choice((0, 16, len(data)))] = other[start : start + rng.choice((8, 100, len(other)))]


CHANGES = (_change_number, _change_number, _flip, _flip, _cut, _repeat, _splice)


def record_set(rng: random.Random) -> bytes:
    data = bytearray(rng.choice(seeds()))
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3, 6))):
        if data:
            rng.choice(CHANGES)(data, rng)
    right = len(data) >= 21 and rng.random() < 0.8
    return hostile_sets.with_right_crc(bytes(data))[:8000] if right else bytes(data)[:8000]
