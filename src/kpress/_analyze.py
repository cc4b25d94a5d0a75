"""kpress.analyze: the facade's call, whose room is loaded on first use."""

TYPE_CHECKING = False  # as in kpress._on_use
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Sequence
    from typing import Literal

    from kpress.analysis import Analysis
    from kpress.codecs import CodecRegistry
    from kpress.log import Progress
    from kpress.typing import Integer


def analyze(
    path: "str | os.PathLike[str] | Iterable[str | os.PathLike[str]]",
    codecs: str = "none/snappy/lz4/gzip,1,6/zstd,1,3,6",
    *,
    depths: "Sequence[Integer]" = (1, 10),
    sample_bytes: "Integer" = 64 << 20,
    seed: "Integer" = 0,
    threads: "Integer | None" = None,
    timing: "Literal['fastest', 'median']" = "fastest",
    rate: "str | float | None" = None,
    price_gb: "float | None" = None,
    registry: "CodecRegistry | None" = None,
    progress: "Callable[[Progress], object] | None" = None,
) -> "Analysis":
    """Measure codecs, levels and batch depths on the records of a log, and recommend what to set.

    Each codec compresses the sample's records batch by batch as Java's producer does, as a stream; every batch is read
    back and compared. The sizes are those of whole record sets, headers included. `write_columns`, which compresses a
    batch in one call, is faster and makes other sizes: with zstd by up to 2 %, with gzip up to 5 % less. The speeds are
    those of `compress` and `decompress` on the records of one batch after another, in Kafka's framing.

    Parameters
    ----------
    path : str, PathLike or several of them
        What `open_log` takes; or one file of lines, each of which is the value of a record. Lines have no stored depth:
        batches that Kafka's default batch.size of 16384 bytes holds take its place.
    codecs : str
        Codecs with ``/`` between them, each with its levels after commas; without levels, what Kafka's clients use.
    depths : list, tuple or range of int
        Records per batch, as multiples of the stored depth, which is always measured. Batches of other depths are cut
        from the records in their order.
    sample_bytes : int
        Most bytes of the sample, uncompressed; the last batch may exceed it. A larger log is divided into up to 64
        equal parts, and a run of batches is taken from each.
    seed : int
        Places these runs: the same seed, the same sample.
    threads : int, optional
        For sizes; by default one per core. Speeds are measured by one thread, on at most 8 MiB.
    timing : {'fastest', 'median'}
        Which one of repeated calls gives the speed.
    rate : str or float, optional
        What is produced: ``"20MB/s"`` of uncompressed record sets, ``"50000records/s"``, or a number in MB/s.
    price_gb : float, optional
        Of 10^9 bytes of storage.
    registry : CodecRegistry, optional
        Codecs of your own: `codecs` may name them, and batches may have them.
    progress : callable, optional
        Gets a `kpress.log.Progress`, whose bytes are those that each codec compresses.

    Returns
    -------
    Analysis
        Its `to_dict` is described by ``docs/analyze.schema.json``. Damage in the log is in its `findings`, and not in
        the sample.

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError
        An argument that is not accepted, or a path without any record.
    CorruptRecordError
        A codec does not give back what it was given.
    OSError

    Examples
    --------
    >>> import tempfile, pathlib, kpress
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "00000000000000000000.log"
    >>> _ = path.write_bytes(b"".join(
    ...     kpress.write_records([b"a line of text, number %d" % n for n in range(at, at + 100)], base_offset=at)
    ...     for at in range(0, 1000, 100)))
    >>> found = kpress.analyze(path, "none/zstd,3")
    >>> [(cell.codec, cell.level, cell.batch_records, cell.ratio > 2) for cell in found.cells]
    [('none', None, 100, False), ('zstd', 3, 100, True), ('none', None, 1000, False), ('zstd', 3, 1000, True)]
    >>> found.baseline["ratio"], found.sample["coverage"]
    (1.0, 1.0)
    >>> print(*found.recommendation["lines"], sep="\\n")
    compression.type=zstd
    compression.zstd.level=3
    batch.size=16384
    linger.ms=5
    """
    from kpress.analysis import analyze

    return analyze(
        path,
        codecs,
        depths=depths,
        sample_bytes=sample_bytes,
        seed=seed,
        threads=threads,
        timing=timing,
        rate=rate,
        price_gb=price_gb,
        registry=registry,
        progress=progress,
    )
