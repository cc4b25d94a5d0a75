"""Walk over a damaged segment: the entries that are intact, and the bytes between them.

::

    entry ── checksum right? ── yes ──► the next entry
                  │ no
                  ├─ its size leads to what looks like an entry ──► there
                  └─ else ──► search, byte by byte, for the next entry whose checksum is right

A wrong size may also lead over intact entries to another entry, so the bytes of a damaged entry are searched as well.
An entry found in them counts only if the checksum shows that the size was wrong: a damaged batch may hold a record
whose value is itself a batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from recordpress._arguments import INT32_MAX, INT64_MAX
from recordpress.errors import CorruptRecordError, RecordpressError
from recordpress.files import READ_BYTES, WALK_BYTES
from recordpress.log._header_walk import HeaderWalk
from recordpress.log.check.rebuild import marker_of
from recordpress.log.findings import Finding
from recordpress.record.header import CHECKED_FROM, BatchHeader

OFFSETS_RULE = "segment offsets"
_BIGGEST_STEP = 1 << 20  # bytes of one read, in a search whose reads double; chosen, not measured


class BadRange(NamedTuple):
    """Bytes of a segment without an intact entry."""

    position: int
    size: int
    kind: Literal["damage", "cut", "zeros"]
    offset_before: int
    offset_after: int | None
    field: str
    rule: str
    message: str
    field_position: int | None = None

    @property
    def end(self) -> int:
        return self.position + self.size

    def finding(self, file: str, fate: str = "") -> Finding:
        """Return it as a finding of this file; `fate` is what becomes of the bytes."""
        after = "nothing intact follows" if self.offset_after is None else f"offset {self.offset_after} follows"
        message = f"{self.message}; offset {self.offset_before} was expected at these {self.size} bytes, {after}{fate}"
        return Finding(file, self.position, self.size, self.offset_before, self.rule, message, self.field_position)


class Scanner:
    """A walk over a segment that continues after damage."""

    def __init__(self, file: Any, base_offset: int) -> None:
        self.file = file
        self.base_offset = base_offset
        self._last = min(base_offset + INT32_MAX, INT64_MAX)
        window = WALK_BYTES if getattr(file, "is_remote", False) else READ_BYTES
        self._walk = HeaderWalk(file, position=getattr(file, "start", 0), window_bytes=window)

    def __iter__(self) -> Iterator[BatchHeader | BadRange]:
        """Yield intact entries and bad ranges, in order; every byte of the file is in one of them."""
        next_offset = self.base_offset
        pending: list[BadRange] = []
        while self._walk.position < self._walk.end:
            part = self._part(next_offset)
            if isinstance(part, BadRange):
                pending.append(part)
                self._walk.move_to(part.end)
                continue
            yield from (bad._replace(offset_after=part.base_offset) for bad in pending)
            pending.clear()
            yield part
            next_offset = part.next_offset
        yield from pending

    def _part(self, next_offset: int) -> BatchHeader | BadRange:
        position = self._walk.position
        try:
            header = next(self._walk, None)
        except CorruptRecordError as error:
            return self._unframed(position, next_offset, error)
        if header is None:
            return self._tail(position, next_offset)
        wrong, end = self._walk.checksum_error(), position + header.size
        if wrong is not None:
            end = self._end_of(header, end)
            return self._bad(position, end, next_offset, wrong)
        if not self.base_offset <= header.base_offset <= header.last_offset <= self._last:
            message = (
                f"offsets {header.base_offset} to {header.last_offset} cannot be in a segment with base offset "
                f"{self.base_offset}"
            )
            wrong = CorruptRecordError(message, field="baseOffset", field_position=position, rule=OFFSETS_RULE)
            return self._bad(position, end, next_offset, wrong)
        try:
            marker_of(self.file, header)  # a broker parses markers, and stops if it cannot
        except RecordpressError as error:
            return self._bad(position, end, next_offset, error)
        return header

    # --- where to continue ------------------------------------------------------------------------------------------

    def _end_of(self, header: BatchHeader, end: int) -> int:
        """Return where a complete entry with a wrong checksum ends, if its header gives `end`."""
        leads_on = self._walk.at_entry(end, self.base_offset, self._last)
        found = self._search(header.position + 1, end)
        if found is not None and (not leads_on or self._is_end(header, found)):
            return found
        return end if leads_on else self._next(end)

    def _is_end(self, header: BatchHeader, end: int) -> bool:
        """Return whether a v2 batch ends there, regardless of its length field, which the checksum does not cover."""
        return header.magic == 2 and self._walk.checksum_of(header.position + CHECKED_FROM, end) == header.crc

    def _next(self, position: int) -> int:
        """Return the position of the next intact entry, or the end of the file."""
        found = self._search(position, None)
        return self._walk.end if found is None else found

    def _search(self, position: int, limit: int | None) -> int | None:
        if self._walk.search(position, self.base_offset, self._last, limit):
            return self._walk.position
        return None

    # --- what is wrong ----------------------------------------------------------------------------------------------

    def _unframed(self, position: int, next_offset: int, error: CorruptRecordError) -> BadRange:
        """Return the bad range of an entry whose size or magic is impossible."""
        if self._is_zero(position):
            return self._zeros(position, next_offset)
        end = self._next(position + 1)
        return self._bad(position, end, next_offset, error)

    def _tail(self, position: int, next_offset: int) -> BadRange:
        """Return the bad range of an entry that extends past the end of the file, or of too few bytes for an entry."""
        if self._is_zero(position):
            return self._zeros(position, next_offset)
        end = self._next(position + 1)
        left = self._walk.end - position
        if end < self._walk.end:
            message = "the entry size reaches beyond the end of the file, but intact entries follow"
            wrong = CorruptRecordError(message, field="size", rule="record set framing")
            return self._bad(position, end, next_offset, wrong)
        message = f"the last entry is truncated after {left} bytes"
        return BadRange(position, left, "cut", next_offset, None, "size", "record set framing", message)

    def _zeros(self, position: int, next_offset: int) -> BadRange:
        left = self._walk.end - position
        message = f"{left} zero bytes follow the last entry, as in a file that was preallocated"
        return BadRange(position, left, "zeros", next_offset, None, "size", "record set framing", message)

    def _is_zero(self, position: int) -> bool:
        """Return whether only zeros follow, up to the end of the file."""
        step = 64
        while position < self._walk.end:
            data = self.file.read_exactly(position, min(step, self._walk.end - position))
            if data.strip(b"\0"):
                return False
            position += len(data)
            step = min(2 * step, _BIGGEST_STEP)
        return True

    def _bad(self, position: int, end: int, next_offset: int, error: RecordpressError) -> BadRange:
        described = (error.field or "", error.rule or "", error.message, error.field_position)
        return BadRange(position, end - position, "damage", next_offset, None, *described)
