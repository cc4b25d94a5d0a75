from typing_extensions import Buffer

from recordpress.columns._columns import Columns

def matching_rows(
    columns: Columns,
    *,
    key: Buffer | None = None,
    value_contains: Buffer | None = None,
    header: str | None = None,
    header_value: Buffer | None = None,
) -> list[tuple[int, int]]: ...
