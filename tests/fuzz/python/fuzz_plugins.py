"""Batches of plug-ins (KIP-984): names that are nearly right, and codecs that give whatever the input says.

An input is eight bytes that choose the call and what the codec does, and the record set. All that may come out is an
error of recordpress; a codec that is honest reads what it wrote.
"""

from __future__ import annotations

import io
import random
import struct
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import campaign
import mutate
from hostile_sets import with_right_crc

import recordpress

CAP = 1 << 20
NAMES = ("honest", "odd", "x" * 127)
HEADER = 61


class Honest:
    def compress(self, data: bytes) -> bytes:
        return data[::-1]

    def decompress(self, data: bytes, max_output: int) -> bytes:
        return data[::-1]


class Odd:
    """Does what `acts` says, call by call."""

    thread_safe = False
    acts = random.Random(0)

    def compress(self, data: bytes) -> Any:
        return self.decompress(data, 2 * len(data) + 1024)

    def decompress(self, data: bytes, max_output: int) -> Any:
        act = self.acts.randrange(9)
        if act == 0:
            raise ValueError("odd")
        if act == 1:
            return None
        if act == 2:
            return bytes(min(max_output + 1, 4 * CAP))
        if act == 3:
            return memoryview(data)[:: self.acts.choice((1, 2, -1))]
        if act == 4:
            return self.acts.randbytes(self.acts.choice((0, 1, 70, 70_000, 600_000)))
        if act == 5:
            honest = recordpress.write_records([data[:50]], compression_type="honest", codecs=CODECS)
            recordpress.recompress(honest, "lz4",
                              codecs=CODECS)  # fmt: skip
        return bytearray(data[::-1])


CODECS = recordpress.CodecRegistry()
for name, codec in zip(NAMES, (Honest(), Odd(), Honest()), strict=True):
    CODECS.register(name, codec)


def _objects(data: bytes) -> None:
    for batch in recordpress.read_batches(data, max_decompressed_bytes=CAP, codecs=CODECS):
        for name in ("compression_type", "plugin_name", "payload", "lz4_header_error"):
            _attempt(getattr, batch, name)
        for record in batch:
            _ = record.key, record.value, record.headers


def _columns(data: bytes) -> None:
    columns = recordpress.read_columns(data, max_decompressed_bytes=CAP, codecs=CODECS)
    table = recordpress.batch_table(data, codecs=CODECS)
    _attempt(lambda: recordpress.write_columns(columns, batches=table, codecs=CODECS))
    for name in NAMES:
        written = _attempt(lambda name=name: recordpress.write_columns(columns, name, codecs=CODECS))
        if (
            name != "odd"
            and written is not None
            and len(recordpress.read_columns(written, codecs=CODECS)) != len(columns)
        ):
            raise AssertionError("rows were lost in writing")


def _iterate(data: bytes) -> None:
    for piece in recordpress.iter_columns(
        io.BytesIO(data), batch_bytes=200, threads=2, on_corrupt="skip", codecs=CODECS
    ):
        piece.__arrow_c_array__()


def _recompress(data: bytes) -> None:
    for name in ("lz4", *NAMES):
        made = _attempt(lambda name=name: recordpress.recompress(data, name, max_decompressed_bytes=CAP, codecs=CODECS))
        for batch in recordpress.read_batches(made or b""):
            batch.ensure_valid()


def _broker(data: bytes) -> None:
    config = {"compression.type": "pluggable", "pluggable.factory.plugin": "honest"}
    for chosen in ({}, config, {"compression.type": "zstd"}):
        log = recordpress.broker.PartitionLog(broker_version="4.3", topic_config=chosen, codecs=CODECS)
        verdict = log.append(data, now_ms=1)
        _ = verdict.records, verdict.reasons, verdict.findings
    _attempt(lambda: recordpress.broker.fetch(data, 0, fetch_version=2, codecs=CODECS).records)
    _attempt(lambda: [batch.to_dict() for batch in recordpress.explain(data, codecs=CODECS).batches])


CALLS = (_objects, _columns, _iterate, _recompress, _broker)


def _attempt(question: Any, *arguments: object) -> Any:
    try:
        return question(*arguments)
    except recordpress.RecordpressError:
        return None


def run(data: bytes) -> None:
    choose, acts = struct.unpack("<II", data[:8].ljust(8, b"\0"))
    Odd.acts = random.Random(acts)
    _attempt(CALLS[choose % len(CALLS)], data[8:])


def _named(data: bytes, rng: random.Random) -> bytes:
    """The first batch as one of a plug-in, if it is one of magic 2 without a codec."""
    if len(data) < HEADER + 1 or data[16] != 2 or data[22] & 7:
        return data
    size = 12 + int.from_bytes(data[8:12], "big")
    name = rng.choice(NAMES).encode()
    field = rng.choice((bytes([len(name)]), bytes([rng.randrange(256)]), b"")) + name
    batch = bytearray(data[:HEADER] + field + data[HEADER:size][::-1])
    batch[8:12] = (len(batch) - 12).to_bytes(4, "big")
    batch[22] |= 5
    return with_right_crc(bytes(batch)) + data[size:]


def draw(rng: random.Random) -> bytes:
    return struct.pack("<II", rng.getrandbits(32), rng.getrandbits(32)) + _named(mutate.record_set(rng), rng)


if __name__ == "__main__":
    sys.exit(campaign.main("plugins", draw, run))
