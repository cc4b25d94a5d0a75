"""Common functions of readers and writers of sidecar files: sources of bytes, writing, and errors in entries.

A source is a path, a bytes-like object, or anything with `size` and `read_at`. A target is a path, whose file is
published when it is complete, or anything with `write`.
"""

from __future__ import annotations

import os
import re
import struct
from abc import abstractmethod
from array import array
from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, TypeVar, overload, runtime_checkable

from recordpress._arguments import INT32_MAX, INT64_MAX
from recordpress._buffers import InputView
from recordpress._file_names import printable
from recordpress.errors import CorruptRecordError, InvalidArgumentError, RecordpressError
from recordpress.files import LocalFileSystem, RandomAccessFile, open_file

if TYPE_CHECKING:
    from typing_extensions import Buffer

# Kafka's largest index by default is 10 MiB (segment.index.bytes); a snapshot has 46 bytes per producer.
LARGEST_SIDECAR = 256 << 20

_ZEROS = bytes(24 << 10)  # whole entries of 8 or 12 bytes

_Entry = TypeVar("_Entry")
_LEADING_DIGITS = re.compile("[0-9]{1,20}(?![0-9])")


@runtime_checkable
class ReadableFile(Protocol):
    """Open file that is read by position."""

    @property
    def size(self) -> int: ...

    def read_at(self, position: int, length: int, /) -> bytes: ...


@runtime_checkable
class WritableFile(Protocol):
    """Object that accepts bytes."""

    def write(self, data: bytes, /) -> Any: ...


SidecarSource: TypeAlias = "str | PathLike[str] | Buffer | ReadableFile"
SidecarTarget: TypeAlias = str | PathLike[str] | WritableFile


class Sidecar(NamedTuple):
    """Bytes of a file, and its name for messages."""

    data: bytes
    name: str | None

    def corrupt(self, message: str, position: int, field: str, rule: str) -> CorruptRecordError:
        return CorruptRecordError(message, file=self.name, position=position, field=field, rule=rule)

    def base_offset(self, given: int | None) -> int:
        """Return the given base offset, or the number at the start of the file's name, or 0."""
        if given is not None:
            if not 0 <= given <= INT64_MAX:
                raise InvalidArgumentError(
                    f"base_offset must be between 0 and {INT64_MAX}, not {given}", field="base_offset"
                )
            return given
        digits = _LEADING_DIGITS.match(os.path.basename(self.name or ""))
        return int(digits[0]) if digits and int(digits[0]) <= INT64_MAX else 0


def read_sidecar(source: SidecarSource, rule: str) -> Sidecar:
    """Read all bytes of a file."""
    if isinstance(source, bytes):
        return Sidecar(source, None)
    if isinstance(source, str | PathLike):
        with open_file(os.fspath(source)) as file:
            _check_size(os.fstat(file.fileno()).st_size, printable(source), rule)
            return Sidecar(file.readall(), printable(source))
    if isinstance(source, RandomAccessFile | ReadableFile):  # the first check is cheaper
        named = getattr(source, "path", None) or getattr(source, "name", None)
        name = printable(named) if isinstance(named, str | PathLike) else None
        _check_size(source.size, name, rule)
        data = bytes(source.read_at(0, source.size))
        if len(data) < source.size:
            raise CorruptRecordError(
                f"the file ends after {len(data)} of its {source.size} bytes", file=name, position=len(data), rule=rule
            )
        return Sidecar(data, name)
    return Sidecar(bytes(InputView(source, "source")), None)


def _check_size(size: int, name: str | None, rule: str) -> None:
    if size > LARGEST_SIDECAR:
        raise CorruptRecordError(
            f"the file has {size} bytes; files of this kind have at most {LARGEST_SIDECAR}", file=name, rule=rule
        )


def write_sidecar(target: SidecarTarget, data: bytes) -> None:
    """Write a file to disk, and then rename it to its path; replace an existing file."""
    if not isinstance(target, str | PathLike):
        target.write(data)
        return
    LocalFileSystem().create_file(os.fspath(target), data)


def packed(layout: struct.Struct, entries: Sequence[tuple[int, ...]], names: Sequence[str]) -> bytes:
    """Return the concatenated entries."""
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
    """Raise an error for an offset that an entry cannot hold: it is an int32 relative to the base offset."""
    if relative > INT32_MAX:
        raise InvalidArgumentError(
            f"entry {number}: offset {relative + base_offset} is more than {INT32_MAX} above the base offset "
            f"{base_offset}",
            field="offset",
        )


class Index(Sequence[_Entry]):
    """Entries of an index of a segment: two columns, one of them relative to the base offset."""

    def __init__(self, base_offset: int, keys: array[int], values: array[int], padding: int) -> None:
        self.base_offset = base_offset
        self.padding = padding
        self._keys = keys
        self._values = values

    @abstractmethod
    def _entry(self, key: int, value: int) -> _Entry:
        """Return the entry of a row."""

    def __len__(self) -> int:
        return len(self._keys)

    @overload
    def __getitem__(self, index: int) -> _Entry: ...
    @overload
    def __getitem__(self, index: slice) -> list[_Entry]: ...
    def __getitem__(self, index: int | slice) -> _Entry | list[_Entry]:
        if isinstance(index, slice):
            return list(map(self._entry, self._keys[index], self._values[index]))
        return self._entry(self._keys[index], self._values[index])

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other) or not isinstance(other, Index):
            return list(self) == other
        return (self.base_offset, self._keys, self._values) == (other.base_offset, other._keys, other._values)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        name = f"recordpress.log.sidecars.{type(self).__name__}"
        return f"<{name}: {len(self)} entries, base offset {self.base_offset}>"


def read_index(
    source: SidecarSource, base_offset: int | None, entry_size: int, field: str, rule: str
) -> tuple[Sidecar, int, int]:
    """Read an index of complete entries; return it without blocks of zeros at its end, with its segment's base offset
    and its size. A broker pads the indexes of each active segment, usually to 10 MiB."""
    sidecar = read_sidecar(source, rule)
    size = len(sidecar.data)
    if size % entry_size:
        raise sidecar.corrupt(f"the size {size} is not a multiple of {entry_size}", size, field, rule)
    base, end = sidecar.base_offset(base_offset), size
    while end > len(_ZEROS) and sidecar.data.endswith(_ZEROS, 0, end):
        end -= len(_ZEROS)
    return sidecar._replace(data=sidecar.data[:end]), base, size


def count_entries(sidecar: Sidecar, entries: Sequence[Any], zero: Any, entry_size: int, field: str, rule: str) -> int:
    """Return the number of entries before the padding, which begins with a zero entry after entry 0."""
    try:
        count = entries.index(zero, 1)
    except ValueError:
        return len(entries)
    if rest := sidecar.data[count * entry_size :].lstrip(b"\0"):
        at = (len(sidecar.data) - len(rest)) // entry_size * entry_size
        raise sidecar.corrupt(f"an entry follows the zeros that begin at byte {count * entry_size}", at, field, rule)
    return count
