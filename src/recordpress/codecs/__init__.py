"""Payload <-> record bytes: a codec is a row of one table.

`codec` defines a row, and each of these files fills one. `table` has the rows by number and by name; `_registry` holds
the plug-ins, codecs of the caller's own. Three modules call the rows: `context`, which also lends codecs their state
and scratch memory, for the record layer, `_calls` for complete payloads from Python, and `_stream` for payloads in
chunks (`_output` holds their results). What Kafka accepts and refuses is decided in the codecs' files, by the rules of
Java's readers. `_blocks` is what the streams of snappy and lz4 share, `_zstd_frames` is the walk over the headers of
zstd, `_zstd_dictionary` content that separately compressed values share.
"""

from recordpress._lazy import publish
from recordpress.codecs._calls import (
    DEFAULT_MAX_SIZE,
    compress,
    compress_bound,
    compress_into,
    decompress,
    decompress_into,
)
from recordpress.codecs._lz4 import break_lz4_header, fix_lz4_header
from recordpress.codecs._registry import CodecRegistry
from recordpress.codecs._stream import Compressor, Decompressor, compressor, decompressor
from recordpress.codecs._zstd_dictionary import DEFAULT_DICTIONARY_SIZE, Dictionary, dictionary_id, train_values
from recordpress.codecs._zstd_parameters import ZstdParameters

__all__ = [
    "DEFAULT_DICTIONARY_SIZE",
    "DEFAULT_MAX_SIZE",
    "CodecRegistry",
    "Compressor",
    "Decompressor",
    "Dictionary",
    "ZstdParameters",
    "break_lz4_header",
    "compress",
    "compress_bound",
    "compress_into",
    "compressor",
    "decompress",
    "decompress_into",
    "decompressor",
    "dictionary_id",
    "fix_lz4_header",
    "train_values",
]

publish(__name__, __all__, globals())
