"""Files of this machine, read with pread."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from recordpress._file_names import printable, refuse_url
from recordpress.files._background import Background
from recordpress.files._interface import FileInfo, FileSystem, Listing, RandomAccessFile, Writer
from recordpress.files._links import check_link, open_file
from recordpress.files._unfinished import sweep_directory, unfinished_file

if TYPE_CHECKING:
    from typing_extensions import Buffer

_MOST_AT_ONCE = 1 << 30  # Linux gives no more than 2 GiB - 4 KiB at once


class LocalFileSystem(FileSystem):
    """The files of this machine."""

    def info(self, path: str) -> FileInfo:
        """Return the entry at a path; raise FileNotFoundError if it is missing."""
        return _info(path, os.path.basename(path.rstrip(os.sep)), os.lstat(path))

    def list(self, path: str) -> list[FileInfo]:
        found: list[FileInfo] = []
        with os.scandir(path) as entries:
            for entry in entries:
                try:
                    status = entry.stat(follow_symlinks=False)
                except FileNotFoundError:  # another process deleted or renamed it in the meantime
                    continue
                found.append(_info(entry.path, entry.name, status))
        return sorted(found, key=lambda info: info.name)

    def list_each(self, groups: Sequence[Sequence[str]]) -> Iterator[Listing]:
        return (self.list(path) for group in groups for path in group)

    def open(self, path: str) -> RandomAccessFile:
        """Open a file for reading; a named pipe is refused."""
        return _LocalFile(path)

    def create(self, path: str) -> Writer:
        return _LocalWriter(path)

    def upload(self, path: str) -> Writer:
        return _LocalWriter(path, sweeps=False)

    def write_file(self, path: str, data: bytes) -> None:
        self.create_file(path, data)

    def create_new(self, path: str, data: bytes) -> None:
        with open(path, "xb") as file:
            file.write(data)

    def delete(self, path: str) -> None:
        os.unlink(path)

    def move(self, source: str, target: str) -> None:
        os.replace(source, target)

    def delete_directory(self, path: str) -> None:
        import shutil  # here, because it imports every compressor that Python has

        with suppress(FileNotFoundError):
            shutil.rmtree(path)

    def sweep(self, path: str) -> None:
        with suppress(FileNotFoundError):
            sweep_directory(Path(path))

    def make_directory(self, path: str) -> None:
        os.makedirs(path, exist_ok=True)

    def check_link(self, info: FileInfo, root: str) -> None:
        if info.is_link:
            check_link(Path(info.path), Path(root))

    def url(self, path: str) -> str:
        return printable(path)

    def canonical(self, path: str) -> str:
        return os.path.realpath(path)

    def join(self, path: str, *names: str) -> str:
        """Return a path and names in it, as one path."""
        return os.path.join(path, *names)

    def parent(self, path: str) -> str:
        return os.path.dirname(path.rstrip(os.sep))


def _info(path: str, name: str, status: os.stat_result) -> FileInfo:
    is_link = stat.S_ISLNK(status.st_mode)
    if is_link:
        try:
            status = os.stat(path)
        except OSError:  # it leads to nothing, in a circle, or to a place without permission
            return FileInfo(path, name, "missing", is_link=True)
    if stat.S_ISDIR(status.st_mode):
        return FileInfo(path, name, "directory", None, status.st_mtime, is_link)
    if stat.S_ISREG(status.st_mode):
        return FileInfo(path, name, "file", status.st_size, status.st_mtime, is_link)
    return FileInfo(path, name, "other", None, status.st_mtime, is_link)


class _LocalFile(RandomAccessFile):
    is_remote = False

    def __init__(self, path: str) -> None:
        self.name = printable(path)
        self._file = open_file(path)
        self.size = os.fstat(self._file.fileno()).st_size

    def read_at(self, position: int, length: int) -> bytes:
        data = os.pread(self._file.fileno(), min(length, _MOST_AT_ONCE), position)
        if len(data) == length or not data:
            return data
        parts = [data]  # a signal may cut a read short, the kernel a long one
        while (length := length - len(data)) and data:
            position += len(data)
            data = os.pread(self._file.fileno(), min(length, _MOST_AT_ONCE), position)
            parts.append(data)
        return b"".join(parts)

    def read_into(self, position: int, buffer: Buffer) -> int:
        view = memoryview(buffer).cast("B")
        done = 0
        while done < len(view) and (
            count := os.preadv(self._file.fileno(), [view[done : done + _MOST_AT_ONCE]], position + done)
        ):
            done += count
        return done

    def forget(self) -> None:
        os.posix_fadvise(self._file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    def close(self) -> None:
        self._file.close()


class _LocalWriter(Writer):
    def __init__(self, path: str, sweeps: bool = True) -> None:
        refuse_url(path)
        self._target = Path(path)
        self._unfinished: AbstractContextManager[object] | None = None
        unfinished = unfinished_file(self._target, sweeps=sweeps)
        self._path, self._file = unfinished.__enter__()
        self._unfinished = unfinished
        self._sync: Background[None] | None = None

    def write(self, data: Buffer) -> None:
        left = memoryview(data).cast("B")
        self._synced()
        try:
            while left:
                left = left[self._file.write(left[:_MOST_AT_ONCE]) :]
        except OSError as error:  # a full disk, say, where the system's error names no file
            error.filename = os.fspath(self._target)
            raise

    def written(self) -> RandomAccessFile:
        """Send the written bytes to the disk while they are read back."""
        self._synced()
        descriptor = self._file.fileno()
        self._sync = Background(lambda: os.fsync(descriptor), "recordpress sync")
        return _LocalFile(os.fspath(self._path))

    def _synced(self) -> bool:
        """Wait for the sync that `written` began; return whether it began one."""
        if self._sync is None:
            return False
        self._sync.wait()  # an interrupt leaves it to `discard`
        sync, self._sync = self._sync, None
        sync.result()
        return True

    def publish(self) -> None:
        if not self._synced():
            os.fsync(self._file.fileno())
        os.replace(self._path, self._target)
        self.discard()
        sync_directory(self._target.parent)

    def discard(self) -> None:
        if self._sync is not None:
            self._sync.wait()
        unfinished, self._unfinished = self._unfinished, None
        if unfinished is not None:
            unfinished.__exit__(None, None, None)


def sync_directory(path: Path) -> None:
    """Make the names in a directory durable."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_if_empty(files: FileSystem, path: str) -> None:
    """Delete a directory if it is empty."""
    if isinstance(files, LocalFileSystem):
        with suppress(OSError):
            os.rmdir(path)
    else:
        with suppress(FileNotFoundError):
            if not files.list(path):
                files.delete_directory(path)
