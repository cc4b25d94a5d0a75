"""The codec of a call with its level and dictionary, checked once and passed on as one value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from recordpress.codecs import CodecRegistry, Dictionary
from recordpress.codecs.table import check_codec
from recordpress.errors import InvalidArgumentError
from recordpress.typing import Integer, Level


@dataclass(frozen=True)
class CodecChoice:
    """A codec that accepts its level, its dictionary and the magic of its batches."""

    compression_type: Any
    level: Level = None
    codecs: CodecRegistry | None = None
    dictionary: Dictionary | None = None
    magic: Integer = 2
    is_optional: bool = False  # without a compression_type, each batch keeps its codec

    def __post_init__(self) -> None:
        if not self.is_optional or self.compression_type is not None:
            check_codec(self.compression_type, self.level, self.codecs, self.magic, self.dictionary)
        elif self.level is not None:
            raise InvalidArgumentError("a level needs a compression_type: batches keep their codecs", field="level")

    @property
    def options(self) -> dict[str, Any]:
        """The keyword arguments that every writer of record sets takes."""
        return {"compression_type": self.compression_type, "level": self.level, "codecs": self.codecs}
