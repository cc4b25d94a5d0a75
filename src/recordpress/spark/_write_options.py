"""The options of ``df.write.format("recordpress")``: checked at once, before any file is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recordpress._arguments import INT32_MAX
from recordpress.codecs import CodecRegistry
from recordpress.errors import InvalidArgumentError
from recordpress.log.publish.staging import check_topic
from recordpress.record import BatchBuilder
from recordpress.spark._stores import OF_STORES, Store
from recordpress.spark.options import RawOptions

ACCEPTED = (
    "path",
    "topic",
    "partitions",
    "compression.type",
    "compression.level",
    "pluggable.factory.plugin",
    "codec.plugin",
    "batch.size",
    "max.message.bytes",
    "segment.bytes",
    "index.interval.bytes",
    "writeId",
    *OF_STORES,
)
OF_STREAMS = ("checkpointLocation", "queryName")  # what Spark adds to the options of a stream
_CODECS = ("zstd", "none", "gzip", "snappy", "lz4", "pluggable")
_PLUGIN = "pluggable.factory.plugin"  # KIP-984
_LEAST_BATCH = 100  # bytes: a header has 61


@dataclass(frozen=True)
class WriteOptions:
    """Where records go, and how they are packed. Names are Kafka's where Kafka has one.

    Attributes
    ----------
    path : str
        A log dir, which gets a directory ``topic-partition`` for each partition. It need not exist.
    topic : str | None
        ``topic``: of all rows; by default a column says it.
    partitions : int | None
        ``partitions``: how many each topic has. Rows whose column ``partition`` is null or missing are spread over
        them: by Kafka's murmur2 of the key, or without a key by a hash of the value and the row's place in its task.
    compression_type : str
        ``compression.type``: zstd (the default), none, gzip, snappy, lz4; or pluggable (KIP-984), and then this is what
        ``pluggable.factory.plugin`` says: the name of a codec of your own.
    codecs : CodecRegistry | None
        ``codec.plugin``: such codecs, as ``package.module:attribute`` with commas between them. Executors import them.
    compression_level : int | None
        ``compression.level``; None is what Kafka's Java producer does by default.
    batch_size : int
        ``batch.size``, default 1048576: most bytes of a batch after compression. All but the last of a task are filled
        to 97 % of it, or do not take one record more. A record that is larger becomes a batch of its own.
    max_message_bytes : int
        ``max.message.bytes``, default 1048588: a batch that would be larger is an error, as at a broker.
    segment_bytes : int
        ``segment.bytes``, default 1073741824: most bytes of a segment.
    index_interval_bytes : int
        ``index.interval.bytes``, default 4096: bytes of a segment between entries of its indexes.
    write_id : str | None
        ``writeId``: what you call this write, such as the day whose rows it has. If a write of that name was committed
        to the path before, this one does nothing: a job that is run again, because it is unknown how far the first one
        got, doubles no row. ``_recordpress-writes.json`` there has the latest 10000. Not for a stream, whose batches
        have ids by themselves.
    store : Store | None
        ``fs.s3a.access.key`` and the others of S3, as for `ReadOptions`.

    Examples
    --------
    >>> from recordpress.spark import WriteOptions
    >>> options = WriteOptions.parse({"path": "/logs", "topic": "orders", "partitions": "12"})
    >>> options.topic, options.partitions, options.batch_size
    ('orders', 12, 1048576)
    """

    path: str
    topic: str | None = None
    partitions: int | None = None
    compression_type: str = "zstd"
    codecs: CodecRegistry | None = None
    compression_level: int | None = None
    batch_size: int = 1048576
    max_message_bytes: int = 1048588
    segment_bytes: int = 1 << 30
    index_interval_bytes: int = 4096
    write_id: str | None = None
    store: Store | None = None

    @classmethod
    def parse(cls, options: Mapping[str, str], is_stream: bool = False) -> WriteOptions:
        """From the options that Spark was given for a write, or for a stream of writes.

        Raises
        ------
        InvalidArgumentError
            An option or a value is not accepted; the message says which ones are.

        Examples
        --------
        >>> WriteOptions.parse({"path": "/logs", "topic": "orders", "partitions": "12"}).compression_type
        'zstd'
        """
        given = RawOptions(options, (*ACCEPTED, *OF_STREAMS) if is_stream else ACCEPTED)
        if is_stream and given.text("writeId") is not None:
            raise InvalidArgumentError(
                "option writeId is not for a stream: its checkpoint says which batches were written", field="writeId"
            )
        paths = given.paths()
        if len(paths) > 1:
            raise InvalidArgumentError("save() takes one path, of a log dir", field="path")
        made = cls(
            path=paths[0],
            topic=given.text("topic"),
            partitions=given.number("partitions", INT32_MAX),
            compression_type=_codec(given),
            codecs=given.codecs("codec.plugin"),
            compression_level=_level(given.text("compression.level")),
            batch_size=given.number("batch.size", INT32_MAX, _LEAST_BATCH) or 1048576,
            max_message_bytes=given.number("max.message.bytes", INT32_MAX, _LEAST_BATCH) or 1048588,
            segment_bytes=given.number("segment.bytes", INT32_MAX) or 1 << 30,
            index_interval_bytes=given.number("index.interval.bytes", INT32_MAX) or 4096,
            write_id=given.text("writeId"),
            store=Store.parse(given.text, paths),
        )
        if made.write_id is not None and not 1 <= len(made.write_id) <= 1000:
            raise InvalidArgumentError("option writeId must have 1 to 1000 characters", field="writeId")
        if made.topic is not None:
            check_topic(made.topic)
        # the codec says which levels it has
        how: Any = {"compression_type": made.compression_type, "level": made.compression_level, "codecs": made.codecs}
        try:
            BatchBuilder(**how)
        except InvalidArgumentError as error:
            if error.field != "level":
                raise
            raise InvalidArgumentError(
                f"option compression.level: {error.message}", field="compression.level"
            ) from None
        return made


def _codec(given: RawOptions) -> str:
    """A codec's name, which for pluggable another option says."""
    chosen: str = given.choice("compression.type", _CODECS)
    plugin = given.text(_PLUGIN)
    if chosen != "pluggable":
        if plugin is not None:
            raise InvalidArgumentError(f"option {_PLUGIN} is for compression.type=pluggable", field=_PLUGIN)
        return chosen
    if not plugin or given.text("codec.plugin") is None:
        missing = "codec.plugin" if plugin else _PLUGIN
        raise InvalidArgumentError(
            f"compression.type=pluggable needs the option {missing}: {_PLUGIN} is a codec's name, and codec.plugin is "
            "where it is imported from, package.module:attribute",
            field=missing,
        )
    if plugin in _CODECS:
        raise InvalidArgumentError(f"option {_PLUGIN} must be a codec of your own, not {plugin}", field=_PLUGIN)
    return plugin


def _level(text: str | None) -> int | None:
    if text is None:
        return None
    try:
        return int(text[:20])
    except ValueError:
        raise InvalidArgumentError(
            f"option compression.level must be a number, not {text[:50]!r}", field="compression.level"
        ) from None
