"""The upper limit of PySpark's API: a data source whose reader yields the same Arrow batch again and again."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from bench.corpus import SETS
from recordpress.spark.schema import arrow_schema, spark_schema

NAMES = ("key", "value", "topic", "partition", "offset", "timestamp", "timestampType")


@cache
def batch_of(record_set: str, rows: int, names: tuple[str, ...]) -> pa.RecordBatch:
    """The records of a set, over and over, under the schema of format("recordpress")."""
    records = SETS[record_set]
    take = pa.array([number % records.count for number in range(rows)])
    times = pa.array([time * 1000 for time in records.timestamps], pa.int64()).cast(pa.timestamp("us", "UTC"))
    columns: dict[str, Any] = {
        "key": pa.array(records.keys, pa.binary()).take(take),
        "value": pa.array(records.values, pa.binary()).take(take),
        "topic": pa.array(["lines"] * rows),
        "partition": pa.array([0] * rows, pa.int32()),
        "offset": pa.array(range(rows), pa.int64()),
        "timestamp": times.take(take),
        "timestampType": pa.array([0] * rows, pa.int32()),
    }
    return pa.RecordBatch.from_arrays([columns[name] for name in names], schema=arrow_schema(names))


class Prebuilt(DataSource):
    """Options: set, rows (in all), tasks, batchRows."""

    @classmethod
    def name(cls) -> str:
        return "prebuilt"

    def schema(self) -> Any:
        return spark_schema(NAMES)

    def reader(self, schema: Any) -> DataSourceReader:
        return PrebuiltReader(self.options, tuple(schema.fieldNames()))


class PrebuiltReader(DataSourceReader):
    def __init__(self, options: Any, names: tuple[str, ...]) -> None:
        self.record_set = options["set"]
        self.names = names
        self.rows, self.tasks = int(options["rows"]), int(options["tasks"])
        self.batch_rows = int(options["batchRows"])

    def partitions(self) -> list[InputPartition]:
        return [InputPartition(number) for number in range(self.tasks)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        left = self.rows // self.tasks
        batch = batch_of(self.record_set, self.batch_rows, self.names)
        while left > 0:
            yield batch.slice(0, left)
            left -= batch.num_rows
