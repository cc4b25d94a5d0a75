"""The options of ``df.write.format("recordpress")`` and ``writeStream``, checked before any file is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recordpress._arguments import INT32_MAX
from recordpress.codecs import CodecRegistry, ZstdParameters
from recordpress.codecs.choice import CodecChoice, parse_level, stored_as
from recordpress.codecs.table import CodecTable
from recordpress.errors import InvalidArgumentError
from recordpress.log.copy.defaults import BATCH_BYTES, SEGMENT_BYTES
from recordpress.log.publish.commit_staged import Scope
from recordpress.log.publish.staging import check_topic
from recordpress.spark._option import (
    Option,
    RawOptions,
    choice,
    codecs,
    documented,
    group,
    names_of,
    number,
    option,
    text,
    values_of,
)
from recordpress.spark._stores import STORE_OPTIONS, Store

# Spark adds these to the options of a stream.
STREAM_OPTIONS = (
    Option("checkpointLocation", "Spark's own: directory of the query's progress.", only="stream"),
    Option("queryName", "Spark's own: the name of the query.", only="stream"),
)
_CODECS = (*CodecTable().ids, "pluggable")
_PLUGIN = "pluggable.factory.plugin"  # KIP-984
_LEAST_BATCH = 100  # bytes: a header has 61
_PATH = Option("path", "Log dir, in which each partition gets a directory topic-partition. It need not exist.")


def _path(given: RawOptions) -> str:
    paths = given.paths()
    if len(paths) > 1:
        raise InvalidArgumentError("save() takes one path, the path of a log dir", field="path")
    return paths[0]


def _codec(name: str, value: str) -> str:
    return value if ":" in value and stored_as(value) is not None else choice(*_CODECS)(name, value)


def _level(name: str, value: str) -> int | ZstdParameters:
    try:
        return parse_level(value)
    except InvalidArgumentError as error:
        raise InvalidArgumentError(f"option {name}: {error.message}", field=name) from None


@documented
@dataclass(frozen=True)
class WriteOptions:
    """Options of a write: where records go, their codec and batches. Names are Kafka's where Kafka has the option.

    Examples
    --------
    >>> from recordpress.spark import WriteOptions
    >>> options = WriteOptions.parse({"path": "/logs", "topic": "orders", "partitions": "12"})
    >>> options.topic, options.partitions, options.batch_size
    ('orders', 12, 1048576)
    """

    path: str = group((_PATH,), _path)
    topic: str | None = option(
        "topic", text, "Topic of all rows, or of the rows whose column topic is null.", shown="the column topic"
    )
    partitions: int | None = option(
        "partitions",
        number(INT32_MAX),
        "Number of partitions of each topic. If a row has no partition, Kafka's murmur2 of its key chooses it; without"
        " a key, a hash of the value and of the row's position in its task does.",
    )
    compression_type: str = option(
        "compression.type",
        _codec,
        "A Kafka codec, pluggable (KIP-984), or a provider of codec.plugin such as gzip:isal. The parsed value is the"
        " codec's name; for pluggable, the plug-in's name.",
        "zstd",
    )
    plugin: str | None = option(_PLUGIN, text, "Name of the codec for compression.type=pluggable.")
    codecs: CodecRegistry | None = option(
        "codec.plugin",
        codecs,
        "Codecs to import, as package.module:attribute, separated by commas. Executors import them too.",
    )
    level: int | ZstdParameters | None = option(
        "compression.level",
        _level,
        "Level on the codec's own scale. For zstd, parameters may follow: 19,windowLog=20,strategy=btopt.",
        shown="the level of Kafka's Java producer",
    )
    batch_size: int = option(
        "batch.size",
        number(INT32_MAX, _LEAST_BATCH),
        "Maximum size of a batch in bytes after compression. All but the last batch of a task are at least 97 % full,"
        " or have no room for one more record. A larger record gets its own batch.",
        BATCH_BYTES,
    )
    max_message_bytes: int = option(
        "max.message.bytes", number(INT32_MAX, _LEAST_BATCH), "A larger batch is rejected, as by a broker.", 1048588
    )
    segment_bytes: int = option(
        "segment.bytes",
        number(INT32_MAX),
        "Maximum size of a segment in bytes. Segments smaller than 4 MiB are joined: by one task in each 256 if "
        "together they have 4 MiB, otherwise by the driver. Larger segments keep their file. Offsets have gaps between "
        "large segments and between joined segments.",
        SEGMENT_BYTES,
    )
    index_interval_bytes: int = option(
        "index.interval.bytes", number(INT32_MAX), "Bytes of a segment between entries of its indexes.", 4096
    )
    write_id: str | None = option(
        "writeId",
        text,
        "Name of this write, such as the day of its rows. If a write with this name is already committed in"
        " the path, nothing is written, so a repeated job adds no row twice. The latest 10000 names are in "
        "_recordpress-writes.json there. Batches of a stream have their own ids.",
        only="batch",
    )
    overwrite_scope: Scope = option(
        "overwriteScope",
        choice("topics", "path"),
        "What mode overwrite, and each batch of a stream with outputMode complete, replaces. topics: all partitions of"
        " the topics that rows go to (Spark's own default, static, replaces the whole table). path: all partitions in"
        " the path. Without rows, nothing is replaced.",
        "topics",
    )
    store: Store | None = group(STORE_OPTIONS, lambda given: Store.parse(given.text, given.paths()), None)

    @classmethod
    def parse(cls, options: Mapping[str, str], is_stream: bool = False) -> WriteOptions:
        """Parse the options of a write, or of a streaming write.

        Raises
        ------
        InvalidArgumentError
            An option or a value is not accepted; the message lists the accepted ones.

        Examples
        --------
        >>> WriteOptions.parse({"path": "/logs", "topic": "orders", "partitions": "12"}).compression_type
        'zstd'
        """
        of_streams = tuple(row.name for row in STREAM_OPTIONS) if is_stream else ()
        given = RawOptions(options, (*names_of(cls), *of_streams))
        if is_stream and given.text("writeId") is not None:
            raise InvalidArgumentError(
                "option writeId is not accepted for a stream, whose checkpoint identifies its batches", field="writeId"
            )
        values = values_of(cls, given)
        parsed = cls(**values | {"compression_type": _codec_name(values)})
        if parsed.write_id is not None and not 1 <= len(parsed.write_id) <= 1000:
            raise InvalidArgumentError("option writeId must have 1 to 1000 characters", field="writeId")
        if parsed.topic is not None:
            check_topic(parsed.topic)
        try:
            _ = parsed.codec
        except InvalidArgumentError as error:
            if error.field != "level":
                raise
            raise InvalidArgumentError(
                f"option compression.level: {error.message}", field="compression.level"
            ) from None
        return parsed

    @property
    def codec(self) -> CodecChoice:
        """The codec with its level."""
        return CodecChoice(self.compression_type, self.level, self.codecs)


def _codec_name(values: dict[str, Any]) -> str:
    """Return the codec's name; for pluggable, it is the value of another option."""
    chosen: str = values["compression_type"]
    plugin: str | None = values["plugin"]
    if chosen != "pluggable":
        if plugin is not None:
            raise InvalidArgumentError(f"option {_PLUGIN} needs compression.type=pluggable", field=_PLUGIN)
        return chosen
    if not plugin or values["codecs"] is None:
        missing = "codec.plugin" if plugin else _PLUGIN
        raise InvalidArgumentError(
            f"compression.type=pluggable needs the option {missing}: {_PLUGIN} is the codec's name, and codec.plugin "
            "its import path, package.module:attribute",
            field=missing,
        )
    if stored_as(plugin) is not None:
        raise InvalidArgumentError(
            f"option {_PLUGIN} must name a codec other than Kafka's, not {plugin}", field=_PLUGIN
        )
    return plugin
