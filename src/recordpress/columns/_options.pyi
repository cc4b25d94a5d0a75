from typing import Any

from typing_extensions import disjoint_base

DEFAULT: tuple[str, ...]
NAMES: tuple[str, ...]

@disjoint_base
class Options:
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
