"""Fetch behaviour by release, with sources; `_versions` has all other rules."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from recordpress.broker._versions import BrokerRules, Version


@dataclass(frozen=True, slots=True)
class FetchRules:
    """Rules by which the brokers of one release answer a fetch."""

    versions: tuple[int, int] = (0, 0)
    conversion: Literal["none", "merged", "eager", "lazy"] = "none"
    drops_headers: bool = False
    always_converts: bool = False
    keeps_unconverted: bool = False
    gates_zstd: bool = False
    default_max_bytes: int | None = None


# A release without a row behaves like the release before it.
_CHANGES: tuple[tuple[Version, dict[str, Any], str], ...] = (
    ((0, 8, 2), {}, "KafkaApis.handleFetchRequest"),
    ((0, 9), {"versions": (0, 1)}, "KIP-13"),
    ((0, 10), {"versions": (0, 2), "conversion": "merged"}, "KIP-31, FileMessageSet.toMessageFormat"),
    ((0, 10, 1), {"versions": (0, 3)}, "KIP-74"),
    ((0, 11), {"versions": (0, 5), "conversion": "eager"}, "KIP-98, AbstractRecords.downConvert"),
    ((1, 0), {"versions": (0, 6)}, "KIP-112"),
    ((1, 0, 2), {"drops_headers": True}, "KAFKA-6739"),
    ((1, 1), {"versions": (0, 7), "drops_headers": False, "keeps_unconverted": True}, "KIP-227, FileRecords"),
    ((1, 1, 1), {"drops_headers": True}, "KAFKA-6739"),
    ((2, 0), {"versions": (0, 8), "conversion": "lazy"}, "KIP-283"),
    ((2, 1), {"versions": (0, 10), "gates_zstd": True}, "KIP-320, KIP-110"),
    ((2, 3), {"versions": (0, 11)}, "KIP-392"),
    ((2, 5), {"default_max_bytes": 55 << 20}, "KIP-541"),
    ((2, 7), {"versions": (0, 12)}, "KIP-595"),
    ((3, 0), {"always_converts": True}, "KIP-724"),
    ((3, 1), {"versions": (0, 13)}, "KIP-516"),
    ((3, 5), {"versions": (0, 15)}, "KIP-405, KIP-903"),
    ((3, 7), {"versions": (0, 16)}, "KIP-951"),
    ((3, 9), {"versions": (0, 17)}, "KIP-853"),
    ((4, 0), {"versions": (4, 17), "conversion": "none", "gates_zstd": False}, "KIP-896, KIP-724"),
    ((4, 1), {"versions": (4, 18)}, "KIP-1166"),
)


def fetch_rules_of(rules: BrokerRules) -> FetchRules:
    """Return the fetch rules of the release of `rules`."""
    found = FetchRules()
    for since, change, _ in _CHANGES:
        if rules.version >= since:
            found = replace(found, **change)
    return found
