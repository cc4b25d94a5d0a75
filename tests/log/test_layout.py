"""Where a log lies: brokers' directories, flat folders, tiered copies, patterns, several places."""

import base64
import json
import struct
from pathlib import Path
from typing import Any

import pytest

import oracle
import recordpress
from recordpress.log import Partition
from together import thinned

pytest.importorskip("pyarrow")
zstandard = pytest.importorskip("zstandard")

SEGMENT = "00000000000000000000.log"
ID = "MWJ6FHTfRYy67jzwZdeqSQ"  # the plug-in's own example
SEGMENT_ID = "tqimKeZwStOEOwRzT3L5oQ"
ODD_ID = "-_-6FHTfRYy67jzwZd-_-_"  # of base64's alphabet for URLs


def plain(base_offset: int, count: int = 10, **options: Any) -> bytes:
    return recordpress.write_records([b"value %d" % i for i in range(count)], base_offset=base_offset, **options)


def write(path: Path, data: bytes = b"") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def names(log: Any) -> list[tuple[str | None, int | None, int]]:
    return [(p.topic, p.partition, len(p.segments)) for p in log.partitions]


def offsets(log: Any, **options: Any) -> list[int]:
    return log.read(["offset"], **options).to_pyarrow()["offset"].to_pylist()


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A log dir as a broker has it, with what it is about to remove."""
    root = tmp_path / "logs"
    write(root / "orders-0" / SEGMENT, plain(0))
    write(root / "orders-0" / "00000000000000000010.log", plain(10))
    write(root / "orders-1" / SEGMENT, plain(0))
    write(root / "a.b-c_d-0" / SEGMENT, plain(0))
    write(root / "recovery-point-offset-checkpoint")
    (root / "empty-3").mkdir()
    return root


def test_a_log_dir_a_partition_a_file(logs: Path) -> None:
    assert names(recordpress.open_log(logs)) == [("a.b-c_d", 0, 1), ("orders", 0, 2), ("orders", 1, 1)]
    assert names(recordpress.open_log(str(logs / "orders-0") + "/")) == [("orders", 0, 2)]
    first, last = (recordpress.open_log(logs / "orders-0" / name) for name in (SEGMENT, "00000000000000000010.log"))
    assert names(first) == [("orders", 0, 1)] == names(last)
    assert not first.partitions[0].segments[0].is_last and last.partitions[0].segments[0].is_last
    assert (offsets(first), offsets(last)) == (list(range(10)), list(range(10, 20)))
    assert repr(recordpress.open_log(logs)) == "<recordpress.log.Log: 3 partitions, 4 segments>"


def test_patterns_and_several(logs: Path) -> None:
    orders = [("orders", 0, 2), ("orders", 1, 1)]
    assert names(recordpress.open_log(logs / "orders-*")) == orders
    assert names(recordpress.open_log(f"{logs.parent}/l?gs/orders-[01]")) == orders
    assert names(recordpress.open_log(f"file://{logs}/orders-?")) == orders
    assert names(recordpress.open_log(logs / "orders-0" / "*.log")) == orders[:1]
    assert names(recordpress.open_log([logs / "orders-1", str(logs / "orders-0")])) == orders
    assert names(recordpress.open_log(logs / "*")) == names(recordpress.open_log(logs))
    write(logs / "o[0-9]x-0" / SEGMENT, plain(0))  # its own name first
    assert names(recordpress.open_log(logs / "o[0-9]x-0")) == [("o[0-9]x", 0, 1)]
    with pytest.raises(recordpress.InvalidArgumentError, match="matches nothing"):
        recordpress.open_log(logs / "payments-*")


def test_a_pattern_from_the_working_directory(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(logs)
    for pattern in ("orders-*", "./orders-*"):
        assert names(recordpress.open_log(pattern)) == [("orders", 0, 2), ("orders", 1, 1)]


def test_one_partition_in_several_places(logs: Path, tmp_path: Path) -> None:
    """A tier has what the broker no longer has, and some of what it has."""
    write(tmp_path / "tier" / "orders-0" / SEGMENT, plain(0))
    (logs / "orders-0" / SEGMENT).unlink()
    write(tmp_path / "tier" / "orders-0" / "00000000000000000010.log", plain(10))
    write(logs / "orders-0" / "00000000000000000020.log", plain(20))
    log = recordpress.open_log([tmp_path / "tier", logs / "orders-0"])
    assert names(log) == [("orders", 0, 4)]
    assert offsets(log) == list(range(30))
    assert [segment.is_last for segment in log.partitions[0].segments] == [False, False, False, True]


def test_a_folder_of_segments(tmp_path: Path) -> None:
    for name in ("backup", "0"):
        write(tmp_path / name / SEGMENT, plain(0))
        write(tmp_path / name / "00000000000000000010.log", plain(10))
        log = recordpress.open_log(tmp_path / name)
        assert names(log) == [(None, None, 2)]
        table = log.read(["topic", "partition", "offset"]).to_pyarrow()
        assert table["offset"].to_pylist() == list(range(20))
        assert table["topic"].null_count == table["partition"].null_count == 20
    both = recordpress.open_log([tmp_path / "backup", tmp_path / "0"])
    assert names(both) == [(None, None, 2)] * 2  # whether they are the same nobody knows
    odd = write(tmp_path / "x" / "saved.log", plain(5))
    assert names(recordpress.open_log(odd)) == [(None, None, 1)] and offsets(recordpress.open_log(odd)) == list(
        range(5, 15)
    )


def test_what_a_broker_is_about_to_remove_is_named(logs: Path) -> None:
    kept = names(recordpress.open_log(logs))
    for name in ("deleted", "cleaned", "swap"):
        write(logs / "orders-0" / f"00000000000000000020.log.{name}", plain(20))
    for name in ("delete", "future", "stray"):
        write(logs / f"orders-7.{'0a' * 16}-{name}" / SEGMENT, plain(0))
    write(logs / "orders-0" / f".{SEGMENT}.{'0a' * 16}", plain(0))
    write(logs / "orders-0" / "9.log", plain(0))
    write(logs / "remote-log-index-cache" / "x")
    log = recordpress.open_log(logs)
    assert names(log) == kept
    said = {Path(finding.file).name: finding.message for finding in log.skipped}
    assert len(said) == 10  # with empty-3
    for end, words in {
        ".deleted": "awaits deletion",
        ".cleaned": "unfinished file",
        ".swap": "replaces segments with it",
        "-delete": "awaits deletion",
        "-future": "being moved",
        "-stray": "no longer belongs",
        "0a" * 4: "unfinished copy",
        "9.log": "20 digits",
        "-cache": "not the name of a partition",
        "empty-3": "no segment",
    }.items():
        assert [message for name, message in said.items() if name.endswith(end) and words in message], end
    assert names(recordpress.open_log(logs / "orders-0" / "00000000000000000020.log.swap")) == [(None, None, 1)]


def test_what_is_no_log(logs: Path, tmp_path: Path) -> None:
    write(logs / "orders-0" / "00000000000000000000.index")
    (tmp_path / "nothing").mkdir()
    for path, words in {
        logs / "orders-0" / "00000000000000000000.index": "an offset index without records",
        logs / "recovery-point-offset-checkpoint": "neither a directory nor a .log file",
        tmp_path / "nothing": "no partition found",
        logs / "empty-3": "no partition found",
    }.items():
        with pytest.raises(recordpress.InvalidArgumentError, match=words):
            recordpress.open_log(path)
    with pytest.raises(FileNotFoundError):
        recordpress.open_log(logs / "nowhere")
    with pytest.raises(recordpress.InvalidArgumentError, match="no partition found"):
        recordpress.open_log([])
    with pytest.raises(recordpress.ArgumentTypeError, match="path must be one or more paths"):
        recordpress.open_log(7)  # type: ignore[arg-type]


def test_links_stay_inside(logs: Path, tmp_path: Path) -> None:
    write(tmp_path / "elsewhere" / SEGMENT, plain(0))
    (logs / "inside-0").symlink_to("orders-1")
    assert ("inside", 0, 1) in names(recordpress.open_log(logs))
    for link, target in ((logs / "out-0", tmp_path / "elsewhere"), (logs / "gone-0", logs / "nothing")):
        link.symlink_to(target)
        with pytest.raises(recordpress.InvalidArgumentError, match=f"{link.name} is a symbolic link to"):
            recordpress.open_log(logs)
        link.unlink()
    link = logs / "orders-0" / "00000000000000000020.log"
    link.symlink_to(tmp_path / "elsewhere" / SEGMENT)
    for path in (logs, logs / "orders-0"):
        with pytest.raises(recordpress.InvalidArgumentError, match="outside"):
            recordpress.open_log(path)


# ---- tiered storage


def chunk_sizes(sizes: list[int]) -> str:
    """As ChunkSizesBinaryCodec writes them, with one byte per value or more."""
    if len(sizes) == 1:
        data = struct.pack(">ii", 1, sizes[0])
    else:
        least, most = min(sizes[:-1]), max(sizes[:-1])
        width = max(1, -(-(most - least).bit_length() // 8))
        values = b"".join((size - least).to_bytes(width, "big") for size in sizes[:-1])
        data = struct.pack(">iib", len(sizes), least, width) + values + struct.pack(">i", sizes[-1])
    return base64.b64encode(zstandard.compress(data)).decode()


def manifest(size: int, chunk: int, stored: list[int] | None, indexes: dict[str, bytes], **more: Any) -> bytes:
    common = {"originalChunkSize": chunk, "originalFileSize": size}
    if stored is None:
        last = size - chunk * (-(-size // chunk) - 1)
        index = {"type": "fixed", **common, "transformedChunkSize": chunk, "finalTransformedChunkSize": last}
    else:
        index = {"type": "variable", **common, "transformedChunks": chunk_sizes(stored)}
    places: dict[str, Any] = {}
    at = 0
    for name in ("offset", "timestamp", "producerSnapshot", "leaderEpoch", "transaction"):
        places[name] = {"position": at, "size": len(indexes[name])} if name in indexes else None
        at += len(indexes.get(name, b""))
    document = {"version": "1", "chunkIndex": index, "segmentIndexes": places, "compression": stored is not None}
    return json.dumps({**document, **more}).encode()


def tiered(root: Path, base: int, data: bytes, indexes: dict[str, bytes], *, compress: bool, chunk: int = 1000) -> Path:
    """A segment as the plug-in stores it."""
    stem = f"{base:020}-{SEGMENT_ID}"
    chunks = [data[at : at + chunk] for at in range(0, len(data), chunk)]
    stored = [zstandard.compress(part) for part in chunks] if compress else chunks
    write(root / f"{stem}.log", b"".join(stored))
    write(root / f"{stem}.indexes", b"".join(indexes.values()))
    sizes = [len(part) for part in stored] if compress else None
    return write(root / f"{stem}.rsm-manifest", manifest(len(data), chunk, sizes, indexes))


TXN = next(p for p in oracle.PARTITIONS if str(p).endswith("txn_topic-0") and p.entry.get("read_committed"))
FIELDS = {".index": "offset", ".timeindex": "timestamp", ".snapshot": "producerSnapshot", ".txnindex": "transaction"}


TIERED = [(True, 100), (False, 100), (False, 1000), (True, 1000), (True, 1 << 20), (False, 1 << 20)]


@pytest.mark.parametrize(("compress", "chunk"), thinned(TIERED, 2))
@pytest.mark.parametrize("topic", thinned([f"a.b-c-{ODD_ID}", f"txn_topic-{ID}"], 2))
def test_aivens_tiered_storage(compress: bool, topic: str, chunk: int, tmp_path: Path) -> None:
    source = TXN.write_to(tmp_path / "source")
    there = recordpress.open_log(source)
    root = tmp_path / "tier" / topic / "0"
    for segment in there.partitions[0].segments:
        path = Path(segment.path)
        indexes = {
            field: path.with_suffix(suffix).read_bytes()
            for suffix, field in FIELDS.items()
            if path.with_suffix(suffix).exists()
        }
        tiered(root, segment.base_offset, path.read_bytes(), indexes, compress=compress, chunk=chunk)
    name = topic[:-23]
    for place in (tmp_path / "tier", tmp_path / "tier" / topic, root):
        here = recordpress.open_log(place)
        assert names(here) == [(name, 0, len(there.partitions[0].segments))]
    for level in ("read_committed", "read_uncommitted"):
        assert here.read(isolation_level=level).to_pyarrow().equals(there.read(isolation_level=level).to_pyarrow())
    every = offsets(there)
    for start in every[::7]:
        assert offsets(here, start_offset=start) == every[every.index(start) :]
    assert here.count() == there.count()
    with here.partitions[0].segments[0].open() as file, there.partitions[0].segments[0].open() as other:
        assert file.size == other.size
        assert file.read_at(150, 2000) == other.read_at(150, 2000)
        assert file.read_at(file.size - 5, 100) == other.read_at(other.size - 5, 100)


def test_a_tier_without_manifests_and_kafkas_own(tmp_path: Path) -> None:
    write(tmp_path / f"orders-{ID}" / "11" / f"{0:020}-{SEGMENT_ID}.log", plain(0))
    write(tmp_path / f"a-b-3-{ODD_ID}" / f"{0:020}-{ODD_ID}.log", plain(0))
    log = recordpress.open_log(tmp_path)
    assert names(log) == [("a-b", 3, 1), ("orders", 11, 1)]
    assert offsets(log) == [*range(10), *range(10)]
    assert names(recordpress.open_log(tmp_path / f"a-b-3-{ODD_ID}")) == [("a-b", 3, 1)]


def changed(path: Path, **fields: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))


def index_with(**fields: Any) -> dict[str, Any]:
    common = {"type": "variable", "originalChunkSize": 100, "originalFileSize": 150, "transformedChunks": ""}
    return {"chunkIndex": {**common, **fields}}


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"encryption": {"dataKey": "k:x", "aad": "eA=="}}, "encrypted"),
        ({"version": "2"}, "version '2'"),
        ({"compression": "yes"}, "compression is 'yes'"),
        ({"chunkIndex": {}}, "KeyError"),
        ({"chunkIndex": []}, "TypeError"),
        ({"segmentIndexes": {"offset": {"position": -1, "size": 1}}}, "-1 is not a size"),
        (index_with(originalFileSize=1 << 40), "is not a size"),
        (index_with(originalFileSize=True), "True is not a size"),
        (index_with(originalChunkSize=1, originalFileSize=2**31 - 1), "chunks; at most"),
        (index_with(transformedChunks="!"), "transformedChunks"),
        (index_with(transformedChunks=chunk_sizes([1])), "1 chunks for 2"),
        (index_with(transformedChunks=chunk_sizes([3, -1])), "-1 is not a size"),
        (index_with(transformedChunks=base64.b64encode(zstandard.compress(bytes(1 << 20))).decode()), "Chunks"),
        (index_with(transformedChunks=chunk_sizes([99, 99])), "chunk 0"),
        (index_with(transformedChunks=chunk_sizes([1 << 30, 99])), "truncated"),
        (index_with(originalChunkSize=1 << 30, transformedChunks=chunk_sizes([5])), "larger than"),
    ],
)
def test_manifests_that_lie(fields: dict[str, Any], words: str, tmp_path: Path) -> None:
    path = tiered(tmp_path / f"t-{ID}" / "0", 0, plain(0), {}, compress=True)
    log = recordpress.open_log(tmp_path)
    assert offsets(log) == list(range(10))
    changed(path, **fields)
    with pytest.raises(recordpress.RecordpressError, match=words) as caught:
        next(log.read(["offset"]))
    assert Path(caught.value.file or "").name.startswith(f"{0:020}-{SEGMENT_ID}.")


def test_a_chunk_that_is_shorter_than_the_manifest_says(tmp_path: Path) -> None:
    data = plain(0)
    path = tiered(tmp_path / f"t-{ID}" / "0", 0, data, {}, compress=True)
    index = json.loads(path.read_text())["chunkIndex"]
    changed(path, chunkIndex={**index, "originalFileSize": len(data) + 50})
    with pytest.raises(recordpress.CorruptRecordError, match=f"chunk 0 has {len(data)} bytes, not [0-9]+ as"):
        next(recordpress.open_log(tmp_path).read())


@pytest.mark.parametrize("data", [b"", b"{", b"[1]", b"null", b"[" * 100_000, b"\xff", b'{"version": "1"}'])
def test_manifests_that_are_none(data: bytes, tmp_path: Path) -> None:
    path = tiered(tmp_path / f"t-{ID}" / "0", 0, plain(0), {}, compress=True)
    path.write_bytes(data)
    with pytest.raises(recordpress.CorruptRecordError, match="the manifest cannot be read") as caught:
        next(recordpress.open_log(tmp_path).read())
    assert caught.value.rule == "segment manifest"


def test_each_byte_of_a_chunk_flipped(tmp_path: Path) -> None:
    """A record set has checksums, so that whatever is read is what was written, or an error; or it looks cut. Kafka's
    checksum covers neither the offset nor the length."""
    path = tiered(tmp_path / f"t-{ID}" / "0", 0, plain(0), {}, compress=True).with_suffix(".log")
    data = path.read_bytes()
    expected = recordpress.open_log(tmp_path).read(["value"]).to_pyarrow()
    for at in range(len(data)):
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :])
        reader = recordpress.open_log(tmp_path).read(["value"])
        try:
            found = reader.to_pyarrow()
        except recordpress.RecordpressError as error:
            said = str(error)
        else:
            said = SEGMENT_ID if found.equals(expected) else str(reader.findings)
        assert SEGMENT_ID in said


def test_a_partition_says_what_it_is() -> None:
    assert str(Partition("orders", 3, "/logs/orders-3", ())) == "orders-3"
    assert str(Partition(None, None, "/backup", ())) == "/backup"
