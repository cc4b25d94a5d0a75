"""Inputs that the codec tests share: texts around every block size, and the payloads of Kafka's crafted batches."""

import ctypes
import functools
import random
from dataclasses import dataclass

import oracle
import recordpress

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
FRAMED = CODECS[1:]
HEADER = 61  # of a v2 batch: the payload follows it

# snappy's chunks are 32 KiB, lz4's blocks 64 KiB, zstd's 128 KiB
SIZES = (0, 1, 2, 9, 60, 61, 1000, 32767, 32768, 32769, 65535, 65536, 65537, 131071, 131072, 131073, 300_000)


@functools.lru_cache(maxsize=64)
def text(size: int) -> bytes:
    """Log lines: they compress well, but have some of everything."""
    source = random.Random(size)
    lines = []
    made = 0
    while made < size:
        line = b"%d GET /index%d HTTP/1.1 200 %d\n" % (made, source.randrange(100), source.randrange(10**6))
        lines.append(line)
        made += len(line)
    return b"".join(lines)[:size]


@functools.lru_cache(maxsize=64)
def noise(size: int) -> bytes:
    return random.Random(size).randbytes(size)


KINDS = {"text": text, "noise": noise, "zeros": bytes}


def exact(data: bytes) -> memoryview:
    """A copy that ends where its memory ends: bytes and bytearray have a hidden zero after them."""
    return memoryview((ctypes.c_char * len(data)).from_buffer_copy(data)).cast("B") if data else memoryview(b"")


def decompressed(stream: recordpress.Decompressor, *pieces: bytes) -> bytes:
    """All the output of a stream: of the pieces and of flush()."""
    return b"".join([stream.decompress(piece) for piece in pieces]) + stream.flush()


@dataclass(frozen=True)
class Payload:
    """The payload of a crafted batch, and what Kafka made of it."""

    name: str
    data: bytes
    size: int | None  # of all its records, where Kafka read every one of them
    failed: str  # the message of Kafka's error, else ""

    def __str__(self) -> str:
        return self.name


def crafted(codec: str) -> list[Payload]:
    found = []
    for vector in oracle.RECORD_SETS:
        name = str(vector)
        if name.startswith(f"crafted/{codec}_"):
            (batch,) = vector.expected["batches"]
            error = batch.get("records_error") or {}
            read = batch["records_read"] == batch["count"]
            size = sum(record["size"] for record in batch["records"]) if read else None
            message = f"{error.get('message', '')} {error.get('cause', '')}" if error else ""
            found.append(Payload(name.removeprefix("crafted/"), vector.data[HEADER:], size, message))
    return found


# Errors of the record layer: the payload itself is sound.
RECORD_ERRORS = ("records still remaining in file", "premature EOF reached")


def stream_failed(payload: Payload) -> bool:
    return bool(payload.failed) and not any(error in payload.failed for error in RECORD_ERRORS)
