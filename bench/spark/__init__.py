"""Spark on Kafka's files, next to its upper limits: ratios within one session. bench/README.md explains how to run it.

::

    __main__   the command line: which measurements, which sizes
    session    Spark, and the CPU seconds of all its processes
    turns      contenders one after the other, round by round; their table
    data       log directories built from bench/corpus
    prebuilt   a data source that yields the same Arrow batch again and again
    reading    format("recordpress") and recordpress.spark.read next to prebuilt batches; per GB; all cores; memory
    jobs       transcode next to a pool of processes, to_parquet and df.write.parquet, tiny segments
"""
