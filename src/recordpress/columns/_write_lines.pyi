from collections.abc import Callable, Iterable
from typing import Literal

from recordpress.columns._columns import Columns
from recordpress.typing import ShownAs

def write_lines(
    results: Iterable[Columns],
    write: Callable[[memoryview], object],
    kind: Literal["json", "csv"] = "json",
    values: ShownAs = "utf8",
    *,
    threads: int = 1,
) -> None: ...
