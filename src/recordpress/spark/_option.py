"""One row per option of the data source: name, parser, default, use and documentation.

A row is a field of `ReadOptions` or `WriteOptions`; several options that set one field together are a group of rows.
The accepted names, the parsed values, the docstrings of the classes and the table in the docs derive from the rows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, field, fields
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

from recordpress._arguments import hint, shown_value
from recordpress.codecs import CodecRegistry
from recordpress.errors import ArgumentTypeError, InvalidArgumentError
from recordpress.spark._codecs import registry_of

Parse: TypeAlias = "Callable[[str, str], Any]"  # takes a name and a text
Only: TypeAlias = Literal["", "batch", "stream"]
_Class = TypeVar("_Class", bound=type)

_PATHS = '["/logs", "s3://bucket/logs"]'  # as Spark passes several paths


class Option(NamedTuple):
    """Option as Spark's users see it; `only` is the kind of query that accepts it."""

    name: str
    doc: str
    default: str = ""
    only: Only = ""


def option(name: str, parse: Parse, doc: str, default: Any = None, *, shown: str | None = None, only: Only = "") -> Any:
    """Return a dataclass field that one option sets; `shown` documents a default that depends on something else."""

    def read(given: RawOptions) -> Any:
        text = given.text(name)
        return default if text is None else parse(name, text)

    if shown is None:
        shown = "" if default is None else str(default).lower() if isinstance(default, bool) else str(default)
    return field(default=default, metadata={"rows": (Option(name, doc, shown, only),), "read": read})


def group(rows: tuple[Option, ...], read: Callable[[RawOptions], Any], default: Any = MISSING) -> Any:
    """Return a dataclass field that several options set together."""
    return field(default=default, metadata={"rows": rows, "read": read})


def rows_of(kind: type) -> tuple[Option, ...]:
    """Return the options of a class, in order."""
    return tuple(row for one in fields(kind) for row in one.metadata["rows"])


def names_of(kind: type) -> tuple[str, ...]:
    """Return the names of the options of a class."""
    return tuple(row.name for row in rows_of(kind))


def values_of(kind: type, given: RawOptions) -> dict[str, Any]:
    """Parse every field of a class."""
    return {one.name: one.metadata["read"](given) for one in fields(kind)}


def documented(kind: _Class) -> _Class:
    """Insert the options into the docstring of a class, before its examples."""
    lines = ["Attributes", "----------"]
    for one in fields(kind):
        lines.append(f"{one.name} : {one.type}")
        for row in one.metadata["rows"]:
            default = f" Default: {row.default}." if row.default else ""
            lines.append(f"    ``{row.name}``: {row.doc}{default}")
    if kind.__doc__:  # python -OO strips it
        head, examples, tail = kind.__doc__.partition("    Examples\n")
        kind.__doc__ = head + "".join(f"    {line}\n" for line in lines) + "\n" + examples + tail
    return kind


# --- parsers ----------------------------------------------------------------------------------------------------------


def text(name: str, value: str) -> str:
    """Return the text itself."""
    return value


def names(name: str, value: str) -> tuple[str, ...]:
    """Return the names between commas."""
    return tuple(one.strip() for one in value.split(",") if one.strip())


def choice(*accepted: str) -> Parse:
    """Return a parser for one of a few words, in any case."""
    known = {one.lower(): one for one in accepted}

    def parse(name: str, value: str) -> str:
        found = known.get(value.lower())
        if found is None:
            listed = " or ".join([", ".join(accepted[:-1]), accepted[-1]])
            raise InvalidArgumentError(f"option {name} must be {listed}, not {shown_value(value)}", field=name)
        return found

    return parse


def flag(name: str, value: str) -> bool:
    """Parse true or false."""
    return bool(choice("true", "false")(name, value) == "true")


def number(most: int, least: int = 1) -> Parse:
    """Return a parser for a number of plain digits."""

    def parse(name: str, value: str) -> int:
        is_short = value.isascii() and value.isdigit() and len(value) <= len(str(most))
        if not is_short or not least <= int(value) <= most:
            raise InvalidArgumentError(
                f"option {name} must be a number from {least} to {most}, not {value[:50]!r}", field=name
            )
        return int(value)

    return parse


def json_value(name: str, value: str, kind: type, example: str) -> Any:
    """Parse JSON whose outermost value is a list or a dict."""
    try:
        read = json.loads(value)
    except (ValueError, RecursionError):
        read = None
    if not isinstance(read, kind):
        raise wrong_json(name, value, example)
    return read


def wrong_json(name: str, value: str, example: str) -> InvalidArgumentError:
    """Return the error for an option whose JSON does not have the form of the example."""
    return InvalidArgumentError(f"option {name} must be JSON like {example}, not {shown_value(value)}", field=name)


def codecs(name: str, value: str) -> CodecRegistry | None:
    """Import the codecs at these paths."""
    try:
        return registry_of(names(name, value))
    except (InvalidArgumentError, ArgumentTypeError) as error:
        raise InvalidArgumentError(f"option {name}: {error.message}", field=name) from error


# --- the options of a call --------------------------------------------------------------------------------------------


def unknown_options(options: Mapping[str, str], accepted: tuple[str, ...]) -> list[str]:
    """Return the names of unknown options, as the user spelled them."""
    known = {name.lower() for name in accepted} | {"paths"}  # Spark's own name for several paths
    return sorted(name for name in options if name.lower() not in known)


def shown_unknown(unknown: Iterable[str], accepted: tuple[str, ...]) -> str:
    """List unknown options, each with the accepted option whose spelling is similar."""
    near = {name: hint(name, accepted).removeprefix(": ") for name in unknown}
    return f"unknown option {', '.join(f'{name} ({meant})' if meant else name for name, meant in near.items())}"


class RawOptions:
    """Options of a call by name, in any case: Spark passes names on in lower case."""

    def __init__(self, options: Mapping[str, str], accepted: tuple[str, ...]) -> None:
        self._values = {name.lower(): value for name, value in options.items()}
        if unknown := unknown_options(options, accepted):
            raise InvalidArgumentError(
                f"{shown_unknown(unknown, accepted)}; must be one of {', '.join(accepted)}", field=unknown[0]
            )

    def text(self, name: str) -> str | None:
        return self._values.get(name.lower())

    def paths(self) -> tuple[str, ...]:
        several = self.text("paths")
        listed = json_value("paths", several, list, _PATHS) if several else [self.text("path")]
        if several and not all(isinstance(path, str) for path in listed):
            raise wrong_json("paths", several, _PATHS)
        found = tuple(filter(None, listed))
        if not found:
            raise InvalidArgumentError(
                "path is missing: load(<log dir, directory of a partition, pattern or URL>), or save(<log dir>). In "
                "SQL, Spark does not pass a table's options to a Python data source. Create the table without columns, "
                "then use INSERT INTO t WITH (path '...', topic '...'), also instead of CREATE TABLE AS",
                field="path",
            )
        return found
