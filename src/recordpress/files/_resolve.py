"""Find the file system of a path or URL, and the path in it."""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from recordpress._file_names import URL, printable, refuse_ambiguous, refuse_mistyped, secrets_of, without_secrets
from recordpress.errors import ArgumentTypeError, InvalidArgumentError
from recordpress.files._errors import storage_errors
from recordpress.files._interface import FileSystem
from recordpress.files._local import LocalFileSystem

# schemes of pyarrow.fs, and Hadoop's for the same stores
_ARROW_SCHEMES = {
    "s3": "s3",
    "s3a": "s3",
    "s3n": "s3",
    "gs": "gs",
    "gcs": "gs",
    "abfs": "abfs",
    "abfss": "abfss",
    "hdfs": "hdfs",
    "viewfs": "viewfs",
}
_OF_A_SERVER = ("hdfs", "viewfs")  # paths begin at its root; paths of other stores begin with a bucket or a container


def resolve(path: str | os.PathLike[str], filesystem: object = None) -> tuple[FileSystem, str]:
    """Return the file system of a path or a URL, and the path in it.

    Parameters
    ----------
    path : str or PathLike
        A local path; a ``file://`` URL; a URL of pyarrow.fs (``s3 gs abfs hdfs``, with Hadoop's ``s3a`` for ``s3``),
        with pyarrow's options after ``?``; or a URL with any other scheme that fsspec knows.
    filesystem : pyarrow.fs.FileSystem or fsspec.AbstractFileSystem or FileSystem, optional
        File system to use; `path` is then a path in it, without a scheme.

    Returns
    -------
    tuple of (FileSystem, str)

    Raises
    ------
    InvalidArgumentError
        Nothing opens the scheme, or the package for it is missing; the message names the package.
    StorageError
        The store cannot be reached, or refuses its options.

    Examples
    --------
    >>> from recordpress.files import resolve
    >>> resolve("file:///var/kafka-logs/orders-0")[1]
    '/var/kafka-logs/orders-0'
    """
    text = text_of(path)
    if filesystem is not None:
        return _adapted(filesystem), text
    match = URL.match(text)
    if not match:
        return LocalFileSystem(), text
    scheme = match["scheme"].lower()
    if scheme == "file":
        return LocalFileSystem(), _local_path(text)
    refuse_ambiguous(text)
    if scheme in _ARROW_SCHEMES:
        return _by_arrow(text, _ARROW_SCHEMES[scheme])
    return _by_fsspec(text, scheme)


def text_of(path: str | os.PathLike[str]) -> str:
    """Return a caller's path as text that is valid as the name of a file."""
    try:
        text = os.fspath(path)
    except TypeError as error:
        raise ArgumentTypeError(f"path must be text or a PathLike: {error}", field="path") from error
    if not isinstance(text, str):
        raise ArgumentTypeError(f"path must be text, not {type(text).__name__}", field="path")
    if not text or "\0" in text:
        raise InvalidArgumentError("path must not be empty or contain a zero byte", field="path")
    refuse_mistyped(text)
    try:
        os.fsencode(text)
    except UnicodeEncodeError as error:
        raise InvalidArgumentError(f"path cannot be the name of a file: {error}"[:200], field="path") from error
    return text


def _adapted(filesystem: object) -> FileSystem:
    if isinstance(filesystem, FileSystem):
        return filesystem
    module = type(filesystem).__module__.partition(".")[0]
    if module == "pyarrow" and hasattr(filesystem, "get_file_info"):
        from recordpress.files._arrow import ArrowFileSystem

        return ArrowFileSystem(filesystem)
    if hasattr(filesystem, "cat_file") and hasattr(filesystem, "unstrip_protocol"):
        from recordpress.files._fsspec import FsspecFileSystem

        return FsspecFileSystem(filesystem)
    raise ArgumentTypeError(
        "filesystem must be from pyarrow.fs or fsspec, not " + type(filesystem).__name__, field="filesystem"
    )


def _local_path(url: str) -> str:
    parts = urlsplit(url)
    if parts.netloc not in ("", "localhost"):
        raise InvalidArgumentError(
            f"{printable(url)} names a host: a file:// URL has three slashes, as in file:///var/kafka-logs",
            field="path",
        )
    return os.fsdecode(unquote(url.split("://", 1)[1][len(parts.netloc) :], errors="surrogateescape"))


def _by_arrow(url: str, scheme: str) -> tuple[FileSystem, str]:
    """Let pyarrow create the file system from the start of the URL, without the path, which may be a pattern."""
    try:
        from pyarrow.fs import FileSystem as ArrowFileSystems
    except ImportError:
        raise _missing(scheme, "pyarrow", "pyarrow") from None
    from recordpress.files._arrow import ArrowFileSystem

    place, _, options = url.split("://", 1)[1].partition("?")
    authority, slash, rest = place.partition("/")
    address = f"{scheme}://{authority}{'/' if slash else ''}{f'?{options}' if options else ''}"
    secrets = secrets_of(url)
    with storage_errors("opening the store", printable(url), secrets):
        filesystem, base = ArrowFileSystems.from_uri(quote(address, safe=":/?#[]@!$&'()*+,;=%"))
    server = authority.rpartition("@")[2] if scheme in _OF_A_SERVER else ""
    path = unquote(rest).strip("/")
    whole = f"{base.rstrip('/')}/{path}" if path else base.rstrip("/") or "/"
    if scheme.startswith("abfs"):  # a container is in no directory, even where a server is named instead of it
        whole = whole.strip("/")
    return ArrowFileSystem(filesystem, f"{scheme}://{server}", secrets), whole


def _by_fsspec(url: str, scheme: str) -> tuple[FileSystem, str]:
    try:
        import fsspec
    except ImportError:
        raise _missing(scheme, "fsspec and its package for this store", "fsspec") from None
    from recordpress.files._fsspec import FsspecFileSystem

    secrets = secrets_of(url)
    with storage_errors("opening the store", printable(url), secrets):  # some stores are connected to at once
        try:
            filesystem, path = fsspec.core.url_to_fs(url)
            return FsspecFileSystem(filesystem, secrets), path
        except ImportError as error:  # fsspec names the package
            problem = f"{scheme}:// needs another package: {error}"
        except ValueError as error:
            problem = (
                f"{printable(url)}: nothing opens {scheme}:// ({error}); supported are local paths, file://, "
                f"{', '.join(f'{name}://' for name in _ARROW_SCHEMES)} and the schemes of fsspec"
            )
    raise InvalidArgumentError(without_secrets(problem, secrets), field="path")


def _missing(scheme: str, what: str, package: str) -> Any:
    return InvalidArgumentError(f"{scheme}:// needs {what}: pip install {package}", field="path")
