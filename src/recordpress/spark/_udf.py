"""A function of Arrow arrays as a function of Spark's columns: on Arrow where Spark can (4.1), else on pandas series.

What is sent to executors does not need recordpress to be unpickled, so that it can say what is missing there.
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
    """The column that `work` makes of another one; `returns` is its type in Spark's words."""
    from pyspark.sql import functions as of_spark

    functions: Any = of_spark
    sent, opened = pickle.dumps(work), opener("PYSPARK_PYTHON")

    def of_arrays(arrays: Iterator[pa.Array]) -> Iterator[pa.Array]:
        work = opened(sent)
        for array in arrays:
            yield from work(array)

    if hasattr(functions, "arrow_udf"):
        of_arrays.__name__ = name
        made: Column = functions.arrow_udf(of_arrays, returns)(column)
        return made
    import pandas as pd

    def of_series(several: Iterator[pd.Series]) -> Iterator[pd.Series]:
        import pandas as pd

        def arrays() -> Iterator[pa.Array]:
            from recordpress.spark._from_pandas import array_of

            for one in several:
                yield array_of(one)

        for array in of_arrays(arrays()):
            yield pd.Series(array.to_pylist(), dtype=object)

    of_series.__name__ = name
    of_series.__annotations__ = {"several": Iterator[pd.Series], "return": Iterator[pd.Series]}
    made = functions.pandas_udf(of_series, returns)(column)
    return made
