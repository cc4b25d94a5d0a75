from typing import Any

from typing_extensions import disjoint_base

from recordpress.record.rows import RowSource

NAMES: tuple[str, ...]

@disjoint_base
class ColumnRows(RowSource):
    def __new__(cls, data: Any, base_offset: Any, coerce_timestamps: Any) -> ColumnRows: ...
