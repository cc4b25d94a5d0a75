"""What reading costs in memory: in proportion to what comes out, whatever the entries say of themselves. Each test
measures a process of its own."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytestmark = [pytest.mark.memory, pytest.mark.skipif(sys.platform != "linux", reason="needs Linux' /proc")]

SETUP = """
import random, resource, struct, sys
import kpress

MIB = 1 << 20

def resident():
    return 4096 * int(open("/proc/self/statm").read().split()[1])

def reserved():
    return 4096 * int(open("/proc/self/statm").read().split()[0])

def peak():
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
"""


def _run(program: str, *arguments: object) -> None:
    script = SETUP + textwrap.dedent(program)
    command = [sys.executable, "-c", script, *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_views_into_many_small_batches(codec: str) -> None:
    """15,000 batches of 200 bytes: 3 MB come out, and a block for each would have been gigabytes."""
    _run(f"""
    data = b"".join(
        kpress.write_records([random.randbytes(20) * 10], base_offset=i, compression_type="{codec}")
        for i in range(15_000)
    )
    kpress.read_columns(data[:1000], ["value"], binary_type="binary_view")
    before, room = resident(), reserved()
    columns = kpress.read_columns(data, ["value"], binary_type="binary_view")
    assert columns.num_rows == 15_000
    assert resident() - before < 16 * MIB
    assert reserved() - room < 32 * MIB
    assert kpress.pool_bytes()[0] < 16 * MIB
    """)


def test_nothing_is_kept_for_views_where_no_binary_column_is_asked() -> None:
    _run("""
    data = kpress.write_records([bytes(1000)] * 20_000, compression_type="zstd")
    columns = kpress.read_columns(data, ["offset"], binary_type="binary_view")
    assert kpress.pool_bytes()[0] < 8 * MIB
    """)


SPARSE = """
    size = 1 << 30
    head = bytearray(kpress.write_records([b"v"])[:61])
    head[8:12] = struct.pack(">i", {entry})
    with open(sys.argv[1], "wb") as file:
        file.write(head)
        file.truncate(size)
    before = peak()
    with open(sys.argv[1], "rb") as file:
        pieces = kpress.iter_columns(file, ["offset"]{options})
        try:
            list(pieces)
        except kpress.CorruptRecordError as error:
            assert error.position in (8, 17), error
        else:
            assert pieces.trailing_bytes == size
    assert peak() - before < {most} * MIB, (peak() - before) // MIB
"""


@pytest.mark.parametrize(
    ("entry", "options", "most"),
    [
        ("size - 12", "", 1060),  # the entry once, not twice
        ("size - 12", ", max_message_bytes=MIB", 32),
        ("size", "", 32),  # the file does not have all of it
        ("2**31 - 1", "", 32),
    ],
)
def test_one_entry_of_a_sparse_file(tmp_path: Path, entry: str, options: str, most: int) -> None:
    _run(SPARSE.format(entry=entry, options=options, most=most), tmp_path / "00000000000000000000.log")
