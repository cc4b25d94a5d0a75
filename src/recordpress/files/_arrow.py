"""What pyarrow.fs opens: S3, Google Cloud Storage, Azure, HDFS."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from recordpress.files._errors import NotFoundError, storage_errors
from recordpress.files._interface import FileInfo, FileSystem, RandomAccessFile, Writer

if TYPE_CHECKING:
    from typing_extensions import Buffer

_SCHEMES = {"gcs": "gs"}  # pyarrow's name of a type, where it is not the scheme


class ArrowFileSystem(FileSystem):
    """A ``pyarrow.fs.FileSystem``.

    Parameters
    ----------
    filesystem : pyarrow.fs.FileSystem
    shown : str, optional
        What messages show before a path: a scheme, and a server if paths do not begin with what says where they are.
    """

    def __init__(self, filesystem: Any, shown: str | None = None) -> None:
        self._fs = filesystem
        self._shown = shown or f"{_SCHEMES.get(filesystem.type_name, filesystem.type_name)}://"

    def info(self, path: str) -> FileInfo:
        with storage_errors("asking for a file", self.url(path)):
            info = _info(self._fs.get_file_info(path))
        if info.kind == "missing":
            raise NotFoundError("there is no such file or directory", file=self.url(path))
        return info

    def list(self, path: str) -> list[FileInfo]:
        from pyarrow.fs import FileSelector

        with storage_errors("listing a directory", self.url(path)):
            found = [_info(info) for info in self._fs.get_file_info(FileSelector(path))]
        return sorted((info for info in found if info.name), key=lambda info: info.name)

    def open(self, path: str) -> RandomAccessFile:
        return _ArrowFile(self._fs, path, self.url(path))

    def create(self, path: str) -> Writer:
        return UploadWriter(self, path)

    def delete(self, path: str) -> None:
        self.check_fence()
        with storage_errors("deleting a file", self.url(path)), self._missing_in_hdfs(path):
            self._fs.delete_file(path)

    def delete_directory(self, path: str) -> None:
        self.check_fence()
        shown = self.url(path)
        with suppress(FileNotFoundError), storage_errors("deleting a directory", shown), self._missing_in_hdfs(path):
            self._fs.delete_dir(path)

    @contextmanager
    def _missing_in_hdfs(self, path: str) -> Iterator[None]:
        """A FileNotFoundError for what is not there: hdfsDelete says EIO (FileSystem.delete is false)."""
        try:
            yield
        except FileNotFoundError:
            raise
        except OSError:
            self.info(path)
            raise

    def make_directory(self, path: str) -> None:
        self.check_fence()
        with storage_errors("making a directory", self.url(path)):
            self._fs.create_dir(path, recursive=True)

    def url(self, path: str) -> str:
        return f"{self._shown}{path}"

    def output(self, path: str) -> Any:
        """A stream whose bytes are at `path` once it is closed."""
        return self._fs.open_output_stream(path)

    def move(self, source: str, target: str) -> None:
        self.check_fence()
        with storage_errors("moving a file", self.url(source)):
            try:
                self._fs.move(source, target)
            except NotImplementedError:  # Azure without a hierarchical namespace (apache/arrow#40405)
                self._fs.copy_file(source, target)
                self._fs.delete_file(source)


def _info(info: Any) -> FileInfo:
    from pyarrow.fs import FileType

    kinds = {FileType.File: "file", FileType.Directory: "directory", FileType.NotFound: "missing"}
    modified = info.mtime_ns / 1e9 if info.mtime_ns is not None else None
    kind: Any = kinds.get(info.type, "other")
    return FileInfo(info.path, info.base_name, kind, info.size if kind == "file" else None, modified)


class _ArrowFile(RandomAccessFile):
    def __init__(self, filesystem: Any, path: str, url: str) -> None:
        self.name = url
        with storage_errors("opening a file", url):
            self._file = filesystem.open_input_file(path)
            self.size = self._file.size()

    def read_at(self, position: int, length: int) -> bytes:
        with storage_errors("reading a file", self.name):
            data: bytes = self._file.read_at(length, position)
        return data

    def close(self) -> None:
        with storage_errors("closing a file", self.name):
            self._file.close()


class UploadWriter(Writer):
    """Written under a hidden name and then moved: an upload that ends too early may leave an object, but never under
    the name that was asked for. Object stores copy without sending the bytes again.

    Parameters
    ----------
    filesystem : ArrowFileSystem or FsspecFileSystem
    path : str
    """

    def __init__(self, filesystem: Any, path: str) -> None:
        self._fs = filesystem
        self._target = path
        self._path = filesystem.join(filesystem.parent(path), f".{filesystem.name(path)}.{uuid4().hex}")
        self._url = filesystem.url(path)
        with storage_errors("creating a file", self._url):
            self._stream = filesystem.output(self._path)
        self._is_done = False

    def write(self, data: Buffer) -> None:
        with storage_errors("writing a file", self._url):
            self._stream.write(memoryview(data).cast("B"))

    def publish(self) -> None:
        with storage_errors("publishing a file", self._url):
            self._stream.close()
            self._fs.move(self._path, self._target)
        self._is_done = True

    def discard(self) -> None:
        if self._is_done:
            return
        self._is_done = True
        try:
            with storage_errors("closing a file", self._url):
                self._stream.close()
        finally:
            self._remove()

    def _remove(self) -> None:
        with suppress(FileNotFoundError):  # it was moved, or never created
            self._fs.fenced(None).delete(self._path)
