"""The progress of commands that take longer than a second: bytes and remaining time, on a terminal."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Self

from recordpress.cli._output import size, write_plain

if TYPE_CHECKING:
    from recordpress.log import Progress as Done

PATIENCE = 1.0  # seconds
_INTERVAL = 0.1  # seconds between two lines
_BAR = 24  # characters
_COLUMNS = 80  # of a terminal of unknown width


class Progress:
    """Show bytes done of a total on stderr after one second, if stderr is a terminal.

    An instance is a `progress` callback of the library. The working thread rewrites the line, so an interrupt needs no
    cleanup.
    """

    def __init__(self, what: str, total: int | None = None) -> None:
        self.what = what
        self.total = total
        self.done = 0
        self._is_terminal = sys.stderr.isatty()
        self._started = time.monotonic()
        self._next_look = self._started + PATIENCE
        self._width = 0  # of the line that is there

    def advance(self, size: int) -> None:
        """Add a number of bytes."""
        self._at(self.done + size, self.total)

    def at(self, done: int) -> None:
        """Set the number of bytes."""
        self._at(done, self.total)

    def __call__(self, progress: Done) -> None:
        """Take the numbers of a call."""
        self._at(progress.bytes_done, progress.bytes_total)

    def _at(self, done: int, total: int | None) -> None:
        self.done, self.total = done, total
        if self._is_terminal and time.monotonic() >= self._next_look:
            self._next_look = time.monotonic() + _INTERVAL
            self._write(self._line(self._columns()))

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
        return self

    def __exit__(self, *exc: object) -> None:
        if self._width:
            self._write("")
