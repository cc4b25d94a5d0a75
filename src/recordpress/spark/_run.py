"""Run functions on executors: pickled tasks travel as rows, one per task, and so do their results.

A closure would hold all tasks, and every task would unpickle it. Spark sends a task in one message, which holds at
most spark.rpc.message.maxSize (128 MiB), so the items go out in slices, and one task of Spark builds a slice's rows.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa
from pyspark.errors import PythonException

from recordpress.log.copy.tasks import grouped
from recordpress.spark._environment import context_of, prepare_session
from recordpress.spark._without_recordpress import error_of_worker, opener

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_SLICE_BYTES = 8 << 20  # far below the 128 MiB that a task's message may have; chosen, not measured
_DESCRIPTION = "spark.job.description"  # SparkContext.SPARK_JOB_DESCRIPTION
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def run(spark: SparkSession, what: str, work: Callable[[_Item], _Result], items: Sequence[_Item]) -> list[_Result]:
    """Run `work`, a module's function, in one task per item, and return the results in order; `what` names the job in
    Spark's UI. An error of recordpress on an executor is raised here with its own type."""
    if not items:
        return []
    with _described(spark, f"recordpress: {what}, {len(items)} tasks"):
        pickled = [pickle.dumps((work, item)) for item in items]
        results = spread(spark, pickled).mapInArrow(_worker(), "number long, result binary")
        try:
            found = results.collect()
        except PythonException as error:
            raise error_of_worker(str(error)) or error from None
    return [pickle.loads(row.result) for row in sorted(found, key=lambda row: int(row.number))]


@contextmanager
def _described(spark: SparkSession, text: str) -> Iterator[None]:
    """Describe this thread's jobs in Spark's UI, unless the caller does or a client of Spark Connect runs them."""
    context = context_of(spark)
    is_ours = context is not None and context.getLocalProperty(_DESCRIPTION) is None
    if is_ours:
        context.setJobDescription(text)
    try:
        yield
    finally:
        if is_ours:
            context.setLocalProperty(_DESCRIPTION, None)


def spread(spark: SparkSession, items: Sequence[bytes]) -> DataFrame:
    """Return a DataFrame with a numbered row for each item, each in a separate task."""
    prepare_session(spark)
    sliced = [*grouped(enumerate(items), lambda numbered: len(numbered[1]), _SLICE_BYTES)]
    return reduce(lambda one, other: one.union(other), [_spread(spark, one) for one in sliced or [()]])


def _spread(spark: SparkSession, numbered: Sequence[tuple[int, bytes]]) -> DataFrame:
    numbers, items = [number for number, _ in numbered], [item for _, item in numbered]
    rows = spark.createDataFrame(
        pa.table({"number": pa.array(numbers, pa.int64()), "item": pa.array(items, pa.binary())})
    )
    one = rows.coalesce(1)  # repartition distributes the rows of one partition evenly
    return one.repartition(len(items)) if len(items) > 1 else one


def _worker() -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return the function that a task applies to its row."""
    opened = opener()

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
    """Return the rows of a job's result as a DataFrame."""
    if not rows:  # Spark Connect refuses a table without rows
        return spark.createDataFrame(pa.Table.from_pylist([{}], schema=schema)).limit(0)
    return spark.createDataFrame(pa.Table.from_pylist(list(rows), schema=schema))
