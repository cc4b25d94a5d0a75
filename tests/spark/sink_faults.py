"""A data source that is killed once while it writes, at a point that a test names: workers import this."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from recordpress.log.publish import _journal, _roll_forward, commit_staged as _publish
from recordpress.spark import KafkaLogDataSource
from recordpress.spark._sink import KafkaLogWriter
from recordpress.spark._sink_rows import TaskRows
from recordpress.spark._stream_sink import KafkaLogStreamWriter

# before what the process dies: of a task's, and of the one that commits
IN_TASKS = {"first row": (TaskRows, "add"), "last file": (TaskRows, "finish"), "message": (TaskRows, "discard")}
IN_COMMIT = {
    "commit": (_publish, "_settle"),
    "journal": (_journal.Journal, "write"),
    "first segment": (_publish, "roll_forward"),
    "second partition": (_roll_forward._Partition, "publish"),
    "id": (_roll_forward, "_remember"),
    "end": (_publish, "remove_if_empty"),
}
POINTS = (*IN_TASKS, *IN_COMMIT)


class FaultySource(KafkaLogDataSource):
    """As the one that it is made of, once the fault has happened that a file next to the log dir says."""

    @classmethod
    def name(cls) -> str:
        return "recordpressfaulty"

    def writer(self, schema: Any, overwrite: bool) -> Any:
        return _sent(FaultyWriter, super().writer(schema, overwrite), self.options["path"])

    def streamWriter(self, schema: Any, overwrite: bool) -> Any:
        return _sent(FaultyStreamWriter, super().streamWriter(schema, overwrite), self.options["path"])


def _sent(kind: Any, writer: Any, path: str) -> Any:
    made = object.__new__(kind)
    made.__dict__ |= writer.__dict__ | {"fault": Path(path).parent / "fault"}
    return made


class FaultyWriter(KafkaLogWriter):
    fault: Path

    def write(self, iterator: Iterator[Any]) -> Any:
        arm(self.fault, IN_TASKS)
        return super().write(iterator)

    def commit(self, messages: Any) -> None:
        arm(self.fault, IN_COMMIT)
        super().commit(messages)


class FaultyStreamWriter(KafkaLogStreamWriter):
    fault: Path

    def write(self, iterator: Iterator[Any]) -> Any:
        arm(self.fault, IN_TASKS)
        return super().write(iterator)

    def commit(self, messages: Any, batchId: int) -> None:
        arm(self.fault, IN_COMMIT)
        super().commit(messages, batchId)


def arm(fault: Path, points: dict[str, tuple[Any, str]]) -> None:
    """The process dies where the file says, if that is among the points: the first one that takes the file."""
    try:
        point = fault.read_text()
        if point in points:
            fault.rename(fault.with_name(f"taken-{os.getpid()}"))
            place, name = points[point]
            setattr(place, name, dying(getattr(place, name), 2 if point.startswith("second") else 1))
    except FileNotFoundError:
        return


def dying(function: Any, call: int) -> Any:
    left = [call]

    def died(*arguments: Any, **named: Any) -> Any:
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*arguments, **named)

    return died
