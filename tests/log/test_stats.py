"""stats_of: the ratio, which is measured on a few batches, is near that of all of them."""

from __future__ import annotations

import random
from pathlib import Path

import kpress
from kpress.log import stats_of


def test_each_segment_counts_by_its_size(tmp_path: Path) -> None:
    """The few batches of a small segment are large and compress well; most of what is stored does not."""
    numbers = random.Random(7)
    folder = tmp_path / "orders-0"
    folder.mkdir()
    before = after = 0

    def write(base: int, batches: list[list[bytes]]) -> int:
        nonlocal before, after
        offset, data = base, b""
        for values in batches:
            data += kpress.write_records(values, compression_type="zstd", base_offset=offset)
            before += len(kpress.write_records(values, base_offset=offset))
            offset += len(values)
        after += len(data)
        (folder / f"{base:020}.log").write_bytes(data)
        return offset

    following = write(0, [[b"GET / HTTP/1.1" * 400] * 50 for _ in range(2)])
    write(following, [[numbers.randbytes(100) + b"GET" * 10 for _ in range(20)] for _ in range(200)])

    [partition] = kpress.open_log(folder).partitions
    ratio = stats_of(partition).ratio("zstd")
    assert ratio is not None
    assert abs(ratio / (before / after) - 1) < 0.15
