"""iter_columns: piece by piece the records of read_columns, by any number of threads, which end with the iteration."""

import io
import subprocess
import sys
import time
from pathlib import Path

import pytest

import recordpress
from patience import HANG

pa = pytest.importorskip("pyarrow")

COLUMNS = ["offset", "key", "value"]
BATCHES = [
    recordpress.write_records(
        [b"%d" % i * 50] * 20, keys=[b"k"] * 20, base_offset=20 * i, compression_type=["zstd", "none", "lz4"][i % 3]
    )
    for i in range(40)
]
LOG = b"".join(BATCHES)
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="threads are counted in /proc")
THREADS = pytest.mark.parametrize("threads", [1, 2, 3, 8])


def threads_of_recordpress(expected: int) -> int:
    """How many there are. A thread that was joined may be in /proc for a moment more."""
    until = time.monotonic() + HANG
    while True:
        names = [path.read_text().strip() for path in Path("/proc/self/task").glob("*/comm")]
        if names.count("recordpress") == expected or time.monotonic() > until:
            return names.count("recordpress")
        time.sleep(0.01)


@THREADS
@pytest.mark.parametrize("batch_bytes", [1, 2000, 1 << 20])
@pytest.mark.parametrize("source", [bytes, io.BytesIO])
def test_holds_the_same_in_the_same_order(source, batch_bytes, threads):
    pieces = [
        pa.table(columns)
        for columns in recordpress.iter_columns(source(LOG), COLUMNS, batch_bytes=batch_bytes, threads=threads)
    ]
    assert (
        pa.concat_tables(pieces).combine_chunks() == pa.table(recordpress.read_columns(LOG, COLUMNS)).combine_chunks()
    )
    assert batch_bytes != 1 or len(pieces) == len(BATCHES)
    assert threads_of_recordpress(0) == 0


class Watched(io.BytesIO):
    """A file that keeps the addresses it was asked to write to."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.blocks: set[int] = set()

    def readinto(self, buffer):
        view = pa.py_buffer(buffer)
        count = super().readinto(buffer)
        self.blocks.add(view.address + len(buffer))
        return count


@THREADS
@pytest.mark.parametrize("binary_type", ["binary", "binary_view"])
@pytest.mark.parametrize("end", [0, 50])
def test_a_block_is_read_into_again_once_nothing_points_into_it(binary_type, end, threads):
    """By the ends of the blocks, as each begins with what was left of the one before."""
    entries = [recordpress.write_records([b"%04d" % i * 25] * 10, base_offset=10 * i) for i in range(200)]
    file = Watched(b"".join(entries) + entries[0][:end])
    results = recordpress.iter_columns(file, COLUMNS, batch_bytes=1 << 14, binary_type=binary_type, threads=threads)
    pieces = [pa.table(columns) for columns in results]
    values = [bytes(value) for piece in pieces for value in piece.column("value").to_pylist()]
    assert values == [b"%04d" % i * 25 for i in range(200) for _ in range(10)]
    assert results.trailing_bytes == end
    is_one = binary_type == "binary" and threads == 1
    assert (len(file.blocks) <= 2) == is_one  # the last read is of fewer bytes


@THREADS
def test_results_before_a_wrong_entry_come_first(threads):
    """Two wrong entries: the error is the first one's, whichever thread is the first to meet one."""
    good = b"".join(BATCHES[:9])
    wrong = bytearray(BATCHES[9])
    wrong[-1] ^= 1
    pieces = recordpress.iter_columns(good + wrong + BATCHES[10] + wrong, COLUMNS, batch_bytes=1, threads=threads)
    found = [next(pieces) for _ in range(9)]
    assert pa.table(found[-1]).column("offset").to_pylist() == list(range(160, 180))
    with pytest.raises(recordpress.CorruptRecordError) as caught:
        next(pieces)
    assert 0 <= caught.value.position - len(good) < len(wrong)
    assert threads_of_recordpress(0) == 0


@THREADS
def test_no_thread_outlives_a_closed_iteration(threads):
    pieces = recordpress.iter_columns(LOG, COLUMNS, batch_bytes=1, threads=threads)
    assert next(pieces).num_rows == 20
    assert threads_of_recordpress(threads - 1) == threads - 1
    pieces.close()
    assert threads_of_recordpress(0) == 0


@THREADS
def test_a_buffer_is_the_callers_again_after_the_last_result(threads):
    source = bytearray(LOG)
    pieces = list(recordpress.iter_columns(source, COLUMNS, batch_bytes=1, threads=threads))
    source.append(0)  # a BufferError while anything reads from it
    assert len(pieces) == len(BATCHES)


@THREADS
def test_an_error_of_the_file_goes_through(threads):
    """After the rows that were read before it; the file is not read again."""

    class Failing(io.BytesIO):
        failures = 0

        def readinto(self, into):
            if self.tell() > 5000:
                self.failures += 1
                raise OSError("the disk is gone")
            return super().readinto(into[:500])

    file = Failing(LOG)
    with pytest.raises(OSError, match="the disk is gone"):
        list(recordpress.iter_columns(file, COLUMNS, batch_bytes=1, threads=threads))
    assert file.failures == 1
    assert threads_of_recordpress(0) == 0


@pytest.mark.slow
def test_python_exits_while_an_iteration_is_open():
    script = (
        "import recordpress, sys; data = bytes.fromhex(sys.argv[1]); "
        "i = recordpress.iter_columns(data, batch_bytes=1, threads=2); next(i)"
    )
    subprocess.run([sys.executable, "-c", script, b"".join(BATCHES[:9]).hex()], check=True, timeout=HANG)


FORKED = """
import os, recordpress, signal, sys

pieces = recordpress.iter_columns(bytes.fromhex(sys.argv[1]), batch_bytes=1, threads=2)
next(pieces)
child = os.fork()
if child:
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
else:
    signal.alarm(int(sys.argv[2]))  # it would outlive a parent that is killed
    status = 0
pieces.close()
sys.exit(status)
"""


@pytest.mark.slow
def test_a_child_of_fork_closes_an_iteration():
    """A child of fork has none of the threads."""
    command = [sys.executable, "-W", "ignore", "-c", FORKED, b"".join(BATCHES[:9]).hex(), str(HANG // 2)]
    subprocess.run(command, check=True, timeout=HANG)


@pytest.mark.parametrize("path", ["00000000000000000000.log", Path("00000000000000000000.log")])
def test_a_path_is_told_which_call_reads_it(path):
    with pytest.raises(recordpress.errors.ArgumentTypeError, match=r"open\(path, 'rb'\).*open_log\(path\)") as caught:
        recordpress.iter_columns(path)
    assert caught.value.field == "source"
    with pytest.raises(recordpress.errors.ArgumentTypeError, match="not list"):
        recordpress.iter_columns([])
