"""Stores that fsspec opens: all except local files and the stores of pyarrow.fs."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from inspect import signature
from typing import Any

from recordpress._file_names import printable, without_secrets
from recordpress.errors import StorageError
from recordpress.files._arrow import UploadWriter
from recordpress.files._interface import FileInfo, FileSystem, RandomAccessFile, Writer

_KINDS = {"file": "file", "directory": "directory"}
_TIMES = ("LastModified", "last_modified", "updated", "mtime", "created")  # names of the time of the last change


class FsspecFileSystem(FileSystem):
    """An ``fsspec.AbstractFileSystem``."""

    def __init__(self, filesystem: Any, secrets: tuple[str, ...] = ()) -> None:
        self._fs = filesystem
        self._secrets = secrets

    def info(self, path: str) -> FileInfo:
        with self.errors("looking up a file", path):
            return self._info(self._fs.info(path))

    def list(self, path: str) -> list[FileInfo]:
        with self.errors("listing a directory", path):
            self._fs.invalidate_cache(path)  # a cached listing may lack what was written since
            found = [self._info(info) for info in self._fs.ls(path, detail=True)]
        # some stores list a directory as its own entry
        return sorted((info for info in found if info.path != path.rstrip("/")), key=lambda info: info.name)

    def open(self, path: str) -> RandomAccessFile:
        return _FsspecFile(self, self.info(path))

    def create(self, path: str) -> Writer:
        return UploadWriter(self, path)

    def create_new(self, path: str, data: bytes) -> None:
        create = getattr(self._fs, "_pipe_file", self._fs.pipe_file)
        if "mode" not in signature(create).parameters:  # fsspec before 2024.12
            super().create_new(path, data)
            return
        self.check_fence()
        with self.errors("creating a file", path):
            self._fs.pipe_file(path, data, mode="create")

    def delete(self, path: str) -> None:
        self.check_fence()
        with self.errors("deleting a file", path):
            self._fs.rm_file(path)

    def delete_directory(self, path: str) -> None:
        self.check_fence()
        with self.errors("deleting a directory", path), suppress(FileNotFoundError):
            self._fs.rm(path, recursive=True)

    def make_directory(self, path: str) -> None:
        self.check_fence()
        with self.errors("creating a directory", path):
            self._fs.makedirs(path, exist_ok=True)

    def url(self, path: str) -> str:
        return without_secrets(printable(self._fs.unstrip_protocol(path)), self._secrets)

    def read(self, path: str, start: int, end: int) -> bytes:
        """Return a range of a file's bytes."""
        with self.errors("reading a file", path):
            data: bytes = self._fs.cat_file(path, start=start, end=end)
        return data

    def output(self, path: str) -> Any:
        """Open a stream whose bytes are at `path` once it is closed."""
        return self._fs.open(path, "wb")

    def copy(self, source: str, target: str) -> bool:
        self.check_fence()
        with self.errors("copying a file", source):
            try:
                self._fs.cp_file(source, target)
            except NotImplementedError:
                return False
        return True

    def move(self, source: str, target: str) -> None:
        self.check_fence()
        with self.errors("moving a file", source):
            self._fs.mv(source, target)

    def _info(self, info: dict[str, Any]) -> FileInfo:
        path = info["name"].rstrip("/")
        kind: Any = _KINDS.get(info["type"], "other")
        modified = next((info[name] for name in _TIMES if name in info), None)
        modified = modified.timestamp() if isinstance(modified, datetime) else modified
        is_known = isinstance(modified, int | float)
        return FileInfo(
            path, self.name(path), kind, info["size"] if kind == "file" else None, modified if is_known else None
        )


class _FsspecFile(RandomAccessFile):
    def __init__(self, filesystem: FsspecFileSystem, info: FileInfo) -> None:
        self.name = filesystem.url(info.path)
        self._fs = filesystem
        self._path = info.path
        if info.size is None:
            raise StorageError("it is not a file with a known size", file=self.name)
        self.size = info.size

    def read_at(self, position: int, length: int) -> bytes:
        return self._fs.read(self._path, position, position + length)

    def close(self) -> None:
        pass  # every read is a separate request
