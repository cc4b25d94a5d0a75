"""Kafka log directories in Spark: recordpress's functions, run on executors.

::

    datasource   spark.read.format("recordpress").load(path)      tasks of about the same size, Arrow record batches
                                                             (_batch_rows: a row per batch)
    options      what that takes                             parsed at once (_offsets: topics and offsets)
    schema       what it gives                               the columns of Spark's Kafka source, or of batches
    _read        read(spark, src)                            the same rows by mapInArrow, for less CPU time
    _stream      spark.readStream.format("recordpress")              segments that were closed since
    _sink        df.write.format("recordpress").save(path)        segments that brokers take, all of them or none
                 (_write_options; _sink_rows: rows by partition, packed into batches)
    _stream_sink df.writeStream.format("recordpress")             the same for each batch of a query, once
    _filters     what of a query's filters is used to read less
    _session     what a session tells of itself

    _codecs      codecs of the user's own, for all of these
    functions    of columns: compress, decompress, crc32c, read_record_set, write_record_set (_function_work, _udf,
                 _from_pandas)
    _without_recordpress  what is said where a Python has no recordpress, by whatever Spark carries there
    report       html_of(before, after)                      what a recompression did, as a page

    jobs, by reference: executors open the files, and only paths and numbers go through the driver (_jobs, _run)

    _progress    tasks done of all, on a terminal
    _inventory   inventory(spark, src)                       what is there: codecs, depths, formats
    _estimate    estimate(spark, src, "zstd,1,3/lz4")        what each codec and level would save
    _verify      verify(spark, src)                          what is damaged
    _transcode   transcode(spark, src, dst, "zstd")          a copy with another codec
    _parquet     to_parquet(spark, src, dst)                 Parquet files, written in the tasks
    _compare     compare(spark, left, right)                 whether two logs hold the same records

`ship` brings recordpress to executors whose Python lacks it (_ship).

Needs pyspark 4.0 or newer, pyarrow and pandas (``pip install recordpress[spark]``). If recordpress is installed for the
driver's Python, Spark finds the data source by itself, through the module pyspark_recordpress; `register` does it by
hand.
"""

from recordpress._lazy import exports

__getattr__, __dir__, __all__ = exports(
    __name__,
    {
        "recordpress.spark.functions": "",
        "recordpress.spark._compare": "compare",
        "recordpress.spark._estimate": "estimate",
        "recordpress.spark._inventory": "inventory",
        "recordpress.spark._parquet": "to_parquet",
        "recordpress.spark._read": "read",
        "recordpress.spark._session": "register",
        "recordpress.spark._ship": "ship",
        "recordpress.spark._transcode": "transcode",
        "recordpress.spark._verify": "verify",
        "recordpress.spark._write_options": "WriteOptions",
        "recordpress.spark.datasource": "KafkaLogDataSource",
        "recordpress.spark.options": "ReadOptions",
    },
)
