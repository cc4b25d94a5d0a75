"""Record sets of every codec, level and depth: sizes, then speeds.

Several threads measure sizes, chunk by chunk. Batches are compressed as in Java's producer, as a stream whose size is
not known in advance: zstd then uses other parameters than in one call, which changes the size by up to 2 %, and gzip
uses zlib. One thread measures speeds, with nothing else running, on the records of batches in Kafka's framing:
like lzbench, it repeats each call.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from functools import cached_property, partial
from itertools import islice
from statistics import median, quantiles
from typing import Any, NamedTuple

from recordpress._threads import cores
from recordpress.analysis._analysis import Speed
from recordpress.analysis._grid import Setting
from recordpress.analysis._sample import Sample
from recordpress.codecs import CodecRegistry, compress, compressor, decompress
from recordpress.codecs.choice import stored_as
from recordpress.columns import Columns, read_columns, write_columns
from recordpress.errors import CorruptRecordError
from recordpress.record import read_batches

# Chosen, not measured: small enough for seconds per cell.
PIECE_BYTES = 4 << 20
SPEED_BYTES = 8 << 20
_LEAST_ROUNDS, _MOST_ROUNDS = 3, 25  # chosen, not measured
_LEAST_SECONDS = 0.2  # of all rounds; chosen, not measured
_NEW = ("timestamp", "key", "value", "headers")


class Size(NamedTuple):
    """Bytes of whole record sets before and after compression, and the CPU time to compress and decompress them."""

    input_bytes: int
    output_bytes: int
    batches: int
    seconds: float = 0.0


def sum_of(one: Size, other: Size) -> Size:
    """Return the sum of two sizes."""
    return Size(
        one.input_bytes + other.input_bytes,
        one.output_bytes + other.output_bytes,
        one.batches + other.batches,
        one.seconds + other.seconds,
    )


class Calls(NamedTuple):
    """CPU seconds of repeated calls, each of which compresses or decompresses `size` bytes."""

    size: int
    compressing: list[float]
    decompressing: list[float]

    def and_more(self, others: Calls) -> Calls:
        """Return these calls together with others on the same bytes."""
        return Calls(self.size, self.compressing + others.compressing, self.decompressing + others.decompressing)

    def speed(self, timing: str) -> Speed:
        """Return the speed, its spread and its range."""
        return Speed(
            _mb_s(self.size, self.compressing, timing),
            _mb_s(self.size, self.decompressing, timing),
            _spread(self.compressing),
            _spread(self.decompressing),
            min(len(self.compressing), len(self.decompressing)),
            _range(self.size, self.compressing, timing),
            _range(self.size, self.decompressing, timing),
        )


class Measure:
    """Measurement of a sample."""

    def __init__(
        self, sample: Sample, threads: int | None = None, *, at_once: bool = False, codecs: CodecRegistry | None = None
    ) -> None:
        self._sample = sample
        self._codecs: Any = codecs
        self._threads = threads or cores()
        self._at_once = at_once

    @cached_property
    def _rows(self) -> Columns:
        return read_columns(self._sample.data, _NEW, threads=self._threads)

    # ---- sizes

    def sizes(
        self,
        depth: int | None,
        settings: Sequence[Setting],
        done: Callable[[int], object],
        most_records: int | None = None,
    ) -> list[Size]:
        """Return the sizes of all settings at one depth."""
        totals = [Size(0, 0, 0)] * len(settings)
        for found in self._in_threads(self._pieces(depth, most_records), depth, settings):
            totals = [sum_of(total, one) for total, one in zip(totals, found, strict=True)]
            done(len(settings) * found[0].input_bytes)
        return totals

    def _in_threads(
        self, pieces: Iterator[Columns | memoryview], depth: int | None, settings: Sequence[Setting]
    ) -> Iterator[list[Size]]:
        """Process chunks in threads, with at most one chunk per thread in memory."""
        sizes = partial(_sizes, depth=depth, settings=settings, at_once=self._at_once, codecs=self._codecs)
        pool = ThreadPoolExecutor(self._threads, thread_name_prefix="recordpress-analyze")
        try:
            pending = {pool.submit(sizes, piece) for piece in islice(pieces, self._threads)}
            while pending:
                finished, pending = wait(pending, return_when=FIRST_COMPLETED)
                pending |= {pool.submit(sizes, piece) for piece in islice(pieces, len(finished))}
                yield from (future.result() for future in finished)
        finally:
            pool.shutdown(cancel_futures=True)

    def _pieces(self, depth: int | None, most_records: int | None = None) -> Iterator[Columns | memoryview]:
        """Yield chunks of whole batches: rows for batches of `depth`, or the stored batches if it is None."""
        if depth is None:
            yield from self._stored_pieces()
            return
        step = depth * max(1, int(PIECE_BYTES / (depth * self._sample.record_bytes)))
        rows = min(most_records or self._rows.num_rows, self._rows.num_rows)
        for start in range(0, rows, step):
            yield self._rows.slice(start, min(step, rows - start))

    def _stored_pieces(self) -> Iterator[memoryview]:
        data, start = memoryview(self._sample.data).toreadonly(), 0
        for end, following in zip(self._sample.ends, [*self._sample.ends[1:], None], strict=True):
            if following is None or following - start > PIECE_BYTES:
                yield data[start:end]
                start = end

    # ---- speeds

    def encode_seconds(self, depth: int, timing: str) -> float:
        """Return the CPU seconds in which one thread writes all rows as batches of `depth` records."""
        rows = self._rows.slice(0, min(self._rows.num_rows, max(depth, int(PIECE_BYTES / self._sample.record_bytes))))
        seconds = _rounds(lambda: uncompressed(rows, depth))
        return _typical(seconds, timing) * self._rows.num_rows / rows.num_rows

    def payloads(self, depth: int | None) -> list[bytes]:
        """Return the encoded records of batches across the sample, at most `SPEED_BYTES`."""
        pieces = list(self._pieces(depth))
        wanted = max(1, min(len(pieces), 8))
        chosen = [pieces[number * len(pieces) // wanted] for number in range(wanted)]
        found: list[bytes] = []
        for piece in chosen:
            left = SPEED_BYTES // wanted
            for batch in read_batches(_batches_of(piece, depth)):
                if left <= 0:
                    break
                found.append(bytes(batch.payload)[:left])
                left -= len(found[-1])
        return found

    def calls(self, setting: Setting, payloads: Sequence[bytes]) -> Calls:
        """Time the compression and decompression of payloads by one thread."""
        codec, level = setting
        own = self._codecs
        packed = [compress(payload, codec, level, codecs=own) for payload in payloads]
        most = max(map(len, payloads))

        def pack() -> None:
            for payload in payloads:
                compress(payload, codec, level, codecs=own)

        def unpack() -> None:
            for payload in packed:
                decompress(payload, codec, most, codecs=own)

        return Calls(sum(map(len, payloads)), _rounds(pack), _rounds(unpack))


def memcpy_mb_s(timing: str) -> float:
    """Measure the speed at which one thread copies `SPEED_BYTES`: the upper limit of all codecs."""
    source = memoryview(bytearray(SPEED_BYTES))
    target = memoryview(bytearray(SPEED_BYTES))

    def copy() -> None:
        target[:] = source

    return _mb_s(SPEED_BYTES, _rounds(copy), timing)


def _sizes(
    piece: Columns | memoryview, depth: int | None, settings: Sequence[Setting], at_once: bool, codecs: Any
) -> list[Size]:
    plain = _batches_of(piece, depth)
    payloads = [batch.payload for batch in read_batches(plain)]
    headers = len(plain) - sum(map(len, payloads))
    found = []
    for setting in settings:
        started = time.thread_time()
        size = headers + sum(_compressed(payloads, setting, at_once, codecs))
        found.append(Size(len(plain), size, len(payloads), time.thread_time() - started))
    return found


def _compressed(payloads: Sequence[memoryview], setting: Setting, at_once: bool, codecs: Any) -> Iterator[int]:
    """Yield the compressed size of each batch's records, including the name of a plug-in (KIP-984); read the records
    back and compare them."""
    codec, level = setting
    name_bytes = 1 + len(codec) if stored_as(codec) is None else 0
    stream = compressor(codec, level, codecs=codecs)
    for payload in payloads:
        if at_once:
            packed = compress(payload, codec, level, codecs=codecs)
        else:
            packed = stream.compress(payload) + stream.flush()
            stream.reset()
        if decompress(packed, codec, len(payload), codecs=codecs) != payload:
            raise CorruptRecordError(f"records written with {setting} differ after reading", rule="output equals input")
        yield name_bytes + len(packed)


def _batches_of(piece: Columns | memoryview, depth: int | None) -> bytes | memoryview:
    return piece if isinstance(piece, memoryview) else uncompressed(piece, depth)


def uncompressed(rows: Columns, depth: int | None) -> bytes:
    """Return the rows as batches of `depth` records, without a codec."""
    return write_columns(rows, "none", batch_bytes=None, batch_records=depth)


def _rounds(call: Callable[[], object]) -> list[float]:
    """Return the CPU seconds of each call, to which other programs on the machine add little."""
    call()
    seconds: list[float] = []
    while len(seconds) < _LEAST_ROUNDS or (sum(seconds) < _LEAST_SECONDS and len(seconds) < _MOST_ROUNDS):
        started = time.thread_time()
        call()
        seconds.append(max(time.thread_time() - started, 1e-9))
    return seconds


def _mb_s(size: int, seconds: Sequence[float], timing: str) -> float:
    return size / 1e6 / _typical(seconds, timing)


def _typical(seconds: Sequence[float], timing: str) -> float:
    return min(seconds) if timing == "fastest" else median(seconds)


def _range(size: int, seconds: Sequence[float], timing: str) -> tuple[float, float]:
    """Return the lowest and highest speed among parts of the calls: another measurement may give either."""
    parts = max(2, min(len(seconds) // 4, 4))
    speeds = [_mb_s(size, seconds[number::parts], timing) for number in range(parts)]
    return min(speeds), max(speeds)


def _spread(seconds: Sequence[float]) -> float:
    """Return the interquartile range as a share of the median, so that one interrupted call does not count."""
    first, middle, third = quantiles(seconds, n=4)
    return (third - first) / middle
