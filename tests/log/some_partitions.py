"""Fewer of the brokers' partitions, for tests in which the others would show the same; in a thorough run all."""

import re
from collections.abc import Iterable

import oracle
from together import THOROUGH


def of_each_kind(partitions: Iterable[oracle.Partition]) -> list[oracle.Partition]:
    """Of partitions whose names differ by codec only, one with a codec and one without."""
    kinds: dict[str, oracle.Partition] = {}
    for partition in partitions:
        name = str(partition)
        kinds.setdefault(name if THOROUGH else re.sub("gzip|snappy|lz4|zstd", "codec", name), partition)
    return list(kinds.values())


def without_slow(partitions: Iterable[oracle.Partition]) -> list[oracle.Partition]:
    """Return the partitions that `oracle.each` tries in `make test`."""
    return [one for one in partitions if THOROUGH or one.entry["dir"] in oracle.SHIPS]
