"""Spark on Kafka's files, beside what limits it: ratios within one session. How to run and read it: README.md of bench.

::

    __main__   the command line: which measurements, which sizes
    session    Spark, and the CPU seconds of all its processes
    turns      contenders one after the other, round by round; their table
    data       log directories made of bench/corpus
    prebuilt   a data source that yields the same Arrow batch again and again
    reading    format("recordpress") and recordpress.spark.read beside prebuilt batches; flat per GB; all cores; memory
    jobs       transcode next to a pool of processes, to_parquet and df.write.parquet, tiny segments
"""
