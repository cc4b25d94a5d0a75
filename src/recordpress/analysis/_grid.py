"""Parser of codecs and levels in lzbench's form, with ranges: ``zstd,1-3,19/lz4/gzip,6/zstd,19,windowLog=20``."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from recordpress._arguments import shown_value
from recordpress.codecs import CodecRegistry, ZstdParameters
from recordpress.codecs.choice import CodecChoice, parse_level
from recordpress.errors import ArgumentTypeError, InvalidArgumentError

DEFAULT_CANDIDATES = "none/snappy/lz4/gzip,1,6/zstd,1,3,6"
"""Default codecs and levels of a measurement."""
_LEVELS = re.compile(r"(-?[0-9]{1,6})(?:-(-?[0-9]{1,6}))?")
_MAX_RANGE = 100  # levels; chosen, not measured


class Setting(NamedTuple):
    """Codec at a level; None is the default level of Kafka's clients.

    Examples
    --------
    >>> from recordpress.analysis import parse_candidates
    >>> parse_candidates("none/zstd,3")
    (Setting(compression_type='none', level=None), Setting(compression_type='zstd', level=3))
    """

    compression_type: str
    level: int | ZstdParameters | None

    def __str__(self) -> str:
        return self.compression_type if self.level is None else f"{self.compression_type} {self.level}"


def parse_candidates(candidates: str, codecs: CodecRegistry | None = None) -> tuple[Setting, ...]:
    """Parse codecs and levels in order, without duplicates.

    Parameters
    ----------
    candidates : str
        Codecs separated by ``/``, each with its levels, or ranges of at most 100 levels, after commas; without levels,
        Kafka's default level. ``windowLog=`` and ``strategy=`` after zstd's levels apply to all of those levels.
    codecs : CodecRegistry, optional
        Codec plug-ins that `candidates` may include.

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError
        An unknown codec or level; the message lists the known values.

    Examples
    --------
    >>> from recordpress.analysis import parse_candidates
    >>> [str(setting) for setting in parse_candidates("zstd,1-3,19/lz4")]
    ['zstd 1', 'zstd 2', 'zstd 3', 'zstd 19', 'lz4']
    >>> [str(setting) for setting in parse_candidates("zstd,3,9,windowLog=17")]
    ['zstd 3,windowLog=17', 'zstd 9,windowLog=17']
    """
    if not isinstance(candidates, str):
        message = f"candidates must be text, not {type(candidates).__name__}"
        raise ArgumentTypeError(message, field="candidates")
    found = [setting for part in candidates.split("/") for setting in _settings(part.strip(), candidates, codecs)]
    return tuple(dict.fromkeys(found))


def _settings(part: str, candidates: str, codecs: CodecRegistry | None) -> list[Setting]:
    codec, *words = (word.strip() for word in part.split(","))
    named = [word for word in words if "=" in word]
    ranges = [_LEVELS.fullmatch(word) for word in words if "=" not in word]
    if not codec or not all(ranges):
        raise InvalidArgumentError(
            f"candidates={shown_value(candidates)} is not of the form zstd,1-3,19/lz4/gzip,6", field="candidates"
        )
    settings: list[Setting] = [] if ranges else [Setting(codec, _level(named, candidates))]
    for found in filter(None, ranges):
        first, last = int(found[1]), int(found[2] or found[1])
        if not 0 <= last - first < _MAX_RANGE:
            raise InvalidArgumentError(
                f"{found[0]} is not a range of 1 to {_MAX_RANGE} levels, from the lowest to the highest",
                field="candidates",
            )
        settings += (Setting(codec, _level([str(level), *named], candidates)) for level in range(first, last + 1))
    for setting in settings:
        _check(setting, codecs)
    return settings


def _level(words: list[str], candidates: str) -> int | ZstdParameters | None:
    try:
        return parse_level(",".join(words)) if words else None
    except InvalidArgumentError as error:
        raise InvalidArgumentError(
            f"candidates={shown_value(candidates)}: {error.message}", field="candidates"
        ) from None


def _check(setting: Setting, codecs: Any) -> None:
    try:
        CodecChoice(setting.compression_type, setting.level, codecs)
    except (InvalidArgumentError, ArgumentTypeError) as error:
        raise InvalidArgumentError(error.message, field="candidates") from None
