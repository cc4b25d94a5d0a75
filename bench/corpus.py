"""The record sets: as lists, as Arrow columns, as the batches that Java wrote, and as files of many batches."""

import lzma
import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import cycle
from pathlib import Path

import pyarrow as pa

from bench.ceiling import Ceiling

CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]
HERE = Path(__file__).parent / "corpus"


@cache
def _packed(name: str) -> bytes:
    return lzma.decompress((HERE / f"{name}.xz").read_bytes())


@dataclass(frozen=True)
class RecordSet:
    """One record set. Sizes are bytes of keys and values together."""

    name: str

    def batch(self, codec: str) -> bytes:
        """The one batch that Java wrote of all records."""
        return _packed(f"{self.name}.{codec}")

    @cached_property
    def _records(self) -> list[tuple[int, int, bytes | None, bytes | None]]:
        records = self.ceiling().records(self.batch("none"))
        return [(record.offset, record.timestamp, record.key, record.value) for record in records]

    @cached_property
    def offsets(self) -> list[int]:
        return [offset for offset, _, _, _ in self._records]

    @cached_property
    def timestamps(self) -> list[int]:
        return [timestamp for _, timestamp, _, _ in self._records]

    @cached_property
    def keys(self) -> list[bytes | None]:
        return [key for _, _, key, _ in self._records]

    @cached_property
    def values(self) -> list[bytes]:
        return [value for _, _, _, value in self._records]

    @cached_property
    def table(self) -> pa.Table:
        """Columns offset, timestamp (ms, UTC), key, value."""
        return pa.table(
            {
                "offset": pa.array(self.offsets, pa.int64()),
                "timestamp": pa.array(self.timestamps, pa.timestamp("ms", tz="UTC")),
                "key": pa.array(self.keys, pa.binary()),
                "value": pa.array(self.values, pa.binary()),
            }
        )

    @property
    def count(self) -> int:
        return struct.unpack_from(">i", self.batch("none"), 57)[0]

    @cached_property
    def value_size(self) -> int:
        return sum(map(len, self.values))

    @cached_property
    def size(self) -> int:
        return self.value_size + sum(len(key or b"") for key in self.keys)

    def ceiling(self, batches: int = 1) -> Ceiling:
        """A ceiling whose columns hold `batches` of this set."""
        return Ceiling(self.count * batches, len(self.batch("none")) * batches)

    def ceilings(self, batches: int = 1) -> Callable[[], Ceiling]:
        """Two of them by turns: a result stays while the next call fills other memory, as ours does."""
        return cycle([self.ceiling(batches), self.ceiling(batches)]).__next__

    def batches(self, codec: str, count: int) -> bytes:
        """The batch `count` times with offsets that go on (the base offset lies outside of what the CRC covers)."""
        one = self.batch(codec)[8:]
        return b"".join(struct.pack(">q", i * self.count) + one for i in range(count))


SETS = {name: RecordSet(name) for name in ["apache5000", "apache100", "nginx500", "small10000"]}
