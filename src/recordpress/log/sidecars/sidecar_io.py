"""Shared by the readers and writers of the files next to a log: sources of bytes, publishing, and the errors of bad
entries.

A source is a path, a bytes-like object, or anything with `size` and `read_at`. A target is a path, whose file is
published when it is complete, or anything with `write`.
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

from recordpress._arguments import INT32_MAX, INT64_MAX
from recordpress._file_names import printable
from recordpress.errors import CorruptRecordError, InvalidArgumentError, RecordpressError
from recordpress.files import LocalFileSystem, open_file

if TYPE_CHECKING:
    from typing_extensions import Buffer

# Kafka's largest index by default is 10 MiB (segment.index.bytes); a snapshot has 46 bytes per producer.
LARGEST_SIDECAR = 256 << 20

_LEADING_DIGITS = re.compile("[0-9]{1,20}(?![0-9])")


@runtime_checkable
class ReadableFile(Protocol):
    """An open file that is read by position, wherever it is."""

    @property
    def size(self) -> int: ...

    def read_at(self, position: int, length: int, /) -> bytes: ...


@runtime_checkable
class WritableFile(Protocol):
    """Anything that bytes can be written to."""

    def write(self, data: bytes, /) -> Any: ...


SidecarSource: TypeAlias = "str | PathLike[str] | Buffer | ReadableFile"
SidecarTarget: TypeAlias = str | PathLike[str] | WritableFile


class Sidecar(NamedTuple):
    """The bytes of a file, and its name for messages."""

    data: bytes
    name: str | None

    def corrupt(self, message: str, position: int, field: str, rule: str) -> CorruptRecordError:
        return CorruptRecordError(message, file=self.name, position=position, field=field, rule=rule)

    def base_offset(self, given: int | None) -> int:
        """The base offset that was given; else the number that the file's name begins with; else 0."""
        if given is not None:
            if not 0 <= given <= INT64_MAX:
                raise InvalidArgumentError(f"base_offset {given} is not an int64 from 0 on", field="base_offset")
            return given
        digits = _LEADING_DIGITS.match(os.path.basename(self.name or ""))
        return int(digits[0]) if digits and int(digits[0]) <= INT64_MAX else 0


def read_sidecar(source: SidecarSource, rule: str) -> Sidecar:
    """All bytes of a file.

    Raises
    ------
    CorruptRecordError
        It is larger than any that Kafka writes, or ends before its size.
    InvalidArgumentError
        It is a directory, a named pipe or the like.
    OSError
    """
    if isinstance(source, str | PathLike):
        with open_file(os.fspath(source)) as file:
            _check_size(os.fstat(file.fileno()).st_size, printable(source), rule)
            return Sidecar(file.readall(), printable(source))
    if isinstance(source, ReadableFile):
        named = getattr(source, "path", None) or getattr(source, "name", None)
        name = printable(named) if isinstance(named, str | PathLike) else None
        _check_size(source.size, name, rule)
        data = bytes(source.read_at(0, source.size))
        if len(data) < source.size:
            raise CorruptRecordError(
                f"the file ends after {len(data)} of its {source.size} bytes", file=name, position=len(data), rule=rule
            )
        return Sidecar(data, name)
    return Sidecar(bytes(source), None)


def _check_size(size: int, name: str | None, rule: str) -> None:
    if size > LARGEST_SIDECAR:
        raise CorruptRecordError(
            f"the file has {size} bytes, and none of its kind has more than {LARGEST_SIDECAR}", file=name, rule=rule
        )


def write_sidecar(target: SidecarTarget, data: bytes) -> None:
    """A path gets its file when all of it is on disk; what is there already is replaced."""
    if not isinstance(target, str | PathLike):
        target.write(data)
        return
    with LocalFileSystem().create(os.fspath(target)) as writer:
        writer.write(data)
        writer.publish()


def packed(layout: struct.Struct, entries: Sequence[tuple[int, ...]], names: Sequence[str]) -> bytes:
    """The entries one after another.

    Raises
    ------
    InvalidArgumentError
        A value does not fit its field.
    """
    try:
        return b"".join(layout.pack(*entry) for entry in entries)
    except struct.error:
        raise _misfit(layout, entries, names) from None


def _misfit(layout: struct.Struct, entries: Sequence[tuple[int, ...]], names: Sequence[str]) -> RecordpressError:
    codes = [code for code in layout.format if code in "bhiq"]
    for number, entry in enumerate(entries):
        for code, name, value in zip(codes, names, entry, strict=True):
            try:
                struct.pack(f">{code}", value)
            except struct.error:
                return InvalidArgumentError(f"entry {number}: {name} {value!r} does not fit its field", field=name)
    return InvalidArgumentError("the entries do not fit their fields")


def check_relative(number: int, relative: int, base_offset: int) -> None:
    """Refuse an offset that an entry cannot hold: it counts from the segment's base offset, in an int32.

    Raises
    ------
    InvalidArgumentError
    """
    if relative > INT32_MAX:
        raise InvalidArgumentError(
            f"entry {number}: offset {relative + base_offset} is more than {INT32_MAX} above the base offset "
            f"{base_offset}",
            field="offset",
        )
