from collections.abc import Callable, Iterable
from typing import Literal

from typing_extensions import disjoint_base

from recordpress.columns._columns import Columns
from recordpress.typing import ShownAs

DUMPED: tuple[str, ...]

@disjoint_base
class Lines:
    def __new__(cls, kind: str, values: ShownAs) -> Lines: ...

def json_lines(columns: Columns, values: ShownAs = "utf8") -> bytes: ...
def dump_lines(
    columns: Columns, *, metadata: bool = True, contents: bool = True, values: ShownAs = "utf8"
) -> bytes: ...
def write_lines(
    results: Iterable[Columns],
    write: Callable[[memoryview], object],
    kind: Literal["json", "csv"] = "json",
    values: ShownAs = "utf8",
    *,
    threads: int = 1,
) -> None: ...
