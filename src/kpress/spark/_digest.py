"""One row per partition, which shows whether two sets of records are the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from kpress.columns import write_columns
from kpress.errors import InvalidArgumentError
from kpress.log import RecordDigest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_ORDER = ("topic", "partition", "offset")
_HASHED = ("offset", "timestamp", "timestampType", "key", "value", "headers")
_RESULT = "topic string, partition int, records long, firstOffset long, lastOffset long, digest string"


def digest(df: DataFrame) -> DataFrame:
    """A digest of the records of each partition in order of offset.

    It covers offset, timestamp, timestampType, key, value and headers of every record, and does not depend on how
    records are divided into batches, segments or Spark partitions. Records are shuffled by partition and sorted, so
    any DataFrame with these columns will do.

    Parameters
    ----------
    df : DataFrame
        Columns of ``format("kpress")`` with includeHeaders=true.

    Returns
    -------
    DataFrame
        topic string, partition int, records long, firstOffset long, lastOffset long, digest string (that of
        `kpress.log.RecordDigest`, for batches without a producer); one row per partition.

    Raises
    ------
    InvalidArgumentError
        A column is missing.

    Examples
    --------
    >>> logs = spark.read.format("kpress").option("includeHeaders", True).load("logs")      # doctest: +SKIP
    >>> kpress.spark.digest(logs).show()                                                    # doctest: +SKIP
    """
    columns = ("topic", "partition", *_HASHED)
    if missing := [name for name in columns if name not in df.columns]:
        raise InvalidArgumentError(
            f"digest needs the columns {', '.join(columns)}; missing: {', '.join(missing)}"
            + (" (option includeHeaders=true)" if "headers" in missing else ""),
            field="df",
        )
    ordered = df.select(*columns).repartition("topic", "partition").sortWithinPartitions(*_ORDER)
    return ordered.mapInArrow(_digests, _RESULT)


def _digests(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """One row for each run of rows of one partition."""
    key, records, first, last = None, RecordDigest(), 0, 0
    for batch in batches:
        for run in _runs(batch):
            row = run.slice(0, 1).to_pylist()[0]
            if (row["topic"], row["partition"]) != key:
                if key is not None:
                    yield _result(key, records, first, last)
                key, records, first = (row["topic"], row["partition"]), RecordDigest(), row["offset"]
            records.update(write_columns(run.select(_HASHED)))
            last = run.column("offset")[-1].as_py()
    if key is not None:
        yield _result(key, records, first, last)


def _runs(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """The batch, split where topic or partition changes."""
    import pyarrow.compute as pc

    start = 0
    while start < batch.num_rows:
        rest = batch.slice(start)
        same = pc.and_(*(pc.equal(rest.column(name), rest.column(name)[0]) for name in ("topic", "partition")))
        length = pc.index(same, False).as_py()
        length = rest.num_rows if length < 0 else length
        yield rest.slice(0, length)
        start += length


def _result(key: tuple[str, int], records: RecordDigest, first: int, last: int) -> pa.RecordBatch:
    row = (*key, records.records, first, last, records.hexdigest())
    names = ("topic", "partition", "records", "firstOffset", "lastOffset", "digest")
    types = (pa.string(), pa.int32(), pa.int64(), pa.int64(), pa.int64(), pa.string())
    return pa.RecordBatch.from_arrays([pa.array([value], kind) for value, kind in zip(row, types, strict=True)], names)
