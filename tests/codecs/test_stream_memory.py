"""What decompression in pieces costs: no more than its cap and 16 MiB, the result of the call among it. Each case
measures a separate process."""

import platform
import random
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import recordpress
from patience import HANG

pytestmark = [
    pytest.mark.memory,
    pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="needs Linux' /proc and glibc's malloc_trim"),
]

SIZE = 63 << 20
CAP = 64 << 20
WINDOW_AT, WINDOW_128_MIB = 5, (27 - 10) << 3  # RFC 8878 section 3.1.1.1.2
FRAMED = ("gzip", "snappy", "lz4", "zstd")

PROGRAM = """
import ctypes, sys
import recordpress

codec, size, cap, pieces, path = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
known = {}
for name in sys.argv[6:]:
    with open(name, "rb") as file:
        dictionary = recordpress.dictionaries.Dictionary(file.read())
    known["dictionaries"] = {dictionary.id: dictionary}
recordpress.decompressor(codec, **known).decompress(recordpress.compress(b"what is loaded once", codec))

def kib(field):
    [line] = [line for line in open("/proc/self/status") if line.startswith(field)]
    return int(line.split()[1])

with open(path, "rb") as file:
    payload = file.read()
step = -(-len(payload) // pieces)
before, total = kib("VmHWM"), 0
start = kib("VmRSS")
stream = recordpress.decompressor(codec, cap, **known)
try:
    for at in range(0, len(payload), step):
        total += len(stream.decompress(payload[at : at + step]))
    total += len(stream.flush())
except recordpress.OutputTooLargeError:
    total = -1
assert total == (size if size <= cap else -1), total
del stream
ctypes.CDLL(None).malloc_trim(0)  # what is left is not results that malloc keeps for the next ones
print(kib("VmHWM") - before, kib("VmRSS") - start)
"""


def cost(codec: str, payload: bytes, path: Path, cap: int, pieces: int, *dictionaries: Path) -> tuple[int, int]:
    """Bytes at the peak, and after it."""
    path.write_bytes(payload)
    arguments = [codec, SIZE, cap, pieces, path, *dictionaries]
    command = [sys.executable, "-c", PROGRAM, *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=HANG)
    assert (result.returncode, result.stderr) == (0, "")
    peak, kept = result.stdout.split()
    return int(peak) << 10, int(kept) << 10


def random_payload(codec: str) -> bytes:
    """Hardly smaller than its output."""
    piece = random.Random(0).randbytes(1 << 20)
    stream = recordpress.compressor(codec)
    return b"".join(stream.compress(piece) for _ in range(SIZE >> 20)) + stream.flush()


@pytest.mark.slow
@pytest.mark.parametrize("pieces", [1, 2, 9])
@pytest.mark.parametrize("cap", [CAP, 20 << 20])
@pytest.mark.parametrize("codec", FRAMED)
def test_zeros(codec: str, cap: int, pieces: int, tmp_path: Path) -> None:
    peak, kept = cost(codec, recordpress.compress(bytes(SIZE), codec), tmp_path / "payload", cap, pieces)
    assert peak < cap + (16 << 20)
    assert kept < 6 << 20


@pytest.mark.slow
@pytest.mark.parametrize("pieces", [1, 900])
@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4"])
def test_output_that_is_no_larger_than_its_input(codec: str, pieces: int, tmp_path: Path) -> None:
    """No copy of the input is kept."""
    peak, kept = cost(codec, random_payload(codec), tmp_path / "payload", CAP, pieces)
    assert peak < (CAP if pieces == 1 else 0) + (16 << 20)
    assert kept < 6 << 20


@pytest.mark.slow
def test_a_frame_that_is_there_as_a_whole_needs_no_window(tmp_path: Path) -> None:
    frame = bytearray(recordpress.compress(bytes(SIZE), "zstd"))
    frame[WINDOW_AT] = WINDOW_128_MIB
    peak, kept = cost("zstd", bytes(frame), tmp_path / "payload", CAP, 1)
    assert peak < CAP + (16 << 20)
    assert kept < 6 << 20


def noise_and_zeros(size: int) -> bytes:
    """Six times what they can be compressed to, in every block."""
    noise = random.Random(0).randbytes(size // 6)
    step = 20_000
    blocks = (noise[at : at + step].ljust(6 * step, b"\0") for at in range(0, len(noise), step))
    return b"".join(blocks)[:size].ljust(size, b"\0")


def mixed_payload() -> bytes:
    return recordpress.compress(noise_and_zeros(SIZE), "zstd")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "pieces"),
    [
        (lambda: recordpress.compress(bytes(SIZE), "zstd"), 2),
        (lambda: recordpress.compress(bytes(SIZE), "zstd"), 9),
        (mixed_payload, 2),
        (mixed_payload, 900),
        (lambda: random_payload("zstd"), 900),
    ],
    ids=["zeros-2", "zeros-9", "mixed-2", "mixed-900", "random-900"],
)
def test_a_window_is_not_held_beside_a_large_output(make: Callable[[], bytes], pieces: int, tmp_path: Path) -> None:
    """Frames with windows of 128 MiB, cut in pieces."""
    frame = bytearray(make())
    frame[WINDOW_AT] = WINDOW_128_MIB
    peak, kept = cost("zstd", bytes(frame), tmp_path / "payload", CAP, pieces)
    assert peak < CAP + (16 << 20)
    assert kept < 6 << 20


@pytest.mark.slow
@pytest.mark.parametrize("with_id", [True, False], ids=["its-own", "none"])
@pytest.mark.parametrize(
    ("make", "pieces"),
    [(bytes, 1), (bytes, 2), (bytes, 9), (noise_and_zeros, 2), (noise_and_zeros, 900)],
    ids=["zeros-1", "zeros-2", "zeros-9", "mixed-2", "mixed-900"],
)
def test_nor_is_it_with_dictionaries(make: Callable[[int], bytes], pieces: int, with_id: bool, tmp_path: Path) -> None:
    """Of frames that need one, and of frames that need none."""
    dictionary = recordpress.dictionaries.train_values([b"a line of %d" % number for number in range(2000)], 1024)
    (tmp_path / "dictionary").write_bytes(dictionary.data)
    how: Any = {"dictionary": dictionary} if with_id else {}
    frame = bytearray(recordpress.compress(make(SIZE), "zstd", **how))
    frame[WINDOW_AT] = WINDOW_128_MIB
    peak, kept = cost("zstd", bytes(frame), tmp_path / "payload", CAP, pieces, tmp_path / "dictionary")
    assert peak < CAP + (16 << 20)
    assert kept < 6 << 20


def touched(feed) -> int:
    """Bytes of the process's pages that one call of `feed` reads or writes, the fewest of five."""
    found = []
    for _ in range(5):
        Path("/proc/self/clear_refs").write_text("1")
        feed()
        sizes = re.findall(r"^Referenced: +(\d+) kB", Path("/proc/self/smaps").read_text(), re.MULTILINE)
        found.append(sum(map(int, sizes)) << 10)
    return min(found)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the kernel does not tell which pages were used")
@pytest.mark.parametrize("flags", [0x08, 0x10])
def test_a_text_in_a_gzip_header_is_looked_at_once(flags: int) -> None:
    """The cost of a further piece does not grow with what came before it."""
    size = 32 << 20
    stream = recordpress.decompressor("gzip")
    stream.decompress(b"\x1f\x8b\x08" + bytes([flags]) + bytes(6))
    before = touched(lambda: stream.decompress(b"n" * 7))
    stream.decompress(b"n" * size)
    assert touched(lambda: stream.decompress(b"n" * 7)) < before + size // 2
