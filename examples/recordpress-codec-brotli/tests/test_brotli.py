"""The plug-in as its users have it: installed, through the library and through the command."""

from __future__ import annotations

import doctest
import subprocess
import sys
from pathlib import Path

import brotli
import pytest
import recordpress_codec_brotli
from recordpress_codec_brotli import NAME, Brotli

import recordpress

LINES = [b"GET /index.html HTTP/1.1 %d" % (number % 50) for number in range(2000)]


@pytest.fixture
def codecs() -> recordpress.CodecRegistry:
    found = recordpress.CodecRegistry()
    found.register(NAME, Brotli())
    return found


def test_a_record_set(codecs: recordpress.CodecRegistry) -> None:
    data = recordpress.write_records(LINES, compression_type=NAME, batch_records=500, codecs=codecs)
    assert recordpress.read_columns(data, ["value"], codecs=codecs)["value"].to_pylist() == LINES
    for batch in recordpress.read_batches(data):
        assert (batch.plugin_name, batch.records_count) == (NAME, 500)
        plain = recordpress.recompress(batch.data, "none", codecs=codecs)
        assert brotli.decompress(bytes(batch.payload)) == plain[61:]


@pytest.mark.parametrize("size", [0, 1, 1000, 70_000, 3_000_000])
@pytest.mark.parametrize("level", [None, 0, 9])
def test_sizes_and_levels(codecs: recordpress.CodecRegistry, size: int, level: int | None) -> None:
    payload = recordpress.compress(bytes(size), NAME, level, codecs=codecs)
    assert recordpress.decompress(payload, NAME, codecs=codecs) == bytes(size)
    with pytest.raises(recordpress.InvalidArgumentError, match="between 0 and 11"):
        recordpress.compress(b"", NAME, 12, codecs=codecs)


def test_a_payload_that_claims_too_much(codecs: recordpress.CodecRegistry) -> None:
    payload = brotli.compress(bytes(50_000_000), quality=1)
    with pytest.raises(recordpress.DecompressionError, match="larger than 1000000 bytes"):
        recordpress.decompress(payload, NAME, 1_000_000, codecs=codecs)


def test_damage(codecs: recordpress.CodecRegistry) -> None:
    payload = recordpress.compress(b"".join(LINES), NAME, codecs=codecs)
    for damaged in (payload[:-1], payload[:9], b"", b"no brotli", payload[:40] + b"\xff" * 9 + payload[49:]):
        with pytest.raises(recordpress.DecompressionError, match=NAME) as caught:
            recordpress.decompress(damaged, NAME, codecs=codecs)
        assert isinstance(caught.value.__cause__, Exception)


def test_the_command(tmp_path: Path) -> None:
    """The README's commands run in another process, in which only the option names the package."""
    source = tmp_path / "orders-0" / f"{0:020}.log"
    source.parent.mkdir()
    source.write_bytes(recordpress.write_records(LINES, compression_type="gzip", batch_records=500))
    plugin = ("--codec-plugin", "recordpress_codec_brotli:Brotli")

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "recordpress", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    copy = tmp_path / "archive" / "orders-0"
    assert run("transcode", source.parent, copy, "--codec", NAME, "--level", 9, *plugin).returncode == 0
    verified = run("verify", copy, "--check", "record", *plugin)
    assert verified.returncode == 0 and "2,000 records" in verified.stdout
    assert len(run("dump", copy, "--format", "jsonl", *plugin).stdout.splitlines()) == len(LINES)
    assert NAME in run("dump", copy).stderr


def test_the_examples() -> None:
    assert doctest.testmod(recordpress_codec_brotli).failed == 0
