"""The vectors as test parameters: what Kafka's own software wrote, and what it read from that.

They come from the full collection where it is there, else from the archives in vectors/ (its README says more).
"""

import functools
import gzip
import io
import json
import lzma
import os
import re
import tarfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from together import grouped
from vectors import pack

TESTS = Path(__file__).resolve().parent
SHIPPED = TESTS / "vectors"
FULL = TESTS.parent.parent / "shared" / "vectors"

Facts = dict[str, Any]


_STATES = (b"Empty", b"Ongoing", b"PrepareCommit", b"PrepareAbort", b"CompleteCommit", b"CompleteAbort")


# ---- where the bytes come from


@functools.cache
def archive(name: str) -> dict[str, bytes]:
    raw = lzma.decompress((SHIPPED / name).read_bytes())
    with tarfile.open(fileobj=io.BytesIO(raw)) as tar:
        return {member.name: tar.extractfile(member).read() for member in tar}  # type: ignore[union-attr]


def read_shipped(path: str) -> bytes:
    return archive(pack.archive_of(path))[path]


def read_full(path: str) -> bytes:
    """A file of the full collection, by its name without .gz."""
    file = FULL_SET / path  # type: ignore[operator]
    if file.exists():
        return file.read_bytes()
    return gzip.decompress(file.with_name(file.name + ".gz").read_bytes())


def _full_set() -> Path | None:
    named = os.environ.get("RECORDPRESS_VECTORS")
    if named is None:
        return FULL if FULL.is_dir() else None
    return Path(named) if named else None


FULL_SET = _full_set()
read: Callable[[str], bytes] = read_full if FULL_SET else read_shipped


def shipped_manifest() -> Facts:
    return json.loads((SHIPPED / "manifest.json").read_text())


def _manifest() -> Facts:
    if not FULL_SET:
        return shipped_manifest()
    entries = {
        "batches": json.loads(read_full("manifest.json")),
        "segments": json.loads(read_full("segments/manifest.json")),
    }
    return pack.slim(entries)  # type: ignore[return-value]


# ---- the vectors


@dataclass(frozen=True)
class Vector:
    """Bytes, and what Kafka read from them."""

    file: str
    expected_file: str
    entry: Facts

    @property
    def data(self) -> bytes:
        return read(self.file)

    @property
    def expected(self) -> Facts:
        return json.loads(read(self.expected_file))

    def __str__(self) -> str:
        return self.file.removeprefix("batches/").removeprefix("segments/").removesuffix(".bin")


@dataclass(frozen=True)
class Partition:
    """A partition directory of a broker: its .log files in order of offset, and the consumer's results."""

    entry: Facts
    logs: list[Vector]

    def consumed(self, isolation: str) -> list[Facts]:
        lines = read("segments/" + self.entry[isolation]).decode().splitlines()
        rows = [json.loads(line) for line in lines]
        return [row for row in rows if row["partition"] == self.entry["partition"]]

    def files(self, suffix: str) -> list[bytes]:
        return [read("segments/" + f["file"]) for f in self.entry["files"] if f["file"].endswith(suffix)]

    def dumped(self) -> bytes:
        """What DumpLogSegments printed; Kafka 4.4 names a transaction's state, which 4.3.1 numbered."""
        text = read("segments/" + self.entry["dump_log_segments"])
        return re.sub(rb'(?<="transactionStatus":)\d+', lambda state: b'"%s"' % _STATES[int(state[0])], text)

    def write_to(self, root: Path, name: str | None = None) -> Path:
        """The directory with all its files, as the broker left it, under its own or another name."""
        directory = root / (name or Path(self.entry["dir"]).name)
        directory.mkdir(parents=True)
        for entry in self.entry["files"]:
            (directory / Path(entry["file"]).name).write_bytes(read("segments/" + entry["file"]))
        return directory

    def __str__(self) -> str:
        return self.entry["dir"]


def _record_sets(manifest: Facts) -> Iterator[Vector]:
    for entry in manifest["batches"]:
        yield Vector(entry["file"], entry["expected"], entry)


def _partitions(manifest: Facts) -> Iterator[Partition]:
    for entry in manifest["segments"]:
        logs = [
            Vector("segments/" + f["file"], "segments/" + f["decoded"], f) for f in entry["files"] if "decoded" in f
        ]
        yield Partition(entry, logs)


MANIFEST = _manifest()
RECORD_SETS = list(_record_sets(MANIFEST))
PARTITIONS = list(_partitions(MANIFEST))
LOGS = [log for partition in PARTITIONS for log in partition.logs if log.entry["size"]]
EVERYTHING = RECORD_SETS + LOGS


def _shipped() -> set[str]:
    manifest = shipped_manifest()
    logs = {"segments/" + file["file"] for entry in manifest["segments"] for file in entry["files"]}
    return logs | {entry["file"] for entry in manifest["batches"]} | {entry["dir"] for entry in manifest["segments"]}


SHIPS = _shipped()


def each(argument: str, vectors: Iterable[Vector | Partition]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Parametrize a test by writer and format: one case tries all vectors of a group, and lists every failure.

    The shipped subset has every kind of vector. Vectors that only the full collection has are slow tests.
    """

    def group_of(vector: Vector | Partition) -> str:
        writer, magic = str(vector).partition("/")[0], vector.entry.get("magic")
        group = writer if magic is None else f"{writer}-v{magic}"
        ships = (vector.entry["dir"] if isinstance(vector, Partition) else vector.file) in SHIPS
        return group if ships else f"{group}-more"

    vectors = list(vectors)
    more = {group for group in map(group_of, vectors) if group.endswith("-more")}
    return grouped(argument, vectors, group_of, str, more)


def find(file: str) -> Vector:
    """The record set of that name, such as "crafted/size_13": every one a test names is in the shipped subset."""
    return next(vector for vector in RECORD_SETS if str(vector) == file)
