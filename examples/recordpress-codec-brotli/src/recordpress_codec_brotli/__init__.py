"""Brotli (RFC 7932) as a codec of recordpress.

>>> import recordpress
>>> from recordpress_codec_brotli import NAME, Brotli
>>> codecs = recordpress.CodecRegistry()
>>> codecs.register(NAME, Brotli())
>>> payload = recordpress.compress(b"a line of a log" * 100, NAME, codecs=codecs)
>>> len(payload) < 50, recordpress.decompress(payload, NAME, codecs=codecs)[:6]
(True, b'a line')
"""

from __future__ import annotations

import brotli

__all__ = ["NAME", "Brotli"]

NAME = "org.example.brotli"


class Brotli:
    """One Brotli stream per batch. Calls share no state, so threads may make them concurrently."""

    name = NAME
    levels = (0, 11, 5)  # Brotli's own default, 11, takes about 100 times as long

    def compress(self, data: bytes, level: int) -> bytes:
        return brotli.compress(data, quality=level)

    def decompress(self, data: bytes, max_output: int) -> bytes:
        stream = brotli.Decompressor()
        pieces: list[bytes] = []
        size = 0
        while not stream.is_finished():
            given = data if not pieces else b""
            piece = stream.process(given, output_buffer_limit=max_output + 1 - size)
            size += len(piece)
            if size > max_output:
                raise ValueError(f"the content is larger than {max_output} bytes")
            if pieces and not piece:
                raise ValueError("the stream is cut short")
            pieces.append(piece)
        return b"".join(pieces)
