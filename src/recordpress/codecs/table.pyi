from typing_extensions import disjoint_base

from recordpress.codecs._registry import CodecRegistry, Plugin

def codecs_given(codecs: CodecRegistry | CodecTable | None) -> CodecTable | None: ...

@disjoint_base
class CodecTable:
    def __new__(cls, plugins: tuple[Plugin, ...] = ()) -> CodecTable: ...
    @property
    def ids(self) -> dict[str, int]: ...
