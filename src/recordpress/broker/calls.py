"""`recordpress.explain`, which imports its implementation on the first call."""

from recordpress._version import NEWEST_KAFKA

TYPE_CHECKING = False  # as in recordpress._lazy
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping

    from typing_extensions import Buffer

    from recordpress.broker._explanation import Explanation
    from recordpress.codecs import CodecRegistry
    from recordpress.log import Log, Progress
    from recordpress.typing import Integer, Time


def explain(
    source: "Buffer | str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | Log",
    *,
    topic_config: "Mapping[str, str | int | bool] | None" = None,
    broker_version: str = NEWEST_KAFKA,
    config: "Mapping[str, str | int | bool] | str | os.PathLike[str] | None" = None,
    produce_version: "Integer | None" = None,
    transactional_id: str | None = None,
    now_ms: "Time | None" = None,
    helpful: bool = False,
    full: bool = False,
    codecs: "CodecRegistry | None" = None,
    progress: "Callable[[Progress], object] | None" = None,
) -> "Explanation":
    """Explain how a broker would treat batches, why, at what cost, and how to avoid it.

    Parameters
    ----------
    source : bytes-like, str, PathLike or several paths
        * A record set, as a client sends it for one partition.
        * A captured Produce request, version 0 to 13, with or without its header; or all that a client sent
          over a connection: requests, each preceded by its size. Requests other than Produce are skipped.
        * The path or URL of a file with a record set or with requests.
        * What `open_log` takes: a ``.log`` file, the directory of a partition, a log dir, a pattern. Each batch is
          then explained as if a producer sent the stored bytes, but with offsets from 0, without a leader epoch, and
          at the time of its largest timestamp. Control batches, which brokers write, and batches that the log cleaner
          has changed are counted and skipped. Messages of magic 0 and 1 without a codec are explained one by one: the
          log does not record which messages arrived together.
    topic_config : mapping of str to str, int or bool, optional
        Settings of the topic and the broker, keyed by Kafka's property names; see `recordpress.broker.validate`.
    broker_version : str
        A release of Kafka, 0.8.2 or later, such as ``"3.9"``.
    config : mapping, str or PathLike, optional
        The broker's settings, or its ``server.properties``; `topic_config` overrides them.
    produce_version : int, optional
        Version of Produce; by default that of a captured request, else what a client picks for the batch's magic.
    transactional_id : str, optional
        Transactional id of the request, if `source` is a record set. The coordinator is assumed to know it.
    now_ms : time, optional
        The broker's clock, in ms since 1970; by default this machine's.
    helpful : bool
        As in `recordpress.broker.validate`.
    full : bool
        Open every batch of a log. By default, for each kind of batch (magic, codec, with or without a producer id), the
        first 64 MiB and at most 10,000 batches are opened, then one in 64; the others are assumed to be alike.
    codecs : CodecRegistry, optional
        Codec plug-ins that the broker is assumed to have; see `recordpress.broker.PartitionLog`.
    progress : callable, optional
        Called with a `recordpress.log.Progress` while a log is read.

    Returns
    -------
    Explanation

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError
        An unknown release or setting, a value that Kafka rejects, a path without a log, or a file that is too large for
        a request.
    CorruptRecordError
        The bytes begin like a Produce request with a client id, but the rest is malformed.
    OSError

    Examples
    --------
    >>> import recordpress
    >>> sent = recordpress.write_records([b"a line of text"] * 100, compression_type="snappy", timestamps=1700000000000)
    >>> [batch] = recordpress.explain(sent, topic_config={"compression.type": "lz4"}).batches
    >>> batch.verdict, batch.relation, [str(reason) for reason in batch.reasons]
    ('recompressed', 'rebuilt', ['CODEC_DIFFERS'])
    >>> print(batch.reasons[0].advice)
    Set the producer's compression.type to the topic's, or the topic's to 'producer'.
    >>> batch.cost.bytes_changed == batch.cost.size_after, batch.cost.compress_seconds > 0
    (True, True)
    >>> recordpress.explain(sent, now_ms=1700000000000).has_findings
    False
    """
    from recordpress.broker._explain import explain_source

    return explain_source(
        source,
        topic_config,
        broker_version,
        config,
        produce_version,
        transactional_id,
        now_ms,
        helpful,
        full,
        codecs,
        progress,
    )
