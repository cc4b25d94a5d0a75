"""The options of ``format("kpress")``: checked once, on the driver."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kpress.errors import InvalidArgumentError

# Spark passes them on in lower case, so case does not matter.
_ACCEPTED = ("path", "subscribe", "includeHeaders", "isolation.level", "max.partition.fetch.bytes")
_ISOLATION_LEVELS = ("read_uncommitted", "read_committed")
_FETCH_BYTES = 1 << 20  # ConsumerConfig's default
_FETCH_BYTES_MOST = (1 << 31) - 1


@dataclass(frozen=True)
class ReadOptions:
    """What to read, and how.

    Attributes
    ----------
    path : str
        A broker's log dir or the directory of one partition.
    topics : tuple of str
        ``subscribe``: names separated by commas, as for Spark's Kafka source; empty means all topics.
    include_headers : bool
        ``includeHeaders``, default false: add a column of headers.
    read_committed : bool
        ``isolation.level``, default read_uncommitted, as in Kafka's ConsumerConfig.
    fetch_bytes : int
        ``max.partition.fetch.bytes``, default 1048576: bytes of a file that become one Arrow record batch. A larger
        entry is read all the same, as by a consumer.
    """

    path: str
    topics: tuple[str, ...] = ()
    include_headers: bool = False
    read_committed: bool = False
    fetch_bytes: int = _FETCH_BYTES

    @classmethod
    def parse(cls, options: Mapping[str, str]) -> ReadOptions:
        """From the options that Spark was given.

        Raises
        ------
        InvalidArgumentError
            An option or a value is not accepted; the message says which ones are.

        Examples
        --------
        >>> ReadOptions.parse({"path": "/logs", "subscribe": "orders, payments", "includeheaders": "true"})
        ReadOptions(path='/logs', topics=('orders', 'payments'), include_headers=True, read_committed=False, \
fetch_bytes=1048576)
        """
        given = {name.lower(): value for name, value in options.items()}
        unknown = sorted(given.keys() - {name.lower() for name in _ACCEPTED})
        if unknown:
            raise InvalidArgumentError(
                f"unknown option {', '.join(unknown)}; accepted are {', '.join(_ACCEPTED)}", field=unknown[0]
            )
        if not given.get("path"):
            raise InvalidArgumentError("a path is needed: load(<log dir or partition directory>)", field="path")
        topics = tuple(name.strip() for name in given.get("subscribe", "").split(","))
        return cls(
            path=given["path"],
            topics=tuple(name for name in topics if name),
            include_headers=_choice("includeHeaders", given, ("false", "true")) == "true",
            read_committed=_choice("isolation.level", given, _ISOLATION_LEVELS) == "read_committed",
            fetch_bytes=_fetch_bytes(given),
        )


def _choice(name: str, given: Mapping[str, str], accepted: tuple[str, ...]) -> str:
    """The value; the first of the accepted ones is the default."""
    value = given.get(name.lower(), accepted[0]).lower()
    if value not in accepted:
        raise InvalidArgumentError(f"option {name} must be {' or '.join(accepted)}, not {value!r}", field=name)
    return value


def _fetch_bytes(given: Mapping[str, str]) -> int:
    name = "max.partition.fetch.bytes"
    value = given.get(name, str(_FETCH_BYTES))
    short = value.isascii() and value.isdigit() and len(value) <= len(str(_FETCH_BYTES_MOST))
    if not short or not 1 <= int(value) <= _FETCH_BYTES_MOST:
        raise InvalidArgumentError(
            f"option {name} must be a number from 1 to {_FETCH_BYTES_MOST}, not {value[:50]!r}", field=name
        )
    return int(value)
