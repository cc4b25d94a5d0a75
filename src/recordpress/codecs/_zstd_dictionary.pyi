from collections.abc import Iterable
from typing import Any

from typing_extensions import Buffer, disjoint_base

from recordpress.typing import Integer

DEFAULT_DICTIONARY_SIZE: int
"""The size of a dictionary where a call names none, that of the zstd command line: 110 KiB.

Examples
--------
>>> from recordpress.dictionaries import DEFAULT_DICTIONARY_SIZE
>>> DEFAULT_DICTIONARY_SIZE
112640
"""

@disjoint_base
class Dictionary:
    data: bytes
    def __new__(cls, data: Buffer) -> Dictionary: ...
    @property
    def id(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    def __len__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@disjoint_base
class DictionarySet: ...

def dictionary_id(data: Buffer) -> int | None: ...
def train_values(
    samples: Iterable[Buffer], size: Integer = ..., *, level: Integer = 3, dictionary_id: Integer | None = None
) -> Dictionary: ...
