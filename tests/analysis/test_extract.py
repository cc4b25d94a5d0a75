"""Uncompressed records in a file: the bytes that a codec compresses."""

import shutil
from pathlib import Path

import pytest

import recordpress
from recordpress.analysis import extract

LINES = [b"GET /articles/%d HTTP/1.1" % (n * n) for n in range(40)]


def payload_of(record_set: bytes) -> bytes:
    return b"".join(batch.payload for batch in recordpress.read_batches(recordpress.recompress(record_set, "none")))


@pytest.fixture
def sets() -> list[bytes]:
    return [
        recordpress.write_records(LINES[at : at + 10], base_offset=at, compression_type=codec)
        for at, codec in ((0, "zstd"), (10, "lz4"), (20, "none"), (30, "gzip"))
    ]


@pytest.fixture
def partition(tmp_path: Path, sets: list[bytes]) -> Path:
    path = tmp_path / "lines-0"
    path.mkdir()
    (path / f"{0:020}.log").write_bytes(b"".join(sets[:2]))
    (path / f"{20:020}.log").write_bytes(b"".join(sets[2:]))
    return path


@pytest.mark.parametrize(("offset", "number"), [(0, 0), (9, 0), (10, 1), (19, 1), (20, 2), (39, 3)])
def test_the_batch_of_an_offset(partition: Path, sets: list[bytes], offset: int, number: int) -> None:
    found = extract(partition, offset)
    assert (found.batches, found.records, found.findings) == (1, 10, ())
    assert found.data == payload_of(sets[number])


def test_what_the_codec_compressed(partition: Path, sets: list[bytes]) -> None:
    [batch] = recordpress.read_batches(sets[0])
    assert len(recordpress.compress(extract(partition, 0).data, "zstd")) == batch.size - 61


def test_a_sample_is_that_of_analyze(partition: Path, sets: list[bytes]) -> None:
    found = extract(partition)
    assert found.data == b"".join(map(payload_of, sets))
    assert (found.batches, found.records) == (4, 40)
    part = extract(partition, sample_bytes=1024, seed=3)
    facts = recordpress.analyze(partition, "none", depths=(1,), sample_bytes=1024, seed=3).sample
    assert (part.batches, part.records) == (facts["batches"], facts["records"])
    assert len(part.data) + 61 * part.batches == facts["bytes"]


def test_old_messages_are_encoded_as_records(tmp_path: Path) -> None:
    path = tmp_path / f"{0:020}.log"
    path.write_bytes(recordpress.write_records([b"a", b"b"], magic=1, compression_type="gzip", timestamps=7))
    assert extract(path, 1).data == payload_of(recordpress.write_records([b"a", b"b"], timestamps=7))


def test_lines(tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    path.write_bytes(b"\n".join(LINES))
    assert extract(path).records == 40
    with pytest.raises(recordpress.InvalidArgumentError, match="a file of lines has no offsets"):
        extract(path, 0)


def test_damage_beside_a_sample_and_in_the_batch(partition: Path, sets: list[bytes]) -> None:
    segment = partition / f"{0:020}.log"
    data = bytearray(segment.read_bytes())
    data[70] ^= 1
    segment.write_bytes(data)
    found = extract(partition)
    assert found.data == b"".join(map(payload_of, sets[1:]))
    assert [finding.position for finding in found.findings] == [0]
    with pytest.raises(recordpress.CorruptRecordError):
        extract(partition, 0)


def test_offsets_without_a_batch(partition: Path) -> None:
    with pytest.raises(recordpress.InvalidArgumentError, match="no batch with records ends at offset 40"):
        extract(partition, 40)
    shutil.copytree(partition, partition.parent / "lines-1")
    with pytest.raises(recordpress.InvalidArgumentError, match="of one partition, but the log has 2"):
        extract(partition.parent, 0)
    with pytest.raises(recordpress.InvalidArgumentError, match="offset"):
        extract(partition, -1)
