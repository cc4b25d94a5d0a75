from typing import Self

from typing_extensions import disjoint_base

@disjoint_base
class Source:
    name: str | None
    def __new__(cls, source: object) -> Self: ...
