"""Functions of columns, beside codecs and records of other people's software."""

from __future__ import annotations

import gzip
import random
from pathlib import Path
from typing import Any

import pytest

import recordpress
from recordpress.dictionaries import DictionaryStore, train_values

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")
cramjam = pytest.importorskip("cramjam")
lz4_frame = pytest.importorskip("lz4.frame")
google_crc32c = pytest.importorskip("google_crc32c")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
]

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import functions as F

from recordpress.spark import _function_work, functions

LINES = [b'{"user": %d, "city": "%s"}' % (n * 7919 % 10007, (b"Paris", b"Lyon")[n % 2]) for n in range(500)]
VALUES = [*LINES, b"", None, b"x" * 70_000]
FRAMES = {
    "gzip": (gzip.compress, gzip.decompress),
    "zstd": (cramjam.zstd.compress, cramjam.zstd.decompress),
    "lz4": (lambda data: lz4_frame.compress(data, block_linked=False), lz4_frame.decompress),
    "snappy": (None, None),
    "none": (bytes, bytes),
}
TRAINED = train_values(LINES, 512, dictionary_id=70000)


def column(spark: Any, values: list[Any], type: str = "binary") -> Any:
    return spark.createDataFrame([(n, value) for n, value in enumerate(values)], f"id int, value {type}")


def values_of(frame: Any) -> list[Any]:
    rows = sorted(frame.collect(), key=lambda row: row.id)
    return [bytes(row[1]) if isinstance(row[1], bytearray) else row[1] for row in rows]


@pytest.mark.parametrize("codec", FRAMES)
def test_codecs(spark: Any, codec: Any) -> None:
    compress, decompress = FRAMES[codec]
    frame = column(spark, VALUES).select("id", functions.compress("value", codec).alias("value"))
    small = values_of(frame)
    assert small == [None if value is None else recordpress.compress(value, codec) for value in VALUES]
    if decompress is not None:
        assert [None if one is None else bytes(decompress(one)) for one in small] == VALUES
        theirs = [None if value is None else bytes(compress(value)) for value in VALUES]
        found = column(spark, theirs).select("id", functions.decompress("value", codec))
        assert values_of(found) == VALUES
    assert values_of(frame.select("id", functions.decompress(frame["value"], codec))) == VALUES


def test_checksums_and_text(spark: Any) -> None:
    frame = column(spark, ["123456789", None, "", "naïve"], "string")
    texts = [None if text is None else text.encode() for text in ("123456789", None, "", "naïve")]
    found = values_of(frame.select("id", functions.crc32c("value")))
    assert found == [None if text is None else google_crc32c.value(text) for text in texts]
    assert found[0] == 0xE3069283  # RFC 3720, appendix B.4
    both = frame.select("id", functions.decompress(functions.compress("value", "lz4"), "lz4"))
    assert values_of(both) == texts


def test_damage_by_mode(spark: Any) -> None:
    frames = [recordpress.compress(line, "zstd") for line in LINES[:4]]
    frames[2] = frames[2][:-3]
    frame = column(spark, frames)
    with pytest.raises(PySparkException, match=r"DecompressionError: row \d+: "):
        frame.select("id", functions.decompress("value")).collect()
    found = values_of(frame.select("id", functions.decompress("value", mode="permissive")))
    assert found == [LINES[0], LINES[1], None, LINES[3]]
    bomb = column(spark, [recordpress.compress(bytes(5_000_000), "zstd"), recordpress.compress(b"x", "zstd")])
    with pytest.raises(PySparkException, match="OutputTooLargeError"):
        bomb.select("id", functions.decompress("value", "zstd", 1000)).collect()
    found = values_of(bomb.select("id", functions.decompress("value", "zstd", 1000, mode="PERMISSIVE")))
    assert found == [None, b"x"]


def test_dictionaries_by_id(spark: Any, tmp_path: Path) -> None:
    store = DictionaryStore(tmp_path)
    store.add(TRAINED)
    frame = column(spark, VALUES)
    for given in ({"dictionary": TRAINED}, {"dictionary": 70000, "dictionaries": tmp_path}):
        small = frame.select("id", functions.compress("value", "zstd", **given).alias("value"))
        assert values_of(small) == [
            None if value is None else recordpress.compress(value, "zstd", dictionary=TRAINED) for value in VALUES
        ]
        for known in (str(tmp_path), store, TRAINED, {70000: TRAINED}):
            assert values_of(small.select("id", functions.decompress("value", dictionaries=known))) == VALUES
    with pytest.raises(PySparkException, match="needs dictionary 70000"):
        small.select(functions.decompress("value")).collect()
    with pytest.raises(recordpress.InvalidArgumentError, match="dictionaries has no dictionary 5"):
        functions.compress("value", "zstd", dictionary=5, dictionaries=tmp_path)
    with pytest.raises(recordpress.InvalidArgumentError, match="dictionary is an id, which needs dictionaries"):
        functions.compress("value", "zstd", dictionary=5)


CODEC = """
class Reverse:
    def compress(self, data):
        if data == b"?":
            raise ZeroDivisionError("by hand")
        return data[::-1]
    def decompress(self, data, max_output):
        return data[::-1]
"""


def test_codecs_of_the_users_own(spark: Any, tmp_path: Path) -> None:
    """One that cannot turn every value."""
    path = tmp_path / "codec_that_fails_at_times.py"
    path.write_text(CODEC)
    spark.sparkContext.addPyFile(str(path))
    given: dict[str, Any] = {"codecs": f"{path.stem}:Reverse"}
    values = [b"abc", b"?", None, *[b"value"] * 20]
    frame = column(spark, values)
    with pytest.raises(PySparkException, match="by hand"):
        frame.select(functions.compress("value", "Reverse", **given)).collect()
    small = frame.select("id", functions.compress("value", "Reverse", mode="PERMISSIVE", **given).alias("value"))
    assert values_of(small) == [value and (None if value == b"?" else value[::-1]) for value in values]
    assert values_of(small.select("id", functions.decompress("value", "Reverse", **given)))[0] == b"abc"


def records_by_aiokafka(data: bytes) -> list[tuple[Any, ...]]:
    memory = pytest.importorskip("aiokafka.record.memory_records")
    found = []
    batches = memory.MemoryRecords(data)
    while batches.has_next():
        found += [
            (one.offset, one.timestamp, one.timestamp_type, one.key, one.value, [tuple(pair) for pair in one.headers])
            for one in batches.next_batch()
        ]
    return found


def sets(count: int) -> list[bytes]:
    chance = random.Random(7)
    made = []
    for number in range(count):
        rows = range(chance.randrange(1, 30))
        made.append(
            recordpress.write_records(
                [chance.choice((None, b"value %d" % row)) for row in rows],
                keys=[chance.choice((None, b"", b"key")) for _ in rows],
                headers=[[("h", b"1"), ("h", None)] if row % 3 == 0 else [] for row in rows],
                timestamps=[1_700_000_000_000 + 7 * row for row in rows],
                base_offset=100 * number,
                compression_type=chance.choice(("none", "gzip", "snappy", "lz4", "zstd")),
            )
        )
    return made


def plain(thing: Any) -> Any:
    if isinstance(thing, bytearray):
        return bytes(thing)
    return type(thing)(map(plain, thing)) if isinstance(thing, (list, tuple)) else thing


def test_record_sets_are_what_aiokafka_reads(spark: Any) -> None:
    made = sets(40)
    frame = column(spark, [*made, None, b""])
    found = frame.select("id", functions.read_record_set("value").alias("records"))
    assert [field.name for field in found.schema["records"].dataType.elementType] == [
        "key", "value", "offset", "timestamp", "timestampType", "headers",
    ]  # fmt: skip
    source = spark.read.format("recordpress").option("includeHeaders", "true").load(str(Path("demo/logs").resolve()))
    of_source = {field.name: field.dataType for field in source.schema}
    for field in found.schema["records"].dataType.elementType:
        assert field.dataType == of_source[field.name]
    long = F.transform("records", lambda one: one.withField("timestamp", F.unix_millis(one["timestamp"])))
    rows = sorted(found.select("id", long.alias("records")).collect(), key=lambda row: row.id)
    for row, data in zip(rows, made, strict=False):
        got = [(one.offset, one.timestamp, one.timestampType, one.key, one.value, one.headers) for one in row.records]
        # as Spark's Kafka source has it (KafkaRecordToRowConverter)
        expected = [(*values, headers or None) for *values, headers in records_by_aiokafka(data)]
        assert plain([(*values, headers and [*map(tuple, headers)]) for *values, headers in got]) == expected
    assert [row.records for row in rows[-2:]] == [None, []]


def test_what_is_read_can_be_written(spark: Any) -> None:
    made = sets(40)
    frame = column(spark, [*made, None])
    records = frame.select("id", functions.read_record_set("value").alias("records"))
    again = values_of(records.select("id", functions.write_record_set("records", "zstd", 3)))
    assert again[-1] is None
    for data, written in zip(made, again, strict=False):
        assert records_by_aiokafka(written) == records_by_aiokafka(data)
        assert recordpress.batch_table(written)["compressionType"].to_pylist() == ["zstd"]


def test_record_sets_by_mode(spark: Any) -> None:
    good = recordpress.write_records([b"a"])
    for bad in (good[:-1], good[:-1] + b"\1", b"?"):
        frame = column(spark, [good, bad])
        with pytest.raises(PySparkException, match=r"CorruptRecordError: row \d+: "):
            frame.select("id", functions.read_record_set("value")).collect()
        found = frame.select("id", F.size(functions.read_record_set("value", mode="PERMISSIVE")))
        assert values_of(found) == [1, None]
    records = "array(struct(5L AS offset, 'a' AS value), struct(4L AS offset, 'b' AS value))"
    unordered = spark.sql(f"SELECT 1 AS id, {records} AS value")
    with pytest.raises(PySparkException, match=r"InvalidArgumentError: row \d+: "):
        unordered.select("id", functions.write_record_set("value")).collect()
    assert values_of(unordered.select("id", functions.write_record_set("value", mode="PERMISSIVE"))) == [None]


def test_timestamps_are_milliseconds(spark: Any) -> None:
    fine = spark.sql(
        "SELECT 1 AS id, array(struct(timestamp'2026-01-01 00:00:00.000001' AS timestamp, 'a' AS value)) AS a"
    )
    with pytest.raises(PySparkException, match="coerce_timestamps"):
        fine.select("id", functions.write_record_set("a")).collect()
    [written] = values_of(fine.select("id", functions.write_record_set("a", coerce_timestamps=True)))
    [batch] = recordpress.read_batches(written)
    assert batch.max_timestamp == 1767225600000


def test_zstd_dict(spark: Any, tmp_path: Path) -> None:
    DictionaryStore(tmp_path).add(TRAINED)
    frame = spark.sql("SELECT 1 AS id, array(struct('k' AS key, 'a value' AS value)) AS records")
    written = frame.select(
        "id",
        functions.write_record_set("records", "zstd-dict", dictionary=70000, dictionaries=tmp_path).alias("value"),
    )
    [batch] = recordpress.read_batches(values_of(written)[0])
    assert batch.plugin_name == "zstd-dict"
    found = written.select("id", functions.read_record_set("value", dictionaries=tmp_path)[0]["value"])
    assert values_of(found) == [b"a value"]


def test_large_binary(spark: Any) -> None:
    """What Spark passes if its columns may have more than 2 GiB in a batch."""
    made = sets(3)
    spark.conf.set("spark.sql.execution.arrow.useLargeVarTypes", "true")
    try:
        records = column(spark, [*made, None]).select("id", functions.read_record_set("value").alias("records"))
        again = values_of(records.select("id", functions.write_record_set("records")))
        crcs = values_of(column(spark, made).select("id", functions.crc32c(functions.compress("value", "none"))))
    finally:
        spark.conf.unset("spark.sql.execution.arrow.useLargeVarTypes")
    assert [one and records_by_aiokafka(one) for one in again] == [*map(records_by_aiokafka, made), None]
    assert crcs == [google_crc32c.value(data) for data in made]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: functions.compress("value", "zip"), "compression_type must be"),
        (lambda: functions.compress("value", "zstd", 99), "level"),
        (
            lambda: functions.decompress("value", mode="DROPMALFORMED"),
            "mode must be one of FAILFAST, PERMISSIVE, not 'DROP",
        ),
        (lambda: functions.decompress("value", "zstd", -1), "max_decompressed_bytes"),
        (lambda: functions.read_record_set("value", codecs="no.such:codec"), "cannot be imported"),
        (lambda: functions.write_record_set("value", "zip"), "compression_type must be"),
    ],
)
def test_wrong_arguments_are_refused_at_once(spark: Any, call: Any, message: str) -> None:
    with pytest.raises(recordpress.InvalidArgumentError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        ({"dictionary": "x", "dictionaries": {}}, recordpress.ArgumentTypeError, "dictionary must be .*, not str"),
        (
            {"dictionary": 1.5, "dictionaries": {1: TRAINED}},
            recordpress.ArgumentTypeError,
            "dictionary must be .*, not float",
        ),
        (
            {"dictionary": object(), "dictionaries": {}},
            recordpress.ArgumentTypeError,
            "dictionary must be .*, not object",
        ),
        ({"dictionary": 1, "dictionaries": 5}, recordpress.ArgumentTypeError, "dictionaries must be .*, not int"),
        ({"dictionaries": 5}, recordpress.ArgumentTypeError, "dictionaries must be .*, not int"),
        (
            {"dictionaries": {1: TRAINED}},
            recordpress.InvalidArgumentError,
            "dictionaries needs an id in dictionary",
        ),
    ],
)
def test_dictionaries_that_are_none(call: Any, error: type[Exception], message: str, spark: Any) -> None:
    with pytest.raises(error, match=message):
        functions.compress("value", "zstd", **call)
    if call["dictionaries"] == 5:
        for function in (functions.decompress, functions.read_record_set, functions.write_record_set):
            with pytest.raises(error, match=message):
                function("value", dictionaries=5)


def test_a_column_of_another_type(spark: Any) -> None:
    numbers = column(spark, [1], "int")
    for function in (
        functions.compress,
        functions.crc32c,
        functions.schema_id,
        functions.payload,
        functions.read_record_set,
        functions.write_record_set,
    ):
        with pytest.raises(PySparkException, match=r"Arrow (format|type)"):
            numbers.select(function("value")).collect()


def test_large_results_come_in_several_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Spark: an array of Arrow holds at most 2 GiB."""
    limit = 1000

    def small(values: pa.Array) -> pa.Array:
        found = recordpress.decompress_values(values, "zstd")
        if sum(len(value or b"") for value in found) > limit:
            raise recordpress.OutputTooLargeError("too much", field="data")
        return pa.array(found)

    frames = pa.array([None, *(recordpress.compress(line * 10, "zstd") for line in LINES[:9])])
    parts = list(_function_work._in_parts(small, frames, False))
    assert len(parts) > 2 and pa.concat_arrays(parts).to_pylist() == [None, *(line * 10 for line in LINES[:9])]
    monkeypatch.setattr(_function_work, "_AT_ONCE", 1)
    several = list(_function_work.ReadSet(1 << 20, None, False)(pa.array([recordpress.write_records([b"a"]), None])))
    assert [len(one) for one in several] == [1, 1] and several[1].to_pylist() == [None]


# ---- in SQL

FRAMED = [b"\0\0\0\0\7\0payload", b"\0\xff\xff\xff\xff\2\2", b"text", None]


@pytest.fixture
def sql(spark: Any) -> Any:
    recordpress.spark.register(spark)
    column(spark, [*LINES[:40], None]).createOrReplaceTempView("lines")
    return spark.sql


def test_sql_with_constants(sql: Any) -> None:
    texts = [*LINES[:40], None]
    found = values_of(sql("SELECT id, rp_compress(value, 'zstd', 9) AS small FROM lines"))
    assert found == [*(recordpress.compress(line, "zstd", 9) for line in LINES[:40]), None]
    assert values_of(sql("SELECT id, rp_decompress(rp_compress(value, 'gzip'), 'gzip') FROM lines")) == texts
    assert values_of(sql("SELECT id, rp_decompress(rp_compress(value)) FROM lines")) == texts
    crcs = [None if line is None else google_crc32c.value(line) for line in texts]
    assert values_of(sql("SELECT id, rp_crc32c(value) FROM lines")) == crcs


def test_sql_with_columns(sql: Any) -> None:
    """A codec and a level for each row; without a codec there is no result."""
    query = (
        "SELECT id, rp_compress(value, CASE WHEN id % 5 = 0 THEN 'gzip' WHEN id % 7 < 6 THEN 'zstd' END,"
        " CASE WHEN id < 20 THEN 1 + id % 3 END) FROM lines"
    )
    expected: list[bytes | None] = []
    for number, line in enumerate([*LINES[:40], None]):
        codec: Any = "gzip" if number % 5 == 0 else "zstd" if number % 7 < 6 else None
        level = 1 + number % 3 if number < 20 else None
        expected.append(None if codec is None or line is None else recordpress.compress(line, codec, level))
    assert values_of(sql(query)) == expected


def test_confluents_framing(sql: Any, spark: Any) -> None:
    column(spark, FRAMED).createOrReplaceTempView("framed")
    found = column(spark, FRAMED).select("id", functions.schema_id("value"), functions.payload("value", "protobuf"))
    query = "SELECT id, rp_schema_id(value), rp_payload(value, CASE WHEN id >= 0 THEN 'protobuf' END) FROM framed"
    for frame in (found, sql(query)):
        assert values_of(frame) == [7, -1, None, None]
        assert values_of(frame.drop(frame.columns[1])) == [b"payload", b"", None, None]
    assert values_of(sql("SELECT id, rp_payload(value) FROM framed")) == [b"\0payload", b"\2\2", None, None]
    with pytest.raises(recordpress.InvalidArgumentError, match="value_format must be one of avro, json, protobuf"):
        functions.payload("value", "thrift")  # type: ignore[arg-type]


def test_sql_with_record_sets(sql: Any, spark: Any, tmp_path: Path) -> None:
    written = "rp_write_record_set(array(named_struct('value', value)), 'lz4')"
    sql(f"SELECT id, {written} AS records FROM lines WHERE value IS NOT NULL").createOrReplaceTempView("sets")
    rows = sql("SELECT id, inline(rp_read_record_set(records)) FROM sets").collect()
    assert sorted((row.id, bytes(row.value)) for row in rows) == list(enumerate(LINES[:40]))
    path = tmp_path / "table"
    sql(
        f"CREATE TABLE small USING parquet LOCATION '{path}' AS SELECT id, rp_compress(value, 'snappy') AS v FROM lines"
    )
    try:
        kept = spark.read.parquet(str(path)).select("id", functions.decompress("v", "snappy"))
        assert values_of(kept) == [*LINES[:40], None]
    finally:
        sql("DROP TABLE small")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT rp_compress(value, 'brotli') FROM lines", "brotli"),
        ("SELECT rp_compress(value, 'zstd', 99) FROM lines", "99"),
        ("SELECT rp_compress(value, 'zstd', 9, 9) FROM lines", "rp_compress takes 1 to 3 arguments, not 4"),
        ("SELECT rp_crc32c(id) FROM lines", "binary"),
    ],
)
def test_sql_says_what_is_wrong(sql: Any, query: str, message: str) -> None:
    with pytest.raises(PySparkException, match=message):
        sql(query).collect()


def test_a_column_function_that_is_registered(sql: Any, spark: Any) -> None:
    spark.udf.register("of_python", functions.compress)
    with pytest.raises(PySparkException, match=r"recordpress.spark.register\(spark\) registers rp_compress for SQL"):
        sql("SELECT of_python(value) FROM lines").collect()
