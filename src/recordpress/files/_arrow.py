"""Stores that pyarrow.fs opens: S3, Google Cloud Storage, Azure, HDFS."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from recordpress.files._background import results
from recordpress.files._errors import NotFoundError
from recordpress.files._interface import LISTS_AT_ONCE, FileInfo, FileSystem, Listing, RandomAccessFile, Writer
from recordpress.files._s3 import list_keys, s3_client

if TYPE_CHECKING:
    from typing_extensions import Buffer

_SCHEMES = {"gcs": "gs"}  # pyarrow's name of a type, where it is not the scheme
_WITHOUT_DIRECTORIES = ("s3", "gcs", "abfs")  # pyarrow would write an object for each parent of a directory


class ArrowFileSystem(FileSystem):
    """A ``pyarrow.fs.FileSystem``."""

    def __init__(self, filesystem: Any, shown: str | None = None, secrets: tuple[str, ...] = ()) -> None:
        self._fs = filesystem
        self._secrets = secrets
        self._shown = shown or f"{_SCHEMES.get(filesystem.type_name, filesystem.type_name)}://"

    @cached_property
    def _s3_client(self) -> Any:
        """boto3's client, which takes a third of a second to create."""
        return s3_client(self._fs)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_s3_client"}  # each process has its own

    def info(self, path: str) -> FileInfo:
        with self.errors("looking up a file", path):
            info = _info(self._fs.get_file_info(path))
        if info.kind == "missing":
            raise NotFoundError("no such file or directory", file=self.url(path))
        return info

    def list(self, path: str) -> list[FileInfo]:
        from pyarrow.fs import FileSelector

        with self.errors("listing a directory", path):
            found = [_info(info) for info in self._fs.get_file_info(FileSelector(path))]
        return sorted((info for info in found if info.name), key=lambda info: info.name)

    def list_each(self, groups: Sequence[Sequence[str]]) -> Iterator[Listing]:
        client = self._s3_client if any(len(group) > 1 for group in groups) else None
        if client is None:
            return super().list_each(groups)

        def listed(group: Sequence[str]) -> Sequence[Listing]:
            with self.errors("listing directories", group[0]):
                return list_keys(client, group)

        return (found for _, several in results(groups, listed, LISTS_AT_ONCE) for found in several)

    def open(self, path: str) -> RandomAccessFile:
        return _ArrowFile(self, path)

    def create(self, path: str) -> Writer:
        return UploadWriter(self, path)

    def upload(self, path: str) -> Writer:
        return UploadWriter(self, path, is_hidden=self._fs.type_name not in _WITHOUT_DIRECTORIES)

    def create_new(self, path: str, data: bytes) -> None:
        client = self._s3_client
        if client is None:
            super().create_new(path, data)
            return
        self.check_fence()
        bucket, _, key = path.partition("/")
        with self.errors("creating a file", path):
            try:
                client.put_object(Bucket=bucket, Key=key, Body=data)
                return
            except client.exceptions.ClientError as error:
                status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode")
                if status in (409, 412):  # it exists, or another call is creating it
                    raise FileExistsError(path) from None
                if status != 501:
                    raise
        super().create_new(path, data)  # this server has no conditional writes

    def delete(self, path: str) -> None:
        self.check_fence()
        with self.errors("deleting a file", path), self._missing(path):
            self._fs.delete_file(path)

    def delete_directory(self, path: str) -> None:
        self.check_fence()
        with suppress(FileNotFoundError), self.errors("deleting a directory", path), self._missing(path):
            self._fs.delete_dir(path)

    @contextmanager
    def _missing(self, path: str) -> Iterator[None]:
        """Raise a FileNotFoundError for a missing file: S3's copy and hdfsDelete (FileSystem.delete is false) raise
        other errors."""
        try:
            yield
        except FileNotFoundError:
            raise
        except OSError:
            self.info(path)
            raise

    def make_directory(self, path: str) -> None:
        self.check_fence()
        if self._fs.type_name not in _WITHOUT_DIRECTORIES:
            with self.errors("creating a directory", path):
                self._fs.create_dir(path, recursive=True)

    def url(self, path: str) -> str:
        return f"{self._shown}{path}"

    def input(self, path: str) -> Any:
        """Open pyarrow's file for reading."""
        return self._fs.open_input_file(path)

    def output(self, path: str) -> Any:
        """Open a stream whose bytes are at `path` once it is closed."""
        return self._fs.open_output_stream(path)

    def copy(self, source: str, target: str) -> bool:
        self.check_fence()
        with self.errors("copying a file", source), self._missing(source):
            try:
                self._fs.copy_file(source, target)
            except NotImplementedError:  # HDFS
                return False
        return True

    def move(self, source: str, target: str) -> None:
        self.check_fence()
        with self.errors("moving a file", source):
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
    def __init__(self, filesystem: ArrowFileSystem, path: str) -> None:
        self.name = filesystem.url(path)
        self._errors = partial(filesystem.errors, path=path)
        with self._errors("opening a file"):
            self._file = filesystem.input(path)
            self.size = self._file.size()

    def read_at(self, position: int, length: int) -> bytes:
        with self._errors("reading a file"):
            data: bytes = self._file.read_at(length, position)
        return data

    def close(self) -> None:
        with self._errors("closing a file"):
            self._file.close()


class UploadWriter(Writer):
    """Writer that uploads a file under a hidden name, then moves it: an upload that ends too early may leave an object,
    but never under the requested name. Object stores copy without sending the bytes again, but S3 then writes an object
    for the directory, each time.
    """

    def __init__(self, filesystem: Any, path: str, is_hidden: bool = True) -> None:
        self._fs = filesystem
        self._errors = partial(filesystem.errors, path=path)
        self._target = path
        self._path = path
        if is_hidden:
            self._path = filesystem.join(filesystem.parent(path), f".{filesystem.name(path)}.{uuid4().hex}")
        with self._errors("creating a file"):
            self._stream = filesystem.output(self._path)
        self._is_done = False

    def write(self, data: Buffer) -> None:
        with self._errors("writing a file"):
            self._stream.write(memoryview(data).cast("B"))

    def publish(self) -> None:
        with self._errors("publishing a file"):
            self._fs.check_fence()
            self._stream.close()
            if self._path != self._target:
                self._fs.move(self._path, self._target)
        self._is_done = True

    def discard(self) -> None:
        if self._is_done:
            return
        self._is_done = True
        try:
            with self._errors("closing a file"):
                self._stream.close()
        finally:
            self._remove()

    def _remove(self) -> None:
        with suppress(FileNotFoundError):  # it was moved, or never created
            self._fs.fenced(None).delete(self._path)
