"""Click types of sizes, times, ranges and other arguments."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import click
from click.shell_completion import CompletionItem

from recordpress._arguments import INT64_MAX, hint
from recordpress._file_names import refuse_url
from recordpress.codecs import ZstdParameters
from recordpress.codecs.choice import parse_level
from recordpress.codecs.table import CodecTable
from recordpress.errors import InvalidArgumentError

if TYPE_CHECKING:
    _Type: TypeAlias = click.ParamType[Any]
else:
    _Type = click.ParamType  # generic since click 8.5

_SIZE = re.compile(r"(?P<number>[0-9]+(?:\.[0-9]+)?)\s*(?P<unit>[kmgt]?)(?P<binary>i?)b?", re.IGNORECASE)
_SHARE = re.compile(r"(?P<number>[0-9]+(?:\.[0-9]+)?)\s*(?P<percent>%?)")
_DASHED = re.compile(r"([0-9]+) ?[-:] ?([0-9]+)|([0-9]{4}-[0-9]{2}-[0-9]{2}\S*?)-([0-9]{4}-[0-9]{2}-[0-9]{2}\S*)")
_AGO = re.compile(r"-(?P<number>[0-9]+(?:\.[0-9]+)?)(?P<unit>ms|s|m|h|d|w)")
_UNITS_MS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
SEPARATOR = ".."
_CODECS = tuple(CodecTable().ids)
_SETTINGS = {
    "compression.type": ("producer", "uncompressed", *_CODECS[1:]),
    **{f"compression.{codec}.level": () for codec in CodecTable().levels},
    "cleanup.policy": ("delete", "compact"),
    "max.message.bytes": (),
    "message.format.version": (),
    "message.timestamp.after.max.ms": (),
    "message.timestamp.before.max.ms": (),
    "message.timestamp.type": ("CreateTime", "LogAppendTime"),
    "segment.bytes": (),
}


class Size(_Type):
    """Number of bytes: ``4096``, ``64k``, ``1MiB``. Every prefix is a power of 1024, as in Kafka's settings."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        match = _SIZE.fullmatch(value.strip())
        if not match:
            self.fail(f"{value!r} is not a size such as 4096, 64k or 1MiB", param, ctx)
        power = " kmgt".index(match["unit"].lower() or " ")
        return int(float(match["number"]) * 1024**power)


class Integer(click.IntRange):
    """Integer in a range. click would name it ``INTEGER RANGE``, and a wrong value "not a valid integer range"."""

    name = "integer"


class Codec(click.Choice):  # type: ignore[type-arg]
    """Kafka codec, or a codec that ``--codec-plugin`` loaded."""

    def __init__(self) -> None:
        super().__init__(_CODECS)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        codecs = ctx.params.get("codecs") if ctx else None
        if codecs is not None and value in codecs:
            return value
        if value in _CODECS:
            return super().convert(value, param, ctx)
        known = (*_CODECS, *(codecs.names if codecs is not None else ()))
        near = hint(value, known) or f"; must be one of {', '.join(known)}"
        self.fail(f"{value!r} is not a codec{near}", param, ctx)

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return f"Must be one of {', '.join(_CODECS)}."


class Level(_Type):
    """Level of a codec: ``9``, for zstd also ``19,windowLog=20,strategy=btopt``."""

    name = "level"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | ZstdParameters:
        try:
            return parse_level(value) if isinstance(value, str) else value
        except InvalidArgumentError as error:
            self.fail(error.message, param, ctx)


class Share(_Type):
    """Fraction: ``5%``, ``0.05``."""

    name = "share"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, float):
            return value
        match = _SHARE.fullmatch(value.strip())
        share = float(match["number"]) / (100 if match["percent"] else 1) if match else 2.0
        if share > 1:
            self.fail(f"{value!r} is not a share such as 5% or 0.05", param, ctx)
        return share


class Timestamp(_Type):
    """Milliseconds since 1970: ISO 8601 (UTC without a zone), the milliseconds themselves, or an age."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        text = value.strip()
        if match := _AGO.fullmatch(text):
            return int(time.time() * 1000 - float(match["number"]) * _UNITS_MS[match["unit"]])
        if re.fullmatch(r"-?[0-9]+", text) and len(text) != 8 and abs(int(text)) <= INT64_MAX:
            return int(text)
        milliseconds = _of_iso(text)
        if milliseconds is None:
            self.fail(
                f"{value!r} is not a time such as 2026-09-01T12:00Z, 1788264000000 (milliseconds) or -2h", param, ctx
            )
        return milliseconds


def _of_iso(text: str) -> int | None:
    from datetime import UTC, datetime, timedelta

    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


class Offset(_Type):
    """Offset of a record in a Kafka log."""

    name = "offset"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        text = str(value).strip()
        if not re.fullmatch(r"[0-9]{1,19}", text) or int(text) > INT64_MAX:
            self.fail(f"{value!r} is not an offset", param, ctx)
        return int(text)


class Bounds(NamedTuple):
    """Range from `start` up to, but excluding, `end`; None means unbounded."""

    start: int | None
    end: int | None


class Range(_Type):
    """``FROM``, ``FROM..TO`` or ``..TO``; TO is excluded."""

    name = "range"

    def __init__(self, of: _Type) -> None:
        self.of = of

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Bounds:
        if isinstance(value, Bounds):
            return value
        if match := _DASHED.fullmatch(value.strip()):
            start, end = filter(None, match.groups())
            self.fail(f"{value!r} is not a range: write {start}..{end}", param, ctx)
        start, _, end = value.partition(SEPARATOR)
        if not start and not end:
            self.fail(f"{value!r} is not a range of the form FROM, FROM..TO or ..TO", param, ctx)
        bounds = Bounds(*(self.of.convert(text, param, ctx) if text else None for text in (start, end)))
        if bounds.start is not None and bounds.end is not None and bounds.end < bounds.start:
            self.fail(f"{value!r} ends before it starts", param, ctx)
        return bounds


class Names(_Type):
    """Names separated by commas."""

    name = "names"

    def __init__(self, accepted: Callable[[], tuple[str, ...]]) -> None:
        self.accepted = accepted

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        if not isinstance(value, str):
            return tuple(value)
        names = tuple(name.strip() for name in value.split(",") if name.strip())
        accepted = self.accepted()
        if unknown := [name for name in names if name not in accepted]:
            near = hint(unknown[0], accepted) or f"; must be one of {', '.join(accepted)}"
            self.fail(f"unknown name {unknown[0]!r}{near}", param, ctx)
        return names

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        known, _, begun = incomplete.rpartition(",")
        before = f"{known}," if known else ""
        return [CompletionItem(before + name) for name in self.accepted() if name.startswith(begun)]


class Setting(_Type):
    """Setting in the form ``name=value``; completion offers Kafka's names."""

    name = "setting"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        name, equals, setting = value.partition("=")
        if not equals or not name.strip():
            self.fail(f"{value!r} is not a setting such as compression.type=lz4", param, ctx)
        return name.strip(), setting.strip()

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        name, equals, _ = incomplete.partition("=")
        known = [f"{name}={value}" for value in _SETTINGS.get(name, ())] if equals else [f"{one}=" for one in _SETTINGS]
        return [CompletionItem(one) for one in known if one.startswith(incomplete)]


class Paths(_Type):
    """Path, URL or pattern, which the shell completes."""

    name = "path"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(incomplete, type="file")]


class LocalPath(Paths):
    """A path of a local file, not a URL."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        refuse_url(value)
        return str(value)


SIZE = Size()
SHARE = Share()
TIMESTAMP = Timestamp()
OFFSET = Offset()
