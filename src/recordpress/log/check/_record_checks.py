"""Check of a batch's records: they can be decompressed and parsed, and agree with the header."""

from __future__ import annotations

from collections.abc import Iterator

from recordpress.codecs import CodecRegistry
from recordpress.errors import RecordpressError
from recordpress.files import RandomAccessFile, located
from recordpress.log.findings import Finding
from recordpress.record import read_batches, summarize_records
from recordpress.record.header import BatchHeader

_RULE = "record batch"


class RecordCheck:
    """Check of the records of one batch after another."""

    def __init__(self) -> None:
        self.records = 0
        self.first_offset = -1

    def add(
        self, file: RandomAccessFile, header: BatchHeader, name: str, codecs: CodecRegistry | None = None
    ) -> Iterator[Finding]:
        """Yield findings for the next batch's records."""
        self.first_offset = header.base_offset
        data = file.read_exactly(header.position, header.size)
        try:
            with located(header.position, name):
                [batch] = read_batches(data, complete=True, codecs=codecs)
                count, self.first_offset, least, largest, latest, disorder = summarize_records(batch)
        except RecordpressError as error:
            yield Finding.of_error(error, file=name, size=header.size)
            return
        if not header.is_control:
            self.records += count
        if not count:
            self.first_offset = header.base_offset
        for message in _wrong(header, count, self.first_offset, least, largest, latest, disorder):
            yield Finding(name, header.position, header.size, header.base_offset, _RULE, message)


def _wrong(
    header: BatchHeader, count: int, first: int, least: int, largest: int, latest: int, disorder: tuple[int, int] | None
) -> Iterator[str]:
    if disorder is not None:
        yield f"offset {disorder[1]} follows offset {disorder[0]} in the batch"
    if header.magic == 2 and header.records_count != count:
        yield f"the header counts {header.records_count} records, but the batch has {count}"
    if not count:
        return
    first = header.base_offset if header.magic == 2 else first
    if not first <= least <= largest <= header.last_offset:
        yield f"offsets {least} to {largest} are not between {first} and {header.last_offset}"
    if header.magic > 0 and latest != header.max_timestamp:
        yield f"the largest timestamp is {latest}, but the header has {header.max_timestamp}"
