"""Payload <-> record bytes: one file a codec.

==  ======  ===========  ============================================  =====================
id  name    file         what Kafka's Java producer writes             level
==  ======  ===========  ============================================  =====================
0   none    -            the bytes as they are                         -
1   gzip    _gzip.pyx    one member                                    -1, 1 to 9; default -1
2   snappy  _snappy.pyx  a xerial stream of 32 KiB chunks              -
3   lz4     _lz4.pyx     a frame of independent 64 KiB blocks          1 to 17; default 9
4   zstd    _zstd.pyx    a frame without content size; magic 2 alone   -131072 to 22; default 3
==  ======  ===========  ============================================  =====================

A codec file gives functions without Python objects; `_codec` puts the five together, for the record layer and
as public functions, and decides where memory comes from. `_stream` has the objects that compress and decompress
in pieces, `_context` the pool of libraries' contexts. What Kafka accepts and refuses is decided in the codec
files, by the rules of Java's readers.
"""

from kpress.codecs._lz4 import break_lz4_header, fix_lz4_header
from kpress.codecs._stream import Compressor, Decompressor, compressor, decompressor
from kpress.codecs.payload import (
    DEFAULT_MAX_SIZE,
    compress,
    compress_bound,
    compress_into,
    decompress,
    decompress_into,
)

__all__ = [
    "DEFAULT_MAX_SIZE",
    "Compressor",
    "Decompressor",
    "break_lz4_header",
    "compress",
    "compress_bound",
    "compress_into",
    "compressor",
    "decompress",
    "decompress_into",
    "decompressor",
    "fix_lz4_header",
]
