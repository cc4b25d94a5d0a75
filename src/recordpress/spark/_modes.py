"""Spark's modes at damage, and the `on_corrupt` that each stands for."""

from __future__ import annotations

from typing import Literal, TypeAlias

RowMode: TypeAlias = Literal["FAILFAST", "DROPMALFORMED", "PERMISSIVE"]
ValueMode: TypeAlias = Literal["FAILFAST", "PERMISSIVE"]

ON_CORRUPT_OF_ROWS: dict[str, Literal["raise", "skip"]] = {
    "FAILFAST": "raise",
    "DROPMALFORMED": "skip",
    "PERMISSIVE": "skip",  # and reported in a column of the result
}
ON_CORRUPT_OF_VALUES: dict[str, Literal["raise", "null"]] = {"FAILFAST": "raise", "PERMISSIVE": "null"}
