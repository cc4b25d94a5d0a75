"""Contents of a log's copy, as a file of JSON lines in the copy: manifests alone show whether two copies are the same.

docs/manifest.md describes it, and docs/manifest.schema.json is the JSON Schema of `Manifest.to_dict`.
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from recordpress._json_keys import camel_keys, snake_keys
from recordpress.errors import CorruptRecordError
from recordpress.files import FileSystem, resolve
from recordpress.log._json_lines import read_lines, write_lines
from recordpress.log.findings import Finding

MANIFEST = "recordpress-manifest.jsonl"  # brokers ignore unknown files
FORMAT = 1
_RULE = "manifest"
_NAMES_AT_ONCE = 1000  # of the files next to the segments in one line; chosen, not measured


@dataclass(frozen=True)
class SourceFile:
    """Source file of a segment.

    Attributes
    ----------
    file : str
    bytes, batches : int
    modified : float | None
        Time of the last change, in seconds since 1970; None if unknown.
    compression_types : tuple of str
    trailing_bytes : int
        Bytes of a truncated entry, or zeros, after its last complete entry; they hold no record and are not copied.

    Examples
    --------
    >>> import recordpress
    >>> import tempfile, pathlib
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "copy"
    >>> manifest = recordpress.transcode("demo/logs/sessions-0", target, "zstd")
    >>> source = manifest.partitions[0].segments[0].source
    >>> source.file.endswith("sessions-0/00000000000000000000.log"), source.bytes, source.compression_types
    (True, 4483, ('lz4',))
    """

    file: str
    bytes: int
    batches: int
    modified: float | None
    compression_types: tuple[str, ...]
    trailing_bytes: int


@dataclass(frozen=True)
class CopiedSegment:
    """Segment of a copy.

    Attributes
    ----------
    file : str
        Name of the file.
    base_offset : int
    next_offset : int | None
        Offset after the last batch; None if there are no batches.
    records, batches : int
        Counts without control records and control batches.
    bytes : int
    compression_types : tuple of str
    digest : str
        Digest of the records (`RecordDigest`); the same for source and copy, unless something was lost.
    crc32c : str
        CRC-32C of the file, as eight hexadecimal digits.
    already, not_smaller : int
        Batches that were copied byte for byte: they had the wanted form, or would not have become smaller.
    source : SourceFile
    settled : dict
        If producers were settled: counts of batches that lost their producer, and of aborted_records and markers that
        were omitted. Otherwise empty.
    marks : str
        If batches were joined: CRC-32C of the marks on producers' batches, which depend on the whole partition. A call
        that resumes the copy writes the segment again if they have changed. Otherwise empty.

    Examples
    --------
    >>> import recordpress
    >>> import tempfile, pathlib
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "copy"
    >>> manifest = recordpress.transcode("demo/logs/sessions-0", target, "zstd")
    >>> first = manifest.partitions[0].segments[0]
    >>> first.records, first.batches, len(first.digest)
    (175, 1, 32)
    """

    file: str
    base_offset: int
    next_offset: int | None
    records: int
    batches: int
    bytes: int
    compression_types: tuple[str, ...]
    digest: str
    crc32c: str
    already: int
    not_smaller: int
    source: SourceFile
    settled: dict[str, int] = field(default_factory=dict)
    marks: str = ""


@dataclass(frozen=True)
class QuarantinedSegment:
    """Damaged segment of the source, whose file was copied unchanged.

    Attributes
    ----------
    file : str
        Name in the copy, which no reader takes for the name of a segment.
    base_offset : int
    bytes : int
    crc32c : str
        CRC-32C of the file, as eight hexadecimal digits.
    finding : dict
        The damage.
    source : SourceFile

    Examples
    --------
    >>> from recordpress.log.copy.manifest import QuarantinedSegment, SourceFile
    >>> source = SourceFile("00000000000000004711.log", 1024, 1, None, (), 0)
    >>> kept = QuarantinedSegment("00000000000000004711.log.quarantined", 4711, 1024, "1a2b3c4d", {}, source)
    >>> kept.file.removesuffix(".quarantined") == kept.source.file
    True
    """

    file: str
    base_offset: int
    bytes: int
    crc32c: str
    finding: dict[str, Any]
    source: SourceFile


@dataclass(frozen=True)
class CopiedPartition:
    """Partition of a copy.

    Attributes
    ----------
    topic : str | None
    partition : int | None
        Both are None if no directory is named after them.
    directory : str
        Directory in the copy; empty if it is the copy itself.
    files : tuple of str
        Names of the files next to the segments: copied if they refer to offsets, or rebuilt.
    segments : tuple of CopiedSegment
    quarantined : tuple of QuarantinedSegment

    Examples
    --------
    >>> import recordpress
    >>> import tempfile, pathlib
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "copy"
    >>> manifest = recordpress.transcode("demo/logs/sessions-0", target, "zstd")
    >>> [copied] = manifest.partitions
    >>> copied.topic, copied.partition, len(copied.segments)
    ('sessions', 0, 2)
    """

    topic: str | None
    partition: int | None
    directory: str
    files: tuple[str, ...] = ()
    segments: tuple[CopiedSegment, ...] = ()
    quarantined: tuple[QuarantinedSegment, ...] = ()

    @property
    def settled(self) -> dict[str, int]:
        """Return the sums of `settled` over its segments; empty if producers were not settled."""
        return {
            kind: sum(one.settled.get(kind, 0) for one in self.segments)
            for kind in dict.fromkeys(kind for one in self.segments for kind in one.settled)
        }

    @property
    def findings(self) -> list[Finding]:
        """Return the data that the copy lacks: quarantined segments, and bytes after the last complete entry."""
        damaged = [
            replace(finding, message=f"{finding.message}; the file is {one.file} in the copy")
            for one in self.quarantined
            for finding in [_construct(Finding, one.finding)]
        ]
        return damaged + [_tail(one.source) for one in self.segments if one.source.trailing_bytes]


@dataclass(frozen=True)
class Manifest:
    """Contents of a copy, and its source.

    Attributes
    ----------
    operation : {'transcode', 'convert'}
    options : dict
        The options that decide what is written.
    source : str
    complete : bool
        Whether all of the source was copied, including quarantined segments.
    partitions : tuple of CopiedPartition
    skipped : tuple of dict
        Findings about entries of the source that are not part of a log.
    versions : dict
        Versions of the manifest's format, and of recordpress.
    resumed_segments : int
        Number of segments that an earlier call had finished.
    lost : dict
        What the magic of the copy cannot hold: counts by kind, as in `recordpress.convert`.

    Examples
    --------
    >>> import recordpress
    >>> import tempfile, pathlib
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "copy"
    >>> manifest = recordpress.transcode("demo/logs/sessions-0", target, "zstd")
    >>> manifest.complete, sum(segment.records for segment in manifest.partitions[0].segments)
    (True, 1634)
    """

    operation: str
    options: dict[str, Any]
    source: str
    complete: bool
    partitions: tuple[CopiedPartition, ...]
    skipped: tuple[dict[str, Any], ...] = ()
    versions: dict[str, Any] = field(default_factory=dict)
    resumed_segments: int = 0
    lost: dict[str, int] = field(default_factory=dict)

    @property
    def segments(self) -> Iterator[CopiedSegment]:
        """Iterate over the segments of all partitions."""
        for partition in self.partitions:
            yield from partition.segments

    @property
    def findings(self) -> list[Finding]:
        """Return the data that the copy lacks: files outside the log, quarantined segments, and bytes after the last
        complete entry of a segment.
        """
        return [_construct(Finding, skipped) for skipped in self.skipped] + [
            finding for partition in self.partitions for finding in partition.findings
        ]

    @property
    def totals(self) -> dict[str, int]:
        """Return the sums over all segments."""
        names = ("records", "batches", "bytes", "already", "not_smaller")
        sums = {name: sum(getattr(segment, name) for segment in self.segments) for name in names}
        sums["segments"] = sum(1 for _ in self.segments)
        for name in ("bytes", "batches", "trailing_bytes"):
            sums[f"source_{name}"] = sum(getattr(segment.source, name) for segment in self.segments)
        return sums

    def to_dict(self) -> dict[str, Any]:
        """Return the manifest as one object, which docs/manifest.schema.json describes."""
        content = camel_keys(asdict(self) | {"totals": self.totals})
        for place, partition in zip(content["partitions"], self.partitions, strict=True):
            for one in place["segments"]:
                for name in ("settled", "marks"):
                    if not one[name]:
                        del one[name]
            if partition.settled:
                place["settled"] = camel_keys(partition.settled)
        return content

    def to_json(self) -> str:
        """Return `to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=1, default=list) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes, file: str = "") -> Manifest:
        """Read the output of `to_json`.

        Raises
        ------
        CorruptRecordError
            The text is not a manifest, or has a later format.
        """
        with _checked(file):
            return _manifest(snake_keys(json.loads(text)))

    @classmethod
    def read(cls, copy: str | os.PathLike[str]) -> Manifest:
        """Read the manifest in a copy.

        Parameters
        ----------
        copy : path or URL
            The directory that `recordpress.transcode` or `recordpress.convert` wrote.

        Raises
        ------
        FileNotFoundError
            The manifest is missing.
        CorruptRecordError
            The file is not a manifest, is truncated, or has a later format.

        Examples
        --------
        >>> import recordpress
        >>> import tempfile, pathlib
        >>> target = pathlib.Path(tempfile.mkdtemp()) / "copy"
        >>> manifest = recordpress.transcode("demo/logs/sessions-0", target, "zstd")
        >>> recordpress.log.Manifest.read(target) == manifest
        True
        """
        files, path = resolve(copy)
        found = read_manifest(files, path)
        if found is None:
            raise FileNotFoundError(files.url(files.join(path, MANIFEST)))
        return found

    def write(self, files: FileSystem, directory: str, name: str = MANIFEST) -> None:
        """Write the manifest to a directory, replacing an existing one."""
        with files.create(files.join(directory, name)) as writer:
            write_lines(writer, map(camel_keys, self._lines()))
            writer.publish()

    def _lines(self) -> Iterator[dict[str, Any]]:
        """Yield the lines of the file, whose lengths do not grow with the copy."""
        yield {name: value for name, value in vars(self).items() if name not in ("partitions", "skipped")} | {
            "totals": self.totals
        }
        for one in self.skipped:
            yield {"skipped": one}
        for partition in self.partitions:
            yield {"partition": {name: getattr(partition, name) for name in ("topic", "partition", "directory")}}
            for start in range(0, len(partition.files), _NAMES_AT_ONCE):
                yield {"files": partition.files[start : start + _NAMES_AT_ONCE]}
            for segment in partition.segments:
                yield {"segment": vars(segment) | {"source": vars(segment.source)}}
            for kept in partition.quarantined:
                yield {"quarantined": vars(kept) | {"source": vars(kept.source)}}


def _tail(source: SourceFile) -> Finding:
    size = source.trailing_bytes
    message = f"the last {size} bytes have no complete entry, and are not in the copy"
    return Finding(source.file, source.bytes - size, size, None, "record set framing", message)


def read_manifest(files: FileSystem, directory: str, name: str = MANIFEST) -> Manifest | None:
    """Return the manifest in a directory; None if it does not exist."""
    try:
        with files.open(files.join(directory, name)) as file, _checked(file.name):
            lines = map(snake_keys, read_lines(file, _RULE))
            first = next(lines)
            partitions: list[dict[str, Any]] = []
            skipped: list[dict[str, Any]] = []
            for line in lines:
                [(kind, value)] = line.items()
                if kind == "skipped":
                    skipped.append(value)
                elif kind == "partition":
                    partitions.append(value | {"files": [], "segments": [], "quarantined": []})
                elif kind == "files":
                    partitions[-1]["files"] += value
                elif kind == "segment":
                    partitions[-1]["segments"].append(_construct(CopiedSegment, value))
                else:
                    partitions[-1]["quarantined"].append(_construct(QuarantinedSegment, line["quarantined"]))
            manifest = _manifest(first | {"partitions": partitions, "skipped": skipped})
            if sum(1 for _ in manifest.segments) != first["totals"]["segments"]:
                raise ValueError("it is truncated")
            return manifest
    except FileNotFoundError:
        return None


def _manifest(read: dict[str, Any]) -> Manifest:
    manifest = _construct(Manifest, read)
    for one in [*manifest.skipped, *(kept.finding for place in manifest.partitions for kept in place.quarantined)]:
        _construct(Finding, one)
    if (form := read["versions"]["manifest"]) != FORMAT:
        raise ValueError(f"it has format {form!r}, not {FORMAT}")
    return manifest


@contextmanager
def _checked(file: str) -> Iterator[None]:
    try:
        yield
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, StopIteration) as error:
        raise CorruptRecordError(f"not a recordpress manifest: {error}"[:1000], file=file, rule=_RULE) from None


_Record = TypeVar("_Record")


def _construct(kind: type[_Record], values: dict[str, Any]) -> _Record:
    """Return a dataclass, and the dataclasses in it, from the values of their fields, whose types must match."""
    hints = _hints(kind)  # type: ignore[arg-type]
    return kind(**{name: _value(name, values[name], hint) for name, hint in hints.items() if name in values})


def _value(name: str, value: Any, hint: Any) -> Any:
    """Return a field's value from JSON, with tuples and dataclasses where the field declares them."""
    if is_dataclass(hint):
        return value if isinstance(value, hint) else _construct(hint, value)  # type: ignore[arg-type]
    if get_origin(hint) is tuple and isinstance(value, list):
        return tuple(_value(name, one, get_args(hint)[0]) for one in value)
    if not _is_a(value, hint):
        raise TypeError(f"{name} is {value!r}"[:200])
    return value


@functools.cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def _is_a(value: object, hint: Any) -> bool:
    """Return whether a value from JSON has the type that a field declares."""
    inner = get_args(hint)
    if get_origin(hint) is dict:
        return isinstance(value, dict) and all(_is_a(one, inner[1]) for one in value.values())
    if inner:  # a union
        return any(_is_a(value, one) for one in inner)
    if hint is Any:
        return True
    if isinstance(value, bool):
        return hint is bool
    return isinstance(value, int | float if hint is float else hint)
