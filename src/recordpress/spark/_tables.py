"""SQL tables, whose schemas keep their options for SELECT.

Spark gives a Python data source the options of a table when it creates the table, and never again. The metadata of
columns reaches the reader. A writer must not trust this metadata: Spark also keeps it in the columns of a query, so
CREATE TABLE AS SELECT would add the rows to the table that they come from.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from recordpress.errors import InvalidArgumentError
from recordpress.files import FileSystem, resolve
from recordpress.spark._stores import STORE_OPTIONS

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

_KEY = "recordpress.options"
_PREFIX = "option."


def options_of_new_table(options: Mapping[str, str]) -> dict[str, str] | None:
    """Return the options in CREATE TABLE, separated from Spark's own properties; return None for another statement."""
    if "provider" not in options:
        return None
    found = {name.removeprefix(_PREFIX): value for name, value in options.items() if name.startswith(_PREFIX)}
    for row in STORE_OPTIONS[:3]:
        if row.name in found:
            raise InvalidArgumentError(f"a table would reveal option {row.name}: set the environment", field=row.name)
    if path := options.get("path"):
        found["path"] = path.removeprefix("file:") if not path.startswith("file://") else path
    return found


def keep_options(schema: StructType, options: Mapping[str, str]) -> None:
    """Add the options of a table to its schema."""
    schema.fields[0].metadata = {_KEY: json.dumps(options)}


def kept_options(schema: StructType) -> dict[str, str]:
    """Return the options that a table's schema keeps."""
    return dict(*(json.loads(field.metadata[_KEY]) for field in schema.fields[:1] if _KEY in field.metadata))


def has_path(options: Mapping[str, str]) -> bool:
    """Return whether options name a path: SELECT and INSERT for a table do not."""
    return not {"path", "paths"}.isdisjoint(name.lower() for name in options)


def are_new(paths: list[str], filesystem: FileSystem | None) -> bool:
    """Return whether every path is missing or an empty directory."""
    places = [resolve(path, filesystem) for path in paths]
    return not any((info := files.find(name)) and (not info.is_directory or files.list(name)) for files, name in places)
