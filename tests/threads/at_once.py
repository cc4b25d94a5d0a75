"""Work that threads do at once."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import recordpress

R = TypeVar("R")
THREADS = 6


@contextmanager
def switching_often() -> Iterator[None]:
    """With the GIL, threads take turns after 5 ms: longer than most of what is done here."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def at_once(*works: Callable[[], R]) -> list[R]:
    """What the calls return, each made in a separate thread, begun together. What one of them raises is raised."""
    barrier = threading.Barrier(len(works))
    results: dict[int, R] = {}
    failures: list[BaseException] = []

    def run(i: int) -> None:
        barrier.wait()
        try:
            results[i] = works[i]()
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(works))]
    with switching_often():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    if failures:
        raise failures[0]
    return [results[i] for i in range(len(works))]


def many(work: Callable[[int], R], threads: int = THREADS) -> list[R]:
    """`at_once` of work(0), work(1) and so on."""
    return at_once(*((lambda i=i: work(i)) for i in range(threads)))  # type: ignore[misc]


def until_free(call: Callable[[], R]) -> R:
    """Call until the object is not in use by another thread."""
    while True:
        try:
            return call()
        except recordpress.InUseError:
            pass
