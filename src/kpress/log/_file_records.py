"""The record set in one ``.log`` file, in pieces of whole entries (Kafka's FileRecords and FileLogInputStream)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from os import fspath
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from kpress._file_names import refuse_without_records
from kpress.checksum import crc32, crc32c
from kpress.columns import Columns, iter_columns
from kpress.errors import CorruptRecordError, KpressError
from kpress.files import LocalFileSystem, RandomAccessFile, located, read_ahead
from kpress.log._headers import transactional_batches
from kpress.log._tail import ENTRY_PREFIX, LOG_OVERHEAD, Tail, tail_of
from kpress.record import read_batches

# Large enough for a call's fixed costs not to show, small enough for several to be in memory.
PIECE_BYTES = 16 << 20
_WINDOW_BYTES = 64 << 10  # of which headers are read: several of small batches, and little more than one of large ones
INT32_MAX = (1 << 31) - 1

_CRC_START = {0: 16, 1: 16, 2: 21}  # what the checksum of each magic covers begins here


class FileRecords:
    """One segment's file, open to be read.

    Parameters
    ----------
    path : str, Path or RandomAccessFile
        A local file, or one that is open, which is closed with this.
    complete : bool
        The file must end with a whole entry, as every segment but the last of its partition does. If False, it may
        end as a broker leaves it after a crash: in an entry that is cut, or in zeros (a file that was preallocated).
    max_message_bytes : int
        An entry whose size field is above this is corrupt.

    Raises
    ------
    InvalidArgumentError
        `path` is not a file, or the name of a file that holds no records, such as an ``.index``.
    OSError

    Examples
    --------
    >>> with FileRecords("logs/orders-0/00000000000000000000.log", complete=False) as file:     # doctest: +SKIP
    ...     rows = sum(columns.num_rows for columns in file.columns(["offset"]))
    ...     print(rows, file.trailing_bytes, file.tail)
    4500 0

    Attributes
    ----------
    size : int
        Bytes of the file when it was opened; what is appended later is not read.
    valid_bytes : int
        Bytes of the whole entries that were handed out.
    trailing_bytes : int
        What follows them at the end of the file; 0 before the end is reached.
    tail : {'', 'cut', 'zeros'}
        What these bytes are.
    """

    def __init__(
        self, path: str | Path | RandomAccessFile, *, complete: bool = True, max_message_bytes: int = INT32_MAX
    ) -> None:
        if isinstance(path, RandomAccessFile):
            self._file = path
        else:
            refuse_without_records(path)
            self._file = LocalFileSystem().open(fspath(path))
        self.path = self._file.name
        self.complete = complete
        self.max_message_bytes = max_message_bytes
        self.size = self._file.size
        self.valid_bytes = 0
        self.trailing_bytes = 0
        self.tail: Tail = ""
        self._next_offset: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def pieces(self) -> Iterator[tuple[int, memoryview]]:
        """Whole entries, about 16 MiB at a time and at least one, each piece with its position.

        Raises
        ------
        CorruptRecordError
            An impossible entry, or an end that the file may not have; pieces before it are handed out.
        """
        while self.valid_bytes < self.size and (piece := self._piece()):
            yield self.valid_bytes, piece
            self.valid_bytes += len(piece)
        self._end(self.valid_bytes, self._next_offset)

    def transactional_batches(self) -> Iterator[tuple[int, int, bool]]:
        """(producer id, base offset, is control batch) of every batch of a transaction, by headers alone.

        Raises
        ------
        CorruptRecordError
            As `pieces`.
        """
        next_offset = None
        while left := self.size - self.valid_bytes:
            window = self.read(self.valid_bytes, min(_WINDOW_BYTES, left))
            try:
                found, size, after = transactional_batches(window, left, self.max_message_bytes)
            except KpressError as error:
                if any(window[:ENTRY_PREFIX]):
                    with located(self.valid_bytes, self.path):
                        raise error
                break
            yield from found
            if not size:
                break
            self.valid_bytes += size
            next_offset = after
        self._end(self.valid_bytes, next_offset)

    def columns(self, columns: Sequence[str] | None = None, **options: Any) -> Iterator[Columns]:
        """The records as columns.

        Parameters
        ----------
        columns : sequence of str, optional
        options
            As `kpress.iter_columns` takes them.

        Raises
        ------
        KpressError
            What `iter_columns` raises; and CorruptRecordError for an end that the file may not have, after all rows
            before it.
        """
        with read_ahead(self._file) as source:
            results = iter_columns(source, columns, max_message_bytes=self.max_message_bytes, **options)
            is_zero = False
            try:
                yield from results
            except KpressError:
                is_zero = self._is_zero(results.valid_bytes)
                if not is_zero:
                    raise
        self.valid_bytes = results.valid_bytes
        if results.trailing_bytes or is_zero:
            self._end(results.valid_bytes, results.next_offset)

    def _is_zero(self, position: int) -> bool:
        """Whether the entry there is nothing but zeros, so that it may be the tail of a file that was preallocated."""
        return not any(self.read(position, min(ENTRY_PREFIX, self.size - position)))

    def _end(self, position: int, next_offset: int | None) -> None:
        """Judge what lies between the last whole entry and the end of the file."""
        self.valid_bytes = position
        self.trailing_bytes = self.size - position
        if self.trailing_bytes:
            with located(0, self.path):
                self.tail = tail_of(self.read, position, self.size, next_offset, self.complete)

    def read(self, position: int, size: int) -> bytes:
        """Exactly these bytes.

        Raises
        ------
        CorruptRecordError
            The file has become shorter than it was.
        """
        return self._file.read_exactly(position, size)

    def _piece(self) -> memoryview:
        """The whole entries in the next piece; none where the tail begins."""
        position = self.valid_bytes
        left = self.size - position
        data = self.read(position, min(PIECE_BYTES, left))
        whole = self._whole(data)
        if whole or len(data) == left:
            return memoryview(data)[:whole]
        size = LOG_OVERHEAD + int.from_bytes(data[8:LOG_OVERHEAD], "big")
        if size == LOG_OVERHEAD or size > left:
            return memoryview(b"")
        self._check_large(data[:ENTRY_PREFIX], size)
        data = self.read(position, size)
        return memoryview(data)[: self._whole(data)]

    def _whole(self, data: bytes) -> int:
        """How many bytes of `data` are whole entries. One that is impossible ends them, and is an error where it is
        the first, unless nothing but zeros follows."""
        entries = read_batches(data, max_message_bytes=self.max_message_bytes)
        try:
            for entry in entries:
                self._next_offset = entry.next_offset
        except KpressError as error:
            if not entries.valid_bytes and any(data[:ENTRY_PREFIX]):
                with located(self.valid_bytes, self.path):
                    raise error
        return entries.valid_bytes

    def _check_large(self, prefix: bytes, size: int) -> None:
        """An entry larger than a piece is held in memory only if its checksum is right: read in steps, a size field
        that lies costs nothing."""
        magic, start = prefix[16], self.valid_bytes
        checksum, position = 0, start + _CRC_START[magic]
        crc_position = start + (17 if magic == 2 else 12)
        while position < start + size:
            data = self.read(position, min(PIECE_BYTES, start + size - position))
            checksum = (crc32c if magic == 2 else crc32)(data, checksum)
            position += len(data)
        stored = int.from_bytes(self.read(crc_position, 4), "big")
        if stored != checksum:
            raise CorruptRecordError(
                f"stored checksum {stored:#010x}, computed {checksum:#010x}",
                file=self.path,
                position=crc_position,
                offset=int.from_bytes(prefix[:8], "big", signed=True),
                field="crc",
                rule="checksum",
            )
