"""From paths, URLs and patterns to partitions."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Set
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any, NamedTuple, cast

from recordpress._arguments import INT32_MAX, hint, integer, sequence, shown_value
from recordpress._file_names import LOG_FILE_SUFFIX, SEGMENT_ENDINGS, refuse_without_records
from recordpress.codecs import CodecRegistry
from recordpress.codecs.table import codecs_given
from recordpress.errors import ArgumentTypeError, InvalidArgumentError
from recordpress.files import FileInfo, FileSystem, LocalFileSystem, resolve
from recordpress.log._layout import Layout, Wanted
from recordpress.log._log import Log
from recordpress.log._segment import Partition, with_last
from recordpress.log.findings import Finding
from recordpress.typing import Integer

_PATTERN = re.compile(r"[*?[]")
_NAMED = 8  # topics to list in a message about a missing topic; chosen


class Found(NamedTuple):
    """Log, and the topics and partitions that were not read because they are not wanted; None: all of a topic."""

    log: Log
    unread: Set[tuple[str, int | None]]


def open_paths(path: object, filesystem: object, codecs: CodecRegistry | None = None) -> Log:
    """Return the log at the paths, or the given log; raise an error if nothing is found."""
    if isinstance(path, Log):
        return path
    paths = path if isinstance(path, str | os.PathLike) else list(_several(path))
    return open_wanted(paths, filesystem, codecs, None).log


def open_wanted(paths: Any, filesystem: object, codecs: CodecRegistry | None, wanted: Wanted | None) -> Found:
    """Return the wanted partitions at the paths; raise an error if the paths hold no partition."""
    found = found_at(paths, filesystem, codecs, wanted)
    if not found.log.partitions and not found.unread:
        shown = [files.url(name) for files, name in (resolve(one, filesystem) for one in _several(paths))]
        raise InvalidArgumentError(
            f"{', '.join(shown)}: no partition found: expected a directory <topic>-<partition> with a segment "
            "(<20 digits>.log), its parent directory, or a folder of segments",
            field="path",
        )
    return found


def open_selected(
    path: Any,
    filesystem: object,
    codecs: CodecRegistry | None,
    topics: str | Iterable[str] | None,
    partitions: Integer | Iterable[Integer] | None,
) -> Log:
    """Return the log at the paths, or the requested part of it."""
    paths = path if isinstance(path, str | os.PathLike) else list(_several(path))
    names, numbers = _topic_names(topics), _partition_numbers(partitions)

    def is_wanted(topic: str | None, number: int | None) -> bool:
        is_topic = names is None or (topic is not None and any(fnmatchcase(topic, name) for name in names))
        return is_topic and (numbers is None or number in numbers)

    found = open_wanted(paths, filesystem, codecs, lambda topic, number: number is None or is_wanted(topic, number))
    known = list(dict.fromkeys(topic for topic in _topics_in(found) if topic is not None))
    for name in names or ():
        if not any(fnmatchcase(one, name) for one in known):
            more = f" and {len(known) - _NAMED} more" if len(known) > _NAMED else ""
            near = hint(name, known) or f"; topics are {', '.join(known[:_NAMED])}{more}" if known else ""
            raise InvalidArgumentError(f"no topic {shown_value(name)}{near}", field="topics")
    log = found.log.select(lambda one: is_wanted(one.topic, one.partition))
    if missing := (numbers or set()) - {one.partition for one in log}:
        raise InvalidArgumentError(f"no partition {min(missing)}", field="partitions")
    return log


def _topics_in(found: Found) -> list[str | None]:
    """Return the topics of a log in order, with the unread ones."""
    return sorted({one.topic for one in found.log} | {topic for topic, _ in found.unread}, key=lambda one: one or "")


def _topic_names(topics: str | Iterable[str] | None) -> list[str] | None:
    if topics is None:
        return None
    found = []
    for name in [topics] if isinstance(topics, str) else sequence(topics, "topics", "str"):
        if not isinstance(name, str):
            raise ArgumentTypeError(f"topics must be names, not {type(name).__name__}", field="topics")
        found.append(name)
    return found


def _partition_numbers(partitions: Integer | Iterable[Integer] | None) -> set[int] | None:
    if partitions is None:
        return None
    several = sequence(partitions, "partitions", "int") if not hasattr(partitions, "__index__") else (partitions,)
    return {integer(cast(Integer, number), "partitions", 0, INT32_MAX) for number in several}


def found_at(path: Any, filesystem: object, codecs: CodecRegistry | None = None, wanted: Wanted | None = None) -> Found:
    """Return the wanted partitions at the paths, perhaps none."""
    codecs_given(codecs)
    partitions: list[Partition] = []
    skipped: list[Finding] = []
    unread: set[tuple[str, int | None]] = set()
    for one in _several(path):
        files, name = resolve(one, filesystem)
        for info in _expanded(files, name):
            layout = _layout_of(files, info, wanted)
            partitions += layout.partitions
            skipped += layout.skipped
            unread |= layout.unread
    return Found(Log((_with_codecs(one, codecs) for one in merged(partitions)), skipped, path), unread)


def refuse_missing(path: str) -> None:
    """Raise an error for a missing local path or pattern before anything is listed; stores are not queried."""
    if "://" not in path or path.lower().startswith("file://"):
        _expanded(*resolve(path))


def _with_codecs(partition: Partition, codecs: CodecRegistry | None) -> Partition:
    if codecs is None:
        return partition
    return replace(partition, segments=tuple(replace(segment, codecs=codecs) for segment in partition.segments))


def _several(path: object) -> Iterator[str | os.PathLike[str]]:
    if isinstance(path, str | os.PathLike):
        yield path
        return
    if not isinstance(path, Iterable) or isinstance(path, bytes | bytearray | memoryview):
        raise ArgumentTypeError(f"path must be one or more paths or URLs, not {type(path).__name__}", field="path")
    for number, one in enumerate(path):
        if not isinstance(one, str | os.PathLike):
            raise ArgumentTypeError(f"path[{number}] must be a path or a URL, not {type(one).__name__}", field="path")
        yield one


# --- patterns ---------------------------------------------------------------------------------------------------


def _expanded(files: FileSystem, path: str) -> list[FileInfo]:
    """Return the paths that match a pattern, as in a shell, or the path itself."""
    try:
        return [files.info(path)]
    except FileNotFoundError:
        if not _PATTERN.search(path):
            raise
    found = _matches(files, path)
    if not found:
        raise InvalidArgumentError(f"{files.url(path)} matches nothing", field="path")
    return found


def _matches(files: FileSystem, path: str) -> list[FileInfo]:
    parts = path.split("/")
    first = next(number for number, part in enumerate(parts) if _PATTERN.search(part))
    base = "/".join(parts[:first]) or ("/" if path.startswith("/") else "")
    directories = [base or (os.curdir if isinstance(files, LocalFileSystem) else "")]
    found: list[FileInfo] = []
    for number, part in enumerate(parts[first:], first):
        found = [
            info
            for directory in directories
            for info in files.list(directory)
            if fnmatchcase(info.name, part) and (part.startswith(".") or not info.name.startswith("."))
        ]
        if number < len(parts) - 1:
            directories = [info.path for info in found if info.is_directory]
    return [info for info in found if info.is_directory or info.name.endswith(LOG_FILE_SUFFIX)]


# --- one place --------------------------------------------------------------------------------------------------


def _layout_of(files: FileSystem, info: FileInfo, wanted: Wanted | None) -> Layout:
    if info.is_directory:
        layout = Layout(files, files.canonical(info.path), wanted)
        layout.read_directory()
        return layout
    return _one_file(files, info)


def _one_file(files: FileSystem, info: FileInfo) -> Layout:
    """Return a single segment; the files next to it are its indexes, and show whether it is the last."""
    url = files.url(info.path)
    refuse_without_records(info.path)
    if not info.name.endswith(SEGMENT_ENDINGS):
        raise InvalidArgumentError(f"{url} is neither a directory nor a {LOG_FILE_SUFFIX} file", file=url, field="path")
    path = files.canonical(info.path)
    layout = Layout(files, files.parent(path))
    layout.read_segment(path)
    return layout


# --- several places ---------------------------------------------------------------------------------------------


def merged(partitions: list[Partition]) -> tuple[Partition, ...]:
    """Merge the segments of one partition from several places, such as a tier and a broker."""
    found: dict[tuple[object, ...], Partition] = {}
    for partition in partitions:
        key = (partition.topic, partition.partition) if partition.topic is not None else (partition.url,)
        found[key] = _joined(found[key], partition) if key in found else partition
    return tuple(sorted(found.values(), key=lambda one: (one.topic or "", one.partition or 0, one.url)))


def _joined(one: Partition, other: Partition) -> Partition:
    known = {segment.url for segment in one.segments}
    segments = [*one.segments, *(segment for segment in other.segments if segment.url not in known)]
    segments.sort(key=lambda segment: segment.base_offset)
    return replace(one, segments=with_last(segments), others={**other.others, **one.others})
