from typing import Any, Literal, TypeAlias

from typing_extensions import disjoint_base

from recordpress.typing import Integer

_Strategy: TypeAlias = Literal["fast", "dfast", "greedy", "lazy", "lazy2", "btlazy2", "btopt", "btultra", "btultra2"]

@disjoint_base
class ZstdParameters:
    def __new__(
        cls,
        level: Integer | Literal["kafka-default"] | None = None,
        *,
        window_log: Integer | None = None,
        strategy: _Strategy | None = None,
    ) -> ZstdParameters: ...
    @property
    def level(self) -> int: ...
    @property
    def window_log(self) -> int | None: ...
    @property
    def strategy(self) -> _Strategy | None: ...
    @property
    def decoder_bytes(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

def restored(level: int, window_log: int | None, strategy: _Strategy | None) -> ZstdParameters: ...
