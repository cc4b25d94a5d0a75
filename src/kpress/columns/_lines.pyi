from typing import Literal, TypeAlias

from kpress.columns._columns import Columns

ShownAs: TypeAlias = Literal["utf8", "hex", "base64", "json", "size"]

def json_lines(columns: Columns, values: ShownAs = "utf8") -> bytes: ...
def csv_rows(columns: Columns, values: ShownAs = "utf8", *, header: bool = False) -> bytes: ...
def dump_lines(
    columns: Columns, *, metadata: bool = True, contents: bool = True, values: ShownAs = "utf8"
) -> bytes: ...
