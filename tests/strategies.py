"""Hypothesis strategies: records, their headers and timestamps, and how a batch is written."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st

from together import THOROUGH

CODECS = {
    0: ("none", "gzip", "snappy", "lz4"),
    1: ("none", "gzip", "snappy", "lz4"),
    2: ("none", "gzip", "snappy", "lz4", "zstd"),
}
MOST = 20 if THOROUGH else 10  # records of a batch
FORMATS = [(magic, codec) for magic, codecs in CODECS.items() for codec in codecs]

# Around the lengths where a varint grows, and now and then past the blocks of snappy (32 KiB) and lz4 (64 KiB).
_LENGTHS = st.sampled_from([0, 1, 63, 64, 65, 255, 256, 257, 8191, 8192, 8193, 32768, 65536, 70_000])


@st.composite
def _long_bytes(draw: st.DrawFn) -> bytes:
    length = draw(_LENGTHS)
    pattern = draw(st.binary(min_size=1, max_size=40))
    return (pattern * (length // len(pattern) + 1))[:length]


payloads = st.one_of(st.none(), st.binary(max_size=40), _long_bytes())
header_keys = st.text(st.characters(codec="utf-8"), max_size=12)
headers = st.lists(st.tuples(header_keys, st.none() | st.binary(max_size=20)), max_size=4)
timestamps = st.one_of(
    st.just(-1),
    st.integers(0, 2**63 - 1),
    st.integers(1_700_000_000_000, 1_700_000_100_000),
)


@dataclass(frozen=True)
class DrawnRecord:
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes | None]] = field(default_factory=list)


@st.composite
def records(draw: st.DrawFn, magic: int = 2, max_size: int = MOST, gaps: bool = True) -> list[DrawnRecord]:
    """Records of one batch, in order of offset; what the format cannot hold is not drawn."""
    found = []
    offset = draw(st.integers(0, 2**40))
    for _ in range(draw(st.integers(1, max_size))):
        timestamp = draw(timestamps) if magic else -1
        row_headers = draw(headers) if magic == 2 else []
        found.append(DrawnRecord(offset, timestamp, draw(payloads), draw(payloads), row_headers))
        offset += draw(st.sampled_from([1, 1, 1, 2, 1000])) if gaps else 1
    return found


formats = st.sampled_from(FORMATS)
