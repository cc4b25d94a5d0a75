"""Turn a function of Arrow arrays into a function of Spark columns.

The function that Spark pickles does not need recordpress to be unpickled, so an executor without it can say so.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from recordpress.spark._without_recordpress import opener

if TYPE_CHECKING:
    from pyspark.sql import Column


def column_of(name: str, column: Column | str, work: Any, returns: str) -> Column:
    """Return the column that `work` makes of another one; `returns` is its type in Spark's notation."""
    from pyspark.sql import functions as of_spark

    functions: Any = of_spark  # arrow_udf is missing in its types
    sent, opened = pickle.dumps(work), opener("PYSPARK_PYTHON")

    def of_arrays(arrays: Iterator[pa.Array]) -> Iterator[pa.Array]:
        work = opened(sent)
        for array in arrays:
            yield from work(array)

    of_arrays.__name__ = name
    made: Column = functions.arrow_udf(of_arrays, returns)(column)
    return made
