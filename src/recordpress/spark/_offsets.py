"""Topics, partitions and offsets: the options of Spark's Kafka source (KafkaOffsetRangeLimit, JsonUtils)."""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal, NoReturn, TypeAlias

from recordpress._arguments import INT32_MAX, INT64_MAX
from recordpress.errors import InvalidArgumentError
from recordpress.log import Partition, end_offset
from recordpress.log.splits import Found, offset_of_timestamp
from recordpress.spark._option import Option, choice, json_value, wrong_json

_LOGGER = logging.getLogger("recordpress.spark")
_EARLIEST, _LATEST = -2, -1  # in JSON, as in Spark's Kafka source

TOPIC_OPTIONS = (
    Option("subscribe", "Topics, separated by commas.", "all"),
    Option("subscribePattern", "Regular expression for the whole name of a topic."),
    Option("assign", 'Partitions by topic, as JSON: {"orders": [0, 1]}.'),
)
BOUND_OPTIONS = (
    Option("startingOffsets", 'earliest, latest (streams), or JSON: {"orders": {"0": 23}}.', "earliest"),
    Option("endingOffsets", "latest, or JSON.", "latest", "batch"),
    Option("startingTimestamp", "Milliseconds since 1970, for all partitions; takes precedence over offsets."),
    Option("endingTimestamp", "Milliseconds since 1970, exclusive.", "", "batch"),
    Option("startingOffsetsByTimestamp", "Milliseconds by partition, as JSON; takes precedence over offsets."),
    Option("endingOffsetsByTimestamp", "Milliseconds by partition, as JSON.", "", "batch"),
    Option("startingOffsetsByTimestampStrategy", "If a partition has no record that late: error or latest.", "error"),
)

Text: TypeAlias = Callable[[str], "str | None"]
Kind: TypeAlias = Literal["all", "latest", "offsets", "timestamp", "timestamps"]
Range: TypeAlias = "tuple[int | None, int | None]"


# --- topics -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Topics:
    """Filter of partitions; the default selects all."""

    names: tuple[str, ...] = ()
    pattern: str = ""
    assigned: dict[str, frozenset[int]] | None = None

    def of(self, found: Found, where: str) -> list[Partition]:
        """Return the selected partitions; raise an error if a selected topic or partition is missing."""
        kept = [partition for partition in found.log if self.has(partition.topic, partition.partition)]
        topics = {partition.topic for partition in kept}
        others = {partition.topic for partition in found.log} | {topic for topic, _ in found.unread}
        if missing := [name for name in self.names if name not in topics]:
            self._refuse(missing, others, where, "subscribe")
        if self.assigned is not None:
            there = {(partition.topic, partition.partition) for partition in kept}
            wanted = sorted((topic, number) for topic, numbers in self.assigned.items() for number in numbers)
            if missing := [f"{topic}-{number}" for topic, number in wanted if (topic, number) not in there]:
                known = {str(partition) for partition in found.log}
                known |= {f"{topic}-{number}" for topic, number in found.unread if number is not None}
                self._refuse(missing, known, where, "assign")
        if self.pattern and not kept:
            self._refuse([f"matching {self.pattern!r}"], others, where, "subscribePattern")
        return kept

    def has(self, topic: str | None, partition: int | None) -> bool:
        """Return whether a partition is selected, if it exists; without a number, whether some of the topic may be."""
        if self.names:
            return topic in self.names
        if self.assigned is not None:
            numbers = self.assigned.get(topic or "", frozenset())
            return bool(numbers) if partition is None and topic is not None else partition in numbers
        return not self.pattern or bool(topic is not None and re.fullmatch(self.pattern, topic))

    def _refuse(self, missing: list[str], there: Iterable[str | None], where: str, option: str) -> NoReturn:
        known = ", ".join(sorted(name for name in there if name is not None))
        what = "partition" if option == "assign" else "topic"
        message = f"{where} has no {what} {', '.join(missing)}; it has {known}"
        raise InvalidArgumentError(message[:1000], field=option)


def parse_topics(text: Text) -> Topics:
    """Parse ``subscribe``, ``subscribePattern`` or ``assign``."""
    given = [name for name in ("subscribe", "subscribePattern", "assign") if text(name) is not None]
    names = tuple(name for one in (text("subscribe") or "").split(",") if (name := one.strip()))
    if len(given) > 1:
        raise InvalidArgumentError(f"only one of {', '.join(given)} is accepted", field=given[1])
    pattern = text("subscribePattern") or ""
    _check_pattern(pattern)
    assigned = text("assign")
    found = Topics(names, pattern, None if assigned is None else _assigned(assigned))
    if given and not (names or pattern or any((found.assigned or {}).values())):
        raise InvalidArgumentError(
            f"option {given[0]} names no topic: name at least one, or omit the option to read all",
            field=given[0],
        )
    return found


def _check_pattern(pattern: str) -> None:
    """Raise an error for an invalid regular expression, and for nested sets, which only Java supports."""
    what = "is not a regular expression that Python accepts"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", FutureWarning)
            re.compile(pattern)
        return
    except FutureWarning as warning:
        what, error = "must mean the same in Java and in Python", str(warning)
    except (re.error, OverflowError, RecursionError) as wrong:
        error = str(wrong)
    raise InvalidArgumentError(f"option subscribePattern {what}: {error}", field="subscribePattern")


def _assigned(text: str) -> dict[str, frozenset[int]]:
    example = '{"orders": [0, 1]}'
    read = json_value("assign", text, dict, example)
    for numbers in read.values():
        if not isinstance(numbers, list) or not all(_is_number(one, 0, INT32_MAX) for one in numbers):
            raise wrong_json("assign", text, example)
    return {topic: frozenset(numbers) for topic, numbers in read.items()}


# --- offsets ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bound:
    """One end of the range of offsets."""

    option: str
    kind: Kind = "all"
    timestamp: int = 0
    by_partition: dict[tuple[str, int], int] = field(default_factory=dict)


@dataclass(frozen=True)
class Bounds:
    """Both ends of the range of offsets."""

    start: Bound = Bound("startingOffsets")
    end: Bound = Bound("endingOffsets")
    is_latest_if_none: bool = False

    def refuse_latest(self) -> None:
        """Reject startingOffsets=latest, which only streams accept."""
        by_partition = self.start.by_partition.values() if self.start.kind == "offsets" else ()
        if self.start.kind == "latest" or _LATEST in by_partition:
            raise InvalidArgumentError(
                "option startingOffsets cannot be latest, or -1, in a batch query", field="startingOffsets"
            )

    def first_offset(self, partition: Partition, end: int) -> int:
        """Return the offset at which a stream begins to read a partition that can be read up to `end`."""
        first: int = partition.segments[0].base_offset
        if self.start.kind == "all":
            return first
        key = (partition.topic or "", partition.partition or 0)
        if self.start.kind == "latest" or self.start.by_partition.get(key) == _LATEST:
            return end
        wanted = self._wanted(self.start, partition)
        return first if wanted is None else wanted

    def ranges(self, partitions: Iterable[Partition], fail_on_data_loss: bool) -> dict[str, Range]:
        """Return the first offset and the end offset of each partition, by the partition's text."""
        found = list(partitions)
        there = {(partition.topic, partition.partition) for partition in found}
        for bound in (self.start, self.end):
            if missing := [f"{topic}-{number}" for topic, number in bound.by_partition if (topic, number) not in there]:
                raise InvalidArgumentError(
                    f"option {bound.option} names {', '.join(missing)}, which is not read"[:1000],
                    field=bound.option,
                )
        if self.start.kind == self.end.kind == "all":
            return {}
        return {str(partition): self._range(partition, fail_on_data_loss) for partition in found}

    def _range(self, partition: Partition, fail_on_data_loss: bool) -> Range:
        start, end = self._wanted(self.start, partition), self._wanted(self.end, partition)
        if self.start.kind == "offsets" or self.end.kind == "offsets":
            _check_loss(partition, start, end, fail_on_data_loss, self)
        return start, end

    def _wanted(self, bound: Bound, partition: Partition) -> int | None:
        key = (partition.topic or "", partition.partition or 0)
        if bound.kind == "offsets":
            offset = bound.by_partition.get(key, _LATEST)
            return offset if offset >= 0 else None
        timestamp = bound.timestamp if bound.kind == "timestamp" else bound.by_partition.get(key)
        if bound.kind == "all" or timestamp is None:
            return None
        offset_found: int | None = offset_of_timestamp(partition, timestamp)
        if offset_found is not None or bound is self.end:
            return offset_found
        if not self.is_latest_if_none:
            raise InvalidArgumentError(
                f"{partition} has no record with a timestamp of {timestamp} or later; "
                "startingOffsetsByTimestampStrategy=latest skips the partition",
                field=bound.option,
            )
        last: int = end_offset(partition)
        return last


def _check_loss(partition: Partition, start: int | None, end: int | None, fail: bool, bounds: Bounds) -> None:
    """Raise an error, or log a warning, for an offset outside the log: records may have been lost."""
    first, last = partition.segments[0].base_offset, end_offset(partition)
    for bound, offset in ((bounds.start, start), (bounds.end, end)):
        if bound.kind == "offsets" and offset is not None and not first <= offset <= last:
            message = f"{partition} has offsets from {first} to {last}, but option {bound.option} has {offset}"
            if fail:
                message += "; set failOnDataLoss=false to read the rest"
                raise InvalidArgumentError(message, field=bound.option)
            _LOGGER.warning("%s", message)


def parse_bounds(text: Text) -> Bounds:
    """Parse the options for offsets and timestamps."""
    name = "startingOffsetsByTimestampStrategy"
    given = text(name)
    strategy = "error" if given is None else choice("error", "latest")(name, given)
    return Bounds(_bound(text, "starting"), _bound(text, "ending"), strategy == "latest")


def _bound(text: Text, side: str) -> Bound:
    """Return one bound, with Spark's precedence: a timestamp for all partitions, timestamps by partition, offsets."""
    name = f"{side}Timestamp"
    if (value := text(name)) is not None:
        digits = value.lstrip("0") or value[:1]  # Python refuses to parse thousands of digits
        if not (digits.isascii() and digits.isdigit() and len(digits) <= 19 and int(digits) <= INT64_MAX):
            raise InvalidArgumentError(f"option {name} must be milliseconds since 1970, not {value[:50]!r}", field=name)
        return Bound(name, "timestamp", int(digits))
    name = f"{side}OffsetsByTimestamp"
    if (value := text(name)) is not None:
        return Bound(name, "timestamps", 0, _by_partition(name, value, 0, '{"orders": {"0": 1700000000000}}'))
    name = f"{side}Offsets"
    value = text(name)
    if value is None:
        value = "earliest" if side == "starting" else "latest"
    if value.lower() == ("earliest" if side == "starting" else "latest"):
        return Bound(name)
    if side == "starting" and value.lower() == "latest":
        return Bound(name, "latest")
    if value.lower() == "earliest":
        raise InvalidArgumentError(f"option {name} cannot be earliest in a batch query", field=name)
    least, words = (_EARLIEST, "earliest or latest") if side == "starting" else (_LATEST, "latest")
    example = '{"orders": {"0": 23}}'
    return Bound(name, "offsets", 0, _by_partition(name, value, least, f"{example}, or {words}"))


def _by_partition(name: str, text: str, least: int, example: str) -> dict[tuple[str, int], int]:
    read = json_value(name, text, dict, example)
    found = {}
    for topic, numbers in read.items():
        if not isinstance(numbers, dict):
            raise wrong_json(name, text, example)
        for number, value in numbers.items():
            is_partition = number.isascii() and number.isdigit() and len(number) <= 10
            if not is_partition or not _is_number(value, least, INT64_MAX):
                raise wrong_json(name, text, example)
            found[topic, int(number)] = value
    return found


def _is_number(value: object, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
