"""The record set in one ``.log`` file, in chunks of complete entries (Kafka's FileRecords and FileLogInputStream)."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from os import fspath
from pathlib import Path
from typing import Any, Literal, Self, TypeAlias

from recordpress._arguments import INT32_MAX, INT64_MAX
from recordpress._file_names import refuse_without_records
from recordpress.codecs import CodecRegistry
from recordpress.columns import Columns, ColumnsIterator, iter_columns
from recordpress.errors import CorruptRecordError, RecordpressError
from recordpress.files import WALK_BYTES, LocalFileSystem, RandomAccessFile, Walked, located, move_positions, read_ahead
from recordpress.log._header_walk import HeaderWalk
from recordpress.log._read_entry import check_entry, read_entry
from recordpress.log._trailing_bytes import Tail, tail_of
from recordpress.log.findings import DAMAGE, Finding
from recordpress.record import read_batches
from recordpress.record.header import ENTRY_PREFIX, LOG_OVERHEAD, BatchHeader, entry_prefix

# Large enough to hide a call's fixed costs, small enough for several to fit in memory.
CHUNK_BYTES = 16 << 20

OnCorrupt: TypeAlias = Literal["raise", "skip", "stop"]

RESULT_BYTES = 5 << 20  # size of one result's columns: large enough for a consumer, small enough for caches
_FIRST_BYTES = 16 << 10  # of entries, before the size of their columns is known: zstd may expand them a thousandfold
_GROWTH = 4  # at most, from one result to the next, for the same reason


class FileRecords:
    """One segment's file, open for reading.

    Parameters
    ----------
    path : str, Path or RandomAccessFile
        A local file; or an open file, which `close` closes, too.
    complete : bool
        The file must end with a complete entry, like every segment but the last of its partition. If False, it may end
        as a broker leaves it after a crash: in a truncated entry, or in zeros (a preallocated file).
    max_message_bytes : int
        An entry with a larger size field is corrupt.
    codecs : CodecRegistry | None
        Codec plug-ins in addition to Kafka's.

    Raises
    ------
    InvalidArgumentError
        `path` is not a file, or names a file without records, such as an ``.index`` file.
    OSError

    Attributes
    ----------
    size : int
        Bytes of the file when it was opened; bytes appended later are not read.
    valid_bytes : int
        Position after the last complete entry that was returned.
    trailing_bytes : int
        Number of bytes after the last complete entry of the file; 0 before the end is reached.
    tail : {'', 'cut', 'zeros'}
        Kind of the trailing bytes.
    next_offset : int | None
        The offset after the last entry that was passed; None before the first entry.
    findings : list of Finding
        Damage that `columns` and `walk` skipped, on request.
    ignored : list of Finding
        Errors that `columns` ignored because of ``lz4_header_checksum="ignore"``.
    goes_back : bool
        Whether `columns` ended before an entry whose offsets go back (``ascending_from``).

    Examples
    --------
    >>> from recordpress.log import FileRecords
    >>> with FileRecords("demo/logs/sessions-0/00000000000000000000.log") as file:
    ...     print(sum(1 for header in file.headers()))
    1
    """

    def __init__(
        self,
        path: str | Path | RandomAccessFile,
        *,
        complete: bool = True,
        base_offset: int = 0,
        max_message_bytes: int = INT32_MAX,
        codecs: CodecRegistry | None = None,
    ) -> None:
        if isinstance(path, RandomAccessFile):
            self.file = path
        else:
            refuse_without_records(path)
            self.file = LocalFileSystem().open(fspath(path))
        self.path = self.file.name
        self.complete = complete
        self.base_offset = base_offset
        self.max_message_bytes = max_message_bytes
        self.codecs = codecs
        self.size = self.file.size
        self.valid_bytes = self.file.start
        self.trailing_bytes = 0
        self.tail: Tail = ""
        self.next_offset: int | None = None
        self.findings: list[Finding] = []
        self.ignored: list[Finding] = []
        self.goes_back = False
        self._walked: list[Walked] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, and stop reading ahead in it."""
        for walked in self._walked:
            walked.close()
        self.file.close()

    def chunks(self) -> Iterator[tuple[int, memoryview]]:
        """Yield chunks of complete entries with their positions; a chunk has about 16 MiB and at least one entry.

        A chunk ends before the first entry that begins at a multiple of 16 MiB or later, counted from the beginning of
        the file. Therefore, a part of the file that begins there has the same chunks as the whole file.

        Raises
        ------
        CorruptRecordError
            An impossible entry, or an invalid end of the file; raised after the chunks before it were yielded.
        """
        while self.valid_bytes < self.size and (chunk := self._chunk()):
            yield self.valid_bytes, chunk
            self.valid_bytes += len(chunk)
        self._end(self.valid_bytes, self.next_offset)

    def headers(self, position: int | None = None, *, window_bytes: int | None = None) -> HeaderWalk:
        """Return a walk over the headers of entries, starting at a position. `check_end` checks where it ends.

        Parameters
        ----------
        position : int, optional
            Position of an entry; by default, the first entry.
        window_bytes : int, optional
            Size of one read; by default, the walk chooses it. A remote file is then read in large chunks instead of
            entry by entry, and a chunk is fetched while the walk is in the previous chunk.
        """
        at = self.file.start if position is None else position
        file = self.file
        if window_bytes is None and file.is_remote:
            file, window_bytes = Walked(file), WALK_BYTES
            self._walked.append(file)
        return HeaderWalk(file, position=at, window_bytes=window_bytes, max_message_bytes=self.max_message_bytes)

    def walk(
        self,
        walk: HeaderWalk | None = None,
        *,
        transactional: bool = False,
        idempotent: bool = False,
        check_crcs: bool = False,
        on_corrupt: OnCorrupt = "raise",
    ) -> Iterator[BatchHeader]:
        """Yield the headers of all batches, and check how the file ends.

        Parameters
        ----------
        walk : HeaderWalk, optional
            A walk over this file, which continues from its position. By default, a walk from the first entry.
        transactional : bool
            Only batches of transactions.
        idempotent : bool
            Only batches with a producer id.
        check_crcs : bool
            Treat a wrong checksum as damage, too.
        on_corrupt : {'raise', 'skip'}
            At damage: raise an error, or skip to the next intact entry and add a finding to `findings`.

        Raises
        ------
        CorruptRecordError
            As for `chunks`.
        """
        walk = walk or self.headers()
        goes_on = True
        while goes_on:
            wrong, goes_on = None, False
            try:
                for header in walk.transactional() if transactional else walk.idempotent() if idempotent else walk:
                    wrong = walk.checksum_error() if check_crcs else None
                    if wrong is None:
                        yield header
                    elif on_corrupt == "skip":
                        self.findings.append(Finding.of_error(wrong, file=self.path, size=header.size))
                        wrong = None
                    else:
                        break
                else:
                    self.check_end(walk)
            except RecordpressError as error:
                goes_on = self._passes(walk, error, on_corrupt)
            if wrong is not None:
                raise wrong

    def _passes(self, walk: HeaderWalk, error: RecordpressError, on_corrupt: OnCorrupt) -> bool:
        """Skip damage and return whether an intact entry follows; zeros at the end of the log are not damage."""
        try:
            self.check_end(walk, error)
        except RecordpressError as damage:
            if on_corrupt != "skip":
                raise
            return self._next_entry(walk, damage, walk.next_offset) is not None
        return False

    def check_end(self, walk: HeaderWalk, error: RecordpressError | None = None) -> None:
        """Check the end of a walk over headers that reached the end of the file or an error.

        Raises
        ------
        CorruptRecordError
            The error, unless only zeros are there; or an invalid end of the file.
        """
        if error is not None and not self._is_zero(walk.position):
            raise error
        self._end(walk.position, walk.next_offset)

    def columns(
        self,
        columns: Sequence[str] | None = None,
        *,
        position: int | None = None,
        on_corrupt: OnCorrupt = "raise",
        size: ResultSize | None = None,
        **options: Any,
    ) -> Iterator[Columns]:
        """Yield the records as columns.

        Parameters
        ----------
        columns : sequence of str, optional
        position : int, optional
            Position of the entry to start at; by default, the first entry.
        on_corrupt : {'raise', 'skip', 'stop'}
            At damage: raise an error, skip to the next intact entry, or stop reading the file. `findings` then lists
            the damage.
        size : ResultSize, optional
            Chooses the size of results, instead of batch_bytes.
        options
            Options of `recordpress.iter_columns`.

        Raises
        ------
        RecordpressError
            As for `iter_columns`; and CorruptRecordError for an invalid end of the file, raised after all rows before
            it.
        """
        self.valid_bytes = self.file.start if position is None else position
        at: int | None = self.valid_bytes
        try:
            while at is not None:
                at = yield from self._columns(columns, at, on_corrupt == "skip", size, options)
        except DAMAGE as error:
            if on_corrupt != "stop":
                raise
            self.findings.append(Finding.of_error(error, file=self.path))
            self.trailing_bytes = 0

    def _columns(
        self, columns: Sequence[str] | None, position: int, skip: bool, size: ResultSize | None, options: dict[str, Any]
    ) -> Generator[Columns, None, int | None]:
        """Yield records up to the end, or up to damage in the framing; return where to resume, if `skip`."""
        options["on_corrupt"] = "skip" if skip else "raise"
        is_zero = False
        with read_ahead(self.file, position) as source:
            results = iter_columns(
                source, columns, max_message_bytes=self.max_message_bytes, codecs=self.codecs, **options
            )
            with results, located(position):
                try:
                    for columns_read in results if size is None else size.results(results):
                        self._note_ignored(columns_read, position)
                        yield columns_read
                except RecordpressError:
                    is_zero = self._is_zero(position + results.valid_bytes)
                    if not is_zero:
                        raise
                finally:
                    self.valid_bytes = position + results.valid_bytes
                    if results.next_offset is not None and (
                        results.valid_bytes or options.get("ascending_from") is None
                    ):
                        self.next_offset = results.next_offset
        is_cut = results.trailing_bytes > 0 or is_zero
        self.goes_back = results.goes_back
        if skip and self._skipped(results, position):
            is_cut = True
        if not is_cut:
            return None
        try:
            self._end(self.valid_bytes, self.next_offset)
        except CorruptRecordError as error:
            if not skip:
                raise
            options["aborted_transactions"] = results.aborted_transactions
            if options.get("ascending_from") is not None and self.next_offset is not None:
                options["ascending_from"] = self.next_offset
            return self._next_entry(self.headers(self.valid_bytes), error, self.next_offset)
        return None

    def _note_ignored(self, columns: Columns, position: int) -> None:
        for error in columns.lz4_header_errors:
            move_positions(error, position)
            self.ignored.append(Finding.of_error(error, file=self.path))

    def _skipped(self, results: ColumnsIterator, position: int) -> bool:
        """Record the errors of entries; return whether the last error ended the walk and has yet to be checked."""
        errors = list(results.errors)
        for error in errors:
            move_positions(error, position)
        is_framing = bool(errors) and (errors[-1].position or 0) >= self.valid_bytes
        self.findings += [Finding.of_error(error, file=self.path) for error in errors[: len(errors) - is_framing]]
        return is_framing

    def _next_entry(self, walk: HeaderWalk, error: RecordpressError, next_offset: int | None) -> int | None:
        """Record damage as a finding, and return where the next intact entry begins, or None."""
        self.trailing_bytes = 0  # these bytes are not the end of the file, or not a valid end
        start = walk.position
        found = walk.search(start + 1, self.base_offset, min(self.base_offset + INT32_MAX, INT64_MAX))
        end = walk.position if found else self.size
        what = f"skipped up to byte {end}" if found else "no intact entry follows"
        message = f"{error.message}; {what}"
        place = (self.path, start, end - start, next_offset)
        self.findings.append(Finding(*place, error.rule or "", message, error.field_position))
        return walk.position if found else None

    def _is_zero(self, position: int) -> bool:
        """Return whether the bytes at a position are zeros, as in the tail of a preallocated file."""
        return not any(self.read(position, min(ENTRY_PREFIX, self.size - position)))

    def _end(self, position: int, next_offset: int | None) -> None:
        """Check the bytes between the last complete entry and the end of the file."""
        self.valid_bytes = position
        self.trailing_bytes = self.size - position
        if self.trailing_bytes:
            with located(0, self.path):
                self.tail = tail_of(self.file, position, self.size, next_offset, self.complete)

    def read(self, position: int, size: int) -> bytes:
        """Return exactly `size` bytes.

        Raises
        ------
        CorruptRecordError
            The file has become shorter since it was opened.
        """
        return self.file.read_exactly(position, size)

    def entry(self, position: int, size: int) -> bytes:
        """Return the bytes of an entry whose header was read.

        Raises
        ------
        CorruptRecordError
            As for `read`; or the entry is larger than 16 MiB and has a wrong checksum: it is not held in memory then.
        """
        return read_entry(self.file, position, size)

    def _chunk(self) -> memoryview:
        """Return the complete entries in the next chunk; no bytes where the tail begins."""
        position = self.valid_bytes
        left = self.size - position
        wanted = CHUNK_BYTES - position % CHUNK_BYTES
        # this usually includes the entry that crosses the chunk's end
        data = self.read(position, min(max(wanted + CHUNK_BYTES // 64, ENTRY_PREFIX), left))
        whole = self._whole(data, wanted)
        if whole or len(data) == left:
            return memoryview(data)[:whole]
        prefix = entry_prefix(data)
        if prefix is None or not 0 < prefix[1] <= left - LOG_OVERHEAD:
            return memoryview(b"")
        check_entry(self.file, position)  # the entry is larger than a chunk
        data = self.read(position, LOG_OVERHEAD + prefix[1])
        return memoryview(data)[: self._whole(data, len(data))]

    def _whole(self, data: bytes, wanted: int) -> int:
        """Return the size of the complete entries in `data` that begin before `wanted`; raise an error if the first
        entry is impossible and not zeros."""
        entries = read_batches(data, max_message_bytes=self.max_message_bytes)
        try:
            for entry in entries:
                if entry.position >= wanted:
                    return entry.position
                self.next_offset = entry.next_offset
        except RecordpressError as error:
            if not entries.valid_bytes and any(data[:ENTRY_PREFIX]):
                with located(self.valid_bytes, self.path):
                    raise error
        return entries.valid_bytes


class ResultSize:
    """Size of the entries that give columns of about the right size, learned from the results of all files so far."""

    def __init__(self, most_bytes: int = RESULT_BYTES, most_rows: int | None = None) -> None:
        self._most_bytes, self._most_rows = most_bytes, most_rows
        self._stored = _FIRST_BYTES

    def results(self, iterator: ColumnsIterator) -> Iterator[Columns]:
        """Yield the results of an iterator, and set the size of its next result."""
        iterator.batch_bytes = self._stored
        before = 0
        for columns in iterator:
            stored = iterator.valid_bytes - before
            before = iterator.valid_bytes
            yield columns
            self._stored = iterator.batch_bytes = self._next(stored, columns)

    def _next(self, stored: int, columns: Columns) -> int:
        most = min(_GROWTH * self._stored, self._most_bytes)
        if size := columns.nbytes:
            most = min(most, self._most_bytes * stored // size)
        if self._most_rows is not None:
            most = min(most, self._most_rows * stored // max(columns.num_rows, 1))
        return max(1, most)
