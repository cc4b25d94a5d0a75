"""One codec call from Python: its cost over the bare C call, and other packages on the same bytes.

The limit is a loop in C over the libraries' calls with Kafka's framing, into the same buffer. Our added cost is
relative to "one in C": the same C call made once from Python, minus the cost of a call that does nothing ("nothing in
C"). A library is slower there than in the loop (libzstd by 0.15 us), because any interpreter code between the calls
uses the branch predictor and the caches. Peers compress into the frames that suit them best (zstd with its content
size, one raw snappy block). They decompress Kafka's frames as we do, except that for snappy they decompress one raw
block, because they do not read xerial streams.
"""

import contextlib
import gzip
import timeit

import cramjam
import lz4.frame
import pytest
import snappy
import zstandard

import recordpress
from bench.answers import equal
from bench.corpus import SETS
from bench.race import Cell, Contender

SIZES = {"1 KB": 1 << 10, "16 KB": 1 << 14, "1 MB": 1 << 20}
RECORDS = SETS["apache5000"].batch("none")[61:]

_zstd_compressor, _zstd_decompressor = zstandard.ZstdCompressor(level=3), zstandard.ZstdDecompressor()

# codec -> package -> (compress, decompress)
PEERS = {
    "gzip": {
        "gzip": (lambda data: gzip.compress(data, 6), gzip.decompress),
        "cramjam": (lambda data: cramjam.gzip.compress(data, 6), cramjam.gzip.decompress),
    },
    "snappy": {
        "python snappy": (snappy.compress, snappy.decompress),
        "cramjam": (cramjam.snappy.compress_raw, cramjam.snappy.decompress_raw),
    },
    "lz4": {
        "lz4": (lz4.frame.compress, lz4.frame.decompress),
        "cramjam": (lambda data: cramjam.lz4.compress(data, 1), cramjam.lz4.decompress),
    },
    "zstd": {
        "zstandard": (_zstd_compressor.compress, _zstd_decompressor.decompress),
        "cramjam": (lambda data: cramjam.zstd.compress(data, 3), cramjam.zstd.decompress),
    },
}
with contextlib.suppress(ImportError):
    from compression import zstd  # of Python 3.14

    PEERS["zstd"]["compression.zstd"] = (lambda data: zstd.compress(data, 3), zstd.decompress)
CELLS = [(codec, size) for codec in PEERS for size in SIZES]
cells = pytest.mark.parametrize(("codec", "size"), CELLS)
ROUNDS = 21  # differences of a few per cent are asked for


def _contender(name, check, function, *arguments):
    """A call so short that a function around it would count: timeit has it in its loop."""
    values = {f"argument{i}": value for i, value in enumerate(arguments)}
    loop = timeit.Timer(f"function({', '.join(values)})", globals=values | {"function": function})
    return Contender(
        name, lambda: function(*arguments), lambda: check(function(*arguments)), loop.timeit, rounds=ROUNDS
    )


def _in_c(operation, codec, data):
    ceiling = SETS["apache5000"].ceiling()
    return (
        Contender(
            "limit",
            lambda: ceiling.repeat_codec(codec, operation, data, 1),
            loop=lambda calls: ceiling.repeat_codec(codec, operation, data, calls),
            rounds=ROUNDS,
        ),
        _contender("one in C", lambda size: None, ceiling.repeat_codec, codec, operation, data, 1),
        _contender("nothing in C", lambda size: None, ceiling.repeat_codec, codec, operation, data, 0),
    )


def _cell(operation, codec, size):
    return Cell(operation, size, codec, size=SIZES[size], unit="calls")


@cells
def bench_compress(race, codec, size):
    data = RECORDS[: SIZES[size]]

    def peer(name):
        compress, decompress = PEERS[codec][name]
        return _contender(name, lambda made: equal(bytes(decompress(made)), data, name), compress, data)

    race(
        _cell("compress", codec, size),
        _contender(
            "recordpress",
            lambda made: equal(recordpress.decompress(made, codec), data, "recordpress"),
            recordpress.compress,
            data,
            codec,
        ),
        *_in_c("compress", codec, data),
        *map(peer, PEERS[codec]),
    )


@cells
def bench_decompress(race, codec, size):
    data = RECORDS[: SIZES[size]]
    payload = recordpress.compress(data, codec)

    def peer(name):
        compress, decompress = PEERS[codec][name]
        theirs = bytes(compress(data)) if codec == "snappy" else payload
        room = [SIZES[size]] if name == "zstandard" else []  # it does not grow its output
        return _contender(name, lambda made: equal(bytes(made), data, name), decompress, theirs, *room)

    race(
        _cell("decompress", codec, size),
        _contender(
            "recordpress", lambda made: equal(made, data, "recordpress"), recordpress.decompress, payload, codec
        ),
        *_in_c("decompress", codec, payload),
        *map(peer, PEERS[codec]),
    )


@cells
def bench_decompress_into(race, codec, size):
    """As the limit does it: into the caller's buffer."""
    data = RECORDS[: SIZES[size]]
    payload, out = recordpress.compress(data, codec), bytearray(SIZES[size])
    race(
        _cell("decompress into", codec, size),
        _contender(
            "recordpress",
            lambda made: equal(bytes(out[:made]), data, "recordpress"),
            recordpress.decompress_into,
            payload,
            out,
            codec,
        ),
        *_in_c("decompress", codec, payload),
    )


@cells
def bench_compress_into(race, codec, size):
    data = RECORDS[: SIZES[size]]
    out = bytearray(recordpress.compress_bound(SIZES[size], codec))
    race(
        _cell("compress into", codec, size),
        _contender(
            "recordpress",
            lambda made: equal(recordpress.decompress(out[:made], codec), data, "recordpress"),
            recordpress.compress_into,
            data,
            out,
            codec,
        ),
        *_in_c("compress", codec, data),
    )
