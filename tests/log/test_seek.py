"""Seeks by offset and by time agree with a full scan for every record, with indexes, without, and with damaged ones."""

import bisect
from collections.abc import Iterator
from pathlib import Path

import pytest

import oracle
import recordpress
from log.some_partitions import of_each_kind, without_slow
from recordpress.files import LocalFileSystem, RandomAccessFile
from recordpress.log._header_walk import HeaderWalk
from recordpress.log._seek import RecordPlace, SegmentSeek
from together import sampled

INDEX, TIME = ".index", ".timeindex"
# what a header says as the whole batch does, which has None where the header has -1
SHARED_NAMES = (
    *("position", "size", "magic", "attributes", "crc", "base_offset", "last_offset", "next_offset", "records_count"),
    *("max_timestamp", "partition_leader_epoch", "producer_id", "producer_epoch", "base_sequence", "last_sequence"),
    *("is_transactional", "is_control"),
)


class Bytes(RandomAccessFile):
    """A file in memory that counts what is read of it."""

    def __init__(self, data: bytes, name: str = "00000000000000000000.log") -> None:
        self.data, self.name, self.size = data, name, len(data)
        self.reads: list[tuple[int, int]] = []

    def read_at(self, position: int, length: int) -> bytes:
        self.reads.append((position, length))
        return self.data[position : position + length]

    def close(self) -> None:
        pass


class Segment:
    """A segment of the vectors, and what a scan of all its records says."""

    def __init__(self, log: oracle.Vector, siblings: dict[str, bytes]) -> None:
        self.name = Path(log.file).name
        self.base_offset = int(self.name[:20])
        self.data = log.data
        self.siblings = siblings
        self.batches = list(log.expected["batches"])
        self.records = [
            (record["offset"], record["timestamp"], batch["position"])
            for batch in self.batches
            for record in batch["records"]
        ]

    def seek(self, **changed: bytes | None) -> SegmentSeek:
        """With its indexes; other bytes for one of them, or None for none."""
        siblings = self.siblings | {f".{name}": data for name, data in changed.items()}

        def open_sibling(suffix: str) -> Bytes:
            data = siblings.get(suffix)
            if data is None:
                raise FileNotFoundError(suffix)
            return Bytes(data, self.name[:20] + suffix)

        return SegmentSeek(Bytes(self.data, self.name), self.base_offset, open_sibling)

    def check(self, seek: SegmentSeek, every: int = 3) -> None:
        """Seek to records that a seek can tell apart: to some of them, and in a thorough run to all."""
        lasts = [batch["last_offset"] for batch in self.batches]
        targets = {offset for offset, _, _ in self.records} | {0, lasts[-1] + 1} | {last + 1 for last in lasts}
        for target in {*sampled(sorted(targets), every), 0, lasts[-1] + 1}:
            at = bisect.bisect_left(lasts, target)
            found = seek.offset(target)
            expected = (self.batches[at]["position"], lasts[at]) if at < len(lasts) else None
            assert (found and (found.position, found.last_offset)) == expected, target
        times = {time for _, time, _ in self.records}
        for target in {*sampled(sorted(times | {time + 1 for time in times}), every), 0, max(times) + 1}:
            assert seek.timestamp(target) == self.first(target), target

    def first(self, target: int, start: int = 0) -> RecordPlace | None:
        # Kafka looks into a batch only if its header says that it has such a timestamp
        lately = {batch["position"] for batch in self.batches if batch["max_timestamp"] >= target}
        return next(
            (RecordPlace(*r) for r in self.records if r[1] >= target and r[0] >= start and r[2] in lately), None
        )


def segments() -> Iterator[Segment]:
    for partition in of_each_kind(without_slow(oracle.PARTITIONS)):
        files = {Path(f["file"]).name: "segments/" + f["file"] for f in partition.entry["files"]}
        for log in partition.logs:
            if log.entry["records"]:
                stem = Path(log.file).stem
                siblings = {s: oracle.read(files[stem + s]) for s in (INDEX, TIME) if stem + s in files}
                yield Segment(log, siblings)


SEGMENTS = list(segments())
INDEXED = [s for s in SEGMENTS if len(s.siblings.get(INDEX, b"")) > 16 and len(s.siblings.get(TIME, b"")) > 24]


def test_every_record_with_indexes_and_without() -> None:
    for segment in SEGMENTS:
        seek = segment.seek()
        segment.check(seek)
        assert [f for f in seek.findings if f.rule != "log directory"] == [], segment.name
        segment.check(SegmentSeek(Bytes(segment.data), segment.base_offset))
    assert len(INDEXED) > 5


def test_what_is_missing_is_a_finding() -> None:
    segment = INDEXED[0]
    seek = segment.seek(index=None, timeindex=None)
    segment.check(seek)
    assert [(f.file[20:], f.message) for f in seek.findings] == [
        (INDEX, "the file is missing"),
        (TIME, "the file is missing"),
    ]


@pytest.mark.parametrize("suffix", ["index", "timeindex"])
def test_damaged_indexes(suffix: str) -> None:
    """Every byte flipped, every entry swapped or cut: seeks are right, and what is seen to be wrong is a finding."""
    seen = 0
    for segment in INDEXED[:1]:
        data = segment.siblings["." + suffix]
        for bad in damaged(data, 8 if suffix == "index" else 12):
            seek = segment.seek(**{suffix: bad})
            segment.check(seek)
            seen += bool(seek.findings)
            assert all(finding.file == segment.name[:20] + "." + suffix for finding in seek.findings)
    assert seen > 25


def damaged(data: bytes, size: int) -> Iterator[bytes]:
    end = min(len(data), 6 * size)
    for position in range(end):
        for bit in (position % 8,):
            flipped = bytearray(data)
            flipped[position] ^= 1 << bit
            yield bytes(flipped)
    for position in range(0, end, size):
        yield data[:position]
        yield data[:position] + data[position + size :]
    yield data + b"\0" * 5 * size
    yield b"garbage"


def first_indexed(segment: Segment) -> int:
    return segment.base_offset + int.from_bytes(segment.siblings[INDEX][:4], "big")


def test_a_wrong_entry_is_named() -> None:
    # brokers up to 0.11 put another offset than a batch's last one into an index
    segment = next(one for one in INDEXED if first_indexed(one) in {batch["last_offset"] for batch in one.batches})
    index = segment.siblings[INDEX]
    wrong = index[:4] + (int.from_bytes(index[4:8], "big") + 1).to_bytes(4, "big") + index[8:]
    seek = segment.seek(index=wrong)
    target = first_indexed(segment)
    header = seek.offset(target)
    assert header is not None and header.last_offset == target
    [finding] = seek.findings
    assert (finding.position, finding.size, finding.offset, finding.rule) == (0, 8, target, "offset index")
    assert finding.message.startswith("no batch")


def test_from_a_start_offset() -> None:
    segment = INDEXED[0]
    for start, timestamp, _ in segment.records[:: max(1, len(segment.records) // 20)]:
        for target in (0, timestamp, timestamp + 1):
            assert segment.seek().timestamp(target, start) == segment.first(target, start)


# --- the walk


def log_of(sizes: list[int]) -> bytes:
    return b"".join(recordpress.write_records([b"x" * size], base_offset=i) for i, size in enumerate(sizes))


@pytest.mark.parametrize("size", [1, 100, 5000, 12_000, 30_000, 70_000, 200_000])
def test_never_more_than_a_read_per_entry_or_per_64_kib(size: int) -> None:
    data = log_of([size] * max(3, 2_000_000 // (size + 70)))
    file = Bytes(data)
    entries = sum(1 for _ in HeaderWalk(file))
    assert len(file.reads) <= entries
    if size < 16_000:
        assert len(file.reads) <= len(data) // (64 << 10) + 1
    assert sum(length for _, length in file.reads) <= len(data) + 200 * len(file.reads)
    if size >= 200_000:
        assert sum(length for _, length in file.reads) < len(data) / 10


def test_a_window_for_a_remote_file() -> None:
    data = log_of([300] * 20_000)
    file = Bytes(data)
    assert sum(1 for _ in HeaderWalk(file, window_bytes=1 << 20)) == 20_000
    assert len(file.reads) == -(-len(data) // (1 << 20))


@pytest.mark.parametrize("window", [None, 512, 1000])
def test_headers_are_those_of_the_batches(window: int | None) -> None:
    for vector in oracle.LOGS:
        data = vector.data
        walk = HeaderWalk(Bytes(data), window_bytes=window)
        for batch, header in zip(recordpress.read_batches(data), walk, strict=True):
            for name in SHARED_NAMES:
                if name == "base_offset" and batch.magic < 2 and batch.is_compressed:
                    continue  # the header has the last one
                expected = getattr(batch, name)
                assert getattr(header, name) == (-1 if expected is None else expected), (str(vector), name)
            error = walk.checksum_error()
            assert (error is None) == batch.is_valid()
        assert walk.position == vector.expected["valid_bytes"]


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_a_wrong_checksum_is_the_stored_one(magic: int) -> None:
    """The error says which of the two numbers is in the file."""
    data = bytearray(recordpress.write_records([b"value"], magic=magic))
    data[-1] ^= 1
    [batch] = recordpress.read_batches(bytes(data))
    crc = recordpress.crc32c(data[21:]) if magic == 2 else recordpress.crc32(data[16:])
    walk = HeaderWalk(Bytes(bytes(data)))
    assert next(walk).crc == batch.crc != crc
    error = walk.checksum_error()
    assert error is not None
    assert error.message == f"stored checksum {batch.crc:#010x}, computed {crc:#010x}"


def test_local_files(tmp_path: Path) -> None:
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(log_of([10] * 100))
    with LocalFileSystem().open(str(path)) as file:
        seek = SegmentSeek(file, 0, lambda suffix: LocalFileSystem().open(str(path.with_suffix(suffix))))
        header = seek.offset(50)
        assert header is not None and header.base_offset == 50
        assert [finding.file for finding in seek.findings] == [str(path.with_suffix(INDEX))]


def test_a_file_that_became_shorter() -> None:
    file = Bytes(log_of([100] * 10))
    file.size += 50
    with pytest.raises(recordpress.CorruptRecordError, match="was truncated while it was read"):
        list(HeaderWalk(file))


# --- going on after damage


def searched(data: bytes, position: int, first: int, last: int = 1 << 31, **options: int) -> int | None:
    walk = HeaderWalk(Bytes(data), **options)
    return walk.position if walk.search(position, first, last) else None


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_search_finds_the_next_intact_entry(magic: int) -> None:
    entries = [recordpress.write_records([b"v%d" % i], base_offset=i, magic=magic) for i in range(40)]
    data = b"".join(entries)
    starts = [sum(map(len, entries[:i])) for i in range(41)]
    for position in range(starts[3] + 1):
        expected = next(i for i, start in enumerate(starts) if start >= position)
        assert searched(data, position, 0) == starts[expected]
        assert searched(data, position, 7) == starts[7]
    assert searched(data, starts[39] + 1, 0) is None
    assert searched(data, 1, 0, last=0) is None
    # an entry whose checksum is wrong is passed over
    broken = bytearray(data)
    broken[starts[2] - 1] ^= 1
    assert searched(bytes(broken), 1, 0) == starts[2]


@pytest.mark.parametrize("window", [512, 777, 65536])
def test_search_across_windows(window: int) -> None:
    batch = recordpress.write_records([b"x" * 3000], base_offset=70)
    for gap in (0, 1, 451, 512, 700, 5000):
        data = b"\xff" * gap + batch
        assert searched(data, 0, 0, window_bytes=window) == gap
        assert searched(data[:-1], 0, 0, window_bytes=window) is None


def test_search_at_the_largest_offsets() -> None:
    last = (1 << 63) - 1
    data = b"\xff" * 20 + recordpress.write_records([b"a"], base_offset=last)
    assert searched(data, 0, last, last=last + (1 << 31)) == 20
    assert searched(data, 0, last - 5, last=last - 1) is None


def test_search_is_bounded() -> None:
    """A file made of headers that all promise the whole rest."""
    header = bytearray(recordpress.write_records([b"x"], base_offset=5)[:61])
    header[8:12] = (900_000).to_bytes(4, "big")
    file = Bytes(bytes(header) * 20_000)
    walk = HeaderWalk(file, window_bytes=1 << 20)
    for position in (1, 62, 123):
        assert not walk.search(position, 0, 1 << 31)
    assert sum(length for _, length in file.reads) < 40 * file.size
