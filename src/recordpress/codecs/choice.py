"""The codec of a call with its level and dictionary, checked once and passed on as one value; levels as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, SupportsIndex

from recordpress._arguments import shown_value
from recordpress.codecs import CodecRegistry, Dictionary, ZstdParameters
from recordpress.codecs._registry import stored_as as stored_as
from recordpress.codecs._zstd_dictionary import DICTIONARY_IDS as DICTIONARY_IDS, DICTIONARY_SIZES as DICTIONARY_SIZES
from recordpress.codecs.table import CodecTable, check_codec
from recordpress.errors import InvalidArgumentError
from recordpress.typing import Integer, Level

ZSTD_LEVELS = CodecTable().levels["zstd"]  # lowest, highest, default


@dataclass(frozen=True)
class CodecChoice:
    """A codec, checked to accept its level, its dictionary and the magic of its batches."""

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


def parse_level(text: str) -> int | ZstdParameters:
    """Parse a level as the shell and Spark write it: ``19``, ``windowLog=20`` or ``19,windowLog=20,strategy=btopt``."""
    given: dict[str, Any] = {}
    for word in text.split(","):
        name, sign, value = word.strip().rpartition("=")
        name = name if sign else "level"
        if name not in ("level", "windowLog", "strategy") or name in given:
            raise InvalidArgumentError(
                f"a level must be of the form 19 or 19,windowLog=20,strategy=btopt, not {shown_value(text)}",
                field="level",
            )
        try:
            given[name] = value if name == "strategy" else int(value[:20])
        except ValueError:
            raise InvalidArgumentError(f"{name} must be a number, not {shown_value(value)}", field="level") from None
    if given.keys() == {"level"}:
        return int(given["level"])
    return ZstdParameters(given.get("level"), window_log=given.get("windowLog"), strategy=given.get("strategy"))


def level_as_json(level: Level) -> int | str | None:
    """Return a level for JSON: an int, the text of zstd's parameters, or None for a default."""
    if level is None or isinstance(level, str):
        return None
    return int(level) if isinstance(level, SupportsIndex) else str(level)
