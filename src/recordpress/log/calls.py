"""`recordpress.open_log`, which imports its implementation on the first call."""

TYPE_CHECKING = False  # as in recordpress._lazy
if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from recordpress.codecs import CodecRegistry
    from recordpress.log._log import Log


def open_log(
    path: "str | os.PathLike[str] | Iterable[str | os.PathLike[str]]",
    *,
    filesystem: object = None,
    codecs: "CodecRegistry | None" = None,
    topics: "str | Iterable[str] | None" = None,
    partitions: "int | Iterable[int] | None" = None,
) -> "Log":
    """Open a log: find its partitions in a broker's directory, in a copy of one, or in an object store.

    Parameters
    ----------
    path : str, PathLike or several of them
        Each is a ``.log`` file; the directory of a partition, ``<topic>-<partition>``; a log dir, which holds such
        directories; a folder of segments whose name is not that of a partition; or a copy in tiered storage, in the
        layout of Aiven's plug-in or Kafka's LocalTieredStorage. It is a local path, a ``file://`` URL, or a URL of
        pyarrow.fs (``s3://``, ``gs://``, ``abfs://``, ``hdfs://``) or fsspec, and may be a pattern of ``*``, ``?`` and
        ``[a-z]``. Segments of one partition may come from several paths.
    filesystem : pyarrow.fs.FileSystem or fsspec.AbstractFileSystem, optional
        File system of the paths, which then have no scheme.
    codecs : CodecRegistry, optional
        Codec plug-ins in addition to Kafka's, for all calls that read records of this log. Calls that read only headers
        show the codec of a batch from a plug-in as ``pluggable``.
    topics : str or several, optional
        Open only these topics. Each may be a pattern of ``*``, ``?`` and ``[a-z]``.
    partitions : int or several, optional
        Open only partitions with these numbers.

    Returns
    -------
    Log
        Its `skipped` lists the skipped files and directories.

    Raises
    ------
    FileNotFoundError
    InvalidArgumentError
        No partition was found, a requested topic or number does not exist, or the scheme is not supported. A directory
        with segments has a partition number that Kafka would not write (``a-00``), has a name that is not UTF-8, or
        lies inside another partition's directory. A symbolic link leads out of the given directory. A segment is a
        directory or a named pipe. The message names the file.
    StorageError
        A store failed; this error is also an OSError.

    Examples
    --------
    >>> import tempfile, pathlib, recordpress
    >>> directory = pathlib.Path(tempfile.mkdtemp(), "orders-0")
    >>> directory.mkdir()
    >>> path = directory / "00000000000000000000.log"
    >>> _ = path.write_bytes(recordpress.write_records([b"a", b"b"], compression_type="zstd"))
    >>> log = recordpress.open_log(directory)
    >>> log, log.count()
    (<recordpress.log.Log: 1 partition, 1 segment>, 2)
    >>> log.read(["topic", "partition", "offset", "value"]).to_pyarrow().to_pylist()[1]
    {'topic': 'orders', 'partition': 0, 'offset': 1, 'value': b'b'}
    >>> recordpress.open_log("demo/logs", topics=["access-*"], partitions=0)
    <recordpress.log.Log: 2 partitions, 2 segments>
    """
    from recordpress.log._open import open_selected

    return open_selected(path, filesystem, codecs, topics, partitions)
