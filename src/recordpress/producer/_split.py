"""Split of a batch that was too large for a broker (ProducerBatch.split, KIP-126)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recordpress._arguments import integer
from recordpress.errors import InvalidArgumentError
from recordpress.producer._accumulator import BatchAccumulator
from recordpress.producer._batch_order import cut, number_parts
from recordpress.producer._estimator import CompressionRatioEstimator
from recordpress.record import Batch, read_batches

if TYPE_CHECKING:
    from typing_extensions import Buffer


def split(records: Buffer, batch_size: int, *, level: Any = None, codecs: Any = None) -> list[bytes]:
    """Split a batch as Kafka's producer does after MESSAGE_TOO_LARGE (KIP-126).

    Parameters
    ----------
    records : bytes-like
        A record set of one batch: a v2 batch, or compressed messages of v0 or v1.
    batch_size : int
        Bytes to which the parts are filled, by Kafka's estimate: it expects the compression ratio of the batch, but
        never less than 1.0. A part of one record may be larger.
    level : int | None
        Compression level of the parts.
    codecs : CodecRegistry | None
        Codec plug-ins in addition to Kafka's.

    Returns
    -------
    list of bytes
        The parts in order, one batch each, with unchanged records, the codec and magic of the batch, offsets from 0,
        and the sequences that the records had.

    Raises
    ------
    InvalidArgumentError
        `records` is not exactly one batch, or the batch has no records, is a control batch, or consists of uncompressed
        messages of v0 or v1, which are separate entries.
    CorruptRecordError, InvalidRecordError, UnsupportedCompressionTypeError
        The batch cannot be read.

    Examples
    --------
    >>> import recordpress
    >>> whole = recordpress.write_records([bytes(100)] * 10, compression_type="gzip")
    >>> [len(recordpress.read_columns(part, ["offset"])) for part in recordpress.producer.split(whole, 400)]
    [3, 3, 3, 1]
    """
    batch = _one_batch(records, codecs)
    ratio = _ratio(batch)
    estimator = CompressionRatioEstimator(codecs)
    estimator.set_estimation("", batch.compression_type, max(1.0, ratio))
    filler = BatchAccumulator(
        batch_size=integer(batch_size, "batch_size", 0, 2**31 - 1),
        compression_type=batch.compression_type,
        level=level,
        magic=batch.magic,
        max_request_size=2**31 - 1,
        estimator=estimator,
        codecs=codecs,
    )
    parts = cut(filler, None, filler.batch_size, batch, None)
    number_parts(parts, batch)
    for part in parts:
        part._close()
    return [part.records for part in parts]


def _one_batch(records: Buffer, codecs: Any) -> Batch:
    batches = list(read_batches(records, codecs=codecs, complete=True))
    if len(batches) != 1 or not len(batches[0]):
        raise InvalidArgumentError("records must be one batch with records", field="records")
    [batch] = batches
    if batch.is_control:
        raise InvalidArgumentError("a control batch is never split", field="records")
    if batch.magic < 2 and batch.compression_type == "none":
        raise InvalidArgumentError("uncompressed v0 and v1 messages are separate entries", field="records")
    return batch


def _ratio(batch: Batch) -> float:
    """Return compressed bytes divided by uncompressed bytes of the records (MemoryRecordsBuilder.compressionRatio)."""
    size = len(batch.payload) if batch.magic == 2 else batch.size - 26 - 8 * batch.magic
    return size / sum(record.size for record in batch)
