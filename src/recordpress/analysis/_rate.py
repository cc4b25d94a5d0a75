"""Produce rates: ``20MB/s`` or ``50000records/s``."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from recordpress._arguments import shown_value
from recordpress.errors import ArgumentTypeError, InvalidArgumentError

_RATE = re.compile(r"(?P<number>[0-9]{1,18}(?:\.[0-9]{1,18})?)\s*(?P<unit>[kMG]?B|records|)(?:/s)?")
_BYTES = {"": 1e6, "B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9}


class Rate(NamedTuple):
    """Bytes of uncompressed record sets, or records, per second.

    Examples
    --------
    >>> from recordpress.analysis import Rate
    >>> Rate(bytes=20e6, records=None).records_per_second(record_bytes=100)
    200000.0
    """

    bytes: float | None
    records: float | None

    def bytes_per_second(self, record_bytes: float) -> float:
        """Return the rate in bytes, for records of this size."""
        return self.bytes if self.bytes is not None else (self.records or 0.0) * record_bytes

    def records_per_second(self, record_bytes: float) -> float:
        """Return the rate in records, for records of this size."""
        return self.records if self.records is not None else (self.bytes or 0.0) / record_bytes


def parse_rate(rate: str | float | None) -> Rate | None:
    """Parse a rate; a number without a unit is in MB/s, of uncompressed record sets."""
    if rate is None:
        return None
    if not isinstance(rate, str):
        return Rate(1e6 * positive(rate, "rate"), None)
    match = _RATE.fullmatch(rate.strip())
    number = float(match["number"]) if match else 0.0
    if not match or not number:
        raise InvalidArgumentError(f"rate={shown_value(rate)} is not a rate: 20MB/s, 50000records/s", field="rate")
    if match["unit"] == "records":
        return Rate(None, number)
    return Rate(number * _BYTES[match["unit"]], None)


def positive(number: float, name: str) -> float:
    """Return a number above zero; raise an error otherwise."""
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise ArgumentTypeError(f"{name} must be a number, not {type(number).__name__}", field=name)
    if not 0 < number < 1e15 or not math.isfinite(number):
        raise InvalidArgumentError(f"{name}={shown_value(number)} is not a number above 0", field=name)
    return float(number)
