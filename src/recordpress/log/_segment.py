"""Partitions and their segments, wherever they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from recordpress._file_names import LOG_FILE_SUFFIX
from recordpress._html import html_table
from recordpress.codecs import CodecRegistry
from recordpress.errors import CorruptRecordError
from recordpress.files import FileInfo, FileSystem, RandomAccessFile
from recordpress.log._file_records import FileRecords
from recordpress.log._transactions import Isolation, isolation_of
from recordpress.log.findings import Finding
from recordpress.log.sidecars.transaction_index import AbortedTxn
from recordpress.record.header import BatchHeader


@dataclass(frozen=True, slots=True)
class Segment:
    """``.log`` file, and the files next to it.

    Attributes
    ----------
    directory, name : str
        Path of the directory, and name of the file.
    base_offset : int
        Offset in the file's name, at most the first offset in the file.
    size : int | None
        Size of the file in bytes, if the listing has it.
    is_last : bool
        Whether this is the last segment of its partition, which alone may end in a truncated entry or in zeros.
    suffixes : tuple of str
        Suffixes of the other files of the segment, in order.
    sizes : tuple of (int | None)
        Sizes of these files in bytes.
    codecs : CodecRegistry | None
        Codec plug-ins in addition to Kafka's, for its records.
    check_indexes : bool
        Whether headers are read in an object store, too, instead of trusting the segment's name and indexes.
    modified : float | None
        Time of the last write in seconds since 1970, if the listing has it.

    Examples
    --------
    >>> import recordpress
    >>> [partition] = recordpress.open_log("demo/logs/sessions-0").partitions
    >>> segment = partition.segments[0]
    >>> segment.base_offset, segment.size, segment.suffixes
    (0, 4483, ('.index', '.timeindex'))
    """

    filesystem: FileSystem = field(repr=False)
    directory: str = field(repr=False)
    name: str
    base_offset: int
    size: int | None = None
    is_last: bool = False
    suffixes: tuple[str, ...] = ()
    sizes: tuple[int | None, ...] = field(default=(), repr=False)
    codecs: CodecRegistry | None = field(default=None, repr=False, compare=False)
    check_indexes: bool = field(default=False, repr=False, compare=False)
    modified: float | None = field(default=None, repr=False, compare=False)

    @property
    def path(self) -> str:
        """Path of the file."""
        return self.filesystem.join(self.directory, self.name)

    @property
    def url(self) -> str:
        """Path or URL of the file, as messages show it."""
        return self.filesystem.url(self.path)

    @property
    def stem(self) -> str:
        """Common part of the names of the segment's files."""
        return self.name.removesuffix(LOG_FILE_SUFFIX)

    @property
    def files(self) -> dict[str, FileInfo]:
        """The other files of the segment, by suffix."""
        return {
            suffix: FileInfo(self.path_of(suffix), self.stem + suffix, "file", size)
            for suffix, size in zip(self.suffixes, self.sizes, strict=True)
        }

    def path_of(self, suffix: str) -> str:
        """Return the path of the segment's file with this suffix, such as ``.txnindex``."""
        return self.filesystem.join(self.directory, self.stem + suffix)

    @property
    def is_tiered(self) -> bool:
        """Whether the segment is a copy in tiered storage, with an id in its name. Its ``.snapshot`` describes the
        segment's end, not its start (Kafka's LogSegmentData).
        """
        return self.name[20:21] == "-"

    def open(self) -> RandomAccessFile:
        """Open the record set.

        Raises
        ------
        CorruptRecordError
            The segment is not the last, and its size is not the one in the listing: another file, which may hold
            records of the segments after it, took its place.
        """
        file = self.filesystem.open(self.path)
        if not self.is_last and self.size not in (None, file.size):
            file.close()
            raise CorruptRecordError(
                f"the file was replaced or written to since it was listed: it had {self.size} bytes and now has "
                f"{file.size}; open the log again",
                file=self.url,
                rule="a closed segment stays",
            )
        return file

    def records(self, *, complete: bool | None = None) -> FileRecords:
        """Open the record set for reading; by default, `complete` is True for all segments but the last."""
        complete = not self.is_last if complete is None else complete
        return FileRecords(self.open(), complete=complete, base_offset=self.base_offset, codecs=self.codecs)

    def headers(self) -> Iterator[BatchHeader]:
        """Yield the headers of all batches, and check how the file ends.

        Raises
        ------
        CorruptRecordError
            An entry that cannot be a batch, or an invalid end of the file.

        Examples
        --------
        >>> import recordpress
        >>> [partition] = recordpress.open_log("demo/logs/access-log-0").partitions
        >>> next(partition.segments[0].headers()).records_count
        8
        """
        with self.records() as file:
            yield from file.walk()

    def open_sibling(self, suffix: str) -> RandomAccessFile:
        """Open the segment's file with this suffix, such as ``.txnindex``.

        Raises
        ------
        FileNotFoundError
            The listing has no such file. No store is queried.
        """
        if suffix not in self.suffixes:
            raise FileNotFoundError(f"there is no {suffix} file next to {self.url}")
        return self.filesystem.open(self.path_of(suffix))


@dataclass(frozen=True)
class Partition:
    """Partition of a topic, and its segments.

    Attributes
    ----------
    topic : str | None
        None if the directory of the segments is not named after a topic and a partition (``orders-0``).
    partition : int | None
        None if `topic` is None.
    url : str
        Path or URL of its directory.
    segments : tuple of Segment
        In order of base offset.
    others : mapping of str to FileInfo
        The files in its directory that belong to no segment, by name.

    Examples
    --------
    >>> import recordpress
    >>> [partition] = recordpress.open_log("demo/logs/sessions-0").partitions
    >>> str(partition), partition.topic, partition.partition, len(partition.segments)
    ('sessions-0', 'sessions', 0, 2)
    """

    topic: str | None
    partition: int | None
    url: str
    segments: tuple[Segment, ...]
    others: Mapping[str, FileInfo] = field(default_factory=dict, repr=False)

    def __str__(self) -> str:
        return self.url if self.topic is None else f"{self.topic}-{self.partition}"

    def _repr_html_(self) -> str:
        rows = ((one.base_offset, one.size, one.url) for one in self.segments)
        return html_table(f"{self}", ("base offset", "bytes", "path"), rows, len(self.segments))

    def last_stable_offset(self) -> int | None:
        """Return the first offset of the earliest open transaction.

        Returns
        -------
        int | None
            None if no transaction is open.

        Raises
        ------
        CorruptRecordError
            An entry that cannot be a batch, or a segment before the last that does not end with a complete entry.

        Examples
        --------
        >>> import recordpress
        >>> [partition] = recordpress.open_log("demo/logs/sessions-0").partitions
        >>> partition.last_stable_offset() is None
        True
        """
        return self._isolation().last_stable_offset

    def transactions(self) -> list[AbortedTxn]:
        """Return the aborted transactions.

        They come from the markers in the log and the ``.txnindex`` files; in a store, files are trusted if all exist.

        Returns
        -------
        list of AbortedTxn
            In the order of their markers.

        Raises
        ------
        CorruptRecordError
            As for `last_stable_offset`.

        Examples
        --------
        >>> import recordpress
        >>> [partition] = recordpress.open_log("demo/logs/sessions-0").partitions
        >>> partition.transactions()
        []
        """
        isolation = self._isolation()
        return [*isolation.aborted, *isolation.beyond]

    def _isolation(self) -> Isolation:
        isolation = isolation_of(self.segments)
        if isolation.error is not None:
            raise isolation.error
        return isolation


def size_of(segment: Segment) -> int:
    """Return the size of the file in bytes; query the store if the listing has no size."""
    return segment.filesystem.info(segment.path).size or 0 if segment.size is None else segment.size


def tail_findings(segment: Segment, file: FileRecords) -> list[Finding]:
    """Return a finding if a completely read file has bytes after the last complete entry."""
    if not file.trailing_bytes:
        return []
    what, rule = f"the last entry is truncated after {file.trailing_bytes} bytes", "record set framing"
    if file.tail == "zeros":
        what, rule = f"{file.trailing_bytes} zero bytes follow the last entry: the log ends here", "preallocated file"
    return [Finding(segment.url, file.valid_bytes, file.trailing_bytes, file.next_offset, rule, what)]


def with_last(segments: Iterable[Segment]) -> tuple[Segment, ...]:
    """Return the segments, with only the last segment marked as last."""
    found = list(segments)
    for number, segment in enumerate(found, 1):
        if segment.is_last != (number == len(found)):
            found[number - 1] = replace(segment, is_last=not segment.is_last)
    return tuple(found)


def with_checks(partitions: Iterable[Partition]) -> tuple[Partition, ...]:
    """Return the partitions, with `check_indexes` set in all segments."""
    return tuple(
        replace(one, segments=tuple(replace(segment, check_indexes=True) for segment in one.segments))
        for one in partitions
    )
