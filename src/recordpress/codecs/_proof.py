"""Proof of a provider: it and Kafka's implementation of the codec read each other's payloads."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from recordpress.codecs import CodecRegistry, compress, decompress
from recordpress.errors import DecompressionError, InvalidArgumentError, RecordpressError

_DRAWN, _LARGEST = 16, 1 << 16  # payloads, and bytes of the largest; chosen, not measured


def prove(name: str, codec: str, levels: tuple[int, ...] | None, joins: bool, codecs: CodecRegistry) -> None:
    """Raise an error unless the provider and Kafka's codec read each other's payloads."""
    for data in _payloads(Random(name)):
        for level in set(levels or (None,)):
            _check(data, name, level, codec, codecs, joins)
        _check(data, codec, None, name, codecs, _joins(codec, codecs))


def _joins(codec: str, codecs: CodecRegistry) -> bool:
    """Return whether Kafka's implementation reads two consecutive payloads as one: batches that grow contain them."""
    try:
        return decompress(2 * compress(b"a", codec, codecs=codecs), codec, codecs=codecs) == b"aa"
    except DecompressionError:
        return False


def _payloads(random: Random) -> Iterator[bytes]:
    """Yield fixed data, then random data: literals, and repeats at all distances."""
    yield from (b"", b"a", bytes(100_000), bytes(range(256)) * 300, b"GET /index.html 200\n" * 5_000)
    for _ in range(_DRAWN):
        data = bytearray()
        most = random.randrange(1, _LARGEST)
        while len(data) < most:
            size = random.randrange(1, 2_000)
            start = random.randrange(len(data) + 1)
            data += data[start : start + size] or random.randbytes(size)
        yield bytes(data)


def _check(data: bytes, writer: str, level: int | None, reader: str, codecs: CodecRegistry, joins: bool) -> None:
    """Raise an error unless the reader reads what the writer writes, and two joined payloads if `joins`."""
    at = "" if level is None else f" at level {level}"
    failed = f"not registered: {reader} does not read what {writer} writes, with {len(data)} bytes{at}"
    try:
        payload = compress(data, writer, level, codecs=codecs)
        for n in (1, 2) if joins else (1,):
            if decompress(n * payload, reader, n * len(data), codecs=codecs) != n * data:
                raise InvalidArgumentError("the output differs")
    except RecordpressError as error:
        raise InvalidArgumentError(f"{failed}: {error.message}", field="codec") from error
