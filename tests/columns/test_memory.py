"""The memory of reading is proportional to the output, whatever the entries claim. Each test measures a process of its
own."""

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
    """15,000 batches of 200 bytes give 3 MB; a block for each would take gigabytes."""
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
    {change}
    with open(sys.argv[1], "wb") as file:
        file.write(head)
        file.truncate(size)
    before, found = peak(), None
    with open(sys.argv[1], "rb") as file:
        pieces = kpress.iter_columns(file, ["offset"]{options})
        try:
            list(pieces)
        except kpress.KpressError as error:
            found = error
    assert peak() - before < {most} * MIB, (peak() - before) // MIB
    for found in pieces.errors or filter(None, [found]):
        found = (found.position, found.field)
    assert found == {error}, found
    assert pieces.trailing_bytes == (0 if found else size)
"""
ATTRIBUTES, COUNT = "head[22] = {}", 'head[57:61] = struct.pack(">i", {})'


@pytest.mark.parametrize(
    ("entry", "change", "options", "error", "most"),
    [
        ("size - 12", "", "", (62, "varint"), 32),  # no record has length 0
        ("size - 12", "head += b'\\xff' * 4 + b'\\x0f'", "", (61, "length"), 32),
        ("size - 12", COUNT.format(2**31 - 1), "", (61, "recordsCount"), 32),
        ("size - 12", COUNT.format(-1), "", (57, "recordsCount"), 32),
        ("size - 12", ATTRIBUTES.format(7), "", (21, "attributes"), 32),
        ("size - 12", ATTRIBUTES.format(4), "", (17, "crc"), 1060),  # it may be right: it is in memory once, not twice
        ("size - 12", "", ", on_corrupt='skip'", (17, "crc"), 1060),
        ("size - 12", "", ", max_message_bytes=MIB", (8, "size"), 32),
        ("size", "", "", None, 32),  # the file does not have all of it
        ("2**31 - 1", "", "", None, 32),
    ],
)
def test_one_entry_of_a_sparse_file(
    tmp_path: Path, entry: str, change: str, options: str, error: tuple[int, str] | None, most: int
) -> None:
    program = SPARSE.format(entry=entry, change=change, options=options, error=error, most=most)
    _run(program, tmp_path / "00000000000000000000.log")


def test_a_large_entry_is_read(tmp_path: Path) -> None:
    """However much of it is in memory first."""
    _run(
        """
    values = [bytes(40 * MIB), b"x"]
    for records in (values, values[::-1]):
        log = kpress.write_records(records, batch_bytes=64 * MIB)
        with open(sys.argv[1], "wb") as file:
            file.write(log)
        for size in (1, 62, 70, MIB):
            with open(sys.argv[1], "rb") as file:
                [columns] = kpress.iter_columns(file, ["value"], batch_bytes=size)
                assert [len(value) for value in columns["value"]] == [len(value) for value in records]
    """,
        tmp_path / "00000000000000000000.log",
    )
