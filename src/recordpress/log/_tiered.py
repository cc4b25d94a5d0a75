"""Segments with a manifest, as in Aiven's tiered storage (tiered-storage-for-apache-kafka).

::

    <base offset>-<uuid>.log            the segment, in chunks of the same size; each may be a separate zstd frame
    <base offset>-<uuid>.indexes        its index files, one after another, unchanged
    <base offset>-<uuid>.rsm-manifest   JSON: the sizes of the chunks, the place of each index, how chunks are stored

Fields and the encoding of chunk sizes follow SegmentManifestV1, FixedSizeChunkIndex, VariableSizeChunkIndex and
ChunkSizesBinaryCodec. Older versions wrote each index to a separate file, with Kafka's suffix.
"""

from __future__ import annotations

import base64
import binascii
import json
import struct
from bisect import bisect_right
from collections import OrderedDict
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from recordpress._arguments import INT32_MAX
from recordpress._file_names import (
    INDEX_FILE_SUFFIX,
    LEADER_EPOCH_CHECKPOINT,
    PRODUCER_SNAPSHOT_FILE_SUFFIX,
    TIME_INDEX_FILE_SUFFIX,
    TXN_INDEX_FILE_SUFFIX,
)
from recordpress.codecs import decompress
from recordpress.errors import CorruptRecordError, InvalidArgumentError, OutputTooLargeError
from recordpress.files import READ_AHEAD_BYTES, RandomAccessFile
from recordpress.log._segment import Segment

MANIFEST_SUFFIX = ".rsm-manifest"
_INDEXES_SUFFIX = ".indexes"
_INDEX_FIELDS = {
    INDEX_FILE_SUFFIX: "offset",
    TIME_INDEX_FILE_SUFFIX: "timestamp",
    PRODUCER_SNAPSHOT_FILE_SUFFIX: "producerSnapshot",
    f".{LEADER_EPOCH_CHECKPOINT}": "leaderEpoch",
    TXN_INDEX_FILE_SUFFIX: "transaction",
}
_LARGEST_MANIFEST = 64 << 20  # the manifest of 2 GiB in chunks of 4 MiB has a few KB
_LARGEST_CHUNK = 128 << 20  # chunk.size is 4 MiB in Aiven's examples
_MOST_CHUNKS = 1 << 20  # a segment has 2 GiB at most
_RULE = "segment manifest"


@dataclass(frozen=True)
class Manifest:
    """Manifest of a segment."""

    file_size: int
    chunk_size: int
    stored: list[int]
    is_compressed: bool
    indexes: dict[str, tuple[int, int]]


class TieredSegment(Segment):
    """Segment with a manifest."""

    __slots__ = ()

    def open(self) -> RandomAccessFile:
        manifest = self._manifest()
        file = self.filesystem.open(self.path)
        return _ChunkedFile(file, manifest) if manifest.is_compressed else file

    def open_sibling(self, suffix: str) -> RandomAccessFile:
        if suffix in self.suffixes or _INDEXES_SUFFIX not in self.suffixes:
            return super().open_sibling(suffix)
        place = self._manifest().indexes.get(_INDEX_FIELDS.get(suffix, ""))
        if place is None:
            raise FileNotFoundError(f"there is no {suffix} in the indexes of {self.url}")
        return _Part(super().open_sibling(_INDEXES_SUFFIX), *place)

    def _manifest(self) -> Manifest:
        with super().open_sibling(MANIFEST_SUFFIX) as file:
            if file.size > _LARGEST_MANIFEST:
                raise _corrupt(f"file too large for a manifest ({file.size} bytes)", file.name)
            return read_manifest(file.read_exactly(0, file.size), file.name)


def read_manifest(data: bytes, name: str) -> Manifest:
    """Read the fields of a manifest that are needed to read its segment."""
    try:
        document = json.loads(data)
        version, encryption = document["version"], document.get("encryption")
        if version != "1":
            raise InvalidArgumentError(f"segment manifest has version {version!r}; only '1' is supported", file=name)
        if encryption is not None:
            raise InvalidArgumentError("the segment is encrypted: its key is not in the store", file=name)
        return _manifest_of(document)
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        if isinstance(error, InvalidArgumentError):
            raise
        raise _corrupt(f"the manifest cannot be read: {type(error).__name__}: {error}", name) from None


def _corrupt(message: str, name: str) -> CorruptRecordError:
    return CorruptRecordError(message, file=name, rule=_RULE)


def _manifest_of(document: dict[str, Any]) -> Manifest:
    chunks = document["chunkIndex"]
    file_size, chunk_size = _size(chunks["originalFileSize"]), _size(chunks["originalChunkSize"], 1)
    count = -(-file_size // chunk_size)
    if count > _MOST_CHUNKS:
        raise ValueError(f"{count} chunks; at most {_MOST_CHUNKS} are supported")
    if chunks["type"] == "fixed":
        last = [_size(chunks["finalTransformedChunkSize"])] if count else []
        stored = [_size(chunks["transformedChunkSize"])] * (count - 1) + last
    else:
        stored = _chunk_sizes(chunks["transformedChunks"], count)
    compression = document["compression"]
    if not isinstance(compression, bool):
        raise ValueError(f"compression is {compression!r}")
    indexes = {
        field: (_size(place["position"]), _size(place["size"]))
        for field, place in document["segmentIndexes"].items()
        if place is not None
    }
    return Manifest(file_size, chunk_size, stored, compression, indexes)


def _size(value: Any, least: int = 0) -> int:
    if type(value) is not int or not least <= value <= INT32_MAX:
        raise ValueError(f"{value!r} is not a size")
    return value


def _chunk_sizes(text: str, count: int) -> list[int]:
    """Decode the chunk sizes (ChunkSizesBinaryCodec): base64 of a zstd frame of big-endian numbers.

    ::

        count 4 | smallest 4 | width 1 | difference ... | last size 4     a difference has `width` bytes
        count 4 | size 4                                                  a single size
        count 4                                                           no sizes
    """
    try:
        data = decompress(base64.b64decode(text, validate=True), "zstd", max_decompressed_bytes=16 + 4 * count)
        [found] = struct.unpack_from(">i", data)
        if found != count:
            raise ValueError(f"{found} chunks for {count}")
        if count == 0:
            return []
        if count == 1:
            return [_size(*struct.unpack_from(">i", data, 4))]
        smallest, width = struct.unpack_from(">ib", data, 4)
        end = 9 + width * (count - 1)
        if not 1 <= width <= 4 or len(data) != end + 4:
            raise ValueError(f"{len(data)} bytes for {count} chunks")
        differences = (int.from_bytes(data[at : at + width], "big") for at in range(9, end, width))
        return [_size(smallest + difference) for difference in differences] + [_size(*struct.unpack(">i", data[end:]))]
    except (binascii.Error, struct.error, CorruptRecordError, OutputTooLargeError) as error:
        raise ValueError(f"transformedChunks: {error}") from None


class _ChunkedFile(RandomAccessFile):
    """Segment of zstd-compressed chunks: one request fetches adjacent chunks, which stay in memory until the next
    request, like the last chunk before them."""

    def __init__(self, file: RandomAccessFile, manifest: Manifest) -> None:
        self._file = file
        self._manifest = manifest
        self._starts = list(accumulate(manifest.stored, initial=0))
        self._chunks: OrderedDict[int, bytes] = OrderedDict()
        self.name = file.name
        self.size = manifest.file_size
        self.is_remote = file.is_remote
        if manifest.chunk_size > _LARGEST_CHUNK:
            file.close()
            raise _corrupt(f"chunks of {manifest.chunk_size} bytes are larger than {_LARGEST_CHUNK}", file.name)

    def read_at(self, position: int, length: int) -> bytes:
        end = min(position + length, self.size)
        if end <= position:
            return b""
        size = self._manifest.chunk_size
        first, last = position // size, (end - 1) // size
        data = b"".join(self._chunk(number, last) for number in range(first, last + 1))
        return data[position - first * size : end - first * size]

    def _chunk(self, number: int, last: int) -> bytes:
        if number not in self._chunks:
            self._fetch(number, last)
        return self._chunks[number]

    def _fetch(self, number: int, last: int) -> None:
        """Fetch this chunk and the following chunks up to `last`, within the limit of one request."""
        start = self._starts[number]
        end = max(number + 1, min(last + 1, bisect_right(self._starts, start + READ_AHEAD_BYTES) - 1))
        data = self._file.read_exactly(start, self._starts[end] - start)
        while len(self._chunks) > 1:
            self._chunks.popitem(last=False)
        for at in range(number, end):
            stored = data[self._starts[at] - start : self._starts[at + 1] - start]
            self._chunks[at] = self._decompressed(at, stored)

    def _decompressed(self, number: int, stored: bytes) -> bytes:
        begin = number * self._manifest.chunk_size
        size = min(self._manifest.chunk_size, self.size - begin)
        try:
            data = decompress(stored, "zstd", max_decompressed_bytes=max(size, 1))
        except (CorruptRecordError, OutputTooLargeError) as error:
            raise _corrupt(f"chunk {number}: {error.message}", self.name) from error
        if len(data) != size:
            raise _corrupt(f"chunk {number} has {len(data)} bytes, not {size} as in the manifest", self.name)
        return data

    def close(self) -> None:
        self._chunks.clear()
        self._file.close()


class _Part(RandomAccessFile):
    """Range of a file as a file."""

    def __init__(self, file: RandomAccessFile, start: int, size: int) -> None:
        self._file = file
        self._start = start
        self.name = file.name
        self.size = size
        self.is_remote = file.is_remote

    def read_at(self, position: int, length: int) -> bytes:
        return self._file.read_at(self._start + position, max(0, min(length, self.size - position)))

    def close(self) -> None:
        self._file.close()
