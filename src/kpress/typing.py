"""Types for annotations of what kpress's functions accept.

Importing kpress does not load this module.

Examples
--------
>>> from kpress.typing import CompressionType
>>> def topic_codec(name: str) -> CompressionType:
...     return "zstd" if name.startswith("logs") else "none"
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Literal, Protocol, SupportsIndex, TypeAlias, TypedDict

from kpress.codecs import Dictionary

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = [
    "ArrowArray",
    "ArrowStream",
    "BatchOptions",
    "BinaryFile",
    "BinaryType",
    "CompressionType",
    "Dictionaries",
    "DictionariesById",
    "HeaderChecksum",
    "Headers",
    "Integer",
    "Level",
    "ShownAs",
    "Time",
    "TimestampUnit",
]

CompressionType: TypeAlias = Literal["none", "gzip", "snappy", "lz4", "zstd"]
"""Kafka's names of its codecs."""

Integer: TypeAlias = SupportsIndex
"""An int or a NumPy integer. A bool is refused, although type checkers accept it."""

Level: TypeAlias = SupportsIndex | Literal["kafka-default"] | None
"""A level on the codec's own scale. None and "kafka-default" stand for the level that Kafka's clients use."""

Time: TypeAlias = SupportsIndex | datetime | str
"""Milliseconds since 1970, a datetime with a time zone, or ISO 8601 text with a time zone."""

TimestampUnit: TypeAlias = Literal["ms", "us"]
BinaryType: TypeAlias = Literal["binary", "large_binary", "binary_view"]

HeaderChecksum: TypeAlias = Literal["verify", "ignore"]
"""What to do about a wrong checksum of an LZ4 frame's header in v1 and v2."""

ShownAs: TypeAlias = Literal["utf8", "hex", "base64", "json", "size"]
"""How the bytes of keys and values are shown as text."""

Headers: TypeAlias = Iterable["tuple[str, Buffer | None]"] | Mapping[str, "Buffer | None"]
"""The headers of one record, as pairs, or as a dict if no key occurs twice."""


class DictionariesById(Protocol):
    """A dict of dictionaries by id, or a `kpress.dictionaries.DictionaryStore`."""

    def get(self, key: int, /) -> Dictionary | None: ...


Dictionaries: TypeAlias = Dictionary | DictionariesById
"""What frames of zstd may name: one dictionary, or several by id."""


class BinaryFile(Protocol):
    """A file opened for reading bytes."""

    def readinto(self, buffer: memoryview, /) -> int | None: ...


class ArrowArray(Protocol):
    """Anything that gives its data as one Arrow array."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...


class ArrowStream(Protocol):
    """Anything that gives its data as a stream of Arrow arrays."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


class BatchOptions(TypedDict, total=False):
    """Options for a batch's header, shared by BatchBuilder, write_records and write_columns."""

    timestamp_type: Integer | None
    log_append_time: Time
    producer_id: Integer
    producer_epoch: Integer
    base_sequence: Integer
    partition_leader_epoch: Integer
    is_transactional: bool
    delete_horizon_ms: Time | None
