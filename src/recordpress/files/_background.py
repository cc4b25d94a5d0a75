"""A call in the background of its caller."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread
from typing import Generic, TypeVar

_Result = TypeVar("_Result")


class Background(Generic[_Result]):
    """A call by a separate thread, which ends with it."""

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
        """Wait for the end of the thread. A join that is interrupted takes a running thread for ended (CPython 3.11),
        so the long part of the wait is not a join."""
        self._done.wait()
        self._thread.join()

    def result(self) -> _Result:
        """Return the call's result, or raise its error."""
        self.wait()
        if self._error is not None:
            raise self._error
        return self._results.pop()
