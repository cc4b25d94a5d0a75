"""`transcode`, `convert` and `recordpress.log.compact`, which import their implementation on the first call."""

from recordpress.log.copy.defaults import BATCH_BYTES, DEFAULT_MAX_MESSAGE_BYTES, EXPIRATION_MS, SEGMENT_BYTES

TYPE_CHECKING = False  # as in recordpress._lazy
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable
    from typing import Literal, overload

    from recordpress.codecs import CodecRegistry
    from recordpress.log import Log, Progress
    from recordpress.log.copy.compact import CompactedPartition
    from recordpress.log.copy.manifest import Manifest
    from recordpress.log.copy.savings import Estimate
    from recordpress.log.copy.transcode import OfProducers
    from recordpress.typing import Integer, Level, Time


def compact(
    path: "str | os.PathLike[str]",
    *,
    segment_bytes: "Integer" = SEGMENT_BYTES,
    batch_bytes: "Integer" = BATCH_BYTES,
    max_message_bytes: "Integer" = DEFAULT_MAX_MESSAGE_BYTES,
    compression_type: str | None = None,
    level: "Level" = None,
    min_gain: "float | None" = 0.0,
    include_active_segment: bool = False,
    topics: "str | Iterable[str] | None" = None,
    partitions: "Integer | Iterable[Integer] | None" = None,
    threads: "Integer | None" = None,
    codecs: "CodecRegistry | None" = None,
) -> "list[CompactedPartition]":
    """Merge small neighbouring segments of a log dir, such as a streaming sink leaves, and join their small batches.

    Every record keeps its offset, and all else that `transcode` keeps. Each new segment is verified record by record
    and read back, with its indexes, in a hidden directory. Then all of them replace the old segments, under the lock
    (in a store, the lease), with the journal and the commit of the Spark sink. Sinks may write to the log dir at the
    same time; a call or sink that waits for the lock logs a warning every ten minutes. If the call is killed, the next
    call, or the next job of the sink, finishes the work or removes what is left of it. Streams, and queries that begin
    later, continue at their offsets. A query that was planned before fails if it meets a replaced segment: repeat it.

    The last batches of producers, which a broker compares with retries, are not joined: five per producer and segment.

    Parameters
    ----------
    path : str or PathLike
        A log dir, or its URL. No broker may be running on it.
    segment_bytes : int
        Maximum size of a new segment, in bytes. Segments of at least half that size are not merged.
    batch_bytes, max_message_bytes, min_gain, codecs
        As for `transcode`.
    compression_type : CompressionType or a name in `codecs`, optional
        Codec of the new segments' batches. By default, batches keep their codec, and batches of different codecs are
        not joined.
    level : int, optional
        Compression level; only with a compression_type.
    include_active_segment : bool
        Also merge the last segment of each partition, which a writer might append to.
    topics, partitions
        As for `open_log`: the partitions to compact, by default all.
    threads : int, optional
        Number of segments that are written at a time, by default one per core.

    Returns
    -------
    list of CompactedPartition
        The partitions that changed.

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError
        `path` is not a log dir, a broker is running on it, or an argument is not accepted.
    RecordpressError
        A segment is damaged, or ends in bytes that are not an entry; file, position and offset give the place. Nothing
        changed.
    StorageError
        A segment changed since it was read, or this job lost its lease. Nothing changed, unless a note on the error
        says that the work is committed.

    Examples
    --------
    >>> import tempfile, pathlib, recordpress
    >>> logs = pathlib.Path(tempfile.mkdtemp())
    >>> (logs / "orders-0").mkdir()
    >>> for offset in range(60):
    ...     data = recordpress.write_records([b"a line of text"], base_offset=offset, compression_type="zstd")
    ...     _ = (logs / "orders-0" / f"{offset:020}.log").write_bytes(data)
    >>> [done] = recordpress.log.compact(logs)
    >>> done.segments_before, done.segments_after, done.batches_before, done.batches_after
    (59, 1, 59, 1)
    >>> log = recordpress.open_log(logs)
    >>> log, log.count()
    (<recordpress.log.Log: 1 partition, 2 segments>, 60)
    """
    from recordpress.codecs.choice import CodecChoice
    from recordpress.log.copy.compact import compact_here
    from recordpress.log.copy.transcode import TranscodeJob

    codec = CodecChoice(compression_type, level, codecs, is_optional=True)
    job = TranscodeJob(codec, batch_bytes, min_gain, _cores_or(threads), max_message_bytes=max_message_bytes)
    return compact_here(job, path, segment_bytes, include_active_segment, topics, partitions)


if TYPE_CHECKING:

    @overload
    def convert(
        src: "str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | Log",
        dst: "str | os.PathLike[str]",
        magic: "Integer",
        *,
        compression_type: str | None = ...,
        level: "Level" = ...,
        allow_loss: "str | Iterable[str]" = ...,
        threads: "Integer | None" = ...,
        resume: bool = ...,
        dry_run: "Literal[False]" = ...,
        codecs: "CodecRegistry | None" = ...,
        progress: "Callable[[Progress], object] | None" = ...,
    ) -> "Manifest": ...

    @overload
    def convert(
        src: "str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | Log",
        dst: "str | os.PathLike[str]",
        magic: "Integer",
        *,
        compression_type: str | None = ...,
        level: "Level" = ...,
        allow_loss: "str | Iterable[str]" = ...,
        threads: "Integer | None" = ...,
        resume: bool = ...,
        dry_run: "Literal[True]",
        codecs: "CodecRegistry | None" = ...,
        progress: "Callable[[Progress], object] | None" = ...,
    ) -> "dict[str, int]": ...

    @overload
    def convert(
        src: "str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | Log",
        dst: "str | os.PathLike[str]",
        magic: "Integer",
        *,
        compression_type: str | None = ...,
        level: "Level" = ...,
        allow_loss: "str | Iterable[str]" = ...,
        threads: "Integer | None" = ...,
        resume: bool = ...,
        dry_run: bool,
        codecs: "CodecRegistry | None" = ...,
        progress: "Callable[[Progress], object] | None" = ...,
    ) -> "Manifest | dict[str, int]": ...


def convert(
    src: "str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | Log",
    dst: "str | os.PathLike[str]",
    magic: "Integer",
    *,
    compression_type: str | None = None,
    level: "Level" = None,
    allow_loss: "str | Iterable[str]" = (),
    threads: "Integer | None" = None,
    resume: bool = True,
    dry_run: bool = False,
    codecs: "CodecRegistry | None" = None,
    progress: "Callable[[Progress], object] | None" = None,
) -> "Manifest | dict[str, int]":
    """Copy a log in another message format. Losses are counted first, and rejected unless allowed.

    Every record keeps its offset, key and value, and its timestamp, headers, producer and leader epoch if the format
    has them. LogAppendTime stays LogAppendTime. Records of magic 0 get the timestamp -1. A batch becomes one batch,
    except that an uncompressed batch of magic 2 becomes one message per record; `transcode` with batch_bytes joins
    small batches of magic 2. Entries that already have the magic are copied as they are, or with the codec that is
    requested. The rules follow Kafka's RecordsUtil.downConvert and LogValidator.

    Each batch is read back and compared with its source, record by record, except for what may be lost. The copy is
    written, resumed and published as by `transcode`. ``partition.metadata`` is copied; indexes, producer snapshots and
    leader epochs are rebuilt from the copy.

    Without markers, a consumer with isolation.level=read_committed also gets the records of aborted transactions. A log
    of magic 0 or 1 ends with its last record: a broker would assign the offsets of later markers again.

    Parameters
    ----------
    src, dst
        As for `transcode`.
    magic : int
        2, 1 or 0: the format of all entries in the copy.
    compression_type : CompressionType | None
        Or a name in `codecs`. None: each batch keeps its codec. Magic 0 and 1 support neither zstd nor the plug-ins in
        `codecs`.
    level : int, optional
        As in `recompress`; only with a compression_type.
    allow_loss : str or iterable of str
        What may be lost, or "all":

        * headers: number of headers of records
        * timestamps: records that have one
        * producers: records with the id, epoch or sequence of a producer
        * transactions: records of transactions
        * markers: records of control batches
        * aborted, ongoing: records of transactions that were aborted, or have no end; they would become visible
        * leader_epochs: records with the epoch of the leader that wrote them
        * delete_horizons: batches that have one (KIP-534)
        * empty_batches: batches that compaction left without records
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
        A loss is not in `allow_loss`: the message lists kinds and counts, and nothing was written. zstd batches would
        get a magic that does not support zstd. Also as for `transcode`.
    RecordpressError
        The source is damaged; file, position and offset give the place.
    CorruptRecordError
        A copy does not hold what it should, or a source changed during the call. The copy does not get its name.
    OSError
        Finished work is kept for the next call.

    Examples
    --------
    >>> import tempfile, pathlib, recordpress
    >>> logs = pathlib.Path(tempfile.mkdtemp())
    >>> (logs / "old" / "orders-0").mkdir(parents=True)
    >>> _ = (logs / "old" / "orders-0" / "00000000000000000000.log").write_bytes(
    ...     recordpress.write_records([b"one", b"two"], timestamps=1700000000000, magic=1, compression_type="gzip"))
    >>> manifest = recordpress.convert(logs / "old", logs / "new", 2)
    >>> manifest.totals["records"], manifest.lost
    (2, {})
    >>> recordpress.convert(logs / "new", logs / "older", 0)
    Traceback (most recent call last):
        ...
    recordpress.errors.InvalidArgumentError: magic 0 would lose 2 records with a timestamp (timestamps); list \
the accepted losses in allow_loss
    >>> recordpress.convert(logs / "new", logs / "older", 0, allow_loss="timestamps").lost
    {'timestamps': 2}
    """
    from recordpress.codecs.choice import CodecChoice
    from recordpress.log.copy.convert import ConvertJob

    codec = CodecChoice(compression_type, level, codecs, magic=magic, is_optional=True)
    job = ConvertJob(magic, codec, allow_loss, _cores_or(threads))
    return job.run(src, dst, resume, dry_run, progress)  # type: ignore[no-any-return]


if TYPE_CHECKING:

    @overload
    def transcode(
        src: "str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | Log",
        dst: "str | os.PathLike[str]",
        compression_type: str,
        *,
        level: "Level" = ...,
        batch_bytes: "Integer | None" = ...,
        batch_records: "Integer | None" = ...,
        max_message_bytes: "Integer" = ...,
        producer_id_expiration_ms: "Integer" = ...,
        now_ms: "Time | None" = ...,
        producers: "OfProducers" = ...,
        min_gain: "float | None" = ...,
        threads: "Integer | None" = ...,
        resume: bool = ...,
        dry_run: "Literal[False]" = ...,
        codecs: "CodecRegistry | None" = ...,
        progress: "Callable[[Progress], object] | None" = ...,
    ) -> "Manifest": ...

    @overload
    def transcode(
        src: "str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | Log",
        dst: "str | os.PathLike[str]",
        compression_type: str,
        *,
        level: "Level" = ...,
        batch_bytes: "Integer | None" = ...,
        batch_records: "Integer | None" = ...,
        max_message_bytes: "Integer" = ...,
        producer_id_expiration_ms: "Integer" = ...,
        now_ms: "Time | None" = ...,
        producers: "OfProducers" = ...,
        min_gain: "float | None" = ...,
        threads: "Integer | None" = ...,
        resume: bool = ...,
        dry_run: "Literal[True]",
        codecs: "CodecRegistry | None" = ...,
        progress: "Callable[[Progress], object] | None" = ...,
    ) -> "Estimate": ...

    @overload
    def transcode(
        src: "str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | Log",
        dst: "str | os.PathLike[str]",
        compression_type: str,
        *,
        level: "Level" = ...,
        batch_bytes: "Integer | None" = ...,
        batch_records: "Integer | None" = ...,
        max_message_bytes: "Integer" = ...,
        producer_id_expiration_ms: "Integer" = ...,
        now_ms: "Time | None" = ...,
        producers: "OfProducers" = ...,
        min_gain: "float | None" = ...,
        threads: "Integer | None" = ...,
        resume: bool = ...,
        dry_run: bool,
        codecs: "CodecRegistry | None" = ...,
        progress: "Callable[[Progress], object] | None" = ...,
    ) -> "Manifest | Estimate": ...


def transcode(
    src: "str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | Log",
    dst: "str | os.PathLike[str]",
    compression_type: str,
    *,
    level: "Level" = None,
    batch_bytes: "Integer | None" = None,
    batch_records: "Integer | None" = None,
    max_message_bytes: "Integer" = DEFAULT_MAX_MESSAGE_BYTES,
    producer_id_expiration_ms: "Integer" = EXPIRATION_MS,
    now_ms: "Time | None" = None,
    producers: "OfProducers" = "keep",
    min_gain: "float | None" = 0.0,
    threads: "Integer | None" = None,
    resume: bool = True,
    dry_run: bool = False,
    codecs: "CodecRegistry | None" = None,
    progress: "Callable[[Progress], object] | None" = None,
) -> "Manifest | Estimate":
    """Copy a log with another codec; every record, offset and header field stays the same.

    Offsets, timestamps, producer ids, epochs, sequences, transaction markers, leader epochs and delete horizons do not
    change; v0 and v1 messages stay v0 and v1. Each batch is verified when it is written: it is decompressed and
    compared with the source's bytes, or record by record if batches were joined. Then each file is read back, and its
    checksum is compared.

    The copy is written to a directory in ``.<name>.unfinished``, hidden next to `dst`, and becomes `dst` when it is
    complete. A call that is killed or fails leaves it there, and the next call with this `dst` continues from it. Only
    one call at a time may work on a `dst`. In an object store, which cannot rename, files get their names one by one;
    the manifest is written last.

    ``leader-epoch-checkpoint``, ``partition.metadata``, ``.snapshot`` and ``.txnindex`` files are copied. If a
    producer's last batch was joined with earlier batches, its snapshot entry has the joined batch. ``.index`` and
    ``.timeindex`` hold byte positions and are rebuilt. In an object store they are omitted; a broker rebuilds missing
    ones.

    Parameters
    ----------
    src : str, PathLike or several of them
        As for `open_log`. It is only read; no broker may be writing to it.
    dst : str or PathLike
        A path that does not exist yet, or an empty directory, outside of `src`. If `src` is the directory of one
        partition, `dst` becomes that directory if it is named after a partition (``topic-0``), otherwise a log dir
        that holds it. If `src` is one segment, `dst` is the name of the new file.
    compression_type : CompressionType or a name in `codecs`
    level : int, optional
        As in `recompress`; None is the default of Kafka's Java producer.
    batch_bytes : int, optional
        Join adjacent small batches into batches of up to this many bytes before compression: batches of one producer
        with consecutive offsets and sequences, and batches without a producer id, even across offsets that compaction
        removed. Transaction, leader epoch and timestamp type must be equal (for LogAppendTime, the timestamp too).
        Control batches and batches with a delete horizon are never joined. With neither this option nor
        `batch_records`, no batches are joined.
    batch_records : int, optional
        Maximum number of records of a joined batch; with `batch_bytes`, the limit that is reached first.
    max_message_bytes : int
        The topic's ``max.message.bytes``: no joined batch is larger, before or after compression.
    producer_id_expiration_ms : int
        The broker's ``producer.id.expiration.ms``. A producer that was idle that long before `now_ms`, with no open
        transaction, is expired (Kafka's ProducerStateManager.isProducerExpired). The last five batches of every other
        producer are not joined, because a broker compares retries with them (ProducerStateEntry).
    now_ms : int, datetime or str, optional
        End of the idle time of producers. By default, the last append to the partition, by its snapshots and
        timestamps, but never later than now.
    producers : {'keep', 'settle'}
        "settle": before batches are joined, batches that no retry can repeat lose producer id, epoch and sequence, so
        that they can be joined across producers. These are batches below the last stable offset: all of expired
        producers, and all but the last five in the current epoch of others. The copy omits aborted records and
        unneeded transaction markers, with their entries in ``.txnindex``; segments still end at the same offsets.
        Consumers with read_committed see no difference; others no longer see aborted records. Only whole, intact
        partitions in order can be settled; the manifest counts settled batches, and digests cover offset, timestamp,
        key, value and headers of committed records. `min_gain` does not apply to batches that are settled and joined.
    min_gain : float | None
        The fraction of its bytes by which a batch must become smaller; otherwise its old bytes are copied. They are
        also copied if the batch has this codec already and no level is given. None, or ``none`` as the codec: the new
        bytes are always written.
    threads : int, optional
        Number of worker threads, by default one per core. Segments are copied in parallel, or the batches of one if
        there are fewer segments than threads.
    resume : bool
        Resume an earlier call with this `dst` and these options. False: discard its progress.
    dry_run : bool
        Write nothing: recompress up to 64 MiB of the log, chosen at random, and estimate the rest, also for joined
        batches and settled producers even if they are not requested.
    codecs : CodecRegistry, optional
        Codec plug-ins in addition to Kafka's, for the source and the copy.
    progress : callable, optional
        Called with a `Progress` about ten times a second, in the calling thread.

    Returns
    -------
    Manifest or Estimate
        The manifest, which is also in `dst` as ``recordpress-manifest.jsonl`` unless `src` is one segment; with
        ``dry_run`` an estimate of bytes and CPU time. If `dst` is already such a copy of `src`, it is only checked
        against its manifest.

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError
        `dst` exists and is something else, or lies in `src`; another call is working on it; `open_log` refuses `src`;
        or a codec, level or size is not accepted.
    RecordpressError
        The source is damaged; file, position and offset give the place.
    CorruptRecordError
        A copy does not hold what its source does, or a source changed during the call. The copy does not get its name.
    OSError
        Finished work is kept for the next call.

    Examples
    --------
    >>> import tempfile, pathlib, recordpress
    >>> logs = pathlib.Path(tempfile.mkdtemp())
    >>> (logs / "hot" / "orders-0").mkdir(parents=True)
    >>> _ = (logs / "hot" / "orders-0" / "00000000000000000000.log").write_bytes(
    ...     recordpress.write_records([b"a line of text"] * 1000, compression_type="snappy"))
    >>> manifest = recordpress.transcode(logs / "hot", logs / "cold", "zstd", level=9)
    >>> manifest.complete, manifest.totals["records"], manifest.totals["bytes"] < manifest.totals["source_bytes"]
    (True, 1000, True)
    >>> sorted(path.name for path in (logs / "cold").iterdir())
    ['orders-0', 'recordpress-manifest.jsonl']
    """
    from recordpress.codecs.choice import CodecChoice
    from recordpress.log.copy.transcode import TranscodeJob

    job = TranscodeJob(
        CodecChoice(compression_type, level, codecs),
        batch_bytes,
        min_gain,
        _cores_or(threads),
        batch_records=batch_records,
        max_message_bytes=max_message_bytes,
        producer_id_expiration_ms=producer_id_expiration_ms,
        now_ms=now_ms,
        producers=producers,
    )
    return job.run(src, dst, resume, dry_run, progress)  # type: ignore[no-any-return]


def _cores_or(threads: "Integer | None") -> "Integer":
    """Return the number of threads, by default one per core."""
    from recordpress._threads import cores

    return cores() if threads is None else threads
