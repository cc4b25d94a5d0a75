"""kpress.transcode: the facade's call, whose room is loaded on first use."""

TYPE_CHECKING = False  # as in kpress._on_use
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable

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
    progress: "Callable[[Progress], object] | None" = None,
) -> "Manifest | Estimate":
    """Copy a log under another codec; every record, offset and header field stays what it is.

    Offsets, timestamps, producer ids, epochs, sequences, transaction markers, leader epochs and delete horizons are
    those of the source; v0 and v1 messages stay v0 and v1. Each batch is proven when it is made: what was written is
    decompressed and compared with the bytes that it came from, or record by record where batches were joined. Then
    each file is read back, and its checksum compared.

    The copy is made in a hidden directory beside `dst`, ``.<name>.unfinished``, which becomes `dst` when all is there.
    A call that is killed or fails leaves it, and the next call with this `dst` goes on from there. Only one call at a
    time may be at work on a `dst`. In an object store, which renames nothing, files get their names one by one, and
    the manifest says when all are there.

    ``leader-epoch-checkpoint``, ``partition.metadata``, ``.snapshot`` and ``.txnindex`` files are copied.
    ``.index`` and ``.timeindex`` hold byte positions and are made again; in an object store they are left out, and a
    broker that finds none rebuilds them.

    Parameters
    ----------
    src : str, PathLike or several of them
        What `open_log` takes. It is only read; no broker may be writing to it.
    dst : str or PathLike
        A path that does not exist yet, or an empty directory, outside of `src`. If `src` is the directory of one
        partition, `dst` becomes that directory if its name is a partition's (``topic-0``), else a log dir that holds
        it. If `src` is one segment, `dst` is the name of the new file.
    compression_type : {'none', 'gzip', 'snappy', 'lz4', 'zstd'}
    level : int, optional
        As in `recompress`; None is what Kafka's Java producer does by default.
    batch_bytes : int, optional
        Join adjacent small batches into batches of up to this many bytes before compression. Batches with a producer
        id, of transactions, control batches, those with LogAppendTime and those that compaction thinned out are
        put under the codec one to one, as all are without this option.
    min_gain : float | None
        The part of its bytes by which a batch must become smaller: else its old bytes go over, as they do where it is
        under this codec already and no level is asked for. None: the new bytes go over in any case. With ``none`` as
        the codec the new bytes always do.
    threads : int
        Segments side by side; the batches of one where there are fewer segments than threads.
    resume : bool
        Go on from what an earlier call with this `dst` and these options has done. If False, that is thrown away.
    dry_run : bool
        Write nothing: work on the first 4 MiB or more of up to 16 segments, and estimate the rest from them.
    progress : callable, optional
        Gets a `Progress` about ten times a second, from the thread that called.

    Returns
    -------
    Manifest or Estimate
        The manifest is in `dst` too, as ``kpress-manifest.json``, unless `src` is one segment. With ``dry_run`` an
        estimate of bytes and CPU time. A `dst` that is such a copy of `src` already is checked against its manifest,
        and nothing is done.

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError
        `dst` exists and is something else, or lies in `src`; another call is at work on it; what `open_log` refuses; a
        codec, level or size that is not accepted.
    KpressError
        The source is damaged; file, position and offset say where.
    CorruptRecordError
        A copy does not hold what its source does, or a source was written to meanwhile. The copy has no name.
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
        progress=progress,
    )
