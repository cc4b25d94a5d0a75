"""Names of a result's columns, with those that say where its records are: topic and partition."""

from __future__ import annotations

from collections.abc import Iterable

from recordpress.columns._read import read_columns
from recordpress.errors import ArgumentTypeError, InvalidArgumentError

PLACE_COLUMNS: dict[str, type[str] | type[int]] = {"topic": str, "partition": int}
"""Columns that say where a record is, and their types.

>>> from recordpress.columns.place import PLACE_COLUMNS
>>> list(PLACE_COLUMNS)
['topic', 'partition']
"""


def chosen_columns(columns: Iterable[str] | None, *, has_place: bool = True) -> list[str]:
    """Return the names of a result's columns.

    Parameters
    ----------
    columns : sequence of str, optional
        The default is all columns of records.
    has_place : bool
        Whether topic and partition come first by default.

    Raises
    ------
    ArgumentTypeError
        The names are one text.
    InvalidArgumentError
        Topic or partition is asked for twice.

    Examples
    --------
    >>> from recordpress.columns.place import chosen_columns
    >>> chosen_columns(None)[:4]
    ['topic', 'partition', 'offset', 'timestamp']
    """
    if columns is None:
        of_records = read_columns(b"").column_names
        return [*PLACE_COLUMNS, *of_records] if has_place else of_records
    if isinstance(columns, str | bytes):
        raise ArgumentTypeError("columns must be a list of names, not one str", field="columns")
    names = list(columns)
    for name in PLACE_COLUMNS:
        if names.count(name) > 1:
            raise InvalidArgumentError(f"column {name!r} is named twice", field="columns")
    return names
