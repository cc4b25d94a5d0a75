"""Pieces of a log hold together what the whole log does: cut anywhere, with and without the files next to it."""

import pickle
import random
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import drawn_logs
import oracle
import recordpress
from log.some_partitions import of_each_kind
from recordpress.files import LocalFileSystem
from recordpress.log import Finding, _extent, _file_records, splits
from recordpress.log.growing import after_gap
from together import sampled, thinned

COLUMNS = ["topic", "partition", "offset", "timestamp", "timestampType", "key", "value", "headers"]
KINDS = ("v2",) * 8 + ("transaction",) * 8 + ("marker",) * 4 + ("gaps", "empty", "large")


def in_pieces(path: Path, piece_bytes: int, isolation: str = "read_uncommitted", **wanted: object) -> pa.Table:
    """As separate processes would read them."""
    log = recordpress.open_log(path)
    committed = isolation == "read_committed"
    on_corrupt = wanted.pop("on_corrupt", "raise")
    pieces = splits.plan(log.partitions, piece_bytes, committed=committed, **wanted)  # type: ignore[arg-type]
    tables = []
    options = splits.ReadOptions(isolation_level=isolation, on_corrupt=on_corrupt)  # type: ignore[arg-type]
    for piece in pieces:
        for split in pickle.loads(pickle.dumps(piece)):
            for columns in splits.read_split(split, COLUMNS, options, []):
                tables.append(columns.to_pyarrow())
    return rows_of(tables)


def rows_of(tables: list[pa.Table]) -> list[dict[str, object]]:
    """Timestamps are milliseconds: a datetime of each takes longer than everything else."""
    at = COLUMNS.index("timestamp")
    numbers = [table.set_column(at, "timestamp", table["timestamp"].cast(pa.int64())) for table in tables]
    return [row for table in numbers for row in table.to_pylist()]


def whole(path: Path, isolation: str = "read_uncommitted", **options: object) -> list[dict[str, object]]:
    reader = recordpress.open_log(path).read(COLUMNS, isolation_level=isolation, **options)  # type: ignore[arg-type]
    return rows_of([reader.to_pyarrow()])


def without(directory: Path, *suffixes: str) -> None:
    for path in directory.iterdir():
        if path.suffix in suffixes:
            path.unlink()


@pytest.mark.parametrize("isolation", thinned(["read_committed", "read_uncommitted"], 2))
@oracle.each("partition", of_each_kind(oracle.PARTITIONS))
def test_pieces_of_what_kafka_wrote(partition: oracle.Partition, isolation: str, tmp_path: Path) -> None:
    path = partition.write_to(tmp_path)
    expected = whole(path, isolation)
    size = sum(file.stat().st_size for file in path.glob("*.log"))
    for piece_bytes in (max(size // 7, 1), size + 1):
        assert in_pieces(path, piece_bytes, isolation) == expected
    without(path, ".index", ".timeindex", ".snapshot", ".txnindex")
    assert in_pieces(path, max(size // 5, 1), isolation) == expected


def drawn(directory: Path, seed: int, segments: int = 3) -> Path:
    """A partition of batches of many kinds, without the files next to its segments."""
    draw = random.Random(seed)
    path = directory / "t-0"
    path.mkdir(parents=True)
    offset = 0
    for _ in range(segments):
        data, base = b"", offset
        for _ in range(draw.randrange(1, 60)):
            batch, offset = drawn_logs.draw_batch(draw, draw.choice(KINDS), offset, False)
            data += batch
        (path / f"{base:020d}.log").write_bytes(data)
    return path


@pytest.mark.parametrize("seed", sampled(range(8), 2))
def test_pieces_of_drawn_logs(seed: int, tmp_path: Path) -> None:
    """Cut without an index; then with one, and with snapshots."""
    path = drawn(tmp_path, seed)
    for has_sidecars in (False, True):
        if has_sidecars:
            recordpress.log.reindex(path)
            assert list(path.glob("*.index"))
        for isolation in ("read_uncommitted", "read_committed"):
            expected = whole(path, isolation)
            size = sum(file.stat().st_size for file in path.glob("*.log"))
            for piece_bytes in (size // 23, size // 4):
                assert in_pieces(path, piece_bytes, isolation) == expected


def test_small_segments_share_a_piece_and_large_ones_are_cut(tmp_path: Path) -> None:
    for number in range(40):
        path = tmp_path / f"small-{number}"
        path.mkdir()
        (path / f"{0:020d}.log").write_bytes(recordpress.write_records([b"x"] * 10))
    large = tmp_path / "large-0"
    large.mkdir()
    data = b"".join(recordpress.write_records([b"y" * 100] * 10, base_offset=10 * number) for number in range(100))
    (large / f"{0:020d}.log").write_bytes(data)
    log = recordpress.open_log(tmp_path)
    pieces = splits.plan(log.partitions, 25_000)
    assert [sum(split.size for split in piece) <= 25_000 for piece in pieces] == [True] * len(pieces)
    total = sum(segment.size or 0 for partition in log.partitions for segment in partition.segments)
    assert len(pieces) == -(-total // 25_000)
    assert sum(len(piece) for piece in pieces) <= len(pieces) + 40
    assert in_pieces(tmp_path, 25_000) == whole(tmp_path)


@pytest.mark.parametrize(("segments", "count"), [(3, 2), (3, 4), (5, 4), (7, 2)])
def test_segments_are_cut_where_a_piece_ends(segments: int, count: int, tmp_path: Path) -> None:
    """No core waits for the last of three segments on two cores."""
    for number in range(segments):
        path = tmp_path / f"t-{number}"
        path.mkdir()
        batches = [recordpress.write_records([b"y" * 90] * 10, base_offset=10 * base) for base in range(100)]
        (path / f"{0:020d}.log").write_bytes(b"".join(batches))
    log = recordpress.open_log(tmp_path)
    total = sum(segment.size or 0 for partition in log.partitions for segment in partition.segments)
    pieces = splits.plan(log.partitions, -(-total // count))
    sizes = [sum(split.size for split in piece) for piece in pieces]
    assert len(pieces) == count
    assert sum(sizes) == total
    assert max(sizes) - min(sizes) <= count
    assert in_pieces(tmp_path, -(-total // count)) == whole(tmp_path)
    uncut = splits.plan(log.partitions, -(-total // count), whole_segments=True)
    assert all(split.end is None and not split.start for piece in uncut for split in piece)


def test_a_crumb_of_a_segment_does_not_fill_a_piece(tmp_path: Path) -> None:
    for number, batches in enumerate((95, 50)):
        path = tmp_path / f"t-{number}"
        path.mkdir()
        data = b"".join(recordpress.write_records([b"y"], base_offset=base) for base in range(batches))
        (path / f"{0:020d}.log").write_bytes(data)
    size = len(data) // 50
    pieces = splits.plan(recordpress.open_log(tmp_path).partitions, 100 * size)
    assert [[split.size for split in piece] for piece in pieces] == [[95 * size], [50 * size]]


def test_ranges_of_offsets(tmp_path: Path) -> None:
    path = drawn(tmp_path, 3)
    rows = whole(path)
    last = rows[-1]["offset"]
    assert isinstance(last, int)
    for start, end in ((5, last), (0, last // 2), (last // 3, last // 3 + 1), (last, None), (None, 2)):
        expected = [
            row
            for row in rows
            if (start or 0) <= row["offset"] < (last + 1 if end is None else end)  # type: ignore[operator]
        ]
        assert in_pieces(path, 4000, ranges={"t-0": (start, end)}) == expected
        pieces = splits.plan(
            recordpress.open_log(path).partitions, 1 << 30, ranges={"t-0": (start, end)}, most_offsets=max(last // 6, 1)
        )
        assert in_pieces(path, 1 << 30, ranges={"t-0": (start, end)}, most_offsets=max(last // 6, 1)) == expected
        if end is None and start is None:
            assert len(pieces) >= 6


def test_offsets_that_are_too_many_for_tasks_of_so_few(tmp_path: Path) -> None:
    """Gaps count as offsets: a plan of one task for each would not end."""
    directory = tmp_path / "t-0"
    directory.mkdir()
    data = recordpress.write_records([b"a"]) + recordpress.write_records([b"b"], base_offset=(1 << 40) - 1)
    (directory / f"{0:020d}.log").write_bytes(data)
    partitions = recordpress.open_log(directory).partitions
    with pytest.raises(recordpress.InvalidArgumentError, match="use 1048576 or more") as caught:
        splits.plan(partitions, 1 << 30, most_offsets=10)
    assert caught.value.field == "most_offsets"
    assert len(splits.plan(partitions, 1 << 30, most_offsets=1 << 36)) == 16


def test_gaps_between_segments_are_no_offsets_to_read(tmp_path: Path) -> None:
    """Tasks of Spark's sink number their records from places that are far apart."""
    directory = tmp_path / "t-0"
    directory.mkdir()
    bases = [0, 1 << 26, 1 << 27]
    for base in bases:
        (directory / f"{base:020}.log").write_bytes(recordpress.write_records([b"value"] * 20, base_offset=base))
    partitions = recordpress.open_log(directory).partitions
    assert len(splits.plan(partitions, 1 << 30, most_offsets=10)) == 6
    assert [after_gap(partitions[0], at) for at in (0, 19, 20, 99, bases[1], bases[1] + 20, bases[2] + 20)] == [
        0, 19, bases[1], bases[1], bases[1], bases[2], bases[2] + 20,
    ]  # fmt: skip


def test_a_batch_in_a_value_is_no_place_to_begin(tmp_path: Path) -> None:
    """Its checksum is right and its offset may be one of the segment's; a chain of them would lead on for a while."""
    inner = b"".join(recordpress.write_records([b"inner"] * 3, base_offset=100 + 3 * number) for number in range(40))
    path = tmp_path / "t-0"
    path.mkdir()
    data, offset = b"", 0
    for _ in range(10):
        data += recordpress.write_records([inner], base_offset=offset)
        data += recordpress.write_records([b"outer"] * 3, base_offset=offset + 1)
        offset += 4
    (path / f"{0:020d}.log").write_bytes(data)
    expected = whole(path)
    for piece_bytes in range(500, 6000, 450):
        assert in_pieces(path, piece_bytes) == expected


def test_a_chain_of_batches_in_a_value_deceives_no_piece(tmp_path: Path) -> None:
    """A value that is itself a long log, made to deceive: never other rows."""
    inner = b"".join(recordpress.write_records([b"inner"] * 3, base_offset=1 + 3 * number) for number in range(2000))
    path = tmp_path / "t-0"
    path.mkdir()
    data = recordpress.write_records([inner]) + recordpress.write_records([b"outer"] * 3, base_offset=9000)
    (path / f"{0:020d}.log").write_bytes(data)
    assert in_pieces(path, len(data) // 3) == whole(path)
    recordpress.log.reindex(path)
    assert in_pieces(path, len(data) // 3) == whole(path)


@pytest.mark.parametrize("tail", [b"", bytes(5000)])
def test_the_end_may_be_cut_or_zeros(tail: bytes, tmp_path: Path) -> None:
    path = drawn(tmp_path, 5)
    last = max(path.glob("*.log"))
    data = last.read_bytes()
    last.write_bytes(data + tail if tail else data[:-7])
    expected = whole(path)
    for piece_bytes in (1500, 60_000):
        assert in_pieces(path, piece_bytes) == expected


def test_damage_is_found_by_one_piece_and_skipped_by_all(tmp_path: Path) -> None:
    path = tmp_path / "t-0"
    path.mkdir()
    batches = [recordpress.write_records([b"value"] * 3, base_offset=3 * number) for number in range(60)]
    for at in (9, 30, -1):  # its size, its header, its records
        damaged = bytearray(b"".join(batches))
        damaged[20 * len(batches[0]) + at % len(batches[0])] ^= 1
        (path / f"{0:020d}.log").write_bytes(damaged)
        expected = whole(path, on_corrupt="skip")
        assert len(expected) < 180
        for piece_bytes in (len(batches[0]) - 3, 700, 10_000):
            assert in_pieces(path, piece_bytes, on_corrupt="skip") == expected
            with pytest.raises(recordpress.CorruptRecordError):
                in_pieces(path, piece_bytes)


def test_segments_that_overlap_are_read_once(tmp_path: Path) -> None:
    path = tmp_path / "t-0"
    path.mkdir()
    batches = [recordpress.write_records([b"value"] * 3, base_offset=3 * number) for number in range(30)]
    (path / f"{0:020d}.log").write_bytes(b"".join(batches[:20]))
    (path / f"{30:020d}.log").write_bytes(b"".join(batches[10:]))
    for piece_bytes in (300, 1200, 100_000):
        assert [row["offset"] for row in in_pieces(path, piece_bytes)] == list(range(90))


def overlapping(directory: Path, has_index: bool) -> Path:
    """The first segment reaches beyond three others, the fourth of which continues; one begins within a batch."""
    path = directory / "t-0"
    path.mkdir()
    for first, end in ((0, 500), (100, 200), (205, 300), (300, 900), (400, 450), (900, 1000)):
        batches = [recordpress.write_records([b"%d" % first] * 20, base_offset=at) for at in range(first, end, 20)]
        alone = directory / "alone" / f"t-{first}"
        alone.mkdir(parents=True)
        (alone / f"{first:020d}.log").write_bytes(b"".join(batches))
        if has_index:
            recordpress.log.reindex(alone, index_interval_bytes=100)  # of all together it is refused
        for file in alone.glob("*.*"):
            file.rename(path / file.name)
    return path


@pytest.mark.parametrize("has_index", [False, True])
@pytest.mark.parametrize("isolation", thinned(["read_committed", "read_uncommitted"], 2))
def test_segments_that_overlap_several_others(isolation: str, has_index: bool, tmp_path: Path) -> None:
    path = overlapping(tmp_path, has_index)
    log = recordpress.open_log(path)
    expected = whole(path, isolation)
    assert [row["offset"] for row in expected] == list(range(1000)) and log.count() == 1000
    for piece_bytes in (300, 100_000):
        assert in_pieces(path, piece_bytes, isolation) == expected
        found: list[Finding] = []
        for split in (split for piece in splits.plan(log.partitions, piece_bytes) for split in piece):
            for _ in splits.read_split(split, ["offset"], splits.ReadOptions(), found):
                pass
        assert {one.rule for one in found} == {"segment overlap"}  # of each piece that begins within one
        assert {100, 205, 300, 400} <= {one.offset for one in found}
    for start in (1, 150, 460):
        wanted = {str(log.partitions[0]): (start, 950)}
        expected = whole(path, isolation, start_offset=start, end_offset=950)
        assert expected and expected[-1]["offset"] == 949
        for most in (None, 100):
            assert in_pieces(path, 900, isolation, ranges=wanted, most_offsets=most) == expected


@pytest.mark.parametrize(
    ("index", "tail_bytes"),
    [("whole", 1 << 20), *product(("cut", "zeros"), (1, 300)), *product(("damaged", "none"), (1, 300, 1 << 20))],
)
@pytest.mark.parametrize("isolation", thinned(["read_committed", "read_uncommitted"], 2))
def test_one_that_reaches_beyond_many(
    isolation: str, index: str, tail_bytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one before all others, as a cleaner leaves it that was interrupted; each task knows of it, by its index or by
    its end."""
    monkeypatch.setattr(_extent, "_TAIL_BYTES", tail_bytes)
    path = tmp_path / "t-0"
    path.mkdir()
    (path / f"{0:020d}.log").write_bytes(batches_of(0, 400))
    if index != "none":
        recordpress.log.reindex(path, index_interval_bytes=100)
        file = path / f"{0:020d}.index"
        data = file.read_bytes()
        wrong = {"cut": data[:16], "zeros": bytes(len(data)), "damaged": b"\xff" * len(data)}
        file.write_bytes(wrong.get(index, data))
    for first in range(20, 400, 20):
        (path / f"{first:020d}.log").write_bytes(batches_of(first, first + 20))
    (path / f"{400:020d}.log").write_bytes(batches_of(400, 500))
    rows = in_pieces(path, 300, isolation)
    assert [row["offset"] for row in rows] == list(range(500)) and rows == whole(path, isolation)


@pytest.mark.parametrize("last", ["small", "large", "of batches", "damaged"])
def test_where_a_segment_without_an_index_ends(last: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan reads as much of it as a batch has by default; only where the last one is larger all headers."""
    monkeypatch.setattr(_extent, "_TAIL_BYTES", 4000)
    path = tmp_path / "t-0"
    path.mkdir()
    first = batches_of(0, 1500)
    value = {"small": b"x", "large": b"x" * 9000, "of batches": batches_of(0, 200), "damaged": b"x"}[last]
    data = first + recordpress.write_records([value], base_offset=1500)
    (path / f"{0:020d}.log").write_bytes(data if last != "damaged" else data[:-1] + b"\1")
    for base in range(10, 200, 10):
        (path / f"{base:020d}.log").write_bytes(batches_of(base, base + 10))
    (path / f"{3000:020d}.log").write_bytes(batches_of(3000, 3010))
    on_corrupt = "skip" if last == "damaged" else "raise"
    expected = whole(path, on_corrupt=on_corrupt)
    assert len(expected) == 1510 + (last != "damaged")
    assert in_pieces(path, 300, on_corrupt=on_corrupt) == expected
    read: Counter[str] = Counter()
    open_file = LocalFileSystem.open

    def counted(self: LocalFileSystem, path: str) -> Any:
        file = open_file(self, path)
        read_into = file.read_into

        def counting(position: int, buffer: Any) -> int:
            read[path] += len(buffer)
            return read_into(position, buffer)

        monkeypatch.setattr(file, "read_into", counting)
        return file

    monkeypatch.setattr(LocalFileSystem, "open", counted)
    splits.plan(recordpress.open_log(path).partitions, len(data))
    assert 0 < read[f"{path}/{0:020d}.log"] <= (9000 + len(data) if last == "large" else 9000)


def batches_of(first: int, end: int) -> bytes:
    """Ten records each, which say where they are."""
    return b"".join(recordpress.write_records([b"%d" % first] * 10, base_offset=at) for at in range(first, end, 10))


@pytest.mark.parametrize("isolation", ["read_uncommitted", "read_committed"])
@pytest.mark.parametrize("index", [None, b""])
def test_pieces_without_an_index_share_one_walk(
    index: bytes | None, isolation: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of which each one read the headers before it, twice."""
    path = tmp_path / "t-0"
    path.mkdir()
    value = random.Random(0).randbytes(1000)
    data = b"".join(recordpress.write_records([value], base_offset=at) for at in range(4000))
    (path / f"{0:020d}.log").write_bytes(data)
    if index is not None:
        (path / f"{0:020d}.index").write_bytes(index)
    read: list[int] = []
    open_file = LocalFileSystem.open

    def counted(self: LocalFileSystem, path: str) -> Any:
        file = open_file(self, path)
        read_into = file.read_into
        monkeypatch.setattr(file, "read_into", lambda at, buffer: read.append(len(buffer)) or read_into(at, buffer))
        return file

    monkeypatch.setattr(LocalFileSystem, "open", counted)
    [partition] = recordpress.open_log(path).partitions
    pieces = splits.plan([partition], len(data) // 40, committed=isolation == "read_committed")
    assert len(pieces) == 40
    located = [split.located() for [split] in pickle.loads(pickle.dumps(pieces))]
    assert sum(segment.size or 0 for one in located for segment in one.segments) == len(data)
    assert sum(read) < 3 * len(data)  # a look at the end, and at each place
    (path / f"{0:020d}.log").write_bytes(data[len(data) // 4000 :] + data[: len(data) // 4000])  # compacted, say
    located = [split.located() for [split] in pieces]
    assert sum(segment.size or 0 for one in located for segment in one.segments) == len(data)


@pytest.mark.parametrize("has_index", [False, True])
def test_a_plan_opens_no_segment(has_index: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names, sizes and indexes are enough, also where segments overlap; and if there are none, where segments end.
    A range of offsets also needs the ends of segments."""
    log = recordpress.open_log(overlapping(tmp_path, has_index))
    opened = told_of(monkeypatch)
    for piece_bytes in (300, 100_000):
        assert splits.plan(log.partitions, piece_bytes)
    assert {path.rpartition(".")[2] for path in opened} == {"index" if has_index else "log"}
    assert splits.plan(log.partitions, 300, ranges={str(log.partitions[0]): (150, 950)})
    assert "log" in {path.rpartition(".")[2] for path in opened}


def told_of(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that are opened from here on."""
    opened: list[str] = []
    open_file = LocalFileSystem.open

    def told(self: LocalFileSystem, path: str) -> Any:
        opened.append(path)
        return open_file(self, path)

    monkeypatch.setattr(LocalFileSystem, "open", told)
    return opened


def test_a_plan_of_a_range_opens_the_segments_next_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And those after it, whose names could be too high; if names and indexes are in order."""
    path = tmp_path / "t-0"
    path.mkdir()
    for first in range(0, 600, 20):
        (path / f"{first:020d}.log").write_bytes(batches_of(first, first + 20))
    recordpress.log.reindex(path, index_interval_bytes=1)
    log = recordpress.open_log(path)
    opened = told_of(monkeypatch)
    [piece] = splits.plan(log.partitions, 100_000, ranges={str(log.partitions[0]): (300, 320)})
    assert [segment.base_offset for segment in piece[0].segments] == [300]
    found = [name.rpartition("/")[2] for name in opened if name.endswith(".log")]
    assert found == [f"{at:020d}.log" for at in (220, 240, 260, 280, *range(320, 600, 20))]


def test_a_part_reads_headers_from_the_index_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And not all that are before it, which would cost a large segment in many pieces its square."""
    path = tmp_path / "t-0"
    path.mkdir()
    values = random.Random(0).randbytes(1000)
    data = b"".join(recordpress.write_records([values] * 100, base_offset=at) for at in range(0, 5000, 100))
    (path / f"{0:020d}.log").write_bytes(data)
    recordpress.log.reindex(path)
    [partition] = recordpress.open_log(path).partitions
    places: list[int] = []
    open_file = LocalFileSystem.open

    def told(self: LocalFileSystem, path: str) -> Any:
        file = open_file(self, path)
        read_into = file.read_into
        monkeypatch.setattr(file, "read_into", lambda at, buffer: places.append(at) or read_into(at, buffer))
        return file

    monkeypatch.setattr(LocalFileSystem, "open", told)
    splits_ = [split for [split] in splits.plan([partition], len(data) // 10)]
    for split in splits_[1:]:
        places.clear()
        split.located()
        assert min(places) > split.start - 3 * (len(data) // 50)
    assert sum(split.located().segments[0].size or 0 for split in splits_) == len(data)


@pytest.mark.parametrize("piece_bytes", [300, 100_000])
def test_what_overlaps_counts_once_for_batches_and_digests(piece_bytes: int, tmp_path: Path) -> None:
    path = overlapping(tmp_path, has_index=False)
    straight = tmp_path / "straight" / "t-0"
    straight.mkdir(parents=True)
    rows = pa.Table.from_pylist(whole(path))
    (straight / f"{0:020d}.log").write_bytes(recordpress.write_columns(rows.select(["offset", "timestamp", "value"])))
    digests = []
    for directory in (path, straight):
        [piece] = splits.plan(recordpress.open_log(directory).partitions, 1 << 62)
        digests += splits.digests_of(piece, joined=True)
    assert digests[0] == digests[1] and digests[0][:2] == (0, 1000)
    pieces = splits.plan(recordpress.open_log(path).partitions, piece_bytes)
    headers = [one for piece in pieces for split in piece for _, one in splits.batches_in(split, findings=[])]
    ends = [header.last_offset for header in headers]
    assert ends == sorted(set(ends)) and ends[-1] == 999


def test_a_digest_places_batches_from_the_piece_on_that_goes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Offsets 20 to 29 come twice, in a later piece of the segment: the second ones do not count."""
    monkeypatch.setattr(_file_records, "CHUNK_BYTES", 300)
    batches = [recordpress.write_records([b"%d" % at] * 10, timestamps=at, base_offset=at) for at in range(0, 80, 10)]
    digests = []
    for name, order in (("odd", [0, 1, 2, 3, 2, 4, 5, 6, 7]), ("straight", range(8))):
        path = tmp_path / name / "t-0"
        path.mkdir(parents=True)
        (path / f"{0:020d}.log").write_bytes(b"".join(batches[number] for number in order))
        [piece] = splits.plan(recordpress.open_log(path).partitions, 1 << 62)
        digests += splits.digests_of(piece, joined=False)
    assert digests[0] == digests[1] and digests[0][:2] == (0, 80)


def test_findings_are_told_at_the_end(tmp_path: Path) -> None:
    path = drawn(tmp_path, 7, 1)
    with open(next(path.glob("*.log")), "ab") as file:
        file.write(bytes(100))
    [piece] = splits.plan(recordpress.open_log(path).partitions, 1 << 30)
    findings: list[Finding] = []
    for _ in splits.read_split(piece[0], ["offset"], splits.ReadOptions(batch_bytes=1000), findings):
        pass
    assert [(finding.size, finding.rule) for finding in findings] == [(100, "preallocated file")]


def test_a_hanging_transaction_is_found_from_any_piece(tmp_path: Path) -> None:
    """Also where its start is in a segment before the piece, and snapshots tell of it."""
    path = tmp_path / "t-0"
    path.mkdir()
    options = {"producer_id": 1, "producer_epoch": 0, "base_sequence": 0, "is_transactional": True}
    plain = [recordpress.write_records([b"a"] * 3, base_offset=3 * number) for number in range(40)]
    plain[7] = recordpress.write_records([b"b"] * 3, base_offset=21, **options)  # type: ignore[arg-type]
    for first in (0, 10, 20, 30):
        (path / f"{3 * first:020d}.log").write_bytes(b"".join(plain[first : first + 10]))
    for has_sidecars in (False, True):
        if has_sidecars:
            recordpress.log.reindex(path)
        offsets = [row["offset"] for row in in_pieces(path, 500, "read_committed")]
        assert offsets == list(range(21))


def test_timestamps(tmp_path: Path) -> None:
    path = tmp_path / "t-0"
    path.mkdir()
    for first in (0, 10):
        data = b""
        for number in range(first, first + 10):
            builder = recordpress.BatchBuilder(base_offset=3 * number)
            for at in range(3):
                builder.append(b"v", timestamp=1000 * number + at)
            data += builder.build()
        (path / f"{3 * first:020d}.log").write_bytes(data)
    for has_sidecars in (False, True):
        if has_sidecars:
            recordpress.log.reindex(path)
        [partition] = recordpress.open_log(path).partitions
        for timestamp, offset in ((0, 0), (1001, 4), (1003, 6), (12_000, 36), (19_002, 59), (19_003, None)):
            assert splits.offset_of_timestamp(partition, timestamp) == offset


def test_a_timestamp_opens_no_segment_after_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Headers are read up to the one that has it: a time index could be wrong."""
    path = tmp_path / "t-0"
    path.mkdir()
    for number in range(8):
        data = recordpress.write_records([b"v"] * 10, timestamps=[1000 + number] * 10, base_offset=10 * number)
        (path / f"{10 * number:020d}.log").write_bytes(data)
    recordpress.log.reindex(path)
    [partition] = recordpress.open_log(path).partitions
    opened = told_of(monkeypatch)
    assert splits.offset_of_timestamp(partition, 1005) == 50
    assert [name.rpartition("/")[2] for name in opened if name.endswith(".log")] == [
        f"{at:020d}.log" for at in range(0, 60, 10)
    ]


@pytest.mark.parametrize("tail", [b"", bytes(100)], ids=["none", "zeros"])
def test_a_wrong_checksum_in_the_last_batch_is_damage(tmp_path: Path, tail: bytes) -> None:
    """Also where the walk is at the end of the data already, or at zeros."""
    last = bytearray(recordpress.write_records([b"b"], base_offset=1))
    last[-2] ^= 1
    path = tmp_path / "t-0" / f"{0:020d}.log"
    path.parent.mkdir()
    path.write_bytes(recordpress.write_records([b"a"]) + last + tail)
    [[split]] = splits.plan(recordpress.open_log(path.parent).partitions, 1 << 30)
    with pytest.raises(recordpress.CorruptRecordError, match="stored checksum"):
        list(splits.batches_in(split, findings=[], check_crcs=True))
    findings: list[Finding] = []
    skipped = splits.batches_in(split, findings=findings, on_corrupt="skip", check_crcs=True)
    assert [header.base_offset for _, header in skipped] == [0]
    assert (findings[0].position, findings[0].field_position, findings[0].size) == (69, 69 + 17, 69)


@pytest.mark.parametrize("base", [0, 1 << 40])
def test_what_follows_a_damaged_first_batch_is_read(tmp_path: Path, base: int) -> None:
    """Its offsets are those of the segment, which its name says."""
    first, second = (recordpress.write_records([b"a"], base_offset=base + i) for i in (0, 1))
    path = tmp_path / "t-0" / f"{base:020d}.log"
    path.parent.mkdir()
    path.write_bytes(first[:16] + b"\x09" + first[17:] + second)
    log = recordpress.open_log(path.parent)
    reader = log.read(["offset"], on_corrupt="skip")
    assert reader.to_pyarrow()["offset"].to_pylist() == [base + 1]
    [[split]] = splits.plan(log.partitions, 1 << 30)
    findings: list[Finding] = []
    assert [one.base_offset for _, one in splits.batches_in(split, findings=findings, on_corrupt="skip")] == [base + 1]
    assert [(one.position, one.size) for one in findings] == [(0, 69)]
