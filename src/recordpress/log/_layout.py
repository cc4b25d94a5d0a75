"""The meaning of names in a directory, wherever it is (Kafka's LocalLog, UnifiedLog and LogFileUtils).

::

    <log dir>/orders-0/00000000000000012345.log                 a broker's directory
    backup/00000000000000012345.log                             a flat folder: its partition is unknown
    <topic>-<topic id>/<partition>/<20 digits>-<uuid>.log       Aiven's tiered storage         (_tiered reads these)
    <topic>-<partition>-<topic id>/<20 digits>-<uuid>.log       Kafka's LocalTieredStorage

Ids are 22 characters of URL-safe base64, which include ``-`` and ``_``: names with an id are split by its length.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeAlias

from recordpress._arguments import INT32_MAX, INT64_MAX
from recordpress._file_names import COMMIT_PREFIX, LOG_FILE_SUFFIX, STAGING, SUCCESS, TopicPartition
from recordpress.errors import InvalidArgumentError, StorageError
from recordpress.files import LISTS_AT_ONCE, FileInfo, FileSystem, LocalFileSystem, check_regular, is_unfinished
from recordpress.log._interrupted import Interrupted, interrupted_jobs
from recordpress.log._segment import Partition, Segment, with_last
from recordpress.log._tiered import MANIFEST_SUFFIX, TieredSegment
from recordpress.log.findings import Finding

# [0-9]: \d would match the digits of other scripts, too
_LIKE_A_PARTITION = re.compile(r".+-[0-9]+", re.DOTALL)
SEGMENT_FILE = re.compile(r"(?P<base>[0-9]{20})\.log")
_ID = r"[A-Za-z0-9_-]{22}"
_TIERED_FILE = re.compile(rf"(?P<base>[0-9]{{20}})-(?P<id>{_ID})\.log")
_TIERED_TOPIC = re.compile(rf"(?P<topic>.+)-(?P<topic_id>{_ID})", re.DOTALL)
_LOCAL_TIERED = re.compile(rf"(?P<topic>.+)-(?P<partition>0|[1-9][0-9]{{0,9}})-(?P<topic_id>{_ID})", re.DOTALL)
_NUMBER = re.compile(r"0|[1-9][0-9]{0,9}")

# LogFileUtils and UnifiedLog: the state of files and directories with these endings
_UNFINISHED_FILES = {
    ".deleted": "awaits deletion",
    ".cleaned": "is an unfinished file of the log cleaner",
    ".swap": "awaits renaming: a broker replaces segments with it at its next start",
}
_UNFINISHED_DIRECTORIES = {
    "-delete": "awaits deletion",
    "-future": "is a replica that is being moved",
    "-stray": "no longer belongs to this broker",
}
_UNFINISHED_JOB = "a job has not published all of its files; if it was interrupted, the next write finishes it"
_MOST_IN_GROUP = 256  # directories that one thread lists, page by page; chosen, not measured
_UNUSED = (*_UNFINISHED_FILES, LOG_FILE_SUFFIX)
_MOST_READINGS = 5  # of a log dir that jobs change between the readings; chosen, not measured

Wanted: TypeAlias = "Callable[[str, int | None], bool]"  # takes topic and partition; None: it is not known yet


class Layout:
    """Contents of one path: partitions and skipped entries."""

    def __init__(self, files: FileSystem, root: str, wanted: Wanted | None = None) -> None:
        self.files = files
        self.root = root
        self.wanted = wanted  # None: all
        self.unread: set[tuple[str, int | None]] = set()  # topics and partitions of unwanted directories, by name
        self.partitions: list[Partition] = []
        self.skipped: list[Finding] = []
        self._interrupted: dict[str, Interrupted] = {}  # by the name of the partition's directory
        self._suffixes: dict[tuple[str, ...], tuple[str, ...]] = {}  # one copy of each, for very many segments

    # --- directories --------------------------------------------------------------------------------------------

    def read_directory(self) -> None:
        """Read a root of any kind."""
        entries = self.files.list(self.root)
        name = self.files.name(self.root)
        if any(SEGMENT_FILE.fullmatch(entry.name) for entry in entries) and _LIKE_A_PARTITION.fullmatch(name):
            self._interrupted = _interrupted_jobs(self.files, self.files.parent(self.root), name)
        if self._read_partition(self.root, name, entries):
            self._refuse_nested(entries)
            return
        if not self._read_topics({self.root: self._partitions_of_topic(name, entries)}):
            self._read_children(entries)

    def _read_children(self, entries: list[FileInfo]) -> None:
        """Read the entries of a log dir; read them again if a job of Spark's sink began or ended publishing."""
        for _ in range(_MOST_READINGS):
            self.partitions, self.skipped = [], []
            self._interrupted = self._jobs_of(entries)
            self._read_each(entries)
            if not any(entry.name in (STAGING, SUCCESS) for entry in entries):
                return
            before, entries = _version(entries), self.files.list(self.root)
            if (_version(entries), self._jobs_of(entries)) == (before, self._interrupted):
                return
        message = "jobs published while the log was listed: part of the last job may be missing"
        self.skipped.append(Finding(self.files.url(self.root), None, None, None, SUCCESS, message))

    def _jobs_of(self, entries: list[FileInfo]) -> dict[str, Interrupted]:
        names = {entry.name for entry in entries}
        return _interrupted_jobs(self.files, self.root) if STAGING in names and SUCCESS not in names else {}

    def read_segment(self, path: str) -> None:
        """Read one segment of a root; the other files only show whether it is the last."""
        name = self.files.name(path)
        try:
            entries = self.files.list(self.root)
        except OSError:  # a store may let us read a file but not list its directory
            entries = [self.files.info(path)]
        if self._read_partition(self.root, self.files.name(self.root), entries):
            [partition] = self.partitions
            only = tuple(segment for segment in partition.segments if segment.path == path)
            self.partitions = [replace(partition, segments=only)] if only else []
        self.skipped.clear()
        if not self.partitions:  # a name that Kafka would not write: nothing next to it belongs to it
            entry = next(entry for entry in entries if entry.name == name)
            self._check_file(entry)
            segment = Segment(self.files, self.root, name, 0, entry.size, is_last=True)
            self.partitions = [Partition(None, None, self.files.url(self.root), (segment,))]

    def _read_each(self, entries: list[FileInfo]) -> None:
        """Read the entries of a log dir."""
        chosen = [entry for entry in entries if self._is_read(entry)]
        topics: dict[str, list[FileInfo]] = {}
        for entry, inner in zip(chosen, self.files.list_each(_groups(chosen, entries)), strict=True):
            if self._read_partition(entry.path, entry.name, inner):
                self._refuse_nested(inner)
            else:
                topics[entry.path] = self._partitions_of_topic(entry.name, inner)
        found = self._read_topics(topics)
        for entry in chosen:
            if entry.path in topics and entry.path not in found:
                self._skip(entry, f"{entry.name} holds no segment", "directory name")

    def _is_read(self, entry: FileInfo) -> bool:
        """Return whether an entry of a log dir is the directory of a wanted partition or topic."""
        if suffix := _ending(entry.name, _UNFINISHED_DIRECTORIES):
            self._skip(entry, f"{entry.name} {_UNFINISHED_DIRECTORIES[suffix]}", "directory name")
            return False
        if _LIKE_A_PARTITION.fullmatch(entry.name) or _TIERED_TOPIC.fullmatch(entry.name):
            self.files.check_link(entry, self.root)
            return entry.is_directory and self._is_wanted(_meanings(entry.name))
        if entry.is_directory:
            self._skip(entry, f"{entry.name} is not the name of a partition", "directory name")
        return False

    def _is_wanted(self, meanings: list[tuple[str, int | None]]) -> bool:
        wanted = self.wanted
        if wanted is None or not meanings or any(wanted(*one) for one in meanings):
            return True
        self.unread.update(meanings)
        return False

    def _read_partition(self, path: str, name: str, entries: list[FileInfo]) -> bool:
        """Read the partition in a directory; return False if the directory has no segments to read."""
        if any(SEGMENT_FILE.fullmatch(entry.name) for entry in entries):
            topic_partition = self._named(path, name)
            segments, others = self._segments(entries, SEGMENT_FILE)
        elif any(_TIERED_FILE.fullmatch(entry.name) for entry in entries):
            topic_partition = self._tiered(path, name)
            segments, others = self._segments(entries, _TIERED_FILE)
        else:
            return False
        if name in self._interrupted:
            segments = self._without_interrupted(path, self._interrupted[name], segments)
            if not segments:
                return False
        topic, number = topic_partition or (None, None)
        self.partitions.append(Partition(topic, number, self.files.url(path), with_last(segments), others))
        return True

    def _without_interrupted(self, path: str, job: Interrupted, segments: list[Segment]) -> list[Segment]:
        """Return the segments without the additions of an unfinished job."""
        kept = [one for one in segments if job.first_offset is None or one.base_offset < job.first_offset]
        if len(kept) < len(segments):
            message = f"{_UNFINISHED_JOB}. Until then, its offsets ({job.first_offset} and higher) are left out"
            self.skipped.append(Finding(self.files.url(path), None, None, job.first_offset, SUCCESS, message))
        return kept

    def _named(self, path: str, name: str) -> tuple[str, int] | None:
        """Return the topic and partition in the name of a broker's directory; None for a flat folder of segments."""
        if not _LIKE_A_PARTITION.fullmatch(name):
            return None
        found = TopicPartition.of_directory(name)
        if found is None:
            url = self.files.url(path)
            raise InvalidArgumentError(
                f"{url} contains segments, but its name is not that of a partition: a topic in UTF-8, "
                f"'-', and a number from 0 to {INT32_MAX} without leading zeros",
                file=url,
            )
        return found.topic, found.partition

    def _tiered(self, path: str, name: str) -> tuple[str, int] | None:
        if match := _LOCAL_TIERED.fullmatch(name):
            return match["topic"], int(match["partition"])
        match = _TIERED_TOPIC.fullmatch(self.files.name(self.files.parent(path)))
        return (match["topic"], int(name)) if match and _NUMBER.fullmatch(name) else None

    def _partitions_of_topic(self, name: str, entries: list[FileInfo]) -> list[FileInfo]:
        """Return the partition directories in a topic's directory of Aiven's tiered storage; otherwise []."""
        if not (match := _TIERED_TOPIC.fullmatch(name)):
            return []
        numbers = [entry for entry in entries if entry.is_directory and _NUMBER.fullmatch(entry.name)]
        return [entry for entry in numbers if self._is_wanted([(match["topic"], int(entry.name))])]

    def _read_topics(self, topics: dict[str, list[FileInfo]]) -> set[str]:
        """Read the partitions of topics; return the directories of topics that have segments."""
        found = set()
        chosen = [(path, entry) for path, entries in topics.items() for entry in entries]
        groups = [group for entries in topics.values() for group in _groups(entries, entries)]
        for (path, entry), inner in zip(chosen, self.files.list_each(groups), strict=True):
            self.files.check_link(entry, self.root)
            if self._read_partition(entry.path, entry.name, inner):
                found.add(path)
        return found

    def _refuse_nested(self, entries: list[FileInfo]) -> None:
        """Raise an error for nested segments: the partition of their records would be unclear."""
        for entry in entries:
            if _LIKE_A_PARTITION.fullmatch(entry.name) and entry.is_directory:
                self.files.check_link(entry, self.root)
                if any(SEGMENT_FILE.fullmatch(inner.name) for inner in self.files.list(entry.path)):
                    url = self.files.url(entry.path)
                    raise InvalidArgumentError(
                        f"{url} is a partition inside the partition {self.partitions[-1].url}", file=url
                    )

    # --- segments -----------------------------------------------------------------------------------------------

    def _segments(self, entries: list[FileInfo], pattern: re.Pattern[str]) -> tuple[list[Segment], dict[str, FileInfo]]:
        """Return the segments, and by name the files that belong to no segment."""
        found = {entry.name.removesuffix(LOG_FILE_SUFFIX): entry for entry in entries if pattern.fullmatch(entry.name)}
        siblings: dict[str, list[FileInfo]] = {stem: [] for stem in found}
        others = {}
        for entry in entries:
            if entry.is_link:
                self.files.check_link(entry, self.root)
            name = entry.name
            stem, _, suffix = name.partition(".")
            if suffix == "log" and stem in found:
                self._check_file(entry)
                continue
            if entry.is_file and stem in found:
                siblings[stem].append(entry)
            elif entry.is_file and not name.endswith(LOG_FILE_SUFFIX):
                others[name] = entry
            if name.endswith(_UNUSED) or name.startswith("."):
                self._skip_unused(entry)
        directory = self.files.parent(entries[0].path)
        segments = [self._segment(directory, entry, stem, siblings[stem]) for stem, entry in found.items()]
        return sorted(segments, key=lambda segment: segment.base_offset), others

    def _skip_unused(self, entry: FileInfo) -> None:
        if suffix := _ending(entry.name, _UNFINISHED_FILES):
            self._skip(entry, f"{entry.name} {_UNFINISHED_FILES[suffix]}", "file name")
        elif is_unfinished(entry.name):
            self._skip(entry, f"{entry.name} is an unfinished copy", "file name")
        elif entry.name.endswith(LOG_FILE_SUFFIX):
            self._skip(entry, f"{entry.name} is not the name of a segment, which has 20 digits", "file name")

    def _segment(self, directory: str, entry: FileInfo, stem: str, siblings: list[FileInfo]) -> Segment:
        suffixes = tuple([one.name[len(stem) :] for one in siblings])
        kind = TieredSegment if len(stem) > 20 and MANIFEST_SUFFIX in suffixes else Segment
        return kind(
            self.files,
            directory,
            entry.name,
            self._base_offset(entry, stem[:20]),
            entry.size,
            suffixes=self._suffixes.setdefault(suffixes, suffixes),
            sizes=tuple([one.size for one in siblings]),
            modified=entry.modified,
        )

    def _check_file(self, entry: FileInfo) -> None:
        if entry.is_file:
            return
        if isinstance(self.files, LocalFileSystem):
            check_regular(entry.path)
        url = self.files.url(entry.path)
        raise InvalidArgumentError(f"{url} is not a file", file=url)

    def _base_offset(self, entry: FileInfo, digits: str) -> int:
        offset = int(digits)
        if offset > INT64_MAX:
            url = self.files.url(entry.path)
            raise InvalidArgumentError(f"{url}: {digits} is greater than any offset, which is an int64", file=url)
        return offset

    def _skip(self, entry: FileInfo, message: str, rule: str) -> None:
        self.skipped.append(Finding(self.files.url(entry.path), None, entry.size, None, rule, message))


def _meanings(name: str) -> list[tuple[str, int | None]]:
    """Return the topics and partitions that a directory of this name may belong to."""
    found: list[tuple[str, int | None]] = []
    if of_broker := TopicPartition.of_directory(name):
        found.append((of_broker.topic, of_broker.partition))
    if match := _LOCAL_TIERED.fullmatch(name):
        found.append((match["topic"], int(match["partition"])))
    if match := _TIERED_TOPIC.fullmatch(name):
        found.append((match["topic"], None))
    return found


def _groups(chosen: list[FileInfo], siblings: list[FileInfo]) -> list[list[str]]:
    """Return the paths of directories in groups of consecutive siblings, with enough groups for all parallel calls."""
    most = max(1, min(_MOST_IN_GROUP, len(chosen) // (4 * LISTS_AT_ONCE)))
    wanted, groups = {entry.path for entry in chosen}, [list[str]()]
    for entry in siblings:
        if entry.path in wanted:
            if len(groups[-1]) >= most:
                groups.append([])
            groups[-1].append(entry.path)
        elif entry.is_directory and groups[-1]:
            groups.append([])
    return [group for group in groups if group]


def partition_in(files: FileSystem, directory: str) -> Partition | None:
    """Return the partition in a directory, even if jobs are changing it; None if it has no segments."""
    layout = Layout(files, directory)
    layout._read_partition(directory, files.name(directory), files.list(directory))
    return layout.partitions[0] if layout.partitions else None


def _interrupted_jobs(files: FileSystem, log_dir: str, wanted: str | None = None) -> dict[str, Interrupted]:
    """Return the partitions that jobs of Spark's sink have not completely published; raise an error if a job replaces
    the wanted partition, by default any partition."""
    found = interrupted_jobs(files, log_dir)
    if any(job.replaces and wanted in (None, name) for name, job in found.items()):
        raise StorageError(
            f"{_UNFINISHED_JOB}. It replaces partitions, which cannot be read until then", file=files.url(log_dir)
        )
    return found


def _version(entries: list[FileInfo]) -> list[tuple[str, float | None]]:
    """Return name and time of the entries of a log dir that change when a job publishes."""
    return [(one.name, one.modified) for one in entries if one.name == SUCCESS or one.name.startswith(COMMIT_PREFIX)]


def _ending(name: str, endings: Iterable[str]) -> str | None:
    return next((ending for ending in endings if name.endswith(ending)), None)
