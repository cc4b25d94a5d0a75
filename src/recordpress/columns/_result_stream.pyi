from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Self, TypeAlias

from typing_extensions import CapsuleType, disjoint_base

from recordpress.columns._arrow_out import Field
from recordpress.columns._columns import ArrowRows, Columns

@disjoint_base
class ResultStream:
    def __init__(self) -> None: ...

@disjoint_base
class FilledRows:
    def __init__(self) -> None: ...

_Constants: TypeAlias = Mapping[str, tuple[type[str] | type[int], str | int | None]]

@disjoint_base
class ConstantColumns:
    def __new__(cls, constants: _Constants) -> Self: ...

def constant_field(name: str, kind: type[str] | type[int]) -> Field: ...
def with_constants(columns: Columns, names: Iterable[str], constants: _Constants | ConstantColumns) -> Columns: ...
def concat(results: Iterable[Columns]) -> Columns: ...
def stream_of(fields: Sequence[Field], results: Iterable[Columns], close: Callable[[], object]) -> CapsuleType: ...

class StreamedRows(ArrowRows): ...
