from typing import Self

from typing_extensions import disjoint_base

@disjoint_base
class Threads:
    def __new__(cls, others: int) -> Self: ...
