"""Sample of a text file whose lines are record values, as Kafka's console producer sends them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

from recordpress.analysis._sample import LEAST_RUN_BYTES, LEAST_RUNS, MOST_RUNS, Sample
from recordpress.errors import InvalidArgumentError
from recordpress.files import FileSystem, RandomAccessFile
from recordpress.producer.settings import BATCH_SIZE
from recordpress.record import BatchBuilder
from recordpress.record.header import ENTRY_PREFIX, entry_prefix

_LOG_NAME = re.compile(r"[0-9]{20}.*\.log(\.deleted|\.swap)?")
_MOST_MAGIC = 2  # the newest format
_LONGEST_LINE = 1 << 20  # bytes of a record that a broker accepts by default
_READ_BYTES = 256 << 10  # of one read; chosen, not measured


def is_lines(files: FileSystem, path: str) -> bool:
    """Return whether a path is a file of lines: neither its name nor its first bytes look like a segment."""
    try:
        info = files.info(path)
    except FileNotFoundError:
        return False
    if not info.is_file or _LOG_NAME.fullmatch(info.name):
        return False
    with files.open(path) as file:
        prefix = entry_prefix(file.read_at(0, ENTRY_PREFIX))
    return prefix is None or not 0 <= prefix[2] <= _MOST_MAGIC


def sample_lines(file: RandomAccessFile, limit: int, seed: int) -> Sample:
    """Take a sample of lines, in batches of the size that a busy producer sends by default."""
    sample = Sample(total_bytes=file.size)
    batches = _Batches(sample)
    number = 1 if file.size <= limit else min(max(limit // LEAST_RUN_BYTES, LEAST_RUNS), MOST_RUNS)
    part = file.size / number
    taken = min(part, limit / number)
    random = Random(seed)
    position = 0
    for at in range(number):
        start = max(position, int(at * part + random.random() * (part - taken)))
        before = sample.covered_bytes
        most = 2 * limit if number == 1 else (at + 1) * limit // number  # a record is larger than its line
        position = _read_run(file, start, int((at + 1) * part), most, batches)
        sample.runs += sample.covered_bytes > before
    if not sample.counts:
        raise InvalidArgumentError(f"{file.name}: the file has no lines", field="path")
    return sample


def _read_run(file: RandomAccessFile, start: int, end: int, limit: int, batches: _Batches) -> int:
    """Read lines that begin in a range until the sample has `limit` bytes; return the end of the last line."""
    for begin, following, line in lines_of(file, start, _LONGEST_LINE):
        if begin >= end or batches.size >= limit:
            break
        batches.append(line, following - begin)
        start = following
    batches.end()
    return start


def lines_of(file: RandomAccessFile, position: int, longest: int) -> Iterator[tuple[int, int, bytes]]:
    """Yield start, end and content of the lines from a position; split a line of more than `longest` bytes into
    several."""
    is_whole = position == 0 or file.read_exactly(position - 1, 1) == b"\n"
    begin, rest = position, b""
    while position < file.size:
        data = file.read_exactly(position, min(_READ_BYTES, file.size - position))
        position += len(data)
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            following = begin + len(line) + 1
            if is_whole:
                yield begin, following, line.removesuffix(b"\r")
            begin, is_whole = following, True
        if len(rest) >= longest:
            yield begin, position, rest
            begin, rest = position, b""
    if rest and is_whole:
        yield begin, position, rest


class _Batches:
    """Builder of batches of `BATCH_SIZE` bytes."""

    def __init__(self, sample: Sample) -> None:
        self._sample = sample
        self._begin()

    def _begin(self) -> None:
        self._builder = BatchBuilder(limit=BATCH_SIZE)
        self._count = self._bytes = 0
        self._is_full = False

    @property
    def size(self) -> int:
        """Bytes of the sample, including the open batch."""
        return len(self._sample.data) + self._bytes

    def append(self, value: bytes, covered: int) -> None:
        """Append one record, which represents `covered` bytes of the file."""
        if self._is_full or not self._builder.append(value, timestamp=0):
            self.end()
            self._append_first(value)
        self._count += 1
        self._bytes += covered

    def _append_first(self, value: bytes) -> None:
        """Append the first record: as in Kafka's producer, a record above the batch size gets its own batch."""
        if not self._builder.append(value, timestamp=0):
            self._builder = BatchBuilder()
            self._builder.append(value, timestamp=0)
            self._is_full = True

    def end(self) -> None:
        """Close the open batch."""
        if self._count:
            batch = self._builder.build()
            self._sample.add(batch, self._count, len(batch), self._bytes)
        self._begin()
