"""Writes as Spark makes them, task by task, and what is in the log dir after them: helpers of the sink's tests."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark import cloudpickle
from pyspark.sql.types import StructType

import recordpress
from recordpress.log import scan, verify
from recordpress.log.publish import task_group
from recordpress.spark import KafkaLogDataSource
from recordpress.spark.schema import spark_schema

KINDS = {
    "key": pa.binary(),
    "value": pa.binary(),
    "topic": pa.string(),
    "partition": pa.int32(),
    "offset": pa.int64(),
    "timestamp": pa.timestamp("us", "UTC"),
}
Rows = dict[str, Any]


def schema_of(*names: str) -> StructType:
    return spark_schema(names)


def arrow(rows: Rows) -> Any:
    return pa.record_batch({name: pa.array(values, KINDS[name]) for name, values in rows.items()})


def started(root: Path, *tasks: Sequence[Rows], overwrite: bool = False, **options: str) -> tuple[Any, list[Any]]:
    """What Spark does until the tasks are done: the writer goes to each as a pickle, and messages come back. What a
    task joined is lost, so that the driver has work; test_task_groups.py has the other case."""
    names = next(list(batch) for task in tasks for batch in task)
    given = {"path": str(root)} | {name.replace("_", "."): value for name, value in options.items()}
    writer = KafkaLogDataSource(given).writer(schema_of(*names), overwrite)
    messages = []
    for task in tasks:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(task_group, "_LINGER", 0.0)
            written = cloudpickle.loads(cloudpickle.dumps(writer)).write(iter([arrow(batch) for batch in task]))
        written.joined.clear()
        messages.append(cloudpickle.loads(cloudpickle.dumps(written)))
    return cloudpickle.loads(cloudpickle.dumps(writer)), messages


def write(root: Path, *tasks: Sequence[Rows], overwrite: bool = False, **options: str) -> None:
    writer, messages = started(root, *tasks, overwrite=overwrite, **options)
    writer.commit(messages)


def drawn(n: int, seed: int = 0) -> Rows:
    draw = random.Random(seed)
    return {
        "key": [draw.randbytes(draw.randrange(12)) if draw.random() < 0.8 else None for _ in range(n)],
        "value": [b"%d %d " % (seed, number) + draw.randbytes(9).hex().encode() for number in range(n)],
    }


def table(path: Path, *names: str) -> Any:
    return pa.concat_tables([pa.table(columns) for columns in recordpress.open_log(path).read(names)])


def stored(root: Path) -> dict[str, list[Any]]:
    """Key and value by partition; their offsets leave nothing out."""
    found = {}
    for partition in recordpress.open_log(root).partitions:
        place = root / str(partition)
        columns = table(place, "offset", "key", "value")
        assert columns["offset"].to_pylist() == list(range(columns.num_rows))
        found[str(partition)] = list(zip(columns["key"].to_pylist(), columns["value"].to_pylist(), strict=True))
    return found


def first_segment(root: Path) -> list[Any]:
    data = (root / "t-0" / f"{0:020}.log").read_bytes()
    return [record for batch in recordpress.read_batches(data) for record in batch]


def is_clean(root: Path) -> bool:
    """Whether nothing but a log is there, which is as a broker would have written it."""
    names = {path.name for path in root.iterdir()}
    return (
        not any(name.startswith(".") for name in names)
        and "_SUCCESS" in names
        and scan(root).findings == []
        and verify(root, "record").findings == []
    )
