"""Work that travels to executors as rows, and comes back as rows.

::

    driver     (work, item), pickled ──► one row per task ──► mapInArrow
    executor                                                     └──► work(item), pickled ──► driver

No list is in a closure, which every task would have to unpickle as a whole.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from recordpress.spark._progress import Progress
from recordpress.spark._without_recordpress import opener

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def run(spark: SparkSession, what: str, work: Callable[[_Item], _Result], items: Sequence[_Item]) -> list[_Result]:
    """The results of `work`, a function of a module, for each item: a task each, in their order. `what` is shown."""
    if not items:
        return []
    with Progress(spark, what, len(items)):
        pickled = [pickle.dumps((work, item)) for item in items]
        found = spread(spark, pickled).mapInArrow(_worker(), "number long, result binary").collect()
    return [pickle.loads(row.result) for row in sorted(found, key=lambda row: int(row.number))]


def spread(spark: SparkSession, items: Sequence[bytes]) -> DataFrame:
    """A row for each item, with its number: one to each task."""
    rows = spark.createDataFrame(pa.table({"number": pa.array(range(len(items)), pa.int64()), "item": items}))
    one = rows.coalesce(1)  # out of one partition rows are dealt out evenly
    return one.repartition(len(items)) if len(items) > 1 else one


def _worker() -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What a task does with its row."""
    opened = opener("PYSPARK_PYTHON")

    def worked(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pickle

        import pyarrow as pa

        for batch in batches:
            for number, item in zip(batch.column("number"), batch.column("item"), strict=True):
                work, argument = opened(item.as_py())
                result = pa.array([pickle.dumps(work(argument))], pa.binary())
                yield pa.RecordBatch.from_arrays([pa.array([number.as_py()], pa.int64()), result], ["number", "result"])

    return worked


def table(spark: SparkSession, rows: Sequence[dict[str, Any]], schema: pa.Schema) -> DataFrame:
    """Rows of a job's result."""
    if not rows:  # Spark Connect refuses a table that has none
        return spark.createDataFrame(pa.Table.from_pylist([{}], schema=schema)).limit(0)
    return spark.createDataFrame(pa.Table.from_pylist(list(rows), schema=schema))
