from collections.abc import Callable, Mapping
from types import ModuleType

from typing_extensions import disjoint_base

DEFAULT_MAX_SIZE: int

@disjoint_base
class Client:
    def __init__(
        self, corrupt: type[Exception], unsupported: type[Exception], codec_module: ModuleType, unknown: str
    ) -> None: ...
    @property
    def cap(self) -> int: ...
    def trust(self, checkers: Mapping[str, tuple[Callable[[], bool], ...]]) -> None: ...
    def limit(self, max_decompressed_bytes: int) -> None: ...
    def translated(self, error: Exception, unsupported: bool = False) -> Exception: ...
