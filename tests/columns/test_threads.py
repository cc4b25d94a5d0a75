"""threads=n: so many decode at a time, and the caller's is one of them."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

import recordpress
from patience import HANG

VALUES = [b"value %d" % i for i in range(12)]


class Meeting:
    """A codec whose first n calls wait for each other."""

    def __init__(self, n: int) -> None:
        self.threads: set[int] = set()
        self._met = False
        self._barrier = threading.Barrier(n, self._meet, timeout=HANG)  # a thread that does not come breaks it

    def _meet(self) -> None:
        self._met = True

    def compress(self, data: bytes) -> bytes:
        return bytes(data)

    def decompress(self, data: bytes, max_output: int) -> bytes:
        if not self._met:
            self.threads.add(threading.get_ident())
            self._barrier.wait()
        return bytes(data)


def read(data: bytes, threads: int, codecs: recordpress.CodecRegistry) -> list[bytes]:
    return recordpress.read_columns(data, ["value"], threads=threads, codecs=codecs)["value"].to_pylist()


def iterate(data: bytes, threads: int, codecs: recordpress.CodecRegistry) -> list[bytes]:
    with recordpress.iter_columns(data, ["value"], batch_bytes=1, threads=threads, codecs=codecs) as pieces:
        return [value for columns in pieces for value in columns["value"].to_pylist()]


@pytest.mark.parametrize("threads", [2, 3])
@pytest.mark.parametrize("call", [read, iterate])
def test_all_threads_decode_at_once(call: Callable[..., list[bytes]], threads: int) -> None:
    codec = Meeting(threads)
    codecs = recordpress.CodecRegistry()
    codecs.register("meeting", codec, thread_safe=True)
    data = recordpress.write_records(VALUES, batch_records=1, compression_type="meeting", codecs=codecs)
    assert call(data, threads, codecs) == VALUES
    assert len(codec.threads) == threads
    assert threading.get_ident() in codec.threads
