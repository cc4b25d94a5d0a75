"""kpress.fits: the facade's call, whose room is loaded on first use."""

TYPE_CHECKING = False  # as in kpress._on_use
if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping

    from typing_extensions import Buffer

    from kpress.analysis import Fits
    from kpress.codecs import CodecRegistry
    from kpress.typing import ArrowArray, ArrowStream, Headers, Integer, Level, Time


def fits(
    records: "str | os.PathLike[str] | Iterable[Buffer | None] | ArrowArray | ArrowStream",
    keys: "Iterable[Buffer | None] | None" = None,
    timestamps: "Time | Iterable[Time] | None" = None,
    headers: "Iterable[Headers | None] | None" = None,
    *,
    compression_type: str = "none",
    level: "Level" = None,
    batch_size: "Integer" = 16384,
    max_request_size: "Integer" = 1048576,
    buffer_memory: "Integer" = 33554432,
    topic_config: "Mapping[str, str | int | bool] | None" = None,
    broker_version: str = "4.3",
    codecs: "CodecRegistry | None" = None,
) -> "Fits":
    """Tell whether records get past every limit of their size, and which one rejects them, before anything is sent.

    The records go through Kafka's rules: the producer estimates each one without compression and compares that with
    ``max.request.size`` and ``buffer.memory``; it fills batches for ``batch.size``, as a busy producer does, and
    compresses them; the broker compares each with ``max.message.bytes`` and ``segment.bytes``; a batch that is too
    large is split, and a record that is too large alone is rejected.

    Parameters
    ----------
    records : sequence of (bytes-like | None), Arrow columns, str or PathLike
        One value per record; or columns as `write_columns` takes them; or the path or URL of a log, as `open_log` takes
        it, or of a file of lines, each of which is the value of a record. Partitions of a log have batches of their
        own.
    keys, timestamps, headers
        As for `write_records`, where `records` are values.
    compression_type, level, codecs
        The producer's, as for `BatchBuilder`.
    batch_size, max_request_size, buffer_memory : int
        ``batch.size``, ``max.request.size`` and ``buffer.memory`` of the producer.
    topic_config : mapping of str to str, int or bool, optional
        ``max.message.bytes``, ``segment.bytes`` and other settings of the topic and the broker, as for
        `kpress.broker.validate`.
    broker_version : str
        A release of Kafka from 0.8.2 on; it has the defaults.

    Returns
    -------
    Fits
        True if every record is stored. Its `limits` say how near the records came, its `rejections` which record what
        limit rejects; `to_dict` is described by ``docs/fits.schema.json``.

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError
        An argument that is not accepted.
    OSError

    Notes
    -----
    ``max.request.size`` looks at records before they are compressed, ``max.message.bytes`` at batches afterwards. So a
    record may be rejected by the producer though its batch is small enough, and raising the topic's limit does not
    help it.

    Examples
    --------
    >>> import kpress
    >>> found = kpress.fits([b"small", bytes(2_000_000)], compression_type="zstd")
    >>> bool(found), [(rejection.record, rejection.limit) for rejection in found.rejections]
    (False, [(1, 'max.request.size')])
    >>> found = kpress.fits([b"small", bytes(2_000_000)], compression_type="zstd", max_request_size=4_000_000)
    >>> bool(found), found.batches
    (True, 2)
    """
    from kpress.analysis import fits

    return fits(
        records,
        keys,
        timestamps,
        headers,
        compression_type=compression_type,
        level=level,
        batch_size=batch_size,
        max_request_size=max_request_size,
        buffer_memory=buffer_memory,
        topic_config=topic_config,
        broker_version=broker_version,
        codecs=codecs,
    )
