from typing import Self

from typing_extensions import disjoint_base

def cores() -> int: ...

@disjoint_base
class Threads:
    def __new__(cls, others: int) -> Self: ...
