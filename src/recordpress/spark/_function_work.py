"""The work of column functions on executors: Arrow arrays in, Arrow arrays out.

The output arrays together have as many rows as the input array. There are several where one array would be too large
for Arrow, or for a worker's memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from recordpress._arguments import choice
from recordpress.codecs import DEFAULT_MAX_SIZE, CodecRegistry
from recordpress.codecs.choice import CodecChoice
from recordpress.codecs.dictionary_types import Dictionaries
from recordpress.columns import compress_values, decompress_values, read_columns, write_columns
from recordpress.columns.framing import payloads
from recordpress.errors import ArgumentTypeError, OutputTooLargeError, RecordpressError
from recordpress.spark.schema import arrow_schema, as_column

SET_COLUMNS = ("key", "value", "offset", "timestamp", "timestampType", "headers")
VALUE_FORMATS = ("avro", "json", "protobuf")
_NO_RECORDS = pa.array([], pa.struct(list(arrow_schema(SET_COLUMNS))))
_AT_ONCE = 16 << 20  # bytes of results after which an array ends


@dataclass(frozen=True)
class Computed:
    """Work that returns one array for each input array."""

    call: Callable[[pa.Array], pa.Array]

    def __call__(self, values: pa.Array) -> Iterator[pa.Array]:
        yield pa.array(self.call(values))


@dataclass(frozen=True)
class Compress:
    codec: CodecChoice
    nulls: bool  # a value that cannot be compressed becomes null

    def __call__(self, values: pa.Array) -> Iterator[pa.Array]:
        def call(some: pa.Array) -> pa.Array:
            return pa.array(compress_values(some, **self.codec.options, dictionary=self.codec.dictionary))

        return _in_parts(call, values, self.nulls)


@dataclass(frozen=True)
class Decompress:
    compression_type: Any = "zstd"
    max_decompressed_bytes: int = DEFAULT_MAX_SIZE
    dictionaries: Dictionaries | None = None
    codecs: Any = None
    nulls: bool = False

    def __call__(self, values: pa.Array) -> Iterator[pa.Array]:
        def call(some: pa.Array) -> pa.Array:
            return pa.array(
                decompress_values(
                    some,
                    self.compression_type,
                    self.max_decompressed_bytes,
                    dictionaries=self.dictionaries,
                    on_corrupt="null" if self.nulls else "raise",
                    codecs=self.codecs,
                )
            )

        return _in_parts(call, values, False)


@dataclass(frozen=True)
class Chosen:
    """Work whose codec and level are SQL columns: consecutive rows with the same values share one call."""

    name: str
    make: Callable[..., Callable[[pa.Array], Iterator[pa.Array]]]
    most: int  # maximum number of such columns

    def __call__(self, values: pa.Array, *choices: pa.Array) -> Iterator[pa.Array]:
        if len(choices) > self.most:
            raise ArgumentTypeError(f"{self.name} takes 1 to {1 + self.most} arguments, not {1 + len(choices)}")
        start = 0
        for chosen, rows in self._runs(len(values), choices):
            some = values.slice(start, rows)
            start += rows
            if chosen and chosen[0] is None:
                yield from self.make()(pa.nulls(rows, values.type))
            else:
                yield from self.make(*chosen)(some)

    def _runs(self, rows: int, choices: Sequence[pa.Array]) -> Iterator[tuple[tuple[Any, ...], int]]:
        if not rows or all(pc.count_distinct(one, mode="all").as_py() == 1 for one in choices):
            yield tuple(one[0].as_py() for one in choices if rows), rows
            return
        for chosen, run in groupby(zip(*(one.to_pylist() for one in choices), strict=True)):
            yield chosen, sum(1 for _ in run)


def compress_as(compression_type: str = "zstd", level: int | None = None) -> Compress:
    return Compress(CodecChoice(compression_type, level), False)


def write_as(compression_type: str = "none", level: int | None = None) -> WriteSet:
    return WriteSet(CodecChoice(compression_type, level), False, False)


def payload_as(value_format: str = "avro") -> Computed:
    chosen = choice("value_format", value_format, VALUE_FORMATS)
    return Computed(partial(payloads, has_message_indexes=chosen == "protobuf"))


def _in_parts(call: Callable[[pa.Array], pa.Array], values: pa.Array, nulls: bool) -> Iterator[pa.Array]:
    """Yield the result as one array, or in parts if it is too large for one or a value must become null."""
    try:
        found = call(values)
    except ArgumentTypeError:
        raise  # about the column as a whole
    except RecordpressError as error:
        is_full = isinstance(error, OutputTooLargeError) and error.field == "data"
        if not (nulls or (is_full and len(values) > 1)):
            raise
        if len(values) > 1:
            middle = len(values) // 2
            yield from _in_parts(call, values[:middle], nulls)
            yield from _in_parts(call, values[middle:], nulls)
            return
        found = pa.nulls(1, pa.binary())
    yield found


@dataclass(frozen=True)
class ReadSet:
    max_decompressed_bytes: int
    codecs: CodecRegistry | None
    nulls: bool

    def __call__(self, values: pa.Array) -> Iterator[pa.Array]:
        is_accepted = pa.types.is_binary(values.type) or pa.types.is_large_binary(values.type)
        _check_type(values.type, is_accepted, "read_record_set takes a column of binary")

        def one(value: pa.Scalar) -> pa.StructArray:
            columns = read_columns(
                value.as_buffer(),
                SET_COLUMNS,
                timestamp_unit="us",
                complete=True,
                max_decompressed_bytes=self.max_decompressed_bytes,
                codecs=self.codecs,
            )
            return _struct_of(pa.RecordBatchReader.from_stream(columns))

        return _one_by_one(one, values, _lists, self.nulls)


def _struct_of(batches: Iterable[pa.RecordBatch]) -> pa.StructArray:
    """Return records as structs, with the nested names that Spark expects."""
    schema = arrow_schema(SET_COLUMNS)
    structs = [
        pa.StructArray.from_arrays([as_column(batch.column(one.name), one) for one in schema], fields=list(schema))
        for batch in batches
    ]
    return pa.concat_arrays([_NO_RECORDS, *structs])


def _lists(found: list[pa.StructArray | None]) -> pa.ListArray:
    ends = [0]
    for one in found:
        ends.append(ends[-1] + (0 if one is None else len(one)))
    structs = pa.concat_arrays([_NO_RECORDS, *(one for one in found if one is not None)])
    field = pa.field("element", structs.type)
    mask = pa.array([one is None for one in found], pa.bool_())
    return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), structs, type=pa.list_(field), mask=mask)


@dataclass(frozen=True)
class WriteSet:
    codec: CodecChoice
    coerce_timestamps: bool
    nulls: bool

    def __call__(self, values: pa.Array) -> Iterator[pa.Array]:
        is_accepted = pa.types.is_list(values.type) and pa.types.is_struct(values.type.value_type)
        _check_type(values.type, is_accepted, "write_record_set takes a column of array<struct>")

        def one(records: pa.Scalar) -> bytes:
            return write_columns(records.values, **self.codec.options, coerce_timestamps=self.coerce_timestamps)

        return _one_by_one(one, values, partial(pa.array, type=pa.binary()), self.nulls)


def _check_type(type: pa.DataType, is_accepted: bool, sentence: str) -> None:
    if not is_accepted and not pa.types.is_null(type):
        raise ArgumentTypeError(f"{sentence}, not of Arrow type {type}"[:1000], field="column")


def _one_by_one(
    call: Callable[[pa.Scalar], Any], values: pa.Array, joined: Callable[[list[Any]], pa.Array], nulls: bool
) -> Iterator[pa.Array]:
    """Read or write the record set of each row, thousands of records in one call, and yield joined results."""
    found: list[Any] = []
    size = 0
    for row, value in enumerate(values):
        result = None
        try:
            result = call(value) if value.is_valid else None
        except ArgumentTypeError:
            raise
        except RecordpressError as error:
            if not nulls:
                error.message = f"row {row}: {error.message}"
                error.args = (error.message,)
                raise
        found.append(result)
        size += 0 if result is None else result.nbytes if isinstance(result, pa.Array) else len(result)
        if size >= _AT_ONCE:
            yield joined(found)
            found, size = [], 0
    if found or not len(values):
        yield joined(found)
