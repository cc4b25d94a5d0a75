"""Kafka logs in Spark 4.1 and later: a data source, jobs that executors run, and column functions.

::

    datasource, options, schema    spark.read.format("recordpress"), and readStream (_stream)
    _sink, _stream_sink            df.write.format("recordpress"), and writeStream
    _read                          read(): the rows of the data source by mapInArrow
    functions                      compress, crc32c, read_record_set, schema_id and others
    _tables                        the options that a SQL table keeps for SELECT
    _inventory, _estimate, ...     one module per job; _jobs plans and _run distributes their tasks
    _environment                   the packages and the Python that Spark needs, checked when this package is imported
    _hooks                         hooks in Spark that importing this package adds: SQL functions, checks of a server
    _without_recordpress           the error of an executor whose Python has no recordpress

Executors open the files themselves: only paths and numbers pass through the driver. Spark finds the data source
through the module pyspark_recordpress if recordpress is installed for the driver's Python; `register` does the same for
one session.
"""

import os

from recordpress._lazy import exports
from recordpress.spark import _environment, _hooks

__getattr__, __dir__, __all__ = exports(__name__, __file__)

if (_active := _environment.prepare()) is not None:
    from recordpress.spark._session import register_unchecked

    register_unchecked(_active)
if "SPARK_PYTHON_RUNTIME" not in os.environ:  # which only workers have
    _hooks.watch()
