"""The progress of commands that take longer than a second: bytes and remaining time, on a terminal."""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import TYPE_CHECKING, Self

from recordpress.cli._output import size, write_plain

if TYPE_CHECKING:
    from recordpress.log import Progress as Done

PATIENCE = 1.0  # seconds; chosen, not measured, as the next two are
_INTERVAL = 0.1  # seconds between two lines
_TICK = 0.9  # seconds after which rate and remaining time are redrawn without progress
_BAR = 24  # characters, so that the figures fit next to it
_COLUMNS = 80  # of a terminal of unknown width


class Progress:
    """After one second, show on stderr how many of the total bytes are done, if stderr is a terminal.

    An instance is a `progress` callback of the library. In a `with` statement, the line is also redrawn while the work
    reports nothing, so that it updates at least once a second.
    """

    def __init__(self, what: str, total: int | None = None) -> None:
        self.what = what
        self.total = total
        self.done = 0
        self._is_terminal = sys.stderr.isatty()
        self._started = time.monotonic()
        self._next_look = self._started + PATIENCE
        self._width = 0  # of the line on the terminal
        self._lock = threading.Lock()
        self._end = threading.Event()
        self._ticker = threading.Thread(target=self._tick, name="recordpress-progress", daemon=True)

    def advance(self, size: int) -> None:
        """Add a number of bytes."""
        self._at(self.done + size, self.total)

    def at(self, done: int) -> None:
        """Set the number of bytes."""
        self._at(done, self.total)

    def __call__(self, progress: Done) -> None:
        """Set the numbers that a call of the library reports."""
        self._at(progress.bytes_done, progress.bytes_total)

    def _at(self, done: int, total: int | None) -> None:
        self.done, self.total = done, total
        self._look()

    def _look(self) -> None:
        if self._is_terminal and time.monotonic() >= self._next_look:
            with self._lock:
                self._next_look = time.monotonic() + _INTERVAL
                self._write(self._line(self._columns()))

    def _tick(self) -> None:
        while not self._end.wait(_TICK):
            self._look()

    def _line(self, columns: int) -> str:
        per_second = self.done / max(time.monotonic() - self._started, 1e-3)
        if not self.total:
            return f"{self.what}  {size(self.done)}  {size(per_second)}/s"
        left = round((self.total - self.done) / max(per_second, 1.0))
        eta = f"{left // 3600}:{left // 60 % 60:02}:{left % 60:02}"
        shown = f"{size(self.done)} of {size(self.total)}  {size(per_second)}/s  ETA {eta if self.done else '-'}"
        width = min(_BAR, columns - len(f"{self.what}    {shown}") - 1)
        bar = f"{'━' * (width * self.done // self.total):{width}}  " if width > 0 else ""
        return f"{self.what}  {bar}{shown}"

    def _columns(self) -> int:
        try:
            return os.get_terminal_size(sys.stderr.fileno()).columns or _COLUMNS
        except OSError:
            return _COLUMNS

    def _write(self, line: str) -> None:
        """Overwrite the current line, and blank the rest of it."""
        line = line.encode(sys.stderr.encoding, "replace").decode(sys.stderr.encoding)[: self._columns() - 1]
        before, self._width = self._width, max(self._width, len(line))  # an interrupt may come now
        write_plain(f"\r{line:{before}}\r{line}", sys.stderr)
        sys.stderr.flush()
        self._width = len(line)

    def __enter__(self) -> Self:
        if self._is_terminal:
            self._ticker.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._end.set()
        if self._is_terminal:
            self._ticker.join()
        if self._width:
            self._write("")
