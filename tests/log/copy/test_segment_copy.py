"""A copy is proven before it has its name: batch by batch when it is made, and as a file when it is read back."""

import itertools
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import oracle
import recordpress
from recordpress.files import LocalFileSystem, RandomAccessFile
from recordpress.log import FileRecords, RecordDigest
from recordpress.log.copy import _segment_copy
from recordpress.log.copy._recompress_threads import RecompressThreads
from segments import read_content, transcode_segment

T = 1_700_000_000_000


def segment(batches: int = 50, records: int = 20, codec: str = "snappy", **options: Any) -> bytes:
    parts = []
    for i in range(batches):
        values = [b"a line of text, number %d" % (i * records + j) for j in range(records)]
        parts.append(
            recordpress.write_records(
                values, timestamps=[T + i] * records, base_offset=i * records, compression_type=codec, **options
            )
        )
    return b"".join(parts)


def noise(batches: int = 10) -> bytes:
    """Batches that no codec makes smaller."""
    draw = random.Random(1)
    return b"".join(recordpress.write_records([draw.randbytes(500)], base_offset=i) for i in range(batches))


def digest(data: bytes) -> str:
    found = RecordDigest()
    found.update(data)
    return found.hexdigest()


def recompressed(data: bytes, codec: str, level: int | None = None, **options: Any) -> tuple[bytes, RecompressThreads]:
    out = bytearray()
    recompressor = RecompressThreads(codec, level, **options)
    recompressor.feed(data, 0, out.extend)
    recompressor.finish(out.extend)
    return bytes(out), recompressor


def codecs_of(data: bytes) -> list[str]:
    return [batch.compression_type for batch in recordpress.read_batches(data)]


# ---- what goes over as it is


def test_a_batch_that_would_not_become_smaller_stays() -> None:
    small, large = noise(), segment(10, codec="none")
    for codec in ("gzip", "snappy", "lz4", "zstd"):
        out, recompressor = recompressed(small, codec)
        assert out == small
        assert (recompressor.already, recompressor.left) == (0, 10)
        out, recompressor = recompressed(small + large, codec)
        assert codecs_of(out) == ["none"] * 10 + [codec] * 10
        assert (recompressor.already, recompressor.left) == (0, 10)
        assert recompressor.after.compression_types == tuple(sorted({"none", codec}))
        assert recompressor.after.bytes == len(out) and recompressor.after.batches == 20
        assert digest(out) == digest(small + large) == recompressor.digest.hexdigest()


def test_the_least_gain() -> None:
    """At most so much of the old size: the byte at the border stays."""
    data = segment(1, codec="snappy")
    new = recordpress.recompress(data, "zstd")
    gain = 1 - len(new) / len(data)
    assert 0.05 < gain < 0.95
    assert recompressed(data, "zstd", min_gain=gain - 0.001)[0] == new
    assert recompressed(data, "zstd", min_gain=gain + 0.001)[0] == data
    assert recompressed(new, "snappy")[0] == new
    assert recompressed(new, "snappy", min_gain=None)[0] == data
    for wrong in (-0.1, 1, 1.5, float("nan")):
        with pytest.raises(recordpress.InvalidArgumentError, match="min_gain"):
            RecompressThreads("zstd", min_gain=wrong)


def test_joined_batches_that_would_not_become_smaller_stay() -> None:
    draw = random.Random(1)
    data = b"".join(
        recordpress.write_records([draw.randbytes(10_000)], base_offset=i, compression_type="zstd") for i in range(9)
    )
    out, recompressor = recompressed(data, "gzip", batch_bytes=50_000, min_gain=0.1)
    assert (out, recompressor.left, recompressor.after.batches) == (data, 9, 9)
    assert recompressor.after == recompressor.before


def test_a_batch_that_remains_alone_is_its_own() -> None:
    """It is written when the next one has been decoded."""
    data = b"".join(
        recordpress.write_records(
            [b"value %d" % i * 99], base_offset=i, compression_type="snappy", partition_leader_epoch=i
        )
        for i in range(9)
    )
    out, _ = recompressed(data, "zstd", batch_bytes=1 << 20)
    assert set(codecs_of(out)) == {"zstd"}
    assert digest(out) == digest(data)


def test_record_attributes_are_not_lost() -> None:
    """Kafka does not use them, and its builders write 0: such batches are not joined."""
    data = bytearray(recordpress.write_records([b"a"]) + recordpress.write_records([b"b"], base_offset=1))
    data[62] = 7
    data[17:21] = recordpress.crc32c(data[21 : len(data) // 2]).to_bytes(4, "big")
    assert next(iter(next(iter(recordpress.read_batches(bytes(data)))))).attributes == 7
    assert recompressed(bytes(data), "none", batch_bytes=1000)[0] == data


def test_without_a_codec_nothing_has_to_become_smaller() -> None:
    data = segment(codec="zstd")
    assert set(codecs_of(recompressed(data, "none")[0])) == {"none"}


def test_what_is_as_wanted_goes_over_untouched() -> None:
    data = segment(5, codec="zstd") + recordpress.empty_batch(100, 120) + segment(5, codec="lz4")
    out, recompressor = recompressed(data, "zstd")
    assert out[: len(segment(5, codec="zstd"))] == segment(5, codec="zstd")
    assert recompressor.already == 5 and codecs_of(out)[:5] == ["zstd"] * 5
    assert recompressed(data, "zstd", 19)[1].already == 0  # another level was asked for


# ---- the proof


class Liar:
    """A codec that loses something when it has compressed so many payloads."""

    def __init__(self, after: int, spoil: Callable[[bytes], bytes]) -> None:
        self.calls = itertools.count()
        self.after, self.spoil = after, spoil

    def compress(self, data: bytes) -> bytes:
        return self.spoil(data) if next(self.calls) >= self.after else data

    def decompress(self, data: bytes, max_output: int) -> bytes:
        return data


def flipped(data: bytes, at: int = -1) -> bytes:
    changed = bytearray(data)
    changed[at] ^= 1
    return bytes(changed)


SPOILS = {
    "a bit of the last value": lambda data: flipped(data, -2),
    "a bit of the first record's length": lambda data: flipped(data, 0),
    "the last byte": lambda data: data[:-1],
    "a byte more": lambda data: data + b"\0",
    "nothing left": lambda data: b"",
    "all zero": lambda data: bytes(len(data)),
}


@pytest.mark.parametrize("batch_bytes", [None, 2000])
@pytest.mark.parametrize("spoil", SPOILS)
def test_a_batch_that_reads_as_something_else_is_found(spoil: str, batch_bytes: int | None, tmp_path: Path) -> None:
    source, target = tmp_path / "source.log", tmp_path / "target.log"
    source.write_bytes(segment())
    codecs = recordpress.CodecRegistry()
    codecs.register("liar", Liar(7, SPOILS[spoil]))
    options: dict[str, Any] = {"min_gain": None, "codecs": codecs}
    with pytest.raises(recordpress.CorruptRecordError) as caught:
        transcode_segment(source, target, "liar", None, batch_bytes, **options)
    assert (caught.value.rule, caught.value.file) == ("verification of the copy", str(source))
    assert caught.value.offset and caught.value.position
    assert list(tmp_path.iterdir()) == [source]


@pytest.mark.parametrize("batch_bytes", [None, 2000])
def test_one_record_less_is_found_where_batches_are_joined(batch_bytes: int | None) -> None:
    """Another record set under the same header: every record is whole, and one is another."""

    def other(data: bytes) -> bytes:
        return data.replace(b"number 14", b"number 41", 1)

    codecs = recordpress.CodecRegistry()
    codecs.register("liar", Liar(0, other))
    with pytest.raises(recordpress.CorruptRecordError, match="differ from their source"):
        recompressed(segment(), "liar", batch_bytes=batch_bytes, min_gain=None, codecs=codecs)


class Spoiled(LocalFileSystem):
    """What is read back is not what was written."""

    def __init__(self, change: Callable[[bytes], bytes]) -> None:
        self.change = change

    def create(self, path: str) -> Any:
        writer = super().create(path)
        written = writer.written

        def changed() -> RandomAccessFile:
            path = next(path for path in Path(writer._target).parent.iterdir() if path.name.startswith("."))
            path.write_bytes(self.change(path.read_bytes()))
            return written()

        writer.written = changed  # type: ignore[method-assign]
        return writer


@pytest.mark.parametrize("change", [flipped, lambda data: data[:-1], lambda data: data + b"\0", lambda data: b""])
def test_a_file_that_reads_as_something_else_has_no_name(change: Callable[[bytes], bytes], tmp_path: Path) -> None:
    source, target = tmp_path / "source.log", tmp_path / "target.log"
    source.write_bytes(segment())
    file = FileRecords(source)
    with file, pytest.raises(recordpress.CorruptRecordError, match="are read back"):
        _segment_copy.copy_segment(file, RecompressThreads("zstd"), Spoiled(change), str(target))
    assert list(tmp_path.iterdir()) == [source]


class Forgetful(RecompressThreads):
    """It leaves out the last entry of each piece."""

    def feed(self, piece: Any, position: int, write: Any) -> None:
        last = [batch.position for batch in recordpress.read_batches(piece)][-1]
        super().feed(piece[:last], position, write)


@pytest.mark.parametrize("last", [segment(1), recordpress.empty_batch(1000, 1009)])
def test_an_entry_that_was_not_read_is_missed(last: bytes, tmp_path: Path) -> None:
    """Also one that holds no record, but offsets."""
    source, target = tmp_path / "source.log", tmp_path / "target.log"
    source.write_bytes(segment() + last)
    file = FileRecords(source)
    with file, pytest.raises(recordpress.CorruptRecordError, match="were read"):
        _segment_copy.copy_segment(file, Forgetful("zstd"), LocalFileSystem(), str(target))
    assert list(tmp_path.iterdir()) == [source]


# ---- threads


@pytest.mark.parametrize("batch_bytes", [None, 20_000])
def test_threads_do_not_show(batch_bytes: int | None, tmp_path: Path) -> None:
    source, target = tmp_path / "source.log", tmp_path / "target.log"
    source.write_bytes(segment(1000, 50))
    results = set()
    for threads in (1, 2, 5):
        before, after = transcode_segment(source, target, "zstd", None, batch_bytes, threads=threads)
        results.add((before, after, target.read_bytes()))
        assert read_content(target, threads=threads) == after
    assert len(results) == 1
    assert before == read_content(source)
    assert (before.digest, before.next_offset) == (after.digest, after.next_offset)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_first_error_is_told(threads: int, tmp_path: Path) -> None:
    data = bytearray(segment(2000, 50))
    positions = [batch.position for batch in recordpress.read_batches(bytes(data))]
    for number in (1900, 700, 1200):
        data[positions[number] + 70] ^= 1
    source, target = tmp_path / "source.log", tmp_path / "target.log"
    source.write_bytes(data)
    for call in (lambda: transcode_segment(source, target, "zstd", threads=threads), lambda: read_content(source)):
        with pytest.raises(recordpress.CorruptRecordError, match="checksum") as caught:
            call()
        assert (caught.value.position, caught.value.offset) == (positions[700], 700 * 50)
    assert list(tmp_path.iterdir()) == [source]


def test_what_write_raises_ends_it() -> None:
    def full(data: memoryview) -> None:
        raise OSError(28, "No space left on device")

    recompressor = RecompressThreads("zstd", threads=3)
    with pytest.raises(OSError, match="No space"):
        recompressor.feed(segment(5000, 50), 0, full)
    recompressor.close()


def test_work_can_be_ended_between_any_two_runs(tmp_path: Path) -> None:
    """A piece of 16 MiB takes half a minute at the highest levels: an interrupt does not wait for it."""
    source, target = tmp_path / "source.log", tmp_path / "target.log"
    source.write_bytes(segment(3000, 50))
    steps: list[int] = []

    def step(size: int) -> None:
        steps.append(size)
        if len(steps) == 3:
            raise KeyboardInterrupt

    file = FileRecords(source)
    with file, pytest.raises(KeyboardInterrupt):
        _segment_copy.copy_segment(file, RecompressThreads("zstd", threads=2), LocalFileSystem(), str(target), step)
    assert steps == [0, 0, 0]
    assert list(tmp_path.iterdir()) == [source]


# ---- magic 0 and 1


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4"])
@pytest.mark.parametrize("magic", [0, 1])
def test_old_magics(magic: int, codec: str) -> None:
    """Wrappers to wrappers, and to their own messages."""
    data = b"".join(
        recordpress.write_records(
            [b"value %d" % i] * 20, timestamps=[T] * 20, magic=magic, base_offset=20 * i, compression_type="gzip"
        )
        for i in range(20)
    )
    out, recompressor = recompressed(data, codec, min_gain=None)
    assert digest(out) == digest(data) == recompressor.digest.hexdigest()
    assert {batch.magic for batch in recordpress.read_batches(out)} == {magic}
    assert set(codecs_of(out)) == {codec}
    assert recompressor.after.records == recompressor.before.records == 400
    assert recompressor.after.batches == (400 if codec == "none" else 20)
    assert recompressor.after.next_offset == 400


def test_zstd_needs_magic_2() -> None:
    data = recordpress.write_records([b"v"] * 100, magic=1, compression_type="gzip")
    with pytest.raises(recordpress.UnsupportedCompressionTypeError, match="needs magic 2"):
        recompressed(data, "zstd")


@oracle.each("log", oracle.LOGS)
def test_what_brokers_wrote_keeps_its_headers(log: oracle.Vector) -> None:
    """Every field of every batch but size, checksum and codec."""
    entries = recordpress.read_batches(log.data)
    for _ in entries:
        pass
    data = log.data[: entries.valid_bytes]

    def fields(data: bytes) -> list[tuple[Any, ...]]:
        names = ["base_offset", "last_offset", "magic", "base_timestamp", "max_timestamp", "timestamp_type"]
        names += ["producer_id", "producer_epoch", "base_sequence", "last_sequence", "is_transactional", "is_control"]
        names += ["records_count", "partition_leader_epoch", "delete_horizon_ms"]
        return [tuple(getattr(batch, name) for name in names) for batch in recordpress.read_batches(data)]

    out, recompressor = recompressed(data, "lz4", min_gain=None, threads=2)
    assert fields(out) == fields(data)
    assert digest(out) == digest(data) == recompressor.digest.hexdigest()


# ---- the source


def test_a_source_that_is_truncated_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from recordpress.log import _file_records

    monkeypatch.setattr(_file_records, "CHUNK_BYTES", 2000)
    source, target = tmp_path / "source.log", tmp_path / "target.log"
    source.write_bytes(segment(100))
    file = FileRecords(source)
    with file, pytest.raises(recordpress.CorruptRecordError, match="truncated while it was read"):
        _segment_copy.copy_segment(
            file, RecompressThreads("zstd"), LocalFileSystem(), str(target), lambda size: os.truncate(source, 3000)
        )
    assert list(tmp_path.iterdir()) == [source]
