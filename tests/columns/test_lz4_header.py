"""lz4_header_checksum: frames of v1 and v2 whose header has the checksum of v0 (KIP-57), read if the caller asks for
it, and reported. What Kafka's own classes do with them is in tests/record and tests/codecs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import recordpress
import recordpress.log
from messages import message, wrapper

VALUES = [b"value %d" % n for n in range(20)]
READERS: dict[str, Callable[..., list[bytes]]] = {
    "read_batches": lambda data, **o: [r.value for batch in recordpress.read_batches(data, **o) for r in batch],
    "read_columns": lambda data, **o: recordpress.read_columns(data, ["value"], **o)["value"].to_pylist(),
    "threads": lambda data, **o: recordpress.read_columns(data, ["value"], threads=3, **o)["value"].to_pylist(),
    "iter_columns": lambda data, **o: [
        value for columns in recordpress.iter_columns(data, ["value"], **o) for value in columns["value"].to_pylist()
    ],
}


def of_magic(magic: int, broken: bool) -> bytes:
    """An LZ4 set whose header has the checksum that its magic asks for, or the other one."""
    if magic == 2:
        data = bytearray(recordpress.write_records(VALUES, compression_type="lz4"))
        if broken:
            recordpress.break_lz4_header(memoryview(data)[61:])
            data[17:21] = recordpress.crc32c(data[21:]).to_bytes(4, "big")
        return bytes(data)
    body = b"".join(
        message(1, 0, bytes(8) + (b"\xff" * 4) + len(value).to_bytes(4, "big") + value, n)
        for n, value in enumerate(VALUES)
    )
    payload = recordpress.compress(body, "lz4", magic=0 if broken else 1)
    return message(1, 3, bytes(8) + b"\xff" * 4 + len(payload).to_bytes(4, "big") + payload, len(VALUES) - 1)


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
@pytest.mark.parametrize("magic", [1, 2])
def test_a_wrong_one_is_refused_or_read(read: Callable[..., list[bytes]], magic: int) -> None:
    data = of_magic(magic, True)
    with pytest.raises(recordpress.DecompressionError, match="header checksum"):
        read(data)
    with pytest.raises(recordpress.DecompressionError, match="header checksum"):
        read(data, lz4_header_checksum="verify")
    assert read(data, lz4_header_checksum="ignore") == VALUES
    assert read(of_magic(magic, False), lz4_header_checksum="ignore") == VALUES


@pytest.mark.parametrize("magic", [1, 2])
def test_columns_tell_of_each(magic: int) -> None:
    good, bad = of_magic(magic, False), of_magic(magic, True)
    data = good + bad + good + bad
    columns = recordpress.read_columns(data, ["offset"], lz4_header_checksum="ignore")
    header = 61 if magic == 2 else 34
    places = [len(good), 3 * len(good)]
    errors = columns.lz4_header_errors
    assert [error.position for error in errors] == places
    assert [error.field_position for error in errors] == [place + header + 6 for place in places]
    assert {error.rule for error in columns.lz4_header_errors} == {rule(bad)}
    assert columns.num_rows == 80

    found = []
    for piece in recordpress.iter_columns(data, ["offset"], batch_bytes=1, threads=2, lz4_header_checksum="ignore"):
        found += [error.position for error in piece.lz4_header_errors]
    assert found == places
    assert recordpress.read_columns(good, lz4_header_checksum="ignore").lz4_header_errors == []


def rule(data: bytes) -> str | None:
    with pytest.raises(recordpress.DecompressionError) as caught:
        recordpress.read_columns(data)
    return caught.value.rule


def test_batches_tell_of_it_whatever_the_option_is() -> None:
    for options in ({}, {"lz4_header_checksum": "ignore"}):
        for magic in (1, 2):
            [batch] = recordpress.read_batches(of_magic(magic, True), **options)  # type: ignore[arg-type]
            error = batch.lz4_header_error
            assert error is not None and error.rule == rule(of_magic(magic, True))
            [batch] = recordpress.read_batches(of_magic(magic, False), **options)  # type: ignore[arg-type]
            assert batch.lz4_header_error is None
    for data in (wrapper(message(1, 0, bytes(16)), 0), recordpress.write_records([b"a"]), of_magic(2, True)[:61]):
        for batch in recordpress.read_batches(data):
            assert batch.lz4_header_error is None


def test_v0_takes_both() -> None:
    inner = b"".join(message(0, 0, b"\xff" * 4 + len(v).to_bytes(4, "big") + v, n) for n, v in enumerate(VALUES))
    for magic in (0, 1):
        payload = recordpress.compress(inner, "lz4", magic=magic)
        data = message(0, 3, b"\xff" * 4 + len(payload).to_bytes(4, "big") + payload, len(VALUES) - 1)
        [batch] = recordpress.read_batches(data)
        assert [record.value for record in batch] == VALUES
        assert batch.lz4_header_error is None


def test_what_else_is_wrong_stays_wrong() -> None:
    data = bytearray(of_magic(2, True))
    data[61 + 4] = 0x20  # another version of the frame
    data[17:21] = recordpress.crc32c(data[21:]).to_bytes(4, "big")
    with pytest.raises(recordpress.DecompressionError):
        recordpress.read_columns(bytes(data), lz4_header_checksum="ignore")


def test_codecs_of_ones_own_stay() -> None:
    class Reverse:
        def compress(self, data: bytes) -> bytes:
            return data[::-1]

        def decompress(self, data: bytes, max_output: int) -> bytes:
            return data[::-1]

    codecs = recordpress.CodecRegistry()
    codecs.register("reverse", Reverse())
    data = of_magic(2, True) + recordpress.write_records([b"own"], compression_type="reverse", codecs=codecs)
    columns = recordpress.read_columns(data, ["value"], codecs=codecs, lz4_header_checksum="ignore")
    assert columns["value"].to_pylist() == [*VALUES, b"own"]
    with pytest.raises(recordpress.DecompressionError):
        recordpress.read_columns(data, ["value"], codecs=codecs)


@pytest.mark.parametrize("value", ["no", None, True, 0])
def test_the_argument_is_checked(value: Any) -> None:
    for read in READERS.values():
        with pytest.raises(recordpress.RecordpressError, match="lz4_header_checksum"):
            read(b"", lz4_header_checksum=value)


def test_a_log_is_read_with_findings(tmp_path: Path) -> None:
    good, bad = of_magic(2, False), of_magic(2, True)
    path = tmp_path / "t-0/00000000000000000000.log"
    path.parent.mkdir()
    second = bytearray(bad)
    second[:8] = (20).to_bytes(8, "big")
    path.write_bytes(good + second)
    log = recordpress.open_log(path.parent)
    with pytest.raises(recordpress.DecompressionError):
        list(log.read(["value"]))
    with log.read(["value"], lz4_header_checksum="ignore") as reader:
        values = [value for columns in reader for value in columns["value"].to_pylist()]
    assert values == VALUES * 2
    [finding] = reader.findings
    assert (finding.file, finding.position, finding.rule) == (str(path), len(good), rule(bad))
    assert finding.field_position == len(good) + 61 + 6
    with log.read(["value"], on_corrupt="skip") as skipping:
        assert sum(columns.num_rows for columns in skipping) == 20
