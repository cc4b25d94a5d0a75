"""How far a command is: bytes and the time that is left, on a terminal, for what takes longer than a second."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

    from kpress.log import Progress as Done

PATIENCE = 1.0  # seconds
_INTERVAL = 0.1  # seconds between two looks at the clock's worth of drawing


class Progress:
    """Shows bytes done of a total on stderr, if that is a terminal, after one second.

    It is what the library's calls take as `progress`.

    Examples
    --------
    >>> with Progress("reading", total=1 << 30) as progress:                       # doctest: +SKIP
    ...     for piece in pieces:
    ...         progress.advance(len(piece))
    """

    def __init__(self, what: str, total: int | None = None) -> None:
        self.what = what
        self.total = total
        self.done = 0
        self._is_terminal = sys.stderr.isatty()
        self._next_look = time.monotonic() + PATIENCE
        self._bar: Bar | None = None
        self._task: TaskID | None = None

    def advance(self, size: int) -> None:
        """So many bytes more are done."""
        self._at(self.done + size, self.total)

    def at(self, done: int) -> None:
        """So many bytes are done in all."""
        self._at(done, self.total)

    def __call__(self, progress: Done) -> None:
        """So far has the work come."""
        self._at(progress.bytes_done, progress.bytes_total)

    def _at(self, done: int, total: int | None) -> None:
        self.done, self.total = done, total
        if self._is_terminal and time.monotonic() >= self._next_look:
            self._draw()

    def _draw(self) -> None:
        self._next_look = time.monotonic() + _INTERVAL
        if self._bar is None:
            self._bar = self._new_bar()
            self._task = self._bar.add_task(self.what, total=self.total)
            self._bar.start()
        if self._task is not None:
            self._bar.update(self._task, completed=self.done, total=self.total)

    def _new_bar(self) -> Bar:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn, TransferSpeedColumn
        from rich.progress import Progress as Bar

        return Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(binary_units=True),
            TransferSpeedColumn(),
            TextColumn("ETA"),
            TimeRemainingColumn(),
            console=Console(file=sys.stderr),
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
