from collections.abc import Iterator
from typing import Any

from typing_extensions import CapsuleType, disjoint_base

class Field:
    name: str
    format: str
    nullable: bool
    children: tuple[Field, ...]
    def __init__(
        self, name: str, format: str, nullable: bool = False, children: tuple[Field, ...] = ()
    ) -> None: ...

@disjoint_base
class Columns:
    num_rows: int
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @property
    def column_names(self) -> list[str]: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Columns]: ...
    def __arrow_c_schema__(self) -> CapsuleType: ...
    def __arrow_c_array__(
        self, requested_schema: CapsuleType | None = None
    ) -> tuple[CapsuleType, CapsuleType]: ...
    def __arrow_c_stream__(self, requested_schema: CapsuleType | None = None) -> CapsuleType: ...
