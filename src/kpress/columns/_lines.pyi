from collections.abc import Callable

from kpress.columns._columns import Columns
from kpress.typing import ShownAs

def json_lines(
    columns: Columns, values: ShownAs = "utf8", *, write: Callable[[memoryview], object] | None = None
) -> bytes: ...
def csv_rows(
    columns: Columns,
    values: ShownAs = "utf8",
    *,
    header: bool = False,
    write: Callable[[memoryview], object] | None = None,
) -> bytes: ...
def dump_lines(
    columns: Columns, *, metadata: bool = True, contents: bool = True, values: ShownAs = "utf8"
) -> bytes: ...
