"""The records of a batch against its header: they can be decompressed and parsed, and agree with it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from operator import ge

from recordpress.codecs import CodecRegistry
from recordpress.errors import RecordpressError
from recordpress.files import RandomAccessFile, located
from recordpress.log._batch_header import BatchHeader
from recordpress.log.findings import Finding
from recordpress.record import read_batches

_RULE = "record batch"


class RecordCheck:
    """The records of one batch after another.

    Attributes
    ----------
    records : int
        So far, without control records.
    first_offset : int
        Of the last batch's first record, or its base offset where it has none.
    """

    def __init__(self) -> None:
        self.records = 0
        self.first_offset = -1

    def add(
        self, file: RandomAccessFile, header: BatchHeader, name: str, codecs: CodecRegistry | None = None
    ) -> Iterator[Finding]:
        """The errors of the next batch's records."""
        self.first_offset = header.base_offset
        data = file.read_exactly(header.position, header.size)
        try:
            with located(header.position, name):
                [batch] = read_batches(data, complete=True, codecs=codecs)
                records = batch.records
        except RecordpressError as error:
            yield Finding.of_error(error, file=name, size=header.size)
            return
        offsets = [record.offset for record in records]
        if not header.is_control:
            self.records += len(offsets)
        if offsets:
            self.first_offset = offsets[0]
        latest = max((record.timestamp for record in records), default=-1)
        for message in _wrong(header, offsets, latest):
            yield Finding(name, header.position, header.size, header.base_offset, _RULE, message)


def _wrong(header: BatchHeader, offsets: list[int], latest: int) -> Iterator[str]:
    if any(map(ge, offsets, offsets[1:])):
        before, after = next((a, b) for a, b in pairwise(offsets) if a >= b)
        yield f"offset {after} follows offset {before} in the batch"
    if header.magic == 2 and header.records_count != len(offsets):
        yield f"the header counts {header.records_count} records, and {len(offsets)} are there"
    if not offsets:
        return
    first = header.base_offset if header.magic == 2 else offsets[0]
    if not first <= min(offsets) <= max(offsets) <= header.last_offset:
        yield f"offsets {min(offsets)} to {max(offsets)} are not between {first} and {header.last_offset}"
    if header.magic > 0 and latest != header.max_timestamp:
        yield f"the largest timestamp is {latest}, and the header says {header.max_timestamp}"
