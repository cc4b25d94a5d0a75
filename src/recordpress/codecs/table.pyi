from typing_extensions import disjoint_base

from recordpress.codecs._registry import CodecRegistry, Plugin
from recordpress.codecs._zstd_dictionary import Dictionary
from recordpress.typing import Integer, Level

PLUGGABLE: int

def check_codec(
    compression_type: str,
    level: Level = None,
    codecs: CodecRegistry | CodecTable | None = None,
    magic: Integer = 2,
    dictionary: Dictionary | None = None,
) -> None: ...
def codecs_given(codecs: CodecRegistry | CodecTable | None) -> CodecTable | None: ...

@disjoint_base
class CodecTable:
    def __new__(cls, plugins: tuple[Plugin, ...] = (), readers: dict[str, str] | None = None) -> CodecTable: ...
    @property
    def plugins(self) -> tuple[Plugin, ...]: ...
    @property
    def ids(self) -> dict[str, int]: ...
    @property
    def levels(self) -> dict[str, tuple[int, int, int]]: ...
