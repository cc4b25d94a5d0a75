"""Codec functions and checksums of both clients, under the clients' names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recordpress import checksum, codecs
from recordpress._xerial import xerial_stream
from recordpress.adapters._client import Client

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from typing_extensions import Buffer

XERIAL_BLOCK = 32 * 1024  # bytes: SnappyOutputStream.DEFAULT_BLOCK_SIZE


HAS_DOC = """Return True: recordpress has the codec.

Examples
--------
>>> from recordpress.adapters import aiokafka as fast
>>> fast.{name}()
True
"""


def _checker(name: str) -> Callable[[], bool]:
    def has_codec() -> bool:
        return True

    has_codec.__name__ = has_codec.__qualname__ = name
    has_codec.__doc__ = HAS_DOC.format(name=name)
    return has_codec


CHECKERS = {name: _checker(name) for name in ("has_gzip", "has_lz4", "has_snappy", "has_zstd")}
has_gzip, has_lz4, has_snappy, has_zstd = CHECKERS.values()


def gzip_encode(payload: Buffer, compresslevel: int | None = None) -> bytes:
    """Compress with gzip; None and 0 mean the level of Kafka's producer.

    Examples
    --------
    >>> from recordpress.adapters import aiokafka as fast
    >>> fast.gzip_decode(fast.gzip_encode(b"records"))
    b'records'
    """
    return codecs.compress(payload, "gzip", compresslevel or None)


def snappy_encode(payload: Buffer, xerial_compatible: bool = True, xerial_blocksize: int = XERIAL_BLOCK) -> bytes:
    """Compress with snappy: the xerial stream that Kafka writes, or one raw block.

    Examples
    --------
    >>> from recordpress.adapters import aiokafka as fast
    >>> fast.snappy_decode(fast.snappy_encode(b"records"))
    b'records'
    """
    if not xerial_compatible:
        return codecs.compress(payload, "snappy", raw=True)
    if xerial_blocksize == XERIAL_BLOCK:
        return codecs.compress(payload, "snappy")
    return xerial_stream(memoryview(payload).cast("B"), xerial_blocksize)


def lz4_encode(payload: Buffer, level: int | None = None) -> bytes:
    """Compress with lz4, in a frame of independent blocks; None means the level of Kafka's producer, 9 (KIP-390).

    Examples
    --------
    >>> from recordpress.adapters import aiokafka as fast
    >>> fast.lz4_decode(fast.lz4_encode(b"records"))
    b'records'
    """
    return codecs.compress(payload, "lz4", level)


def lz4_encode_old_kafka(payload: Buffer) -> bytes:
    """Compress with lz4 for v0: the checksum of the frame's header is that of old brokers (KIP-57).

    Examples
    --------
    >>> from recordpress.adapters import kafka_python as fast
    >>> fast.lz4_decode_old_kafka(fast.lz4_encode_old_kafka(b"records"))
    b'records'
    """
    return codecs.compress(payload, "lz4", magic=0)


def zstd_encode(payload: Buffer, level: int | None = None) -> bytes:
    """Compress with zstd; None means the level of Kafka's producer, 3.

    Examples
    --------
    >>> from recordpress.adapters import aiokafka as fast
    >>> fast.zstd_decode(fast.zstd_encode(b"records"))
    b'records'
    """
    return codecs.compress(payload, "zstd", level)


def calc_crc32c(memview: Buffer) -> int:
    """Compute the CRC-32C of bytes.

    Examples
    --------
    >>> from recordpress.adapters import aiokafka as fast
    >>> hex(fast.calc_crc32c(b"123456789"))
    '0xe3069283'
    """
    return checksum.crc32c(memview)


def calc_crc32(memview: Buffer) -> int:
    """Compute the CRC-32 of bytes.

    Examples
    --------
    >>> from recordpress.adapters import kafka_python as fast
    >>> hex(fast.calc_crc32(b"123456789"))
    '0xcbf43926'
    """
    return checksum.crc32(memview)


def client_of(corrupt: type[Exception], unsupported: type[Exception], codec_module: ModuleType, unknown: str) -> Client:
    """Return a client, given its exceptions, its codec module, and its message for an unknown codec id."""
    made = Client(corrupt, unsupported, codec_module, unknown)
    made.trust({name: (own, getattr(codec_module, name)) for name, own in CHECKERS.items()})
    return made


DECODE_DOC = """Decompress {codec}.

Raises
------
DecompressionError
    The data is damaged.
OutputTooLargeError
    The decompressed data is larger than install() allows.

Examples
--------
>>> from recordpress.adapters import {client} as fast
>>> fast.{name}(fast.{encode}(b"records"))
b'records'
"""


def decoders(client: Client, module: str) -> dict[str, Callable[[Buffer], bytes]]:
    """Return gzip_decode, snappy_decode and so on by name, limited to the client's cap; `module` is the adapter's, for
    the examples."""

    def of(codec: Any, name: str, magic: int = 2) -> Callable[[Buffer], bytes]:
        def decode(payload: Buffer) -> bytes:
            return codecs.decompress(payload, codec, client.cap, magic=magic)

        decode.__name__ = decode.__qualname__ = name
        encode = name.replace("decode", "encode")
        decode.__doc__ = DECODE_DOC.format(codec=codec, name=name, encode=encode, client=module)
        return decode

    names = [name.removeprefix("has_") for name in CHECKERS]
    functions = {f"{name}_decode": of(name, f"{name}_decode") for name in names}
    functions["lz4_decode_old_kafka"] = of("lz4", "lz4_decode_old_kafka", magic=0)
    return functions
