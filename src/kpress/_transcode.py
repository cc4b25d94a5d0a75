"""kpress.transcode: the facade's call, whose room is loaded on first use."""

TYPE_CHECKING = False  # as in kpress._on_use
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable

    from kpress.codecs import CodecRegistry
    from kpress.log import Estimate, Manifest, Progress
    from kpress.typing import Integer, Level


def transcode(
    src: "str | os.PathLike[str] | Iterable[str | os.PathLike[str]]",
    dst: "str | os.PathLike[str]",
    compression_type: str,
    *,
    level: "Level" = None,
    batch_bytes: "Integer | None" = None,
    min_gain: "float | None" = 0.0,
    threads: "Integer" = 1,
    resume: bool = True,
    dry_run: bool = False,
    codecs: "CodecRegistry | None" = None,
    progress: "Callable[[Progress], object] | None" = None,
) -> "Manifest | Estimate":
    """Copy a log with another codec; every record, offset and header field stays the same.

    Offsets, timestamps, producer ids, epochs, sequences, transaction markers, leader epochs and delete horizons are
    those of the source; v0 and v1 messages stay v0 and v1. Each batch is verified when it is made: what was written is
    decompressed and compared with the source's bytes, or record by record if batches were joined. Then each file is
    read back, and its checksum is compared.

    The copy is made in a hidden directory beside `dst`, ``.<name>.unfinished``, which becomes `dst` when it is
    complete. A call that is killed or fails leaves it there, and the next call with this `dst` continues from it. Only
    one call at a time may work on a `dst`. In an object store, which cannot rename, files get their names one by one;
    the manifest is written last.

    ``leader-epoch-checkpoint``, ``partition.metadata``, ``.snapshot`` and ``.txnindex`` files are copied.
    ``.index`` and ``.timeindex`` hold byte positions and are made again. In an object store they are left out; a
    broker that finds none rebuilds them.

    Parameters
    ----------
    src : str, PathLike or several of them
        What `open_log` takes. It is only read; no broker may be writing to it.
    dst : str or PathLike
        A path that does not exist yet, or an empty directory, outside of `src`. If `src` is the directory of one
        partition, `dst` becomes that directory if its name is a partition's (``topic-0``), else a log dir that holds
        it. If `src` is one segment, `dst` is the name of the new file.
    compression_type : {'none', 'gzip', 'snappy', 'lz4', 'zstd'} or a name in `codecs`
    level : int, optional
        As in `recompress`; None is what Kafka's Java producer does by default.
    batch_bytes : int, optional
        Join adjacent small batches into batches of up to this many bytes before compression. Not joined are control
        batches and batches with a producer id, a transaction, LogAppendTime or records removed by compaction. Without
        this option no batches are joined.
    min_gain : float | None
        The fraction of its bytes by which a batch must become smaller; otherwise its old bytes are copied. They are
        also copied if the batch has this codec already and no level is given. None, or ``none`` as the codec: the new
        bytes are always written.
    threads : int
        Segments are copied in parallel, or the batches of one if there are fewer segments than threads.
    resume : bool
        Continue what an earlier call with this `dst` and these options did. False: discard that.
    dry_run : bool
        Write nothing: convert the first 4 MiB or more of up to 16 segments, and estimate the rest.
    codecs : CodecRegistry, optional
        Codecs of your own beside Kafka's five, of the source and of the copy.
    progress : callable, optional
        Gets a `Progress` about ten times a second, from the thread that called.

    Returns
    -------
    Manifest or Estimate
        The manifest, which is also in `dst` as ``kpress-manifest.json`` unless `src` is one segment; with ``dry_run``
        an estimate of bytes and CPU time. If `dst` is already such a copy of `src`, it is only checked against its
        manifest.

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError
        `dst` exists and is something else, or lies in `src`; another call is working on it; `open_log` refuses `src`;
        or a codec, level or size is not accepted.
    KpressError
        The source is damaged; file, position and offset say where.
    CorruptRecordError
        A copy does not hold what its source does, or a source changed meanwhile. The copy does not get its name.
    OSError
        What is done is kept for the next call.

    Examples
    --------
    >>> import tempfile, pathlib, kpress
    >>> logs = pathlib.Path(tempfile.mkdtemp())
    >>> (logs / "hot" / "orders-0").mkdir(parents=True)
    >>> _ = (logs / "hot" / "orders-0" / "00000000000000000000.log").write_bytes(
    ...     kpress.write_records([b"a line of text"] * 1000, compression_type="snappy"))
    >>> manifest = kpress.transcode(logs / "hot", logs / "cold", "zstd", level=9)
    >>> manifest.complete, manifest.totals["records"], manifest.totals["bytes"] < manifest.totals["source_bytes"]
    (True, 1000, True)
    >>> sorted(path.name for path in (logs / "cold").iterdir())
    ['kpress-manifest.json', 'orders-0']
    """
    from kpress.log import transcode

    return transcode(
        src,
        dst,
        compression_type,
        level=level,
        batch_bytes=batch_bytes,
        min_gain=min_gain,
        threads=threads,
        resume=resume,
        dry_run=dry_run,
        codecs=codecs,
        progress=progress,
    )
