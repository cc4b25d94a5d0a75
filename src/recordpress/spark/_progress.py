"""How far a job is: how many of its tasks are done, on a terminal, for what takes longer than a second."""

from __future__ import annotations

import sys
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Self
from uuid import uuid4

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PATIENCE = 1.0  # seconds
_INTERVAL = 0.25  # seconds between two looks
_GROUP = "spark.jobGroup.id"


class Progress:
    """Writes tasks done of all on stderr, over and over, while Spark works in the calling thread.

    Nothing is written if stderr is no terminal, if Spark shows its own (spark.ui.showConsoleProgress), or if the
    session is one of Spark Connect, whose client cannot ask for the state of tasks.

    Parameters
    ----------
    spark : SparkSession
    what : str
        The name of the job.
    total : int
        Its tasks.
    """

    def __init__(self, spark: SparkSession, what: str, total: int) -> None:
        self._what, self._total = what, total
        self._context = _context_of(spark) if sys.stderr.isatty() else None
        self._stop = Event()
        self._thread: Thread | None = None
        self._is_shown = self._is_own_group = False

    def __enter__(self) -> Self:
        if self._context is not None:
            group = self._context.getLocalProperty(_GROUP)  # the caller may want to cancel by it
            self._is_own_group = group is None
            if group is None:
                group = f"recordpress {self._what} {uuid4().hex}"
                self._context.setLocalProperty(_GROUP, group)
            tracker = self._context.statusTracker()
            before = frozenset(tracker.getJobIdsForGroup(group))
            self._thread = Thread(target=self._show, args=(tracker, group, before), daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            if self._is_own_group and self._context is not None:
                self._context.setLocalProperty(_GROUP, None)
        if self._is_shown:
            _write("")

    def _show(self, tracker: Any, group: str, before: frozenset[int]) -> None:
        delay = _PATIENCE
        try:
            while not self._stop.wait(delay):
                delay = _INTERVAL
                done, failed = self._counted(tracker, set(tracker.getJobIdsForGroup(group)) - before)
                tries = f", {failed} failed and tried again" if failed else ""
                self._is_shown = True
                _write(f"{self._what}: {done} of {self._total} tasks done{tries}")
        except Exception:  # a context that ends, a terminal that is gone: the job says what is wrong
            return

    def _counted(self, tracker: Any, jobs: set[int]) -> tuple[int, int]:
        """Tasks done and failed of the stage that has as many as there are."""
        infos = [tracker.getJobInfo(job) for job in jobs]
        stages = [tracker.getStageInfo(stage) for info in infos if info for stage in info.stageIds]
        own = [stage for stage in stages if stage and stage.numTasks == self._total]
        return max((one.numCompletedTasks for one in own), default=0), sum(one.numFailedTasks for one in own)


def _context_of(spark: SparkSession) -> Any:
    if spark is None or spark.conf.get("spark.ui.showConsoleProgress", "false") == "true":
        return None
    try:
        return spark.sparkContext
    except Exception:  # Connect has none, and says so with an error of its own kind
        return None


def _write(line: str) -> None:
    sys.stderr.write(f"\r\x1b[K{line}")
    sys.stderr.flush()
