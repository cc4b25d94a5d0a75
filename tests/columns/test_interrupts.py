"""A signal handler that raises, at any moment of a call with threads: the exception arrives, no thread stays, nothing
is freed that a thread still reads. Each test is a separate process, which a crash or a hang ends."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

from patience import HANG

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="threads are counted in /proc")

SETUP = """
import gc, io, pathlib, random, signal, sys, threading, time
import recordpress

def log(n, codec):
    values = [random.randbytes(50) * 40] * 50
    return b"".join(recordpress.write_records(values, base_offset=50 * i, compression_type=codec) for i in range(n))

def tasks():
    return len(list(pathlib.Path("/proc/self/task").iterdir()))

first = threading.Thread(target=int)
first.start()
while pathlib.Path("/proc/self/task", str(first.native_id)).exists():
    time.sleep(0.001)
ALONE = tasks()  # an emulator has its own threads, and ThreadSanitizer once a thread was started

def threads():
    until = time.monotonic() + 300
    while True:
        n = tasks() - ALONE + 1
        if n == 1 or time.monotonic() > until:
            return n
        time.sleep(0.005)

class Interrupt(BaseException):
    pass

def raising(*ignored):
    raise Interrupt

def interrupted(work, most):
    '''Whether `work` was, by a signal after a random time.'''
    signal.signal(signal.SIGALRM, raising)
    try:
        signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-5, most))
        try:
            work()
        finally:
            signal.signal(signal.SIGALRM, lambda *ignored: None)  # not SIG_IGN: Python complains of a signal on its way
            signal.setitimer(signal.ITIMER_REAL, 0)
    except Interrupt:
        return True
    return False

def many(work, most, rounds):
    '''Until it was interrupted often enough; the moments are spread over the time that the work takes, which on a busy
    machine is not the same twice.'''
    random.seed(1)
    hits = 0
    for _ in range(rounds * 20):
        hit = interrupted(work, most)
        hits += hit
        most *= 1.1 if hit else 0.8
        gc.collect()
        assert threads() == 1
        if hits == rounds:
            return
    raise SystemExit(f"interrupted {hits} times only")

def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
"""


def _run(program: str) -> None:
    script = SETUP + textwrap.dedent(program)
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=HANG)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.slow
@pytest.mark.parametrize("binary_type", ["binary", "binary_view"])
@pytest.mark.parametrize("codec", ["none", "zstd"])
def test_read_columns(codec: str, binary_type: str) -> None:
    """The buffer is released with the exception: a thread that went on reading would read freed memory."""
    _run(f"""
    import mmap
    data = log(60, "{codec}")

    def work():
        pages = mmap.mmap(-1, len(data))
        pages[:] = data
        recordpress.read_columns(pages, binary_type="{binary_type}", threads=4)

    many(work, seconds(work), 60)
    """)


@pytest.mark.slow
@pytest.mark.parametrize("source", ["bytes", "io.BytesIO"])
@pytest.mark.parametrize("codec", ["none", "zstd"])
def test_iter_columns(codec: str, source: str) -> None:
    _run(f"""
    data = log(60, "{codec}")

    def work():
        for columns in recordpress.iter_columns({source}(data), batch_bytes=1, threads=4):
            pass

    many(work, seconds(work), 60)
    """)


@pytest.mark.slow
def test_a_thread_that_does_not_start() -> None:
    """However threads are started, an exception does not make the caller wait forever."""
    _run("""
    data = log(10, "lz4")

    def start(self):
        raise Interrupt

    threading.Thread.start = start
    whole, pieces = recordpress.read_columns, recordpress.iter_columns
    for read in (lambda: whole(data, threads=3), lambda: list(pieces(data, threads=3))):
        try:
            read()
        except Interrupt:
            pass
        assert threads() == 1
    """)


@pytest.mark.slow
@pytest.mark.skipif("RECORDPRESS_SANITIZED" in os.environ, reason="a sanitizer takes address space of its own")
def test_no_thread_is_to_be_had() -> None:
    """The caller does all the work then."""
    _run("""
    import resource
    data = log(10, "lz4")
    expected = recordpress.read_columns(data).num_rows
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    size = 4096 * int(pathlib.Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (size + (6 << 20), hard))  # less than a thread's stack
    found = sum(columns.num_rows for columns in recordpress.iter_columns(data, threads=5, batch_bytes=1))
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    assert found == expected
    """)


@pytest.mark.slow
def test_an_iteration_that_was_interrupted_is_over() -> None:
    _run("""
    data = log(200, "zstd")

    class Slow(io.BytesIO):
        def readinto(self, into):
            if self.tell() > 2000:
                raise Interrupt
            return super().readinto(into[:1000])

    for many_threads in (1, 3):
        pieces = recordpress.iter_columns(Slow(data), batch_bytes=1, threads=many_threads)
        try:
            list(pieces)
        except Interrupt:
            pass
        assert threads() == 1
        assert list(pieces) == []
    """)


@pytest.mark.slow
def test_a_call_within_a_call_is_refused() -> None:
    """The file, or a signal handler, calls the iteration while it is working."""
    _run("""
    class File(io.BytesIO):
        def readinto(self, into):
            for call in (pieces.__next__, pieces.close):
                try:
                    call()
                except recordpress.InUseError:
                    self.refused += 1
            return super().readinto(into)

    file = File(log(1, "none"))
    file.refused = 0
    pieces = recordpress.iter_columns(file)
    assert sum(columns.num_rows for columns in pieces) == 50
    assert file.refused >= 4
    """)


@pytest.mark.slow
def test_garbage_that_threads_still_read() -> None:
    """An iteration in a circle of references, which the collector frees in the middle of its work."""
    _run("""
    class File(io.BytesIO):
        pass

    data = log(100, "zstd")
    for i in range(50):
        file = File(data)
        file.pieces = recordpress.iter_columns(file, batch_bytes=1, threads=4, binary_type="binary_view")
        next(file.pieces)
        del file
        gc.collect()
        assert threads() == 1
    """)


@pytest.mark.slow
def test_a_codec_frees_the_iteration_that_calls_it() -> None:
    """In one of the iteration's own threads, which then still has what it reads."""
    _run("""
    class Codec:
        def compress(self, data):
            return bytes(data)

        def decompress(self, data, max_output):
            if b"value 0" in data:
                pass  # the caller waits for it
            elif threading.get_ident() == main:
                begun.wait(300)
            elif first.acquire(blocking=False):
                begun.set()
                handed_out.wait(300)
                held.clear()
                try:
                    source.append(0)
                except BufferError:
                    still_there.set()
                freed.set()
            return bytes(data)

    main, first = threading.get_ident(), threading.Lock()
    begun, handed_out, still_there, freed = [threading.Event() for _ in range(4)]
    codecs = recordpress.CodecRegistry()
    codecs.register("codec", Codec())
    source = bytearray().join(
        recordpress.write_records([b"value %d" % i], base_offset=i, compression_type="codec", codecs=codecs)
        for i in range(9)
    )
    held = [recordpress.iter_columns(source, batch_bytes=1, threads=3, codecs=codecs)]
    assert next(held[0]).num_rows == 1
    handed_out.set()
    assert freed.wait(300) and still_there.is_set()
    assert threads() == 1
    """)


@pytest.mark.slow
def test_who_waits_for_another_thread_does_not_hold_the_gil() -> None:
    """That thread needs it, for a codec in Python: it continues only after the caller has begun to wait for it."""
    _run("""
    class Codec:
        def compress(self, data):
            return bytes(data)

        def decompress(self, data, max_output):
            if threading.get_ident() == main:
                assert theirs.wait(300)
                ours.set()
            else:
                theirs.set()
                ours.wait(300)
            return bytes(data)

    import faulthandler
    faulthandler.dump_traceback_later(300, exit=True)  # a caller that holds the GIL waits for ever: this needs none
    main, theirs, ours = threading.get_ident(), threading.Event(), threading.Event()
    sys.setswitchinterval(1000)  # nobody is asked to give the GIL up: it goes over only where it is given up
    codecs = recordpress.CodecRegistry()
    codecs.register("codec", Codec(), thread_safe=True)
    data = recordpress.write_records([b"a", b"b"], batch_records=1, compression_type="codec", codecs=codecs)
    assert recordpress.read_columns(data, ["value"], threads=2, codecs=codecs)["value"].to_pylist() == [b"a", b"b"]
    """)
