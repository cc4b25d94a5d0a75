"""kpress.convert: the facade's call, whose room is loaded on first use."""

TYPE_CHECKING = False  # as in kpress._on_use
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable

    from kpress.codecs import CodecRegistry
    from kpress.log import Manifest, Progress
    from kpress.typing import Integer, Level


def convert(
    src: "str | os.PathLike[str] | Iterable[str | os.PathLike[str]]",
    dst: "str | os.PathLike[str]",
    magic: "Integer",
    *,
    compression_type: str | None = None,
    level: "Level" = None,
    allow_loss: "str | Iterable[str]" = (),
    threads: "Integer" = 1,
    resume: bool = True,
    dry_run: bool = False,
    codecs: "CodecRegistry | None" = None,
    progress: "Callable[[Progress], object] | None" = None,
) -> "Manifest | dict[str, int]":
    """Copy a log into another message format. What that format cannot hold is counted, and refused unless allowed.

    Every record keeps its offset, key and value, and its timestamp, headers, producer and leader epoch if the format
    has them. LogAppendTime stays LogAppendTime. Records of magic 0 get the timestamp -1. A batch becomes one batch,
    except that an uncompressed batch of magic 2 becomes one message per record; `transcode` with batch_bytes joins
    small batches of magic 2. Entries that already have the magic are copied as they are, or with the codec that is
    asked for. The rules are those of Kafka's RecordsUtil.downConvert and LogValidator.

    Each batch is read back and compared with its source, record by record, except for what may be lost. The copy is
    made, resumed and published as by `transcode`. ``partition.metadata`` is copied; indexes, producer snapshots and
    leader epochs are made from the copy.

    Without markers a consumer with isolation.level=read_committed also gets the records of aborted transactions. A log
    of magic 0 or 1 ends with its last record: a broker would assign the offsets of later markers again.

    Parameters
    ----------
    src, dst
        As for `transcode`.
    magic : int
        2, 1 or 0. All entries get it.
    compression_type : {'none', 'gzip', 'snappy', 'lz4', 'zstd'} | None
        Or a name in `codecs`. None: each batch keeps its codec. There is no zstd in magic 0 and 1, nor another of
        `codecs`.
    level : int, optional
        As in `recompress`; with a compression_type only.
    allow_loss : str or iterable of str
        What may be lost, or "all":

        * headers: of records; counted are the headers
        * timestamps: records that have one
        * producers: records with the id, epoch or sequence of a producer
        * transactions: records of transactions
        * markers: records of control batches
        * aborted, ongoing: records of transactions that were aborted, or have no end; they would become visible
        * leader_epochs: records with the epoch of the leader that wrote them
        * delete_horizons: batches that have one (KIP-534)
        * empty_batches: those that compaction left without records
        * record_attributes: records with attributes, which Kafka does not use
    threads, resume, codecs, progress
        As for `transcode`.
    dry_run : bool
        Only count what would be lost; write nothing and refuse nothing.

    Returns
    -------
    Manifest or dict of str to int
        The manifest, whose `lost` has the counts by kind; with ``dry_run`` only the counts.

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError
        Something would be lost that `allow_loss` does not name: the message lists kinds and counts, and nothing was
        written. zstd batches would get a magic that has no zstd. And as for `transcode`.
    KpressError
        The source is damaged; file, position and offset say where.
    CorruptRecordError
        A copy does not hold what it should, or a source changed meanwhile. The copy does not get its name.
    OSError
        What is done is kept for the next call.

    Examples
    --------
    >>> import tempfile, pathlib, kpress
    >>> logs = pathlib.Path(tempfile.mkdtemp())
    >>> (logs / "old" / "orders-0").mkdir(parents=True)
    >>> _ = (logs / "old" / "orders-0" / "00000000000000000000.log").write_bytes(
    ...     kpress.write_records([b"one", b"two"], timestamps=1700000000000, magic=1, compression_type="gzip"))
    >>> manifest = kpress.convert(logs / "old", logs / "new", 2)
    >>> manifest.totals["records"], manifest.lost
    (2, {})
    >>> kpress.convert(logs / "new", logs / "older", 0)
    Traceback (most recent call last):
        ...
    kpress.errors.InvalidArgumentError: magic 0 would lose 2 records with a timestamp (timestamps); name in allow_loss \
what may be lost
    >>> kpress.convert(logs / "new", logs / "older", 0, allow_loss="timestamps").lost
    {'timestamps': 2}
    """
    from kpress.log import convert

    return convert(
        src,
        dst,
        magic,
        compression_type=compression_type,
        level=level,
        allow_loss=allow_loss,
        threads=threads,
        resume=resume,
        dry_run=dry_run,
        codecs=codecs,
        progress=progress,
    )
