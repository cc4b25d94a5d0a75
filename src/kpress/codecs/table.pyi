from typing import Any, Protocol

from typing_extensions import Buffer, disjoint_base

class _Codec(Protocol):
    @property
    def id(self) -> int: ...
    @property
    def name(self) -> str: ...
    # with a level as its second argument where the codec has levels
    @property
    def compress(self) -> Any: ...
    def decompress(self, data: bytes, max_output: int, /) -> Buffer: ...

@disjoint_base
class CodecTable:
    def __new__(cls, *codecs: _Codec) -> CodecTable: ...
