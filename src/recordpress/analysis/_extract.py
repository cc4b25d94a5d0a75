"""Uncompressed records of batches, as input of other benchmarks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from recordpress._arguments import INT64_MAX, integer
from recordpress.analysis._analyze import LEAST_SAMPLE, MOST_SAMPLE, lines_at, sample_of
from recordpress.analysis._sample import sample_batch
from recordpress.errors import InvalidArgumentError
from recordpress.log import Log, open_log
from recordpress.record import read_batches

if TYPE_CHECKING:
    from recordpress.analysis._analyze import Paths
    from recordpress.codecs import CodecRegistry
    from recordpress.log import Finding
    from recordpress.typing import Integer


@dataclass(frozen=True)
class Extract:
    """Result of `extract`.

    Attributes
    ----------
    data : bytes
        Uncompressed records of the batches, concatenated, without batch headers. A codec compresses these bytes.
    batches, records : int
    findings : tuple of Finding
        Damage; the damaged batches were omitted.

    Examples
    --------
    >>> from recordpress.analysis import extract
    >>> found = extract("demo/logs/sessions-0", offset=0)
    >>> found.batches, found.records > 0, len(found.data) > 1000
    (1, True, True)
    """

    data: bytes
    batches: int
    records: int
    findings: tuple[Finding, ...] = ()


def extract(
    path: Paths,
    offset: Integer | None = None,
    *,
    sample_bytes: Integer = 64 << 20,
    seed: Integer = 0,
    codecs: CodecRegistry | None = None,
) -> Extract:
    """Return the uncompressed records of one batch or of a sample of batches, for lzbench or ``zstd -b``.

    Parameters
    ----------
    path : str, PathLike or several of them
        A log, as for `open_log`; or, for a sample, one file of lines, each of which is the value of a record.
    offset : int, optional
        Select the first batch of the partition that ends at or after this offset; by default a sample is taken.
    sample_bytes, seed : int
        Maximum uncompressed size of the sample in bytes, and seed for its place, as for `recordpress.analyze`.
    codecs : CodecRegistry, optional
        Codec plug-ins that batches may name.

    Returns
    -------
    Extract
        Records of v0 and v1 messages are encoded as in v2 batches.

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError
        An invalid argument, or, with `offset`, several partitions or no batch with records at or after it.
    CorruptRecordError
        The batch at `offset` is damaged.
    OSError

    Examples
    --------
    >>> import recordpress
    >>> from recordpress.analysis import extract
    >>> batch = extract("demo/logs/access-log-0", offset=100)
    >>> len(recordpress.compress(batch.data, "zstd", 3)) < len(batch.data) / 2
    True
    """
    limit = integer(sample_bytes, "sample_bytes", LEAST_SAMPLE, MOST_SAMPLE)
    number = integer(seed, "seed", 0, INT64_MAX)
    if offset is None:
        sample, _ = sample_of(path, limit, number, codecs)
    else:
        at = integer(offset, "offset", 0, INT64_MAX)
        if lines_at(path):
            raise InvalidArgumentError("a file of lines has no offsets", field="offset")
        sample = sample_batch(path if isinstance(path, Log) else open_log(path, codecs=codecs), at)
    data = b"".join(batch.payload for batch in read_batches(sample.data, check_crcs=False))
    return Extract(data, len(sample.counts), sample.records, tuple(sample.findings))
