"""Calls in background threads: one, or several at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from threading import Event, Thread
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def results(items: Iterable[_Item], work: Callable[[_Item], _Result], at_once: int) -> Iterator[tuple[_Item, _Result]]:
    """Process several items at a time; yield each with its result, in order, and keep few of them in memory."""
    from concurrent.futures import ThreadPoolExecutor  # the import takes 5 ms, and most commands do not need it

    running: deque[tuple[_Item, Future[_Result]]] = deque()
    pool = ThreadPoolExecutor(at_once)
    try:
        for item in items:
            if len(running) > at_once + at_once // 2:
                done, future = running.popleft()
                yield done, future.result()
            running.append((item, pool.submit(work, item)))
        while running:
            done, future = running.popleft()
            yield done, future.result()
    finally:
        pool.shutdown(cancel_futures=True)
        if isinstance(items, Generator):
            items.close()  # here: a collector might do so in a thread of a pool that the generator waits for


def for_each(items: Iterable[_Item], work: Callable[[_Item], object], at_once: int) -> None:
    """Call `work` for each item, several at a time."""
    for _ in results(items, work, at_once):
        pass


class Background(Generic[_Result]):
    """A call in a separate thread; the thread ends with the call."""

    def __init__(self, call: Callable[[], _Result], name: str) -> None:
        self._call = call
        self._results: list[_Result] = []
        self._error: BaseException | None = None
        self._done = Event()
        self._thread = Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._results.append(self._call())
        except BaseException as error:  # it is raised where the result is requested
            self._error = error
        finally:
            self._done.set()

    def wait(self) -> None:
        """Wait for the end of the thread. An interrupted join may take a running thread for an ended one (CPython
        3.11), so the long part of the wait is not a join."""
        self._done.wait()
        self._thread.join()

    def result(self) -> _Result:
        """Return the call's result, or raise its error."""
        self.wait()
        if self._error is not None:
            raise self._error
        return self._results.pop()
