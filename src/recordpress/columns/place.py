"""Names of a result's columns, with the place of its records: topic and partition."""

from __future__ import annotations

from collections.abc import Iterable

from recordpress._arguments import hint, shown_value
from recordpress.columns._read import NAMES, read_columns
from recordpress.errors import ArgumentTypeError, InvalidArgumentError

PLACE_COLUMNS: dict[str, type[str] | type[int]] = {"topic": str, "partition": int}  # with their types


def chosen_columns(columns: Iterable[str] | None, *, has_place: bool = True) -> list[str]:
    """Return the columns; for None, the default of `read_columns`, after topic and partition if `has_place`."""
    if columns is None:
        of_records = read_columns(b"").column_names
        return [*PLACE_COLUMNS, *of_records] if has_place else of_records
    if isinstance(columns, str | bytes):
        raise ArgumentTypeError("columns must be a list of names, not one str", field="columns")
    names, accepted = list(columns), (*PLACE_COLUMNS, *NAMES)
    for name in names:
        if isinstance(name, str) and name not in accepted:
            near = hint(name, accepted)
            raise InvalidArgumentError(
                f"unknown column {shown_value(name)}; must be one of {', '.join(accepted)}{near}", field="columns"
            )
    for name in PLACE_COLUMNS:
        if names.count(name) > 1:
            raise InvalidArgumentError(f"column {name!r} is named twice", field="columns")
    return names
