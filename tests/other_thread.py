"""Does a call let another thread go on?"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

MOST_TRIES = 100  # on a busy machine the other thread may not run in the time of one call


@contextmanager
def another_thread() -> Iterator[Callable[[Callable[[], object]], bool]]:
    """A function that makes a call, again and again, until another thread has gone on during one; False if none did.

    The other thread counts, for which it needs the GIL. It is not taken from who holds it: only where a call gives it
    up can the other thread count. Without the GIL all calls let it."""
    counted = 0
    stop = threading.Event()

    def count() -> None:
        nonlocal counted
        while not stop.is_set():
            counted += 1
            time.sleep(0)

    def goes_on(call: Callable[[], object]) -> bool:
        started = counted
        return any((call(), counted > started)[1] for _ in range(MOST_TRIES))

    before = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    thread = threading.Thread(target=count, daemon=True)
    thread.start()
    try:
        yield goes_on
    finally:
        stop.set()
        sys.setswitchinterval(before)
        thread.join()
