"""What fsspec opens: every other store."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from recordpress.errors import StorageError
from recordpress.files._arrow import UploadWriter
from recordpress.files._errors import storage_errors
from recordpress.files._interface import FileInfo, FileSystem, RandomAccessFile, Writer

_KINDS = {"file": "file", "directory": "directory"}


class FsspecFileSystem(FileSystem):
    """An ``fsspec.AbstractFileSystem``.

    Parameters
    ----------
    filesystem : fsspec.AbstractFileSystem
    """

    def __init__(self, filesystem: Any) -> None:
        self._fs = filesystem

    def info(self, path: str) -> FileInfo:
        with storage_errors("asking for a file", self.url(path)):
            return self._info(self._fs.info(path))

    def list(self, path: str) -> list[FileInfo]:
        with storage_errors("listing a directory", self.url(path)):
            self._fs.invalidate_cache(path)  # a cached listing may lack what was written since
            found = [self._info(info) for info in self._fs.ls(path, detail=True)]
        # some stores list a directory as its own entry
        return sorted((info for info in found if info.path != path.rstrip("/")), key=lambda info: info.name)

    def open(self, path: str) -> RandomAccessFile:
        return _FsspecFile(self._fs, self.info(path), self.url(path))

    def create(self, path: str) -> Writer:
        return UploadWriter(self, path)

    def delete(self, path: str) -> None:
        self.check_fence()
        with storage_errors("deleting a file", self.url(path)):
            self._fs.rm_file(path)

    def delete_directory(self, path: str) -> None:
        self.check_fence()
        with storage_errors("deleting a directory", self.url(path)), suppress(FileNotFoundError):
            self._fs.rm(path, recursive=True)

    def make_directory(self, path: str) -> None:
        self.check_fence()
        with storage_errors("making a directory", self.url(path)):
            self._fs.makedirs(path, exist_ok=True)

    def url(self, path: str) -> str:
        return str(self._fs.unstrip_protocol(path))

    def output(self, path: str) -> Any:
        """A stream whose bytes are at `path` once it is closed."""
        return self._fs.open(path, "wb")

    def move(self, source: str, target: str) -> None:
        self.check_fence()
        with storage_errors("moving a file", self.url(source)):
            self._fs.mv(source, target)

    def _info(self, info: dict[str, Any]) -> FileInfo:
        path = info["name"].rstrip("/")
        kind: Any = _KINDS.get(info["type"], "other")
        return FileInfo(path, self.name(path), kind, info["size"] if kind == "file" else None)


class _FsspecFile(RandomAccessFile):
    def __init__(self, filesystem: Any, info: FileInfo, url: str) -> None:
        self.name = url
        self._fs = filesystem
        self._path = info.path
        if info.size is None:
            raise StorageError("it is not a file whose size is known", file=url)
        self.size = info.size

    def read_at(self, position: int, length: int) -> bytes:
        with storage_errors("reading a file", self.name):
            data: bytes = self._fs.cat_file(self._path, start=position, end=position + length)
        return data

    def close(self) -> None:
        pass  # every read is a separate request
