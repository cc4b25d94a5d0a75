"""Parser of codecs and levels in lzbench's form: ``zstd,1,3/lz4/gzip,6``."""

from __future__ import annotations

import re
from typing import Any, NamedTuple, get_args

from recordpress._arguments import shown_value
from recordpress.codecs import CodecRegistry
from recordpress.codecs.choice import CodecChoice
from recordpress.errors import ArgumentTypeError, InvalidArgumentError
from recordpress.typing import CompressionType

DEFAULT_CODECS = "none/snappy/lz4/gzip,1,6/zstd,1,3,6"
"""Default codecs and levels of a measurement.

Examples
--------
>>> from recordpress.analysis import DEFAULT_CODECS
>>> DEFAULT_CODECS
'none/snappy/lz4/gzip,1,6/zstd,1,3,6'
"""
_LEVEL = re.compile(r"-?[0-9]{1,6}")


class Setting(NamedTuple):
    """Codec at a level; None is the default level of Kafka's clients.

    Examples
    --------
    >>> from recordpress.analysis import parse_codecs
    >>> parse_codecs("none/zstd,3")
    (Setting(codec='none', level=None), Setting(codec='zstd', level=3))
    """

    codec: str
    level: int | None

    @property
    def is_kafkas(self) -> bool:
        """Return whether the codec is Kafka's, not a plug-in."""
        return self.codec in get_args(CompressionType)

    def __str__(self) -> str:
        return self.codec if self.level is None else f"{self.codec} {self.level}"


def parse_codecs(text: str, registry: CodecRegistry | None = None) -> tuple[Setting, ...]:
    """Parse codecs and levels in their order, without repetitions.

    Parameters
    ----------
    text : str
        Codecs with ``/`` between them, each with its levels after commas; without levels, Kafka's own.
    registry : CodecRegistry, optional
        Codec plug-ins, which may be named too.

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError
        An unknown codec or level; the message lists the known ones.

    Examples
    --------
    >>> from recordpress.analysis import parse_codecs
    >>> [str(setting) for setting in parse_codecs("zstd,1,3/lz4")]
    ['zstd 1', 'zstd 3', 'lz4']
    """
    if not isinstance(text, str):
        raise ArgumentTypeError(f"codecs must be text, not {type(text).__name__}", field="codecs")
    found = [setting for part in text.split("/") for setting in _settings(part.strip(), text, registry)]
    return tuple(dict.fromkeys(found))


def _settings(part: str, text: str, registry: CodecRegistry | None) -> list[Setting]:
    codec, *levels = (word.strip() for word in part.split(","))
    if not codec or not all(_LEVEL.fullmatch(level) for level in levels):
        raise InvalidArgumentError(f"codecs={shown_value(text)} is not of the form zstd,1,3/lz4/gzip,6", field="codecs")
    settings = [Setting(codec, int(level)) for level in levels] or [Setting(codec, None)]
    for setting in settings:
        _check(setting, registry)
    return settings


def _check(setting: Setting, registry: Any) -> None:
    try:
        CodecChoice(setting.codec, setting.level, registry)
    except (InvalidArgumentError, ArgumentTypeError) as error:
        raise InvalidArgumentError(error.message, field="codecs") from None
