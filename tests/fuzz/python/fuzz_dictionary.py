"""Dictionaries of zstd and frames that need them, which are nearly right.

An input is a byte that chooses what is read and with which dictionaries, two that say how long the dictionary is, the
dictionary, and a payload. All that may come out is an error of recordpress; what a changed dictionary compresses, at
once or in pieces, it decompresses; the three ways to decompress give the same bytes, if they give any.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import campaign
import mutate
import pyarrow as pa
from fuzz_read import exact

import recordpress
from recordpress.dictionaries import Dictionary, dictionary_id, train_values

CAP = 1 << 16
TABLES = 160  # bytes of a dictionary that its entropy tables may take
VALUES = [b'{"user": %d, "city": "%s"}' % (n * 7919 % 10007, (b"Paris", b"Lyon")[n % 2]) for n in range(600)]
DICTIONARIES = [train_values(VALUES, size, dictionary_id=40_000 + size) for size in (256, 700, 1500)]
KNOWN = {one.id: one for one in DICTIONARIES}


def draw(rng: random.Random) -> bytes:
    dictionary = rng.choice(DICTIONARIES)
    frames = [
        recordpress.compress(
            b"".join(rng.choices(VALUES, k=rng.randrange(4))), "zstd", dictionary=rng.choice([dictionary, None])
        )
        for _ in range(rng.randrange(1, 4))
    ]
    data, payload = dictionary.data, b"".join(frames)
    if rng.random() < 0.5:
        data = data[:8] + _changed(rng, data[8:TABLES]) + data[TABLES:]
    if rng.random() < 0.7:
        payload = _changed(rng, payload)
    return rng.randbytes(1) + len(data).to_bytes(2, "little") + data + payload


def _changed(rng: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        if changed:
            rng.choice(mutate.CHANGES)(changed, rng)
    return bytes(changed[:4000])


def run(data: bytes) -> None:
    if len(data) < 3:
        return
    size = int.from_bytes(data[1:3], "little")
    payload = exact(data[3 + size :])
    dictionary_id(payload)
    known: Any = KNOWN
    try:
        given = Dictionary(exact(data[3 : 3 + size]))
    except recordpress.RecordpressError:
        pass
    else:
        frame = recordpress.compress(payload, "zstd", data[0] % 5 + 1, dictionary=given)
        if recordpress.decompress(frame, "zstd", len(payload), dictionaries=given) != payload:
            raise AssertionError("what was compressed is not read as it was")
        stream = recordpress.compressor("zstd", data[0] % 5 + 1, dictionary=given)
        packed = b"".join(map(stream.compress, _pieces(payload, data[0] % 7 + 1))) + stream.flush()
        if _in_pieces(packed, given, data[0] % 11 + 1) != payload:
            raise AssertionError("what was compressed in pieces is not read as it was")
        known = given if data[0] & 0x80 else {**KNOWN, given.id: given}
    _agree(payload, known, data[0] % 13 + 1)


def _pieces(data: Any, count: int) -> list[Any]:
    size = len(data) // count + 1
    return [exact(data[at : at + size]) for at in range(0, len(data), size)]


def _in_pieces(packed: Any, known: Any, count: int) -> bytes:
    stream = recordpress.decompressor("zstd", CAP, dictionaries=known)
    return b"".join(map(stream.decompress, _pieces(packed, count))) + stream.flush()


def _agree(payload: memoryview, known: Any, pieces: int) -> None:
    try:
        expected = recordpress.decompress(payload, "zstd", CAP, dictionaries=known)
    except recordpress.RecordpressError:
        expected = None
    column = pa.array([b"", bytes(payload)], pa.binary())
    found = recordpress.decompress_values(column, "zstd", CAP, dictionaries=known, on_corrupt="null").to_pylist()
    # libzstd has two decoders of sequences, one for a dictionary that is not in the caches: of a damaged frame one may
    # find the damage, and the other give bytes
    if found[0] != b"" or (None not in (found[1], expected) and found[1] != expected):
        raise AssertionError("a value of a column is read otherwise than on its own")
    try:
        streamed = _in_pieces(payload, known, pieces)
    except recordpress.RecordpressError:
        return
    if expected is not None and streamed != expected:
        raise AssertionError("a payload in pieces is read otherwise than at once")


if __name__ == "__main__":
    sys.exit(campaign.main("dictionary", draw, run))
