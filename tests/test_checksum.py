"""Checksums: every path, length and alignment against other people's software; combine, patch; bad input."""

import random
import threading
import zlib
from array import array
from pathlib import Path

import crc32c as pypi_crc32c
import google_crc32c
import pytest
from hypothesis import given, strategies as st

import recordpress
from recordpress import checksum

PATHS = checksum._crc32c_paths()
RANDOM = random.Random(2)
UINT32 = st.integers(0, 2**32 - 1)
# (checksum, combine, patch, oracle)
KINDS = {
    "crc32c": (recordpress.crc32c, recordpress.crc32c_combine, recordpress.crc32c_patch, google_crc32c.value),
    "crc32": (recordpress.crc32, recordpress.crc32_combine, recordpress.crc32_patch, zlib.crc32),
}
kinds = pytest.mark.parametrize(("compute", "combine", "patch", "oracle"), KINDS.values(), ids=KINDS)


def test_check_values() -> None:
    assert recordpress.crc32c(b"123456789") == 0xE3069283
    assert recordpress.crc32(b"123456789") == 0xCBF43926


def test_rfc_3720_examples() -> None:
    """Appendix B.4; the RFC prints the bytes as they are sent, least significant first."""
    for data, sent in [
        (bytes(32), "aa 36 91 8a"),
        (b"\xff" * 32, "43 ab a8 62"),
        (bytes(range(32)), "4e 79 dd 46"),
        (bytes(range(31, -1, -1)), "5c db 3f 11"),
    ]:
        assert recordpress.crc32c(data) == int.from_bytes(bytes.fromhex(sent), "little")


@pytest.mark.parametrize("path", PATHS)
def test_every_length_at_every_alignment(path: str) -> None:
    data = RANDOM.randbytes(64 + 600)
    view = memoryview(data)
    for start in range(64):
        for size in range(601):
            part = view[start : start + size]
            assert checksum._crc32c_by_path(path, part) == pypi_crc32c.crc32c(part), (start, size)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("size", [601, 2047, 2048, 2049, 4000, 6143, 6144, 6145, 8192, 65535, 65536, 999_983, 1 << 20])
def test_long_messages(path: str, size: int) -> None:
    data = RANDOM.randbytes(size)
    value = RANDOM.getrandbits(32)
    assert checksum._crc32c_by_path(path, data) == google_crc32c.value(data)
    assert checksum._crc32c_by_path(path, data, value) == pypi_crc32c.crc32c(data, value)


@kinds
def test_sizes_around_the_release_of_the_gil(compute, combine, patch, oracle) -> None:
    for size in (0, 1, 32_767, 32_768, 32_769, 300_000):
        data = RANDOM.randbytes(size)
        assert compute(data) == compute(bytearray(data)) == compute(memoryview(data)) == oracle(data)


@kinds
def test_any_buffer(compute, combine, patch, oracle) -> None:
    numbers = array("i", range(1000))
    assert compute(numbers) == oracle(numbers.tobytes())
    grid = memoryview(bytes(range(12))).cast("B", (3, 4))
    assert compute(grid) == oracle(bytes(range(12)))
    assert compute(b"", 77) == compute(bytearray(), 77) == 77


@kinds
@given(st.lists(st.binary(max_size=300)))
def test_in_parts(compute, combine, patch, oracle, parts: list[bytes]) -> None:
    value = joined = 0
    for part in parts:
        value = compute(part, value)
        joined = combine(joined, compute(part), len(part))
    assert value == joined == oracle(b"".join(parts))


@kinds
@given(st.data())
def test_patch_is_recomputing(compute, combine, patch, oracle, data) -> None:
    message = data.draw(st.binary(max_size=2000))
    start = data.draw(st.integers(0, len(message)))
    end = data.draw(st.integers(start, min(len(message), start + 80)))
    new = data.draw(st.binary(min_size=end - start, max_size=end - start))
    changed = message[:start] + new + message[end:]
    assert patch(oracle(message), message[start:end], new, len(message) - end) == oracle(changed)


@kinds
def test_patch_far_from_the_end(compute, combine, patch, oracle) -> None:
    message = bytearray(RANDOM.randbytes(3_000_001))
    before = oracle(bytes(message))
    old = bytes(message[1:9])
    message[1:9] = b"8 bytes!"
    assert patch(before, old, b"8 bytes!", len(message) - 9) == oracle(bytes(message))


@kinds
@given(UINT32, UINT32, UINT32, st.integers(0, 2**62), st.integers(0, 2**62))
def test_combine_with_any_length(compute, combine, patch, oracle, a, b, c, len_b, len_c) -> None:
    """Which of two joints is made first does not matter."""
    assert combine(combine(a, b, len_b), c, len_c) == combine(a, combine(b, c, len_c), len_b + len_c)


@given(UINT32, UINT32, st.integers(0, 2**63 - 1))
def test_combine_is_the_same_on_every_path(a: int, b: int, size: int) -> None:
    assert len({checksum._crc32c_combine_by_path(path, a, b, size) for path in PATHS}) == 1


@kinds
def test_many_threads(compute, combine, patch, oracle) -> None:
    data = RANDOM.randbytes(200_000)
    results: list[int] = []

    def work() -> None:
        results.extend(compute(data) for _ in range(50))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [oracle(data)] * 200


def test_path_in_use_is_the_best_one() -> None:
    assert recordpress.crc32c_path() == PATHS[0]
    assert PATHS[-1] == "table"


def test_the_path_is_the_best_that_this_processor_has(monkeypatch):
    """By the kernel's list: what a compiler's runtime library says of the processor may be wrong."""
    monkeypatch.syspath_prepend(Path(__file__).parents[1])
    from build_support.try_wheel import path_of_this_processor

    assert recordpress.crc32c_path() == path_of_this_processor(recordpress.crc32c_path())


def test_unknown_path() -> None:
    with pytest.raises(recordpress.InvalidArgumentError, match=r"must be one of .*table, not sse9"):
        checksum._crc32c_by_path("sse9", b"")


class Index:
    """Not an int, but an integer, as NumPy's are."""

    def __index__(self) -> int:
        return 0xFFFFFFFF


@kinds
def test_integers_of_other_types(compute, combine, patch, oracle) -> None:
    assert compute(b"a", Index()) == compute(b"a", 2**32 - 1)
    assert combine(Index(), 0, 1) == combine(2**32 - 1, 0, 1)


@kinds
@pytest.mark.parametrize("data", ["text", 5, None, [1, 2]])
def test_not_a_buffer(compute, combine, patch, oracle, data) -> None:
    with pytest.raises(recordpress.ArgumentTypeError, match=r"data must be a bytes-like object .*, not "):
        compute(data)
    with pytest.raises(recordpress.ArgumentTypeError, match=r"old must be a bytes-like object"):
        patch(0, data, b"", 0)
    with pytest.raises(recordpress.ArgumentTypeError, match=r"new must be a bytes-like object"):
        patch(0, b"", data, 0)


@kinds
def test_not_contiguous(compute, combine, patch, oracle) -> None:
    with pytest.raises(recordpress.InvalidArgumentError, match="data must be a contiguous buffer"):
        compute(memoryview(b"abcdef")[::2])


@kinds
@pytest.mark.parametrize("value", [-1, 2**32, 2**64, -(2**70)])
def test_value_out_of_range(compute, combine, patch, oracle, value: int) -> None:
    expected = f"must be from 0 to 4294967295, not {value}"
    for call in (
        lambda: compute(b"", value),
        lambda: combine(value, 0, 0),
        lambda: combine(0, value, 0),
        lambda: patch(value, b"", b"", 0),
    ):
        with pytest.raises(recordpress.InvalidArgumentError, match=expected):
            call()


@kinds
@pytest.mark.parametrize("value", ["1", 1.0, None, b"1"])
def test_value_not_an_integer(compute, combine, patch, oracle, value) -> None:
    for call in (
        lambda: compute(b"", value),
        lambda: combine(value, 0, 0),
        lambda: combine(0, 0, value),
        lambda: patch(value, b"", b"", 0),
        lambda: patch(0, b"", b"", value),
    ):
        with pytest.raises(recordpress.ArgumentTypeError, match="must be an int, not "):
            call()


@kinds
@pytest.mark.parametrize("size", [-1, 2**63, 2**70])
def test_size_out_of_range(compute, combine, patch, oracle, size: int) -> None:
    with pytest.raises(recordpress.InvalidArgumentError, match=f"len_b must be from 0 to {2**63 - 1}, not {size}"):
        combine(0, 0, size)
    with pytest.raises(recordpress.InvalidArgumentError, match=f"distance must be from 0 to {2**63 - 1}, not {size}"):
        patch(0, b"", b"", size)


@kinds
def test_patch_with_two_sizes(compute, combine, patch, oracle) -> None:
    buffer = bytearray(b"ab")
    with pytest.raises(
        recordpress.InvalidArgumentError, match=r"new must have the same size as old \(2 bytes\), not 1"
    ):
        patch(0, buffer, b"a", 0)
    buffer.append(1)  # its view was given back
