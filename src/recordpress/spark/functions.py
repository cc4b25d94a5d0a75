"""Column functions for codecs, checksums and record sets, with one call per column of values.

::

    driver       function(column, ...) ──► a UDF of Arrow arrays
    executor                                └──► _function_work: the library's calls on whole columns

Null stays null. `mode` decides what happens to a value that cannot be read or written: FAILFAST, the default, fails
the query with the error's text; PERMISSIVE returns null. A function creates a Column for the active session; it also
works with Spark Connect. `recordpress.spark.register` registers the functions for SQL.
"""

from __future__ import annotations

import copy
import os
import pickle
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, TypeAlias, get_args

import pyarrow as pa

from recordpress._arguments import check_flags, choice, integer
from recordpress.codecs import DEFAULT_MAX_SIZE, CodecRegistry, Dictionary
from recordpress.codecs.choice import CodecChoice
from recordpress.codecs.dictionary_types import Dictionaries
from recordpress.columns import crc32c_values, decompress_values, read_columns
from recordpress.columns.framing import schema_ids
from recordpress.dictionaries import DictionaryCodec, DictionaryStore
from recordpress.errors import ArgumentTypeError, InvalidArgumentError
from recordpress.files import named
from recordpress.spark._codecs import Codecs, registry_of
from recordpress.spark._environment import active_session, prepare_session
from recordpress.spark._function_work import (
    SET_COLUMNS,
    Chosen,
    Compress,
    Computed,
    Decompress,
    ReadSet,
    WriteSet,
    compress_as,
    payload_as,
    write_as,
)
from recordpress.spark._without_recordpress import opener
from recordpress.spark.schema import spark_schema
from recordpress.typing import CompressionType, Integer, Level

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession

__all__ = ["compress", "crc32c", "decompress", "payload", "read_record_set", "schema_id", "write_record_set"]

Mode: TypeAlias = Literal["FAILFAST", "PERMISSIVE"]
Stored: TypeAlias = "Dictionaries | str | os.PathLike[str] | None"

_NOTHING = pa.array([], pa.binary())
_RECORDS = f"array<{spark_schema(SET_COLUMNS).simpleString()}>"


def compress(
    column: Column | str,
    compression_type: CompressionType | str = "zstd",
    level: Level = None,
    *,
    dictionary: Dictionary | Integer | None = None,
    dictionaries: Stored = None,
    mode: Mode = "FAILFAST",
    codecs: Codecs = None,
) -> Column:
    """Compress each value of a column, as `recordpress.compress_values` does.

    Parameters
    ----------
    column : Column or str
        Column of type binary or string.
    compression_type, level
        As for `recordpress.compress`.
    dictionary : Dictionary or int, optional
        Dictionary for zstd, or its id in `dictionaries`.
    dictionaries : path, DictionaryStore or dict of int to Dictionary, optional
        Dictionaries in which the driver looks up `dictionary`.
    mode : {'FAILFAST', 'PERMISSIVE'}
        A value that a codec plug-in cannot compress fails the query, or becomes null.
    codecs : CodecRegistry, str or several, optional
        Codec plug-ins, as for `recordpress.spark.transcode`.

    Returns
    -------
    Column
        binary; null where the value is null.

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError
        An argument is not accepted, or the dictionary does not exist.

    Examples
    --------
    >>> from recordpress.spark.functions import compress, decompress
    >>> lines = spark.createDataFrame([(b"a line of a log",), (None,)], "value binary")
    >>> small = lines.select(compress("value", "zstd", 9).alias("small"))
    >>> [row.value for row in small.select(decompress("small").alias("value")).collect()]
    [b'a line of a log', None]
    """
    nulls = _gives_null(mode)
    stored = _stored(dictionaries)
    chosen = _chosen(dictionary, stored)
    own: Any = registry_of(codecs)
    if isinstance(compression_type, str) and compression_type == DictionaryCodec.name:
        own, chosen = _with_dictionaries(own, chosen, stored), None
    elif stored is not None and chosen is None:
        raise InvalidArgumentError("dictionaries needs an id in dictionary", field="dictionary")
    codec = CodecChoice(compression_type, level, own, chosen)
    return _column("compress", column, Compress(codec, nulls), "binary")


def decompress(
    column: Column | str,
    compression_type: CompressionType | str = "zstd",
    max_decompressed_bytes: Integer = DEFAULT_MAX_SIZE,
    *,
    dictionaries: Stored = None,
    mode: Mode = "FAILFAST",
    codecs: Codecs = None,
) -> Column:
    """Decompress each value of a column, as `recordpress.decompress_values` does.

    Parameters
    ----------
    column : Column or str
        Column of type binary.
    compression_type, max_decompressed_bytes
        As for `recordpress.decompress_values`.
    dictionaries : path, DictionaryStore, Dictionary or dict of int to Dictionary, optional
        Dictionaries that values may name. Tasks open a store themselves: executors must see its path.
    mode : {'FAILFAST', 'PERMISSIVE'}
        A value that cannot be read fails the query, or becomes null; so does a value that is larger than
        `max_decompressed_bytes` or whose dictionary is missing. The error names the dictionary's id.
    codecs : CodecRegistry, str or several, optional
        Codec plug-ins, as for `recordpress.spark.transcode`.

    Returns
    -------
    Column
        binary; null where the value is null.

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError
        An argument is not accepted.
    pyspark.errors.PySparkException
        Raised when the query runs, with the text of the `RecordpressError`; its row is counted in an Arrow batch.

    Examples
    --------
    >>> import recordpress
    >>> from recordpress.spark.functions import decompress
    >>> rows = spark.createDataFrame([(recordpress.compress(b"text", "gzip"),), (b"?",)], "small binary")
    >>> [row[0] for row in rows.select(decompress("small", "gzip", mode="PERMISSIVE")).collect()]
    [b'text', None]
    """
    nulls = _gives_null(mode)
    stored = _stored(dictionaries)
    own: Any = registry_of(codecs)
    if isinstance(compression_type, str) and compression_type == DictionaryCodec.name:
        own, stored = _with_dictionaries(own, None, stored), None
    size: Any = max_decompressed_bytes
    decompress_values(_NOTHING, compression_type, size, dictionaries=stored, codecs=own)
    return _column("decompress", column, Decompress(compression_type, size, stored, own, nulls), "binary")


def crc32c(column: Column | str) -> Column:
    """Compute the CRC-32C of each value of a column: the checksum of record batches and of many storage systems.

    Parameters
    ----------
    column : Column or str
        Column of type binary or string.

    Returns
    -------
    Column
        long, 0 to 2**32 - 1; null where the value is null. Defined in RFC 3720, appendix B.4.

    Examples
    --------
    >>> from recordpress.spark.functions import crc32c
    >>> spark.sql("SELECT '123456789' AS text").select(crc32c("text").alias("crc")).first().crc == 0xE3069283
    True
    """
    return _column("crc32c", column, Computed(crc32c_values), "bigint")


def schema_id(column: Column | str) -> Column:
    """Return the schema id of each value in Confluent's framing: the byte 0, the id in 4 bytes, and the payload.

    Parameters
    ----------
    column : Column or str
        Column of type binary or string.

    Returns
    -------
    Column
        int; null where the value is null or does not begin with the byte 0 and an id.

    Examples
    --------
    >>> from recordpress.spark.functions import payload, schema_id
    >>> rows = spark.createDataFrame([(b"\\0\\0\\0\\0\\7payload",), (b"text",)], "value binary")
    >>> [tuple(row) for row in rows.select(schema_id("value"), payload("value")).collect()]
    [(7, b'payload'), (None, None)]
    """
    return _column("schema_id", column, Computed(schema_ids), "int")


def payload(column: Column | str, value_format: Literal["avro", "json", "protobuf"] = "avro") -> Column:
    """Return the payload of each value in Confluent's framing, for Spark's from_avro, from_json and from_protobuf.

    Parameters
    ----------
    column : Column or str
        Column of type binary or string.
    value_format : {'avro', 'json', 'protobuf'}
        With 'protobuf', message indexes precede the payload.

    Returns
    -------
    Column
        binary; null where `schema_id` is null, or where message indexes are incomplete.

    Raises
    ------
    InvalidArgumentError
        The format is unknown.

    Examples
    --------
    >>> from recordpress.spark.functions import payload
    >>> row = spark.sql("SELECT X'0000000007' || X'00' || 'message' AS value")
    >>> row.select(payload("value", "protobuf")).first()[0]
    b'message'
    """
    return _column("payload", column, payload_as(value_format), "binary")


def read_record_set(
    column: Column | str,
    *,
    max_decompressed_bytes: Integer = DEFAULT_MAX_SIZE,
    dictionaries: Stored = None,
    mode: Mode = "FAILFAST",
    codecs: Codecs = None,
) -> Column:
    """Read the records of record sets: from ``rows=bytes``, Fetch responses or Produce requests.

    Checksums are verified, and each set must end with a complete entry. Control records are omitted.

    Parameters
    ----------
    column : Column or str
        Column of type binary: each value is a record set, with any mix of formats and codecs.
    max_decompressed_bytes : int
        Cap on the decompressed size of one batch.
    dictionaries : path, DictionaryStore, Dictionary or dict of int to Dictionary, optional
        Dictionaries for batches of the codec ``zstd-dict`` (`recordpress.dictionaries.DictionaryCodec`).
    mode : {'FAILFAST', 'PERMISSIVE'}
        A set that cannot be read fails the query, or becomes null.
    codecs : CodecRegistry, str or several, optional
        Codec plug-ins, as for `recordpress.spark.transcode`.

    Returns
    -------
    Column
        array<struct<key, value, offset, timestamp, timestampType, headers>>, with the data source's names and types;
        headers is null where a record has none, and the array is null where the value is null.

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError
        An argument is not accepted.
    pyspark.errors.PySparkException
        Raised when the query runs, with the text of the `RecordpressError`.

    Examples
    --------
    >>> import recordpress
    >>> from recordpress.spark.functions import read_record_set
    >>> rows = spark.createDataFrame([(recordpress.write_records([b"a", b"b"], base_offset=7),)], "batch binary")
    >>> records = rows.select(read_record_set("batch").alias("records")).selectExpr("inline(records)")
    >>> [(row.offset, row.value) for row in records.collect()]
    [(7, b'a'), (8, b'b')]
    """
    nulls = _gives_null(mode)
    own = _with_dictionaries(registry_of(codecs), None, _stored(dictionaries))
    size: Any = max_decompressed_bytes
    read_columns(b"", max_decompressed_bytes=size, codecs=own)
    return _column("read_record_set", column, ReadSet(size, own, nulls), _RECORDS)


def write_record_set(
    column: Column | str,
    compression_type: CompressionType | str = "none",
    level: Level = None,
    *,
    coerce_timestamps: bool = False,
    dictionary: Dictionary | Integer | None = None,
    dictionaries: Stored = None,
    mode: Mode = "FAILFAST",
    codecs: Codecs = None,
) -> Column:
    """Write record sets, one for each array of structs, as `recordpress.write_columns` does.

    Parameters
    ----------
    column : Column or str
        Column of type array<struct>, with fields named as in `read_record_set`, in any order; key or value is required.
        A record whose headers are null gets none.
    compression_type, level, coerce_timestamps
        As for `recordpress.write_columns`: Kafka's timestamps are in milliseconds; finer timestamps are refused
        unless `coerce_timestamps` rounds them down.
    dictionary, dictionaries
        As for `compress`, but for the codec ``zstd-dict``.
    mode : {'FAILFAST', 'PERMISSIVE'}
        A set that cannot be written, for example if offsets do not increase, fails the query or becomes null.
    codecs : CodecRegistry, str or several, optional
        Codec plug-ins, as for `recordpress.spark.transcode`.

    Returns
    -------
    Column
        binary: batches of at most 1 MiB before compression; null where the array is null.

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError
        An argument is not accepted.
    pyspark.errors.PySparkException
        Raised when the query runs, with the text of the `RecordpressError`.

    Examples
    --------
    >>> import recordpress
    >>> from pyspark.sql.functions import array, lit, struct
    >>> from recordpress.spark.functions import write_record_set
    >>> records = array(struct(lit(b"k").alias("key"), lit("a value").alias("value")))
    >>> made = spark.range(1).select(write_record_set(records, "zstd").alias("batch")).first().batch
    >>> [(record.key, record.value) for batch in recordpress.read_batches(bytes(made)) for record in batch]
    [(b'k', b'a value')]
    """
    nulls = _gives_null(mode)
    stored = _stored(dictionaries)
    own = _with_dictionaries(registry_of(codecs), _chosen(dictionary, stored), stored)
    check_flags(coerce_timestamps=coerce_timestamps)
    work = WriteSet(CodecChoice(compression_type, level, own), coerce_timestamps, nulls)
    return _column("write_record_set", column, work, "binary")


def _gives_null(mode: str) -> bool:
    given = mode.upper() if isinstance(mode, str) else mode
    return choice("mode", given, get_args(Mode)) == "PERMISSIVE"


def _stored(dictionaries: Stored) -> Dictionaries | None:
    if isinstance(dictionaries, str | os.PathLike):
        with named("dictionaries"):
            return DictionaryStore(dictionaries)
    if dictionaries is None or hasattr(type(dictionaries), "get") or isinstance(dictionaries, Dictionary):
        return dictionaries
    raise ArgumentTypeError(
        "dictionaries must be a path, a DictionaryStore, a Dictionary or a dict of dictionaries by id, "
        f"not {type(dictionaries).__name__}",
        field="dictionaries",
    )


def _chosen(dictionary: Dictionary | Integer | None, stored: Dictionaries | None) -> Dictionary | None:
    if dictionary is None or isinstance(dictionary, Dictionary):
        return dictionary
    if not isinstance(dictionary, SupportsIndex):
        raise ArgumentTypeError(
            f"dictionary must be a recordpress.dictionaries.Dictionary or an id, not {type(dictionary).__name__}",
            field="dictionary",
        )
    if stored is None or isinstance(stored, Dictionary):
        raise InvalidArgumentError("dictionary is an id, which needs dictionaries", field="dictionary")
    number = integer(dictionary, "dictionary", 0, (1 << 32) - 1)
    found = stored.get(number)
    if found is None:
        raise InvalidArgumentError(f"dictionaries has no dictionary {number}", field="dictionary")
    return found


def _with_dictionaries(
    codecs: CodecRegistry | None, dictionary: Dictionary | None, stored: Any
) -> CodecRegistry | None:
    """Return the codecs, with zstd-dict if there is a dictionary."""
    if dictionary is None and stored is None:
        return codecs
    if dictionary is None:
        dictionary = stored if isinstance(stored, Dictionary) else next(iter(stored.values()), None)
    if dictionary is None:
        raise InvalidArgumentError("dictionaries is empty", field="dictionaries")
    made = CodecRegistry() if codecs is None else copy.copy(codecs)
    made.register(DictionaryCodec.name, DictionaryCodec(dictionary, stored), replace=True)
    return made


def _column(name: str, column: Column | str, work: Any, returns: str) -> Column:
    """Return the column that `work` computes; `returns` is Spark's type."""
    from pyspark import TaskContext

    if TaskContext.get() is not None:
        raise ArgumentTypeError(
            f"{name} creates columns and cannot be called with values: recordpress.spark.register(spark) registers "
            f"rp_{name} for SQL",
            field="column",
        )
    made: Column = _udf(name, work, returns)(column)
    return made


def _udf(name: str, work: Any, returns: str) -> Any:
    """Return Spark's function of Arrow arrays. It unpickles without recordpress: an executor can report it missing."""
    from pyspark.sql import functions as of_spark

    if (session := active_session()) is not None:
        prepare_session(session)
    functions: Any = of_spark  # its type hints lack arrow_udf
    sent, opened = pickle.dumps(work), opener()

    def of_arrays(arrays: Iterator[pa.Array]) -> Iterator[pa.Array]:
        work = opened(sent)
        for given in arrays:  # a tuple if there are several columns
            yield from work(*given) if isinstance(given, tuple) else work(given)

    of_arrays.__name__ = name
    return functions.arrow_udf(of_arrays, returns)


def register_functions(spark: SparkSession) -> None:
    """Register the functions for SQL, whose codecs and levels may be columns."""
    for name, work, returns in (
        ("rp_compress", Chosen("rp_compress", compress_as, 2), "binary"),
        ("rp_decompress", Chosen("rp_decompress", Decompress, 1), "binary"),
        ("rp_crc32c", Computed(crc32c_values), "bigint"),
        ("rp_schema_id", Computed(schema_ids), "int"),
        ("rp_payload", Chosen("rp_payload", payload_as, 1), "binary"),
        ("rp_read_record_set", ReadSet(DEFAULT_MAX_SIZE, None, False), _RECORDS),
        ("rp_write_record_set", Chosen("rp_write_record_set", write_as, 2), "binary"),
    ):
        spark.udf.register(name, _udf(name, work, returns))
