"""Records on stdout: the formats and options that dump, tail and find share."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click

from recordpress.cli._output import StreamTable, moment, size, write
from recordpress.cli._parameters import Names
from recordpress.columns import Columns, json_lines, stream_of, with_constants, write_lines
from recordpress.columns.catalogue import DEFAULT, NAMES

if TYPE_CHECKING:
    from recordpress.typing import ShownAs

_Function = TypeVar("_Function", bound=Callable[..., Any])

PLACES = ("topic", "partition")
FORMATS = ("table", "json", "jsonl", "csv", "arrow", "parquet")
VALUES = ("utf8", "hex", "base64", "json")
_SPACES = dict.fromkeys(map(ord, "\t\r\n"))
_ROWS_AT_ONCE = 1024  # in memory as text; chosen, not measured
_BINARY_FORMATS = ("arrow", "parquet")


def column_names() -> tuple[str, ...]:
    """Return the names that --columns accepts."""
    return (*PLACES, *NAMES)


def shows_records(formats: Sequence[str] = FORMATS) -> Callable[[_Function], _Function]:
    """Add --format, --json, --columns, --values and --redact."""

    def decorate(function: _Function) -> _Function:
        for option in reversed(
            (
                click.option(
                    "--format",
                    "-f",
                    "format_",
                    type=click.Choice(formats),
                    help="Output format; default: table, or json with --json.",
                ),
                click.option("--json", "as_json", is_flag=True, help="Same as --format json."),
                click.option("--columns", metavar="NAME,...", type=Names(column_names), help="Columns to print."),
                click.option(
                    "--values",
                    type=click.Choice(VALUES),
                    help="Encoding of keys, values and header values. Default: text; a table shows the size of values "
                    "that are not text.",
                ),
                click.option("--redact", is_flag=True, help="Print sizes instead of keys and values."),
            )
        ):
            function = option(function)
        return function

    return decorate


class Shown:
    """Format of printed records."""

    def __init__(
        self,
        format_: str | None,
        columns: Sequence[str] | None,
        values: str | None,
        redact: bool,
        as_json: bool = False,
    ) -> None:
        if as_json and format_ not in (None, "json"):
            raise click.UsageError(f"--json and --format {format_} cannot be combined")
        self.format = "json" if as_json else format_ or "table"
        self.columns = tuple(columns or self._default())
        self.values: ShownAs | None = "size" if redact else values  # type: ignore[assignment]
        if self.format in _BINARY_FORMATS:
            if values or redact:
                raise click.UsageError(f"--values and --redact apply to text formats, not to --format {self.format}")
            if sys.stdout.isatty():
                raise click.UsageError(f"{self.format} is binary: redirect the output to a file, > records.{format_}")

    def _default(self) -> tuple[str, ...]:
        if self.format == "table":
            return (*PLACES, "offset", "timestamp", "key", "value")
        return (*PLACES, *DEFAULT)

    def print(self, results: Iterable[Columns], schema: Any, threads: int = 1) -> None:
        """Print results as they arrive."""
        if self.format == "table":
            self._print_table(results)
        elif self.format == "json":
            self._print_json(results)
        elif self.format == "jsonl":
            write_lines(results, write, "json", self.values or "utf8", threads=threads)
        elif self.format == "csv":
            write((",".join(self.columns) + "\r\n").encode())
            write_lines(results, write, "csv", self.values or "utf8", threads=threads)
        else:
            _print_arrow(self.format, results, schema)

    def _print_json(self, results: Iterable[Columns]) -> None:
        """Print one object: {"records": [...]}."""
        before = b'{"records": ['
        for columns in _pieces(results):
            if lines := json_lines(columns, self.values or "utf8"):
                write(before + b"\n" + lines[:-1].replace(b"}\n{", b"},\n{"))
                before = b","
        write(b"\n]}\n" if before == b"," else before + b"]}\n")

    def _print_table(self, results: Iterable[Columns]) -> None:
        numbers = {"partition", "offset", "producerId", "producerEpoch", "sequence", "partitionLeaderEpoch"}
        table = StreamTable([f">{name}" if name in numbers else name for name in self.columns])
        for piece in _pieces(results):
            cells = [[self._cell(name, value) for value in _values(piece, name)] for name in self.columns]
            table.print(zip(*cells, strict=True))

    def _cell(self, name: str, value: Any) -> str:
        if value is None:
            return "-"
        if isinstance(value, bytes):
            return _bytes_cell(value, self.values)
        if name == "headers":
            return " ".join(f"{key}={'-' if v is None else _bytes_cell(v, self.values)}" for key, v in value)
        if name == "timestamp":
            return moment(value)
        return str(value)


def _pieces(results: Iterable[Columns]) -> Iterator[Columns]:
    """Yield chunks so small that their text stays in the cache until it is written, which doubles the speed."""
    for columns in results:
        for start in range(0, columns.num_rows, _ROWS_AT_ONCE):
            yield columns.slice(start, _ROWS_AT_ONCE)


def _values(columns: Columns, name: str) -> Iterable[Any]:
    """Return the values of one column; times remain numbers, because a datetime cannot hold all of them."""
    if name != "timestamp":
        return columns[name]
    import json

    lines = json_lines(with_constants(columns, [name], {})).splitlines()
    return [json.loads(line)[name] for line in lines]


def _bytes_cell(value: bytes, values: ShownAs | None) -> str:
    if values == "size":
        return size(len(value))
    if values == "hex":
        return value.hex()
    if values == "base64":
        from base64 import b64encode

        return b64encode(value).decode()
    text = value.decode("utf-8", "replace" if values else "strict") if values or _is_text(value) else None
    return size(len(value)) if text is None else text


def _is_text(value: bytes) -> bool:
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return False
    return text.translate(_SPACES).isprintable()


def _print_arrow(format: str, results: Iterable[Columns], schema: Any) -> None:
    try:
        import pyarrow as pa
    except ImportError:
        raise ImportError(f"--format {format} needs pyarrow: pip install pyarrow") from None
    stream = pa.RecordBatchReader._import_from_c_capsule(stream_of(schema, results, lambda: None))
    sys.stdout.flush()
    # pyarrow closes the file that it wrote to, so it gets a duplicate
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as sink, _writer(format, sink, stream.schema) as writer:
        for batch in stream:
            writer.write_batch(batch)


def _writer(format: Literal["arrow", "parquet"] | str, sink: Any, schema: Any) -> Any:
    if format == "arrow":
        import pyarrow as pa

        return pa.ipc.new_stream(sink, schema)
    from pyarrow import parquet

    return parquet.ParquetWriter(sink, schema)


def head_of(results: Iterable[Columns], number: int | None) -> Iterator[Columns]:
    """Yield the first `number` rows, or all if it is None."""
    if number is None:
        yield from results
        return
    for columns in results:
        if columns.num_rows >= number:
            if number:
                yield columns.slice(0, number)
            return
        number -= columns.num_rows
        yield columns
