"""Files of JSON lines, written and read in chunks: the size of a line is limited, the size of a file is not."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from recordpress.errors import CorruptRecordError
from recordpress.files import RandomAccessFile, Writer

_CHUNK = 1 << 20  # bytes of one write or one read, and maximum of a line


def write_lines(writer: Writer, values: Iterable[Any]) -> None:
    """Write each value as one line; raise ValueError for a line that `read_lines` would reject."""
    encode = json.JSONEncoder(separators=(",", ":"), check_circular=False, default=list).encode
    chunk: list[bytes] = []
    size = 0
    for value in values:
        line = encode(value).encode() + b"\n"
        if len(line) > _CHUNK:
            raise ValueError(f"a line has {len(line)} bytes, more than {_CHUNK}: {line[:100]!r}")
        chunk.append(line)
        size += len(line)
        if size >= _CHUNK:
            writer.write(b"".join(chunk))
            chunk, size = [], 0
    writer.write(b"".join(chunk))


def read_lines(file: RandomAccessFile, rule: str) -> Iterator[Any]:
    """Yield the value of each line; raise CorruptRecordError for a line that is not JSON, too long or truncated."""
    decode = json.JSONDecoder().decode
    position, rest = 0, b""
    while position < file.size:
        chunk = rest + file.read_exactly(position, min(_CHUNK, file.size - position))
        start = position - len(rest)
        position = start + len(chunk)
        lines = chunk.split(b"\n")
        rest = lines.pop()
        for line in lines:
            try:
                yield decode(line.decode())
            except (ValueError, RecursionError) as error:
                raise CorruptRecordError(
                    f"not JSON: {error}"[:300], file=file.name, position=start, rule=rule
                ) from None
            start += len(line) + 1
        if len(rest) > _CHUNK:
            raise CorruptRecordError(f"a line has more than {_CHUNK} bytes", file=file.name, position=start, rule=rule)
    if rest:
        raise CorruptRecordError("the last line is truncated", file=file.name, position=position - len(rest), rule=rule)
