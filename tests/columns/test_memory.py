"""The memory of reading is proportional to the output, whatever the entries claim. Each test measures a process of its
own."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from patience import HANG
from together import sampled

pytestmark = [
    pytest.mark.slow,
    pytest.mark.memory,
    pytest.mark.skipif(sys.platform != "linux", reason="needs Linux' /proc"),
]

SETUP = """
import random, resource, struct, sys
import recordpress

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
    result = subprocess.run(command, capture_output=True, text=True, timeout=HANG)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_views_into_many_small_batches(codec: str) -> None:
    """15,000 batches of 200 bytes give 3 MB; a block for each would take gigabytes."""
    _run(f"""
    data = b"".join(
        recordpress.write_records([random.randbytes(20) * 10], base_offset=i, compression_type="{codec}")
        for i in range(15_000)
    )
    recordpress.read_columns(data[:1000], ["value"], binary_type="binary_view")
    before, room = resident(), reserved()
    columns = recordpress.read_columns(data, ["value"], binary_type="binary_view")
    assert columns.num_rows == 15_000
    assert resident() - before < 16 * MIB
    assert reserved() - room < 32 * MIB
    assert recordpress.pool_bytes()[0] < 16 * MIB
    """)


def test_views_of_a_few_bytes_keep_no_large_batch() -> None:
    """At most four times the bytes that they show, and a block: in twenty results, in one result, in small batches."""
    _run("""
    def batch(base, value=32 << 20, n=1):
        values, keys = [bytes(value)] * n, [bytes([65 + base % 26]) * 16] * n
        return recordpress.write_records(values, keys=keys, base_offset=base, compression_type="zstd")

    def kept():
        return recordpress.pool_bytes()[0]

    results = [recordpress.read_columns(batch(i), ["key"], binary_type="binary_view") for i in range(20)]
    assert kept() < MIB, kept()
    assert [result["key"][0] for result in results] == [bytes([65 + i]) * 16 for i in range(20)]
    del results
    log = b"".join(batch(i) for i in range(20))
    one = recordpress.read_columns(log, ["key"], binary_type="binary_view")
    assert kept() < MIB, kept()
    assert list(one["key"]) == [bytes([65 + i]) * 16 for i in range(20)]
    log = b"".join(batch(16 * i, 1000, 16) for i in range(2000))
    one = recordpress.read_columns(log, ["key"], binary_type="binary_view")
    assert kept() < 4 * (16 + 16) * one.num_rows + MIB, kept()
    """)


def test_nothing_is_kept_for_views_where_no_binary_column_is_asked() -> None:
    _run("""
    data = recordpress.write_records([bytes(1000)] * 20_000, compression_type="zstd")
    columns = recordpress.read_columns(data, ["offset"], binary_type="binary_view")
    assert recordpress.pool_bytes()[0] < 8 * MIB
    """)


SPARSE = """
    size = 1 << 30
    head = bytearray(recordpress.write_records([b"v"])[:61])
    head[8:12] = struct.pack(">i", {entry})
    {change}
    with open(sys.argv[1], "wb") as file:
        file.write(head)
        file.truncate(size)
    before, found = peak(), None
    with open(sys.argv[1], "rb") as file:
        pieces = recordpress.iter_columns(file, ["offset"]{options})
        try:
            list(pieces)
        except recordpress.RecordpressError as error:
            found = error
    assert peak() - before < {most} * MIB, (peak() - before) // MIB
    for found in pieces.errors or filter(None, [found]):
        found = (found.field_position, found.field)
    expected = {error}
    assert found == (expected or None), found
    assert pieces.trailing_bytes == (size if expected is None else 0)
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
        ("size - 12", ATTRIBUTES.format(1), "", (17, "crc"), 32),  # only its checksum shows that it is not right
        ("size - 12", ATTRIBUTES.format(2), "", (17, "crc"), 32),
        ("size - 12", ATTRIBUTES.format(3), "", (17, "crc"), 32),
        ("size - 12", ATTRIBUTES.format(4), "", (17, "crc"), 32),
        ("size - 12", ATTRIBUTES.format(4), ", batch_bytes=1", (17, "crc"), 32),
        ("size - 12", ATTRIBUTES.format(4), ", binary_type='binary_view'", (17, "crc"), 32),
        ("size - 12", ATTRIBUTES.format(4), ", threads=2", (17, "crc"), 32),
        ("size - 12", ATTRIBUTES.format(4), ", end_offset=3", (17, "crc"), 32),
        ("size - 12", ATTRIBUTES.format(4), ", aborted_transactions=[(1, 2)]", (17, "crc"), 32),
        ("size - 12", ATTRIBUTES.format(4), ", on_corrupt='skip'", (17, "crc"), 32),
        ("size - 12", ATTRIBUTES.format(4), ", start_offset=5", "", 32),  # nothing of it is asked for
        ("size - 12", "head[16:] = bytes([1, 1]) + head[18:]", "", (12, "crc"), 32),  # magic 1
        ("size - 12", "head[16:] = bytes([0, 3]) + head[18:]", "", (12, "crc"), 32),
        ("size - 12", "", ", on_corrupt='skip'", (62, "varint"), 32),
        ("size - 12", "", ", max_message_bytes=MIB", (8, "size"), 32),
        ("size", "", "", None, 32),  # the file does not have all of it
        ("2**31 - 1", "", "", None, 32),
    ],
)
def test_one_entry_of_a_sparse_file(
    tmp_path: Path, entry: str, change: str, options: str, error: tuple[int, str] | None, most: int
) -> None:
    program = SPARSE.format(entry=entry, change=change, options=options, error=repr(error), most=most)
    _run(program, tmp_path / "00000000000000000000.log")


def test_a_large_entry_is_read(tmp_path: Path) -> None:
    """However much of it is in memory first."""
    _run(
        """
    values = [bytes(40 * MIB), b"x"]
    for records in (values, values[::-1]):
        log = recordpress.write_records(records, batch_bytes=64 * MIB)
        with open(sys.argv[1], "wb") as file:
            file.write(log)
        for size in (1, 62, 70, MIB):
            with open(sys.argv[1], "rb") as file:
                [columns] = recordpress.iter_columns(file, ["value"], batch_bytes=size)
                assert [len(value) for value in columns["value"]] == [len(value) for value in records]
    """,
        tmp_path / "00000000000000000000.log",
    )


def test_a_large_bad_entry_is_passed_over(tmp_path: Path) -> None:
    """What follows it is read, and whoever resumes after it is told the same offsets."""
    _run(
        """
    bad = bytearray(recordpress.write_records([b"v"], base_offset=1, compression_type="lz4")[:61])
    bad[8:12] = struct.pack(">i", (1 << 30) - 12)
    with open(sys.argv[1], "wb") as file:
        file.write(recordpress.write_records([b"a"]) + bad)
        start = file.tell() - 61
        file.seek(start + (1 << 30))
        file.write(recordpress.write_records([b"b"], base_offset=2))
        file.write(recordpress.write_records([b"c"], base_offset=3)[:-1])
    before = peak()
    for options in ({}, {"threads": 3}, {"batch_bytes": 1}, {"binary_type": "binary_view"}):
        with open(sys.argv[1], "rb") as file:
            pieces = recordpress.iter_columns(file, ["value"], on_corrupt="skip", **options)
            found = [value for columns in pieces for value in columns["value"].to_pylist()]
        assert found == [b"a", b"b"], found
        assert [(error.position, error.field) for error in pieces.errors] == [(start, "crc")]
        assert (pieces.next_offset, pieces.trailing_bytes) == (3, 68), (pieces.next_offset, pieces.trailing_bytes)
    with open(sys.argv[1], "rb") as file:  # neither is an entry read of which nothing is asked for
        pieces = recordpress.iter_columns(file, ["value"], start_offset=2)
        assert [columns["value"].to_pylist() for columns in pieces] == [[b"b"]]
    assert peak() - before < 32 * MIB, (peak() - before) // MIB
    """,
        tmp_path / "00000000000000000000.log",
    )


@pytest.mark.parametrize(
    "reading",
    [
        "list(log.read(['value']))",
        "list(log.read(['value'], on_corrupt='skip'))",
        "list(log.read(['value'], isolation_level='read_committed'))",
        "list(log.read(['value'], start_timestamp=1))",
        "log.count()",
        "log.verify('record')",
        "log.batch_table(check_crcs=True)",
        "recordpress.log.stats_of(log.partitions[0], full=True)",
        "recordpress.log.scan(path)",
        "recordpress.log.repair(path, path.parent / 'new')",
        "log.partitions[0].transactions()",
        "recordpress.log.reindex(path.parent)",
        "recordpress.transcode(path.parent, path.parent.with_name('new-0'), 'zstd')",
        "recordpress.convert(path.parent, path.parent.with_name('new-0'), 1)",
        "recordpress.explain(path)",
        "recordpress.analyze(path)",
    ],
)
@pytest.mark.parametrize("control", sampled([0x30, 0], 2))
def test_readers_of_logs_do_not_believe_a_large_entry(tmp_path: Path, reading: str, control: int) -> None:
    """1 GiB that is not there, under a header which may be right."""
    (directory := tmp_path / "topic-0").mkdir()
    _run(
        f"""
    import contextlib, pathlib
    import recordpress.log
    head = bytearray(recordpress.write_records([b"v"] * 5, producer_id=7, producer_epoch=1, base_sequence=0,
                                          compression_type="lz4"))
    head[8:12] = struct.pack(">i", (1 << 30) - 12)
    head[22] |= {control}
    path = pathlib.Path(sys.argv[1])
    path.write_bytes(recordpress.write_records([b"a"], compression_type="lz4") + head)
    with open(path, "r+b") as file:
        file.truncate((1 << 30) + path.stat().st_size - len(head))
    log = recordpress.open_log(path)
    with contextlib.suppress(recordpress.CorruptRecordError):
        list(log.read(["value"], end_offset=1))
    before = peak()
    with contextlib.suppress(recordpress.CorruptRecordError, recordpress.InvalidArgumentError):
        {reading}
    assert peak() - before < 100 * MIB, (peak() - before) // MIB
    """,
        directory / "00000000000000000000.log",
    )
