"""A sample of a plain file whose lines are the values of records, as Kafka's console producer sends them."""

from __future__ import annotations

import re
from random import Random

from kpress.analysis._sample import LEAST_RUN_BYTES, MOST_RUNS, Sample
from kpress.errors import InvalidArgumentError
from kpress.files import FileSystem, RandomAccessFile
from kpress.record import BatchBuilder

BATCH_SIZE = 16384  # Kafka's default of batch.size (ProducerConfig)
_LOG_NAME = re.compile(r"[0-9]{20}.*\.log(\.deleted|\.swap)?")
_MAGIC_AT = 16  # of every entry of a log, in all formats
_MOST_MAGIC = 2
_LONGEST_LINE = 1 << 20  # of a record that a broker takes by default; longer lines are cut into several


def is_lines(files: FileSystem, path: str) -> bool:
    """Whether a path is a file of lines: neither named like a segment, nor does it begin like one."""
    try:
        info = files.info(path)
    except FileNotFoundError:
        return False
    if not info.is_file or _LOG_NAME.fullmatch(info.name):
        return False
    with files.open(path) as file:
        begin = file.read_at(0, _MAGIC_AT + 1)
    return len(begin) <= _MAGIC_AT or begin[_MAGIC_AT] > _MOST_MAGIC


def sample_lines(file: RandomAccessFile, limit: int, seed: int) -> Sample:
    """A sample of lines, in batches such as Kafka's producer makes by default when it is busy.

    Parameters
    ----------
    file : RandomAccessFile
    limit : int
        Bytes of uncompressed batches; the last batch may exceed it.
    seed : int

    Raises
    ------
    InvalidArgumentError
        There is no line.
    """
    sample = Sample(total_bytes=file.size)
    batches = _Batches(sample, limit)
    number = 1 if file.size <= limit else max(1, min(limit // LEAST_RUN_BYTES, MOST_RUNS))
    part = file.size / number
    taken = min(part, limit / number)
    random = Random(seed)
    position = 0
    for at in range(number):
        start = max(position, int(at * part + random.random() * (part - taken)))
        position = _read_run(file, start, min(start + int(taken) + 1, file.size), batches)
        sample.runs += 1
    batches.end()
    if not sample.counts:
        raise InvalidArgumentError(f"{file.name}: there is no line in it", field="path")
    return sample


def _read_run(file: RandomAccessFile, start: int, end: int, batches: _Batches) -> int:
    """Lines that begin in a range; returns where the last one ended."""
    position = start
    rest = b""
    is_cut = start > 0  # the line there began before
    while position < end:
        data = rest + file.read_exactly(position, min(_LONGEST_LINE, file.size - position))
        position += len(data) - len(rest)
        lines = data.split(b"\n")
        rest = lines.pop()
        if is_cut and lines:
            del lines[0]
            is_cut = False
        for line in lines:
            batches.append(line)
        if len(rest) >= _LONGEST_LINE:
            batches.append(rest[:_LONGEST_LINE])
            rest = rest[_LONGEST_LINE:]
    if rest and position >= file.size:
        batches.append(rest)
    return position


class _Batches:
    """Fills batches of `BATCH_SIZE` bytes."""

    def __init__(self, sample: Sample, limit: int) -> None:
        self._sample, self._limit = sample, limit
        self._begin()

    def _begin(self) -> None:
        self._builder = BatchBuilder(limit=BATCH_SIZE)
        self._count = self._bytes = 0
        self._is_full = False

    def append(self, line: bytes) -> None:
        """One record, unless the sample is full."""
        value = line.removesuffix(b"\r")
        if len(self._sample.data) >= self._limit:
            return
        if self._is_full or not self._builder.append(value, timestamp=0):
            self.end()
            self._append_first(value)
        self._count += 1
        self._bytes += len(line) + 1

    def _append_first(self, value: bytes) -> None:
        """As Kafka's producer does: a record that is larger than a batch should be is alone in one."""
        if not self._builder.append(value, timestamp=0):
            self._builder = BatchBuilder()
            self._builder.append(value, timestamp=0)
            self._is_full = True

    def end(self) -> None:
        """Close the batch that is open."""
        if self._count:
            batch = self._builder.build()
            self._sample.add(batch, self._count, len(batch), self._bytes)
        self._begin()
