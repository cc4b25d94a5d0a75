"""Every reader gives the same damage the same position: where its batch begins. The field has a position of its own."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hostile_sets import with_right_crc

import recordpress
from recordpress.log import scan, verify
from together import sampled

T = 1_700_000_000_000
FORMATS = ((2, "zstd"), (0, "none"), (1, "gzip"), (2, "none"))


def _entry(magic: int, codec: str, base_offset: int) -> bytes:
    count = 1 if magic < 2 and codec == "none" else 3
    return recordpress.write_records(
        [b"value" * 3] * count,
        magic=magic,
        compression_type=codec,
        base_offset=base_offset,
        timestamps=None if magic == 0 else [T + base_offset + i for i in range(count)],
    )


def _flipped(data: bytes, position: int) -> bytes:
    return data[:position] + bytes([data[position] ^ 1 << position % 8]) + data[position + 1 :]


def _damaged(entry: bytes) -> Iterator[tuple[str, bytes]]:
    """The entry with one byte flipped, also behind a checksum that is right again; with wrong lengths; and cut."""
    records = 61 if entry[16] == 2 else 34
    for position in sampled((*range(8, records), *range(records, len(entry), 3)), 5):
        yield f"byte {position}", _flipped(entry, position)
        if position >= 21 or (entry[16] < 2 and position > 16):
            yield f"byte {position} and the checksum", with_right_crc(_flipped(entry, position))
    size = len(entry) - 12
    for wrong in (-1, 0, 13, 14, 48, size - 1, size + 1, size + 12, 2 * size + 12, 2**31 - 1):
        yield f"size {wrong}", entry[:8] + struct.pack(">i", wrong) + entry[12:]
    for length in sampled(range(1, len(entry), 2), 5):
        yield f"cut after {length} bytes", entry[:length]


def _raised(read: Callable[[], object]) -> list[recordpress.RecordpressError]:
    try:
        read()
    except recordpress.RecordpressError as error:
        return [error]
    return []


def _records(data: bytes) -> None:
    for batch in recordpress.read_batches(data):
        batch.ensure_valid()
        list(batch)


def _skipped(log: object) -> object:
    reader = recordpress.open_log(log).read(on_corrupt="skip")  # type: ignore[arg-type]
    reader.to_pyarrow()
    return reader.findings


READERS: dict[str, Callable[[bytes, Path], object]] = {
    "read_batches": lambda data, _: _raised(lambda: _records(data)),
    "read_columns": lambda data, _: _raised(lambda: recordpress.read_columns(data)),
    "iter_columns": lambda data, _: _raised(lambda: list(recordpress.iter_columns(io.BytesIO(data)))),
    "read": lambda _, path: _raised(recordpress.open_log(path).read().to_pyarrow),
    "read, skipping": lambda _, path: _skipped(path),
    "verify": lambda _, path: verify(path, "record").findings,
    "scan": lambda _, path: scan(path).findings,
}


def _first(found: object) -> int | None:
    of_the_log = [one.position for one in found if one.position is not None]  # type: ignore[attr-defined]
    return of_the_log[0] if of_the_log else None


@pytest.mark.parametrize("name", [f"v{magic} {codec}" for magic, codec in FORMATS])
def test_all_readers_give_the_batch(name: str, tmp_path: Path) -> None:
    magic, codec = int(name[1]), name[3:]
    before, entry, after = (_entry(magic, codec, base) for base in (0, 10, 20))
    path = tmp_path / "00000000000000000000.log"
    wrong = []
    places = ({len(before)}, {len(before) + len(entry)})  # a cut may take what the next entry then supplies
    for what, damaged in _damaged(entry):
        for follows in (b"", after):
            data = before + damaged + follows
            path.write_bytes(data)
            found = {name: _first(read(data, path)) for name, read in READERS.items()}
            positions = {position for position in found.values() if position is not None}
            if positions and positions not in places:
                wrong.append(f"{what}{' and more' * bool(follows)}: {found}")
    assert not wrong, "\n".join(wrong)
