"""The files next to a log: what brokers wrote is read as Kafka's tool printed it, and written back byte for byte."""

import io
import re
import struct
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import oracle
import recordpress
from recordpress.log import sidecars as room
from recordpress.log.sidecars import (
    AbortedTxn,
    ProducerState,
    TopicPartition,
    read_leader_epochs,
    read_offset_checkpoint,
    read_offset_index,
    read_partition_metadata,
    read_snapshot,
    read_time_index,
    read_transaction_index,
    write_leader_epochs,
    write_offset_checkpoint,
    write_offset_index,
    write_partition_metadata,
    write_snapshot,
    write_time_index,
    write_transaction_index,
)
from together import grouped, thinned

Rows = list[tuple[Any, ...]]


def written(write: Callable[..., None], *args: Any, **options: Any) -> bytes:
    out = io.BytesIO()
    write(out, *args, **options)
    return out.getvalue()


def again(name: str, data: bytes) -> bytes:
    """What is written of what was read."""
    base = int(name[:20]) if name[:20].isdigit() else 0
    if name.endswith(".index"):
        index = read_offset_index(data, base)
        return written(write_offset_index, index, base, index.padding)
    if name.endswith(".timeindex"):
        times = read_time_index(data, base)
        return written(write_time_index, times, base, times.padding)
    if name.endswith(".txnindex"):
        return written(write_transaction_index, read_transaction_index(data, base))
    if name.endswith(".snapshot"):
        return written(write_snapshot, read_snapshot(data))
    if name == "leader-epoch-checkpoint":
        return written(write_leader_epochs, read_leader_epochs(data))
    assert name == "partition.metadata"
    return written(write_partition_metadata, read_partition_metadata(data))


class File(NamedTuple):
    name: str
    path: str
    partition: oracle.Partition

    @property
    def data(self) -> bytes:
        return oracle.read("segments/" + self.path)


KINDS = (".index", ".timeindex", ".txnindex", ".snapshot", "leader-epoch-checkpoint", "partition.metadata")


def sidecars() -> Iterator[File]:
    for partition in oracle.PARTITIONS:
        for entry in partition.entry["files"]:
            if entry["file"].endswith(KINDS):
                yield File(Path(entry["file"]).name, entry["file"], partition)


FILES = list(sidecars())


def test_the_vectors_have_every_kind() -> None:
    assert {next(kind for kind in KINDS if file.name.endswith(kind)) for file in FILES} == set(KINDS)
    assert sum("unclean" in file.path for file in FILES) > 5


@grouped("file", FILES, lambda file: next(kind for kind in KINDS if file.name.endswith(kind)), lambda file: file.path)
def test_written_back_byte_for_byte(file: File) -> None:
    # 1.1.1 left an empty checkpoint of epochs where messages have none
    expected = b"0\n0\n" if file.name == "leader-epoch-checkpoint" and not file.data else file.data
    assert again(file.name, file.data) == expected


# --- what Kafka's tool printed


def dumped(partition: oracle.Partition) -> dict[str, list[dict[str, str]]]:
    """By file, the fields of every line."""
    files: dict[str, list[dict[str, str]]] = {}
    lines: list[dict[str, str]] = []
    for line in oracle.read("segments/" + partition.entry["dump_log_segments"]).decode().splitlines():
        if line.startswith("Dumping "):
            lines = files.setdefault(Path(line.removeprefix("Dumping ")).name, [])
        elif re.match("(offset|timestamp|version|producerId): ", line):
            lines.append(dict(re.findall(r"(\w+): ([^\s]+)", line)))
    return files


def optional(offset: int) -> str:
    return "OptionalLong.empty" if offset < 0 else f"OptionalLong[{offset}]"


def printed(name: str, data: bytes) -> list[dict[str, str]]:
    """The same of what recordpress reads, in the words of the tool."""
    base = int(name[:20])
    if name.endswith(".index"):
        rows = [{"offset": e.offset, "position": e.position} for e in read_offset_index(data, base)]
    elif name.endswith(".timeindex"):
        rows = [{"timestamp": e.timestamp, "offset": e.offset} for e in read_time_index(data, base)]
    elif name.endswith(".txnindex"):
        rows = [
            dict(version=0, producerId=t[0], firstOffset=t[1], lastOffset=t[2], lastStableOffset=t[3])
            for t in read_transaction_index(data, base)
        ]
    else:
        rows = [producer(state) for state in read_snapshot(data)]
    return [{key: str(value) for key, value in row.items()} for row in rows]


def producer(state: ProducerState) -> dict[str, Any]:
    row = {
        "producerId": state.producer_id,
        "producerEpoch": state.producer_epoch,
        "coordinatorEpoch": state.coordinator_epoch,
        "currentTxnFirstOffset": optional(state.current_txn_first_offset),
        "lastTimestamp": state.timestamp,
    }
    if state.last_offset >= 0:
        row |= {
            "firstSequence": state.first_sequence,
            "lastSequence": state.last_sequence,
            "lastOffset": state.last_offset,
            "offsetDelta": state.offset_delta,
            "timestamp": state.timestamp,
        }
    return row


DUMPED = [
    p
    for p in oracle.PARTITIONS
    if re.search("kafka-(3.9.2|4.3.1)$", p.entry["broker"]) and "dump_log_segments" in p.entry
]


@oracle.each("partition", DUMPED)
def test_read_as_kafkas_tool_printed_it(partition: oracle.Partition) -> None:
    expected = dumped(partition)
    files = [f for f in FILES if f.partition is partition and not f.name.endswith(("checkpoint", "metadata"))]
    assert files
    for file in files:
        assert printed(file.name, file.data) == expected[file.name], file.name


def test_the_tool_printed_every_kind() -> None:
    suffixes = {name[20:] for partition in DUMPED for name, lines in dumped(partition).items() if lines}
    assert suffixes >= {".index", ".timeindex", ".txnindex", ".snapshot"}


# --- bytes that nobody wrote


SMALL = {}
for _file in FILES:
    _size = len(_file.data)
    if 0 < _size <= 1024:
        _kind = next(kind for kind in KINDS if _file.name.endswith(kind))
        if _size > len(SMALL.get(_kind, ("", b""))[1]):
            SMALL[_kind] = (_file.name, _file.data)


def outcome(name: str, data: bytes) -> bytes | recordpress.CorruptRecordError:
    """What is written back, or the error, which has a place in the file."""
    try:
        return again(name, data)
    except recordpress.CorruptRecordError as caught:
        error = caught
    assert error.rule and error.field and error.position is not None
    assert 0 <= error.position <= len(data)
    return error


@pytest.mark.parametrize("kind", KINDS)
def test_every_cut(kind: str) -> None:
    """One clear error, or the entries before the cut: an index has no length of its own."""
    name, data = SMALL[kind]
    for size in range(len(data)):
        found = outcome(name, data[:size])
        assert isinstance(found, recordpress.CorruptRecordError) or found.startswith(data[:size]), size


@pytest.mark.parametrize("kind", KINDS)
def test_every_flip(kind: str) -> None:
    """What is read is written back as it was, or there is an error."""
    name, data = SMALL[kind]
    refused = 0
    for position in range(len(data)):
        for bit in (0, 3, 7):
            flipped = bytearray(data)
            flipped[position] ^= 1 << bit
            found = outcome(name, bytes(flipped))
            if isinstance(found, recordpress.CorruptRecordError):
                refused += 1
            else:
                assert found == flipped or meant_the_same(kind, found, flipped), (position, bit)
    assert refused == 3 * len(data) if kind == ".snapshot" else refused


def meant_the_same(kind: str, found: bytes, flipped: bytearray) -> bool:
    """What Kafka does not look at: the second byte of a transaction index's version, a negative version in the first;
    text written another way."""
    if kind == ".txnindex":
        different = {i % 34 for i, (a, b) in enumerate(zip(found, flipped, strict=True)) if a != b}
        return different <= {0, 1}
    if kind.endswith("checkpoint"):
        return [*map(int, found.split())] == [*map(int, flipped.split())]
    return False


@pytest.mark.parametrize(("first", "is_read"), [(0, True), (0xFF, True), (0x80, True), (1, False), (0x7F, False)])
def test_the_version_of_a_transaction_index(first: int, is_read: bool) -> None:
    """TransactionIndex refuses versions above its own, compared as a signed byte: -1 is read."""
    data = bytes([first, 0]) + struct.pack(">qqqq", 4242, 100, 141, 100)
    if is_read:
        assert read_transaction_index(data) == [AbortedTxn(4242, 100, 141, 100)]
    else:
        assert corrupt(read_transaction_index, data)[:2] == (0, "version")


def corrupt(read: Callable[..., object], data: bytes, *args: Any) -> tuple[int | None, str | None, str]:
    with pytest.raises(recordpress.CorruptRecordError) as caught:
        read(data, *args)
    return caught.value.position, caught.value.field, caught.value.message


OFFSETS = struct.Struct(">ii")


@pytest.mark.parametrize(
    ("entries", "place"),
    [
        ([(5, 100), (5, 200)], (8, "offset")),
        ([(5, 100), (4, 200)], (8, "offset")),
        ([(-1, 100)], (0, "offset")),
        ([(5, 100), (6, 100)], (12, "position")),
        ([(5, 100), (6, 50)], (12, "position")),
        ([(5, -1)], (4, "position")),
        ([(5, 100), (0, 0), (0, 0), (9, 300)], (24, "offset")),
        ([(5, 100), (0, 1)], (8, "offset")),
    ],
)
def test_an_offset_index_ascends(entries: Rows, place: tuple[int, str]) -> None:
    assert corrupt(read_offset_index, b"".join(OFFSETS.pack(*entry) for entry in entries))[:2] == place


@pytest.mark.parametrize(
    ("entries", "place"),
    [
        ([(7, 5), (7, 6)], (12, "timestamp")),
        ([(7, 5), (6, 6)], (12, "timestamp")),
        ([(-1, 5)], (0, "timestamp")),
        ([(7, 5), (8, 4)], (20, "offset")),
        ([(7, -1)], (8, "offset")),
        ([(7, 5), (0, 0), (9, 9)], (24, "timestamp")),
    ],
)
def test_a_time_index_ascends(entries: Rows, place: tuple[int, str]) -> None:
    assert corrupt(read_time_index, b"".join(struct.pack(">qi", *entry) for entry in entries))[:2] == place


def test_lookup() -> None:
    index = read_offset_index(OFFSETS.pack(5, 100) + OFFSETS.pack(9, 200), 1000)
    assert [index.lookup(target) for target in (0, 1004, 1005, 1008, 1009, 5000)] == [
        (1000, 0),
        (1000, 0),
        (1005, 100),
        (1005, 100),
        (1009, 200),
        (1009, 200),
    ]
    times = read_time_index(struct.pack(">qiqi", 50, 5, 60, 9), 1000)
    assert [times.lookup(target) for target in (49, 50, 59, 60)] == [(-1, 1000), (50, 1005), (50, 1005), (60, 1009)]


@pytest.mark.parametrize("rows", thinned([0, 1, 2047, 2049, 2048, 3071, 3073, 3072, 6144], 3))
@pytest.mark.parametrize(("read", "layout"), [(read_offset_index, ">ii"), (read_time_index, ">qi")])
def test_indexes_of_active_segments(read: Callable[..., Any], layout: str, rows: int) -> None:
    """A broker fills them up with zeros, whose blocks are skipped; nothing may follow the first of them. It has ten
    times as many."""
    size = struct.calcsize(layout)
    entries = b"".join(struct.pack(layout, number + 1, number + 1) for number in range(rows))
    for zeros in (0, size, 24576, 24576 + size, (1 << 20) // size * size - len(entries)):
        index = read(entries + bytes(zeros), 1000)
        assert len(index) * size + index.padding == len(entries) + zeros
        if rows:
            assert list(index) == list(read(entries, 1000))
        else:
            assert len(index) == (zeros > 0)  # entry 0 may be zeros
        for at in {size, zeros // 2, zeros - 1} if zeros > 2 * size and rows else ():  # not the first of the zeros
            damaged = bytearray(entries + bytes(zeros))
            damaged[len(entries) + at] = 1
            with pytest.raises(recordpress.CorruptRecordError) as caught:
                read(bytes(damaged), 1000)
            assert caught.value.position == len(entries) + at // size * size


def test_indexes_are_sequences() -> None:
    index = read_offset_index(OFFSETS.pack(5, 100) + OFFSETS.pack(9, 200) + bytes(16), 1000)
    assert (len(index), index.padding, index[-1], index[:1]) == (2, 16, (1009, 200), [(1005, 100)])
    assert index == [(1005, 100), (1009, 200)] and index == read_offset_index(
        OFFSETS.pack(5, 100) + OFFSETS.pack(9, 200), 1000
    )
    assert index != read_offset_index(OFFSETS.pack(5, 100), 1000)
    with pytest.raises(IndexError):
        index[2]


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("1\n0\n", "version"),
        (" 0\n0\n", "version"),
        ("x\n0\n", "version"),
        ("0\n\n", "count"),
        ("0\n1_0\n", "count"),
        ("0\n2\n0 0\n", "count"),
        ("0\n0\n0 0\n", "count"),
        ("0\n1\n0\n", "entry"),
        ("0\n1\n0 0 0\n", "entry"),
        ("0\n1\n 0 0\n", "entry"),
        ("0\n1\n0 0\n\n", "entry"),
        ("0\n1\n0 x\n", "startOffset"),
        ("0\n1\n2147483648 0\n", "epoch"),
        ("0\n1\n0 9223372036854775808\n", "startOffset"),
        ("0\n1\n-1 0\n", "epoch"),
        ("0\n2\n1 0\n1 5\n", "epoch"),
        ("0\n2\n1 5\n2 5\n", "startOffset"),
        ("0\n1\n\N{ARABIC-INDIC DIGIT ONE} 0\n", "epoch"),
    ],
)
def test_epochs_that_are_refused(text: str, field: str) -> None:
    assert corrupt(read_leader_epochs, text.encode())[1] == field


def test_text_as_kafka_reads_it() -> None:
    assert read_leader_epochs(b"") == read_leader_epochs(b"0") == read_leader_epochs(b"0\n") == []
    assert read_leader_epochs(b"0\r\n1\r\n+3 \t 7 \r\n") == [(3, 7)]
    assert corrupt(read_leader_epochs, b"0\n1\n\xff 0\n")[:2] == (4, "text")


def test_offset_checkpoints(tmp_path: Path) -> None:
    path = tmp_path / "recovery-point-offset-checkpoint"
    offsets = {TopicPartition("b", 1): 4500, TopicPartition("a.b", 0): 0}
    write_offset_checkpoint(path, offsets)
    assert path.read_bytes() == b"0\n2\nb 1 4500\na.b 0 0\n"
    assert read_offset_checkpoint(path) == offsets and list(read_offset_checkpoint(path)) == list(offsets)
    assert corrupt(read_offset_checkpoint, b"0\n2\na 0 1\na 0 2\n")[1] == "partition"
    with pytest.raises(recordpress.InvalidArgumentError):
        write_offset_checkpoint(path, {TopicPartition("a b", 0): 1})
    assert path.read_bytes() == b"0\n2\nb 1 4500\na.b 0 0\n"


@pytest.mark.skipif(oracle.FULL_SET is None, reason="the checkpoints of log dirs are in the full collection only")
def test_offset_checkpoints_of_brokers() -> None:
    assert oracle.FULL_SET
    paths = sorted((oracle.FULL_SET / "segments").glob("*/*-offset-checkpoint"))
    assert len(paths) > 20
    for path in paths:
        assert written(write_offset_checkpoint, read_offset_checkpoint(path)) == (path.read_bytes() or b"0\n0\n")


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("", "version"),
        ("version: -1\ntopic_id: AqX5txRiSuKi__s5z97PjQ", "version"),
        ("version:0\ntopic_id: AqX5txRiSuKi__s5z97PjQ", "version"),
        ("version: 0", "topic_id"),
        ("version: 0\ntopic_id: AqX5txRiSuKi__s5z97Pj", "topic_id"),
        ("version: 0\ntopic_id: AqX5txRiSuKi//s5z97PjQ", "topic_id"),
        ("version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA", "topic_id"),
        ("version: 0\ntopic_id: AqX5txRiSuKi__s5z97PjQ\nmore", "text"),
    ],
)
def test_metadata_that_are_refused(text: str, field: str) -> None:
    assert corrupt(read_partition_metadata, text.encode())[1] == field


SNAPSHOT = bytes.fromhex(
    "00013827be6d000000010000000000001092000300000018000000000000000e000000040000018bcfe568000000000fffffffffffffffff"
)


def test_snapshot() -> None:
    [state] = read_snapshot(SNAPSHOT)
    assert state == ProducerState(4242, 3, 24, 14, 4, 1700000000000, 15, -1)
    assert state.first_sequence == 20
    assert state._replace(last_sequence=1).first_sequence == 2147483645  # they wrap
    body = SNAPSHOT[6:] + b"\0"
    longer = SNAPSHOT[:2] + recordpress.crc32c(body).to_bytes(4, "big") + body
    assert corrupt(read_snapshot, longer)[:2] == (6, "count")
    assert corrupt(read_snapshot, b"\0\2" + SNAPSHOT[2:])[:2] == (0, "version")


@pytest.mark.parametrize(
    ("write", "entries"),
    [
        (write_offset_index, [(5, 1), (5, 2)]),
        (write_offset_index, [(-1, 1)]),
        (write_offset_index, [(1 << 31, 1)]),
        (write_offset_index, [(1, 1 << 31)]),
        (write_time_index, [(5, 1), (5, 2)]),
        (write_time_index, [(5, 2), (6, 1)]),
        (write_time_index, [(1 << 63, 1)]),
        (write_transaction_index, [AbortedTxn(1, 0, 5, 0), AbortedTxn(1, 0, 5, 0)]),
        (write_transaction_index, [AbortedTxn(1 << 63, 0, 5, 0)]),
        (write_snapshot, [ProducerState(1, 1 << 15, 0, 0, 0, 0, 0, 0)]),
        (write_leader_epochs, [(0, 0), (0, 5)]),
        (write_leader_epochs, [(1 << 31, 0)]),
        (write_partition_metadata, (0, "short")),
    ],
)
def test_what_is_not_written(write: Callable[..., None], entries: Any, tmp_path: Path) -> None:
    with pytest.raises(recordpress.InvalidArgumentError) as caught:
        write(tmp_path / "file", entries)
    assert caught.value.field
    assert list(tmp_path.iterdir()) == []


# --- sources and targets


class Remote:
    """A file that is read by position."""

    def __init__(self, data: bytes, size: int) -> None:
        self.data, self.size, self.path = data, size, "s3://bucket/00000000000000001000.index"
        self.reads: list[tuple[int, int]] = []

    def read_at(self, position: int, length: int) -> bytes:
        self.reads.append((position, length))
        return self.data[position : position + length]


def test_a_source_may_lie_anywhere(tmp_path: Path) -> None:
    data = OFFSETS.pack(5, 100)
    remote = Remote(data, 8)
    path = tmp_path / "00000000000000001000.index"
    path.write_bytes(data)
    for source in (remote, path, str(path), bytearray(data), memoryview(data)):
        index = read_offset_index(source, 1000)  # type: ignore[arg-type]
        assert list(index) == [(1005, 100)]
    assert remote.reads == [(0, 8)]
    # the name says what the base offset is
    assert read_offset_index(remote)[0].offset == read_offset_index(path)[0].offset == 1005
    assert read_offset_index(data)[0].offset == 5


@pytest.mark.parametrize("name", [name for name in room.__all__ if name.startswith("read_")])
def test_a_source_is_no_number_and_no_list_of_numbers(name: str) -> None:
    read = getattr(room, name)
    for source in (0, 8, [0] * 8, 1.5, None):
        with pytest.raises(recordpress.ArgumentTypeError, match="source must be") as caught:
            read(source)
        assert caught.value.field == "source"
    with pytest.raises(recordpress.InvalidArgumentError, match="source must be a contiguous buffer"):
        read(memoryview(bytes(16))[::2])


def test_a_file_that_ends_too_early_or_is_too_large() -> None:
    with pytest.raises(recordpress.CorruptRecordError, match="ends after 8 of its 16 bytes"):
        read_offset_index(Remote(OFFSETS.pack(5, 100), 16))
    huge = Remote(b"", 1 << 40)
    with pytest.raises(recordpress.CorruptRecordError, match="has 1099511627776 bytes") as caught:
        read_offset_index(huge)
    assert caught.value.file == huge.path and huge.reads == []


def test_files_are_published_whole(tmp_path: Path) -> None:
    path = tmp_path / "leader-epoch-checkpoint"
    path.write_bytes(b"old")
    write_leader_epochs(path, [(0, 0)])
    assert path.read_bytes() == b"0\n1\n0 0\n"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(FileNotFoundError):
        write_leader_epochs(tmp_path / "nowhere" / "file", [(0, 0)])


def test_errors_name_the_file(tmp_path: Path) -> None:
    for name, read in (
        ("00000000000000000000.index", read_offset_index),
        ("00000000000000000000.timeindex", read_time_index),
        ("00000000000000000000.txnindex", read_transaction_index),
        ("00000000000000000000.snapshot", read_snapshot),
        ("leader-epoch-checkpoint", read_leader_epochs),
        ("partition.metadata", read_partition_metadata),
    ):
        (tmp_path / name).write_bytes(b"?")
        with pytest.raises(recordpress.CorruptRecordError) as caught:
            read(tmp_path / name)
        assert caught.value.file == str(tmp_path / name), name
        (tmp_path / "directory").mkdir(exist_ok=True)
        with pytest.raises(recordpress.InvalidArgumentError, match="is a directory"):
            read(tmp_path / "directory")


def test_a_large_index_is_read_at_once() -> None:
    data = b"".join(OFFSETS.pack(10 * i, 100 * i) for i in range(200_000))
    index = read_offset_index(data)
    assert len(index) == 200_000 and index.lookup(1_999_985) == (1_999_980, 19_999_800)
    assert sys.getsizeof(index._keys) < 900_000


@pytest.mark.parametrize("name", ["offset", "time"])
def test_an_entry_reaches_no_further_than_an_int32(name: str, tmp_path: Path) -> None:
    write = getattr(recordpress.log.sidecars, f"write_{name}_index")
    target = tmp_path / "index"
    for above, is_right in ((2**31 - 1, True), (2**31, False)):
        entry = (100 + above, 1) if name == "offset" else (1, 100 + above)
        if is_right:
            write(target, [entry], 100)
            continue
        with pytest.raises(recordpress.InvalidArgumentError, match="above the base offset 100") as caught:
            write(target, [entry], 100)
        assert caught.value.field == "offset"
