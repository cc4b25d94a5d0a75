"""Search of a segment for an offset or a time, by its indexes or by headers alone.

::

    timestamp ──► .timeindex ──► offset ──► .index ──► position ──► headers from there ──► the batch
                  (a hint)                  (a hint)   checked

An index is a hint. It is compared with the log, and if they differ, the log is right: headers are then read from the
segment's beginning, and the difference is a finding.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from recordpress._arguments import INT32_MAX
from recordpress._file_names import INDEX_FILE_SUFFIX, TIME_INDEX_FILE_SUFFIX
from recordpress.codecs import CodecRegistry
from recordpress.errors import CorruptRecordError, RecordpressError
from recordpress.files import located
from recordpress.log._extent import last_entries
from recordpress.log._header_walk import HeaderWalk
from recordpress.log._read_entry import read_entry
from recordpress.log.findings import Finding
from recordpress.log.sidecars.offset_index import (
    ENTRY_SIZE as INDEX_ENTRY_SIZE,
    OffsetIndex,
    OffsetPosition,
    read_offset_index,
)
from recordpress.log.sidecars.time_index import ENTRY_SIZE as TIME_ENTRY_SIZE, TimeIndex, read_time_index
from recordpress.record import read_batches
from recordpress.record.header import BatchHeader

_Index = TypeVar("_Index", OffsetIndex, TimeIndex)


class RecordPlace(NamedTuple):
    """The place of a record."""

    offset: int
    timestamp: int
    position: int


class SegmentSeek:
    """Search for places in one segment."""

    def __init__(
        self,
        file: Any,
        base_offset: int = 0,
        open_sibling: Callable[[str], Any] | None = None,
        name: str | None = None,
        codecs: CodecRegistry | None = None,
        ends_early: bool = False,
    ) -> None:
        self.file = file
        self._ends_early = ends_early
        self._start = getattr(file, "start", 0)
        self.base_offset = base_offset
        self.name = name or str(getattr(file, "name", "") or "")
        self.findings: list[Finding] = []
        self._open_sibling = open_sibling
        self._codecs = codecs

    @cached_property
    def index(self) -> OffsetIndex | None:
        """The offset index, or None if it is missing or unusable."""
        return self._read(INDEX_FILE_SUFFIX, read_offset_index)

    @cached_property
    def time_index(self) -> TimeIndex | None:
        return self._read(TIME_INDEX_FILE_SUFFIX, read_time_index)

    @cached_property
    def _last_entries(self) -> tuple[HeaderWalk, int, int] | None:
        """Walk over the last entries of a remote file, where most seeks lead, with its start and its first offset."""
        walk = last_entries(self.base_offset, self.file) if self.file.is_remote else None
        header = None if walk is None else next(walk, None)
        return None if walk is None or header is None else (walk, header.position, header.base_offset)

    def offset(self, target: int) -> BatchHeader | None:
        """Return the first batch whose last offset is at least `target`; None if `target` is after this segment."""
        return self._walk_to(target).find_offset(target)

    def timestamp(self, target: int, start_offset: int = 0) -> RecordPlace | None:
        """Return the first record at or after `start_offset` whose timestamp is at least `target`, in ms, as Kafka's
        ListOffsets does (FileRecords.searchForTimestamp); None if this segment has no such record."""
        walk = self._walk_to(max(start_offset, self._before(target)))
        while header := walk.find_timestamp(target):
            for record in self._records(header):
                if record.timestamp >= target and record.offset >= start_offset:
                    return RecordPlace(record.offset, record.timestamp, header.position)
            next(walk)
        return None

    # --- hints ------------------------------------------------------------------------------------------------------

    def _walk_to(self, target: int) -> HeaderWalk:
        """Return a walk that begins at or before the batch with this offset."""
        index = self.index
        if index is None and target > self.base_offset and self._last_entries is not None:
            [walk, at, first] = self._last_entries
            if first <= target:
                walk.move_to(at)
                return walk
        entry = index.lookup(target) if index is not None else None
        is_after = self._ends_early and entry is not None and entry.position >= self.file.size
        if index is None or entry is None or is_after or entry.position <= self._start:
            return HeaderWalk(self.file, position=self._start)
        if wrong := self._contradiction(entry):
            at = index.index(entry) * INDEX_ENTRY_SIZE
            self._found(INDEX_FILE_SUFFIX, wrong, "offset index", at, INDEX_ENTRY_SIZE, entry.offset)
            self.index = None
            return HeaderWalk(self.file, position=self._start)
        return HeaderWalk(self.file, position=entry.position)

    def _contradiction(self, entry: OffsetPosition) -> str:
        """Return how the log contradicts an entry: a batch must begin at its position, and this or a later batch must
        end with its offset."""
        if entry.position >= self.file.size:
            return f"position {entry.position} is not in the log, which has {self.file.size} bytes"
        walk = HeaderWalk(self.file, position=entry.position)
        if not walk.at_entry(entry.position, self.base_offset, self.base_offset + INT32_MAX):
            return f"no batch begins at position {entry.position} of the log"
        try:
            header = walk.find_offset(entry.offset)
            is_indexed = header is not None and self._is_indexed(header, entry)
        except RecordpressError as error:
            return f"the bytes at position {entry.position} of the log are not a batch: {error.message}"
        if not is_indexed:
            return f"no batch at or after position {entry.position} of the log ends with offset {entry.offset}"
        return ""

    def _is_indexed(self, header: BatchHeader, entry: OffsetPosition) -> bool:
        """Return whether an index entry fits a batch; brokers up to 0.11 wrote an offset other than its last."""
        if header.last_offset == entry.offset:
            return True
        if header.position != entry.position:
            return False
        is_wrapper = header.magic < 2 and header.is_compressed
        first = self._records(header)[0].offset if is_wrapper else header.base_offset
        return first <= entry.offset

    def _before(self, target: int) -> int:
        """Return an offset up to which, by the time index, no record has a timestamp of `target` or later."""
        times = self.time_index
        # strictly before: entries that share a timestamp cannot be distinguished
        entry = times.lookup(target - 1) if times is not None else None
        if times is None or entry is None or entry.timestamp < 0:
            return self.base_offset
        if entry.timestamp == 0 and entry.offset == self.base_offset:  # a preallocated index begins with this too
            return self.base_offset
        header = self._batch_of(entry.offset)
        if header is not None and header.base_offset <= entry.offset and header.max_timestamp == entry.timestamp:
            return entry.offset
        if header is None and self._ends_early:
            return self.base_offset
        message = f"the log has no batch with offset {entry.offset} whose largest timestamp is {entry.timestamp}"
        at = times.index(entry) * TIME_ENTRY_SIZE
        self._found(TIME_INDEX_FILE_SUFFIX, message, "time index", at, TIME_ENTRY_SIZE, entry.offset)
        self.time_index = None
        return self.base_offset

    def _batch_of(self, offset: int) -> BatchHeader | None:
        try:
            return self.offset(offset)
        except CorruptRecordError:
            return None  # reported when the damage is read

    # --- files ------------------------------------------------------------------------------------------------------

    def _read(self, suffix: str, read: Callable[[Any, int], _Index]) -> _Index | None:
        if self._open_sibling is None:
            return None
        try:
            with self._open_sibling(suffix) as file:
                return read(file, self.base_offset)
        except FileNotFoundError:
            self._found(suffix, "the file is missing", "log directory")
        except RecordpressError as error:
            self.findings.append(Finding.of_error(error, file=self._sibling_name(suffix)))
        return None

    def _records(self, header: BatchHeader) -> Any:
        data = read_entry(self.file, header.position, header.size)
        with located(header.position, self.name):
            [batch] = read_batches(data, complete=True, codecs=self._codecs)
            return batch.records

    def _found(
        self,
        suffix: str,
        message: str,
        rule: str,
        position: int | None = None,
        size: int | None = None,
        offset: int | None = None,
    ) -> None:
        self.findings.append(Finding(self._sibling_name(suffix), position, size, offset, rule, message))

    def _sibling_name(self, suffix: str) -> str:
        return self.name.removesuffix(".log") + suffix
