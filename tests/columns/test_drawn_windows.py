"""However a record set is cut into batches, results and reads of a file, its pieces are the whole."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
from hypothesis import given, strategies as st

import recordpress

COLUMNS = ["offset", "key", "value", "baseOffset"]


class InPieces(io.RawIOBase):
    """A file whose every read gives as much as it likes."""

    def __init__(self, data: bytes, sizes: list[int]) -> None:
        self.data, self.sizes, self.at, self.reads = data, sizes, 0, 0

    def readinto(self, buffer: Any) -> int:
        size = self.sizes[self.reads % len(self.sizes)]
        self.reads += 1
        part = self.data[self.at : self.at + min(size, len(buffer))]
        buffer[: len(part)] = part
        self.at += len(part)
        return len(part)


@st.composite
def logs(draw: st.DrawFn) -> bytes:
    """A record set."""
    data = b""
    for _ in range(draw(st.integers(0, 12))):
        sizes = draw(st.lists(st.integers(0, 300), min_size=1, max_size=8))
        codec = draw(st.sampled_from(["none", "gzip", "snappy", "lz4", "zstd"]))
        magic = draw(st.sampled_from([1, 2])) if codec != "zstd" else 2
        values = [bytes([number + 65]) * size for number, size in enumerate(sizes)]
        data += recordpress.write_records(values, base_offset=len(data), compression_type=codec, magic=magic)
    return data


def rows_of(pieces: list[recordpress.Columns]) -> list[dict[str, Any]]:
    return [row for piece in pieces for row in pa.table(piece).to_pylist()]


@given(
    log=logs(),
    cut=st.integers(0, 60),
    batch_bytes=st.one_of(st.integers(1, 400), st.just(1 << 18)),
    sizes=st.lists(st.integers(1, 700), min_size=1, max_size=6),
    binary_type=st.sampled_from(["binary", "large_binary", "binary_view"]),
    threads=st.sampled_from([1, 1, 2]),
)
def test_any_cut_of_a_file(
    log: bytes, cut: int, batch_bytes: int, sizes: list[int], binary_type: Any, threads: int
) -> None:
    data = log[: max(0, len(log) - cut)]
    ends = {entry.position + len(entry.data) for entry in recordpress.read_batches(data)}
    whole = recordpress.read_columns(data, COLUMNS, binary_type=binary_type)
    for source in (data, io.BytesIO(data), InPieces(data, sizes)):
        iterator = recordpress.iter_columns(
            source, COLUMNS, batch_bytes=batch_bytes, binary_type=binary_type, threads=threads
        )
        pieces, positions = [], [0]
        for piece in iterator:
            pieces.append(piece)
            positions.append(iterator.position)
            assert piece.valid_bytes == positions[-1] - positions[-2]
        assert set(positions[1:]) <= ends
        assert rows_of(pieces) == pa.table(whole).to_pylist()
        assert (iterator.valid_bytes, iterator.trailing_bytes) == (whole.valid_bytes, whole.trailing_bytes)


@given(data=logs(), batch_bytes=st.integers(1, 400), steps=st.integers(0, 5))
def test_a_walk_resumes_after_any_piece(data: bytes, batch_bytes: int, steps: int) -> None:
    first = recordpress.iter_columns(data, COLUMNS, batch_bytes=batch_bytes)
    pieces = [piece for piece, _ in zip(first, range(steps), strict=False)]
    position = sum(piece.valid_bytes for piece in pieces)
    file = io.BytesIO(data)
    file.seek(position)
    for rest in (
        recordpress.iter_columns(data, COLUMNS, start_position=position),
        recordpress.iter_columns(file, COLUMNS),
    ):
        assert rows_of([*pieces, *rest]) == pa.table(recordpress.read_columns(data, COLUMNS)).to_pylist()
