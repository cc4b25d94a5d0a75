"""The records that read_committed omits from a log whose offsets do not ascend: batches by place, in the log's order.

Only records that are in the log count: a copy of a transaction without its marker, in a segment that overlaps another,
does not open a transaction.
"""

from __future__ import annotations

from collections.abc import Sequence

from recordpress.errors import CorruptRecordError
from recordpress.log._file_records import FileRecords
from recordpress.log._log_order import Frontier
from recordpress.log._segment import Segment
from recordpress.log._transactions import Isolation, is_abort
from recordpress.record.header import BatchHeader


def committed(segments: Sequence[Segment], isolation: Isolation, skip: bool) -> Isolation:
    """Return the isolation with the places of aborted batches."""
    search = _Search(skip)
    for segment in segments:
        try:
            search.scan(segment)
        except CorruptRecordError as error:
            isolation = isolation._replace(error=error)
            break
    return isolation._replace(
        aborted_batches=frozenset(search.aborted),
        last_stable_offset=min((first for first, _ in search.open.values()), default=None),
    )


class _Search:
    def __init__(self, skip: bool) -> None:
        self.skip = skip
        self.frontier = Frontier(check_crcs=skip)
        self.open: dict[int, tuple[int, list[tuple[str, int]]]] = {}  # first offset and batches by producer id
        self.aborted: set[tuple[str, int]] = set()

    def scan(self, segment: Segment) -> None:
        with segment.records() as file:
            headers = file.walk(check_crcs=self.skip, on_corrupt="skip" if self.skip else "raise")
            for header, windows in self.frontier.placed(segment, file, headers, file.file.start, []):
                if header.magic == 2 and header.is_transactional and (windows is None or windows):
                    self._pass(segment, file, header)

    def _pass(self, segment: Segment, file: FileRecords, header: BatchHeader) -> None:
        if header.is_control:
            _, batches = self.open.pop(header.producer_id, (0, []))
            if is_abort(header, file):
                self.aborted.update(batches)
            return
        first, batches = self.open.setdefault(header.producer_id, (header.base_offset, []))
        batches.append((segment.url, header.position))
        self.open[header.producer_id] = min(first, header.base_offset), batches
