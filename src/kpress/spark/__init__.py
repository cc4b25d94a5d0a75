"""Kafka log directories in Spark: kpress's functions, run on executors.

::

    datasource   spark.read.format("kpress").load(log dir)   one task per segment, Arrow record batches
    options      what that takes                             parsed once, on the driver
    schema       what it gives                               the columns of Spark's Kafka source
    _transcode   transcode(spark, src, dst, "zstd")          by reference: executors read and write the segments
    _digest      digest(df)                                  one row per partition, to compare two sets of records

Needs pyspark 4.0 or newer, pyarrow and pandas (``pip install kpress[spark]``). If kpress is installed for the driver's
Python, Spark finds the data source by itself, through the module pyspark_kpress; `register` does it by hand.
"""

from kpress._on_use import names_of

__getattr__, __dir__ = names_of(__name__)

TYPE_CHECKING = False  # as in kpress._on_use
if TYPE_CHECKING:
    from kpress.spark._names import *  # noqa: F403 (their __all__)
    from kpress.spark._names import __all__ as __all__
