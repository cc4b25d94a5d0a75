from typing import Self

from typing_extensions import disjoint_base

from recordpress.columns._options import Options

@disjoint_base
class Window:
    error: Exception | None
    def __new__(cls, options: Options) -> Self: ...
