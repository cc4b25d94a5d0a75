"""Explanation of one record set: its verdict, the form of its batches, and the cost of the broker's work here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from recordpress.broker._client import client_of
from recordpress.broker._explanation import (
    CONVERTED,
    CUT,
    DUPLICATE,
    KEPT,
    RECOMPRESSED,
    REJECTED,
    REWRITTEN,
    Cost,
    ExplainedBatch,
)
from recordpress.broker._verdict import Verdict
from recordpress.codecs import CodecRegistry, compress, decompress
from recordpress.columns import read_columns
from recordpress.errors import RecordpressError
from recordpress.record import Batch, read_batches
from recordpress.record.header import HEADER_SIZE

_BY_RELATION = {"header rewritten": REWRITTEN, "kept, tail cut": CUT, "kept": KEPT}
_SEQUENTIAL = "0, 1, 2, ..."
# By magic and compression: the fault that Cloudflare found, and its later form.
_DIAGNOSES = {
    (0, True): "wrong offsets in a compressed message of magic 0 cost nothing extra: a log of magic 0 holds absolute "
    "offsets, and other logs need a conversion",
    (1, True): "Cloudflare's case: a client that does not count offsets from 0 in compressed messages of magic 1 "
    "(sarama before PR 1002) makes brokers compress each message again; Kafka 2.4.0 and 2.4.1 reject the messages",
    (2, True): "Cloudflare's case in magic 2: a client that does not count offset deltas from 0 (sarama before PR "
    "1015) makes brokers compress each batch again if the topic has another codec, and answer -1 if it has the same; "
    "if the header's last offset delta is also wrong, Kafka 1.1 and later reject the batch",
    (2, False): "brokers ignore the offset deltas of an uncompressed batch: the log gets offsets twice or out of "
    "order, unless the topic's codec makes brokers rebuild the batch",
}
_OF_RECORDS = ("offset", "sequence")  # without `sequence`, offsets would come from the header
_OFFSET, _LEADER_EPOCH = slice(0, 8), slice(12, 16)


@dataclass(frozen=True, slots=True)
class Place:
    """Place of a record set."""

    position: int = 0
    file: str | None = None
    topic: str | None = None
    partition: int | None = None
    in_log: bool = False


def explained(
    records: memoryview | bytearray | None,
    place: Place,
    judge: Callable[[Any], Verdict],
    level_of: Mapping[str, int],
    codecs: CodecRegistry | None = None,
) -> Iterator[ExplainedBatch]:
    """Yield each batch of a record set, with the verdict on the whole set."""
    verdict = judge(records)
    batches = [] if records is None else _batches(records, codecs)
    if not batches:
        size = 0 if records is None else len(records)
        yield _explained(None, size, verdict, place, Cost(size_after=len(verdict.records)), codecs)
        return
    stored = _batches(verdict.records, codecs)
    for number, batch in enumerate(batches):
        after = stored[number] if number < len(stored) else None
        yield _explained(batch, batch.size, verdict, place, _cost(batch, after, verdict, level_of, codecs), codecs)


def _batches(records: memoryview | bytearray | bytes, codecs: CodecRegistry | None) -> list[Batch]:
    """Return the batches before the first entry that is not a batch."""
    found: list[Batch] = []
    with suppress(RecordpressError):
        for batch in read_batches(records, check_crcs=False, codecs=codecs):
            found.append(batch)
    return found


def _explained(
    batch: Batch | None, size: int, verdict: Verdict, place: Place, cost: Cost, codecs: CodecRegistry | None
) -> ExplainedBatch:
    known = {} if batch is None else _known(batch, place.in_log, codecs)
    return ExplainedBatch(
        position=place.position + (0 if batch is None else batch.position),
        size=size,
        verdict=_word(verdict, batch, cost),
        relation=verdict.relation,
        error_code=verdict.error_code,
        error=verdict.error,
        error_message=verdict.error_message,
        record_errors=verdict.record_errors,
        reasons=verdict.reasons,
        findings=verdict.findings,
        file=place.file,
        topic=place.topic,
        partition=place.partition,
        cost=cost,
        **known,
    )


def _known(batch: Batch, in_log: bool, codecs: CodecRegistry | None) -> dict[str, Any]:
    """Return the fields that describe the batch itself."""
    codec, offsets = _codec_of(batch), _offsets_of(batch, in_log, codecs)
    shown = None if offsets is None else _shown(offsets)
    return {
        "magic": batch.magic,
        "compression_type": codec,
        "client": None if codec is None else client_of(codec, _payload_of(batch)),
        "records": _count_of(batch, offsets),
        "producer_id": batch.producer_id,
        "inner_offsets": shown,
        "diagnosis": None if shown in (None, _SEQUENTIAL) else _DIAGNOSES[batch.magic, batch.is_compressed],
    }


def _word(verdict: Verdict, batch: Batch | None, cost: Cost) -> str:
    if not verdict.accepted:
        return REJECTED
    if verdict.relation == "nothing stored":
        return DUPLICATE
    if verdict.relation == "rebuilt":
        return RECOMPRESSED if cost.compress_seconds or (batch is not None and batch.is_compressed) else CONVERTED
    return _BY_RELATION[verdict.relation]


def _codec_of(batch: Batch) -> str | None:
    """Return the name of the batch's codec; None if its id is unknown."""
    try:
        return str(batch.compression_type)
    except RecordpressError:
        return None


# ---- offsets inside a batch


def _offsets_of(batch: Batch, in_log: bool, codecs: CodecRegistry | None) -> list[int] | None:
    """Return a batch's offsets as a reader counts them from 0; in a log, brokers make offsets of magic 0 absolute."""
    if batch.magic < 2 and not batch.is_compressed:
        return None
    try:
        columns = read_columns(batch.data, _OF_RECORDS, check_crcs=False, codecs=codecs)
        offsets: list[int] = columns["offset"].to_pylist()
    except RecordpressError:
        return None
    base = batch.base_offset if batch.magic == 2 else offsets[0] if batch.magic == 0 and in_log and offsets else 0
    return [offset - base for offset in offsets]


def _shown(offsets: list[int]) -> str:
    if offsets == list(range(len(offsets))):
        return _SEQUENTIAL
    if not any(offsets):
        return f"all 0: {len(offsets)} records"
    wrong = next(number for number, offset in enumerate(offsets) if offset != number)
    which = "not from 0" if offsets == list(range(offsets[0], offsets[0] + len(offsets))) else "not 0, 1, 2, ..."
    return f"{which}: record {wrong} has {offsets[wrong]}"


def _count_of(batch: Batch, offsets: list[int] | None) -> int | None:
    if batch.magic == 2:
        return batch.records_count
    return 1 if not batch.is_compressed else None if offsets is None else len(offsets)


# ---- what it costs


def _cost(
    batch: Batch, stored: Batch | None, verdict: Verdict, level_of: Mapping[str, int], codecs: CodecRegistry | None
) -> Cost:
    records_size, decompress_seconds = _decompressed(batch, codecs)
    if stored is None:
        return Cost(records_size=records_size, decompress_seconds=decompress_seconds)
    rebuilt = verdict.relation == "rebuilt"
    return Cost(
        size_after=stored.size,
        bytes_changed=stored.size if rebuilt else _changed(batch, stored),
        records_size=records_size,
        decompress_seconds=decompress_seconds,
        compress_seconds=_compress_seconds(stored, level_of, codecs) if rebuilt else 0.0,
    )


def _changed(batch: Batch, stored: Batch) -> int:
    """Return the number of header bytes that differ, except in offset and leader epoch, which every broker sets."""
    before, after = (bytearray(one.data[:HEADER_SIZE]) for one in (batch, stored))
    for header in (before, after):
        header[_OFFSET] = bytes(8)
        if batch.magic == 2:
            header[_LEADER_EPOCH] = bytes(4)
    return sum(old != new for old, new in zip(before, after, strict=False))


def _payload_of(batch: Batch) -> memoryview:
    """Return the compressed payload: the records area, or the value of a message of magic 0 or 1; empty if the message
    is malformed."""
    if batch.magic == 2:
        return batch.payload
    with suppress(RecordpressError):
        return batch.stored_value or memoryview(b"")
    return memoryview(b"")


def _decompressed(batch: Batch, codecs: CodecRegistry | None) -> tuple[int, float]:
    """Return the size of the records, and the seconds to decompress them."""
    with suppress(RecordpressError):
        codec, payload = str(batch.compression_type), _payload_of(batch)
        if codec == "none":
            return len(payload), 0.0
        start = perf_counter()
        size = len(decompress(payload, codec, magic=batch.magic, codecs=codecs))  # type: ignore[arg-type]
        return size, perf_counter() - start
    return 0, 0.0


def _compress_seconds(stored: Batch, level_of: Mapping[str, int], codecs: CodecRegistry | None) -> float:
    """Return the seconds that the broker's compression takes here, measured on the stored batch."""
    codec = str(stored.compression_type)
    if codec == "none":
        return 0.0
    plain = decompress(_payload_of(stored), codec, magic=stored.magic, codecs=codecs)  # type: ignore[arg-type]
    start = perf_counter()
    compress(plain, codec, level_of.get(codec), magic=stored.magic, codecs=codecs)  # type: ignore[arg-type]
    return perf_counter() - start
