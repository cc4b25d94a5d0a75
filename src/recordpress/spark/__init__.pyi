from recordpress.spark import functions
from recordpress.spark._compare import compare
from recordpress.spark._estimate import estimate
from recordpress.spark._inventory import inventory
from recordpress.spark._parquet import to_parquet
from recordpress.spark._read import read
from recordpress.spark._session import register
from recordpress.spark._ship import ship
from recordpress.spark._transcode import transcode
from recordpress.spark._verify import verify
from recordpress.spark._write_options import WriteOptions
from recordpress.spark.datasource import KafkaLogDataSource
from recordpress.spark.options import ReadOptions

__all__ = [
    "KafkaLogDataSource",
    "ReadOptions",
    "WriteOptions",
    "compare",
    "estimate",
    "functions",
    "inventory",
    "read",
    "register",
    "ship",
    "to_parquet",
    "transcode",
    "verify",
]
