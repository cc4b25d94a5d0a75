from typing_extensions import disjoint_base

from recordpress.columns._columns import Column
from recordpress.typing import ArrowArray, ArrowStream

@disjoint_base
class ValueChecksums: ...

def crc32c_values(data: ArrowArray | ArrowStream) -> Column: ...
