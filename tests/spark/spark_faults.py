"""Faults that workers meet, each once: its own module, so that workers can import it."""

import os
import resource
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from recordpress.files import LocalFileSystem
from recordpress.log import _file_records
from recordpress.log.copy import _copy_parts, tasks as copy_tasks
from recordpress.spark import KafkaLogDataSource
from recordpress.spark._stream import stream_reader
from recordpress.spark.datasource import KafkaLogReader

PIECE = 4000  # of the segments that are cut
FAULTS = ("begun", "writing", "done", "raise")


def once(given: tuple[str, str, Any, Any]) -> Any:
    """The work; but the first process that comes to work of this kind does not live to see its end."""
    before = _file_records.CHUNK_BYTES
    set_pieces(PIECE)
    try:
        return _once(*given)
    finally:
        set_pieces(before)


def _once(directory: str, fault: str, work: Any, item: Any) -> Any:
    try:
        Path(directory, f"{type(item).__name__}-{fault}").open("x").close()
    except FileExistsError:
        return work(item)
    if fault == "begun":
        die()
    if fault == "raise":
        raise RuntimeError("a task fails once")
    if fault == "writing":
        LocalFileSystem.create = killing(LocalFileSystem.create)  # type: ignore[method-assign]
    work(item)
    die()
    return None


def beside(given: tuple[str, Any, Any]) -> Any:
    """The work, after `meet`."""
    directory, work, item = given
    meet(directory, type(item).__name__)
    return work(item)


def meet(directory: str, name: str) -> None:
    """The first process of a name waits for a second one, which Spark starts if it seems slow: then both go on."""
    first, second = Path(directory, f"{name}-first"), Path(directory, f"{name}-second")
    try:
        first.open("x").close()
    except FileExistsError:
        second.touch()
        return
    latest = time.monotonic() + 600  # a second one that never comes is a failure
    while not second.exists() and time.monotonic() < latest:
        time.sleep(0.02)


def set_pieces(size: int) -> None:
    for module in (_file_records, _copy_parts, copy_tasks):
        module.CHUNK_BYTES = size  # type: ignore[attr-defined]


def killing(create: Any) -> Any:
    """Files are written up to their end, and get no name."""

    def created(self: Any, path: str) -> Any:
        writer = create(self, path)
        writer.publish = die
        return writer

    return created


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class DyingReader(KafkaLogReader):
    """The first process that has read some rows of a log does not read on."""

    def read(self, partition: Any) -> Iterator[Any]:
        for batch in super().read(partition):
            yield batch
            try:
                Path(self.options.paths[0]).parent.joinpath("fault").rename(f"{self.options.paths[0]}-taken")
            except FileNotFoundError:
                continue
            die()


class DyingSource(KafkaLogDataSource):
    @classmethod
    def name(cls) -> str:
        return "recordpressdying"

    def reader(self, schema: Any) -> Any:
        return DyingReader(*self._columns_of(schema), self.parallelism)

    def streamReader(self, schema: Any) -> Any:
        return stream_reader(DyingReader(*self._columns_of(schema), self.parallelism))


def on_a_full_disk(given: tuple[Any, Any]) -> Any:
    """The work, where no file gets larger than some bytes: RLIMIT_FSIZE."""
    work, item = given
    with full_disk():
        return work(item)


@contextmanager
def full_disk(size: int = 2000) -> Iterator[None]:
    """A write of more is an error (setrlimit(2)), as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
