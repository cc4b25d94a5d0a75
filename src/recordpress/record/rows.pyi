from typing import Any

from typing_extensions import disjoint_base

@disjoint_base
class RowSource: ...

@disjoint_base
class RecordRows(RowSource):
    def __new__(
        cls, values: Any, keys: Any, timestamps: Any, headers: Any, offsets: Any, base_offset: Any
    ) -> RecordRows: ...
