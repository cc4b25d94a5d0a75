"""Evaluation of a dictionary: trained on one part of the sample, measured on the held-out records.

The sample is divided into chunks of consecutive records, and every fourth chunk is held out. The held-out records
form batches of each depth, which are compressed in three ways:

- each batch by zstd, which brokers know, for comparison;
- each batch by zstd with the dictionary (``zstd-dict``, for closed loops);
- each value by zstd with the dictionary, in batches without a codec, which any broker accepts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from itertools import pairwise
from math import ceil
from typing import Any

from recordpress._json_keys import camel_keys
from recordpress.analysis._measure import uncompressed
from recordpress.analysis._recommend import SAVED_PER_DOUBLING
from recordpress.analysis._sample import Sample
from recordpress.codecs import DEFAULT_DICTIONARY_SIZE, Dictionary, compress, decompress, train_values
from recordpress.codecs.choice import DICTIONARY_SIZES
from recordpress.columns import Columns, read_columns
from recordpress.dictionaries import DictionaryCodec
from recordpress.errors import CorruptRecordError, InvalidArgumentError
from recordpress.record import read_batches, write_records

DEPTHS = (1, 10, 100, 1000)  # records per batch; chosen, not measured
SAMPLES_PER_SIZE = 100  # training bytes, in sizes of the dictionary: more do not improve it (zdict.h)
LEAST_RECORDS = 64  # chosen, not measured: fewer share little that a dictionary could hold

_CHUNKS, _LEAST_CHUNKS = 16, 4  # chosen, not measured
_BATCHES = 4  # of the largest depth, which each chunk should hold; chosen, not measured
_HELD_OUT_BYTES = 8 << 20  # chosen, not measured: seconds for all depths
_PART = 10  # the default size of a dictionary is a tenth of its training values
_NAME_BYTES = 1 + len(DictionaryCodec.name)  # in the header of a batch (KIP-984)
_COLUMNS = ("timestamp", "key", "value", "headers")


@dataclass(frozen=True)
class DictionaryDepth:
    """Effect of a dictionary on batches of one depth. All sizes are of held-out record sets, in bytes.

    Attributes
    ----------
    batch_records : int
        Records per batch.
    batches, records : int
    input_bytes : int
        Uncompressed size.
    plain_bytes : int
        Size if each batch is compressed by zstd.
    batches_bytes : int
        Size if each batch is compressed by zstd with the dictionary.
    values_bytes : int
        Size if each value is compressed by zstd with the dictionary, and the batches are not compressed.

    Examples
    --------
    >>> import recordpress
    >>> found = recordpress.train("demo/logs/access-log-0", 4096, depths=(8,), sample_bytes=200_000)
    >>> depth = found.depths[0]
    >>> depth.batch_records, depth.least_bytes <= depth.plain_bytes
    (8, True)
    """

    batch_records: int
    batches: int
    records: int
    input_bytes: int
    plain_bytes: int
    batches_bytes: int
    values_bytes: int

    @property
    def use(self) -> str:
        """The better use of the dictionary: ``"values"`` or ``"batches"``."""
        return "values" if self.values_bytes <= self.batches_bytes else "batches"

    @property
    def least_bytes(self) -> int:
        """Smallest size without a dictionary: with zstd or with no codec."""
        return min(self.plain_bytes, self.input_bytes)

    @property
    def saves(self) -> float:
        """Saving in the better use as a share; negative if the dictionary costs space."""
        return 1 - min(self.values_bytes, self.batches_bytes) / self.least_bytes

    @property
    def pays(self) -> bool:
        """Whether the saving is at least a twentieth."""
        return self.saves >= SAVED_PER_DOUBLING

    def to_dict(self) -> dict[str, Any]:
        """Return the result for JSON."""
        return camel_keys(asdict(self)) | {"use": self.use, "saves": self.saves, "pays": self.pays}


@dataclass(frozen=True)
class Evaluation:
    """Dictionary, and its effect on held-out records.

    Attributes
    ----------
    dictionary : Dictionary
    level : int
    stored : DictionaryDepth
        Effect at the stored depth.
    depths : tuple of DictionaryDepth
        Effect at each measured depth, including the stored depth.
    skipped : tuple of int
        Depths for which the held-out records do not fill one batch.
    samples, sample_bytes : int
        Number and bytes of the training values.
    values : dict
        Held-out values, compressed singly: number, bytes, and bytes after zstd without and with the dictionary.

    Examples
    --------
    >>> import recordpress
    >>> found = recordpress.train("demo/logs/access-log-0", 4096, depths=(8,), sample_bytes=200_000)
    >>> evaluation = found.evaluation
    >>> evaluation.level, evaluation.samples > 0
    (3, True)
    """

    dictionary: Dictionary
    level: int
    stored: DictionaryDepth
    depths: tuple[DictionaryDepth, ...]
    skipped: tuple[int, ...]
    samples: int
    sample_bytes: int
    values: dict[str, int]

    @property
    def pays(self) -> bool:
        """Whether the saving at the stored depth is at least a twentieth."""
        return self.stored.pays

    @property
    def break_even_records(self) -> int | None:
        """Number of records after which the saving at the stored depth exceeds the dictionary's size; None if nothing
        is saved.
        """
        saved = self.stored.saves * self.stored.least_bytes / self.stored.records
        return None if saved <= 0 else round(len(self.dictionary) / saved)

    @property
    def summary(self) -> str:
        """Result in one sentence."""
        now = self.stored
        text = (
            f"a dictionary {'pays' if self.pays else 'does not pay'}: at the stored depth of {now.batch_records}, "
            f"batches compressed with it (zstd-dict, which no broker reads) take "
            f"{_change(now.batches_bytes, now.least_bytes)} than without it, and values compressed with it take "
            f"{_change(now.values_bytes, now.least_bytes)}"
        )
        if self.pays:
            return text
        paying = [depth.batch_records for depth in self.depths if depth.pays]
        worth = f"it pays if it saves {100 * SAVED_PER_DOUBLING:.0f} % or more"
        return f"{text}; {worth}, here up to {paying[-1]} records per batch" if paying else f"{text}; {worth}"

    def to_dict(self) -> dict[str, Any]:
        """Return the result for JSON."""
        return {
            "dictionary": {
                "id": self.dictionary.id,
                "bytes": len(self.dictionary),
                "sha256": sha256(self.dictionary.data).hexdigest(),
                "level": self.level,
                "samples": self.samples,
                "sampleBytes": self.sample_bytes,
            },
            "pays": self.pays,
            "saves": self.stored.saves,
            "use": self.stored.use,
            "breakEvenRecords": self.break_even_records,
            "summary": self.summary,
            "storedDepth": self.stored.batch_records,
            "depths": [depth.to_dict() for depth in self.depths],
            "skippedDepths": list(self.skipped),
            "values": camel_keys(self.values),
        }


def _change(size: int, of: int) -> str:
    """Return a change as text: ``12.5 % less``."""
    return f"{100 * abs(1 - size / of):.1f} % {'less' if size <= of else 'more'}"


def evaluate(
    sample: Sample,
    *,
    size: int | None = None,
    level: int = 3,
    depths: Sequence[int] = DEPTHS,
    dictionary_id: int | None = None,
    done: Callable[[int], object] = lambda _: None,
) -> Evaluation:
    """Train a dictionary on a sample, and measure it."""
    rows = read_columns(sample.data, _COLUMNS)
    if rows.num_rows < LEAST_RECORDS:
        raise InvalidArgumentError(
            f"{rows.num_rows} records are too few for a dictionary: at least {LEAST_RECORDS} are needed", field="path"
        )
    stored = max(1, round(sample.mean_batch_records))
    wanted = sorted({*depths, stored})
    seen, held_out = _stretches(rows, max(wanted))
    dictionary, samples, sample_bytes = _trained(seen, size, level, dictionary_id)
    longest = max(chunk.num_rows for chunk in held_out)
    measured = {
        depth: _measured(held_out, depth, dictionary, level, done)
        for depth in wanted
        if depth <= longest or depth == stored
    }
    return Evaluation(
        dictionary=dictionary,
        level=level,
        stored=measured[stored],
        depths=tuple(measured.values()),
        skipped=tuple(depth for depth in wanted if depth not in measured),
        samples=samples,
        sample_bytes=sample_bytes,
        values=_values(held_out, dictionary, level),
    )


def held_out_bytes(sample: Sample) -> int:
    """Return the approximate number of bytes measured at each depth."""
    return min(len(sample.data) // _LEAST_CHUNKS, _HELD_OUT_BYTES)


def _stretches(rows: Columns, deepest: int) -> tuple[list[Columns], list[Columns]]:
    """Return ranges to train on, and held-out ranges to measure."""
    number = max(_LEAST_CHUNKS, min(_CHUNKS, rows.num_rows // (_LEAST_CHUNKS * _BATCHES * deepest)))
    number -= number % _LEAST_CHUNKS
    bounds = [rows.num_rows * at // number for at in range(number + 1)]
    chunks = [rows.slice(start, end - start) for start, end in pairwise(bounds)]
    held_out = chunks[_LEAST_CHUNKS - 1 :: _LEAST_CHUNKS]
    most = max(1, int(_HELD_OUT_BYTES / len(held_out) * rows.num_rows / max(rows.nbytes, 1)))
    seen = [chunk for at, chunk in enumerate(chunks) if (at + 1) % _LEAST_CHUNKS]
    return seen, [chunk.slice(0, most) for chunk in held_out]


def _trained(
    seen: Sequence[Columns], size: int | None, level: int, dictionary_id: int | None
) -> tuple[Dictionary, int, int]:
    """Return the dictionary, and the number of values and bytes that it was trained on."""
    total = sum(chunk["value"].nbytes for chunk in seen)
    if size is None:
        size = min(DEFAULT_DICTIONARY_SIZE, max(DICTIONARY_SIZES[0], total // _PART))
    share = min(1.0, SAMPLES_PER_SIZE * size / max(total, 1))
    parts = (chunk["value"].slice(0, ceil(share * chunk.num_rows)) for chunk in seen)
    values = [value for part in parts for value in part if value]
    dictionary = train_values(values, size, level=level, dictionary_id=dictionary_id)
    return dictionary, len(values), sum(map(len, values))


def _measured(
    held_out: Sequence[Columns], depth: int, dictionary: Dictionary, level: int, done: Callable[[int], object]
) -> DictionaryDepth:
    batches = records = whole = plain = with_dictionary = values = 0
    for chunk in held_out:
        record_set = uncompressed(chunk, depth)
        payloads = [batch.payload for batch in read_batches(record_set)]
        headers = len(record_set) - sum(map(len, payloads))
        batches += len(payloads)
        records += chunk.num_rows
        whole += len(record_set)
        plain += headers + sum(map(len, _packed(payloads, level, None)))
        with_dictionary += headers + sum(_NAME_BYTES + len(one) for one in _packed(payloads, level, dictionary))
        values += len(_with_packed_values(record_set, depth, level, dictionary))
        done(len(record_set))
    return DictionaryDepth(depth, batches, records, whole, plain, with_dictionary, values)


def _packed(data: Sequence[bytes | memoryview], level: int, dictionary: Dictionary | None) -> Iterator[bytes]:
    """Compress each value, and read it back."""
    for one in data:
        packed = compress(one, "zstd", level, dictionary=dictionary)
        if decompress(packed, "zstd", len(one), dictionaries=dictionary) != one:
            raise CorruptRecordError(
                "a value compressed with the dictionary differs after decompression", rule="output equals input"
            )
        yield packed


def _with_packed_values(record_set: bytes, depth: int, level: int, dictionary: Dictionary) -> bytes:
    """Return the record set with each value compressed."""
    records = [record for batch in read_batches(record_set) for record in batch]
    packed = _packed([record.value for record in records if record.value is not None], level, dictionary)
    return write_records(
        [None if record.value is None else next(packed) for record in records],
        [record.key for record in records],
        [record.timestamp for record in records],
        [record.headers for record in records],
        batch_records=depth,
    )


def _values(held_out: Sequence[Columns], dictionary: Dictionary, level: int) -> dict[str, int]:
    values = [value for chunk in held_out for value in chunk["value"] if value is not None]
    return {
        "records": len(values),
        "bytes": sum(map(len, values)),
        "plain_bytes": sum(map(len, _packed(values, level, None))),
        "dictionary_bytes": sum(map(len, _packed(values, level, dictionary))),
    }
