"""Flags of Kafka's DumpLogSegments (4.3.1) beside those that show records as text: decoders, and checks of indexes."""

from __future__ import annotations

import base64
import struct
import subprocess
import sys
from pathlib import Path

import pytest

import recordpress
from recordpress.log import DumpOptions, Finding, SegmentDump
from recordpress.log.dump.sidecar_lines import sidecar_lines

T = 1_700_000_000_000
NAME = "0" * 20
# What RemoteLogMetadataSerde of Kafka 4.3.1 reads of these bytes, and how that prints itself, or why it cannot be read.
REMOTE = [line.split(" ", 1) for line in (Path(__file__).parent / "remote_log_metadata.txt").read_text().splitlines()]
# Of the log below: --print-data-log, --key-decoder-class org.apache.kafka.tools.api.IntegerDecoder and LongDecoder.
NUMBERS = (Path(__file__).parent / "dumped_numbers.txt").read_text()


@pytest.fixture
def partition(tmp_path: Path) -> Path:
    """Three batches of three records, with both indexes as a broker would write them."""
    directory = tmp_path / "orders-0"
    directory.mkdir()
    data = b"".join(
        recordpress.write_records(
            [struct.pack(">q", -5 * n) if n % 2 else None for n in range(at, at + 3)],
            [struct.pack(">i", n - 4) for n in range(at, at + 3)],
            range(T + at, T + at + 3),
            base_offset=at,
            compression_type="lz4" if at else "none",
        )
        for at in (0, 3, 6)
    )
    (directory / f"{NAME}.log").write_bytes(data)
    batches = list(recordpress.read_batches(data))
    index = b"".join(struct.pack(">ii", batch.last_offset, batch.position) for batch in batches[1:])
    times = b"".join(struct.pack(">qi", T + batch.last_offset, batch.last_offset) for batch in batches)
    (directory / f"{NAME}.index").write_bytes(index)
    (directory / f"{NAME}.timeindex").write_bytes(times)
    return directory


def run(*arguments: object, fails: int = 0) -> tuple[str, str]:
    command = [sys.executable, "-m", "recordpress", "dump", "--format", "kafka", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == fails, done.stderr
    return done.stdout, done.stderr


def changed(path: Path, at: int, byte: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] = byte
    path.write_bytes(data)


@pytest.mark.parametrize("line", range(len(REMOTE)))
def test_records_of_tiered_storage(line: int, tmp_path: Path) -> None:
    encoded, text = REMOTE[line]
    path = tmp_path / f"{NAME}.log"
    path.write_bytes(recordpress.write_records([base64.b64decode(encoded)]))
    [segment] = recordpress.open_log(path).partitions[0].segments
    options = DumpOptions(print_data_log=True, skip_record_metadata=True, decoder="remote-log-metadata")
    assert b"".join(SegmentDump(segment, options)).splitlines()[1:] == [b"| payload: " + text.encode()]


@pytest.mark.slow
def test_the_flag_of_that_decoder(tmp_path: Path) -> None:
    path = tmp_path / f"{NAME}.log"
    path.write_bytes(recordpress.write_records([base64.b64decode(REMOTE[0][0])], timestamps=T))
    shown, _ = run("--files", path, "--remote-log-metadata-decoder")
    assert shown.endswith(f" headerKeys: [] payload: {REMOTE[0][1]}\n")


@pytest.mark.slow
@pytest.mark.parametrize("package", ["org.apache.kafka.tools.api.", "kafka.serializer.", ""])
def test_keys_and_values_are_numbers(partition: Path, package: str) -> None:
    decoders = ("--key-decoder-class", f"{package}IntegerDecoder", "--value-decoder-class", f"{package}LongDecoder")
    shown, _ = run("--files", partition / f"{NAME}.log", "--print-data-log", *decoders)
    head, numbers = shown.split("\n", 2)[:2], shown.split("\n", 2)[2]
    assert head == [f"Dumping {partition / NAME}.log", "Log starting offset: 0"]
    assert numbers == NUMBERS
    as_bytes, _ = run("--files", partition / f"{NAME}.log", "--print-data-log", "--key-decoder-class", "DefaultDecoder")
    assert " key: fffffffd payload: " in as_bytes


@pytest.mark.slow
def test_a_number_that_is_cut_and_a_class_that_is_not_known(partition: Path) -> None:
    log = ("--files", partition / f"{NAME}.log", "--print-data-log")
    shown, said = run(*log, "--key-decoder-class", "LongDecoder", fails=1)
    assert "has 4 bytes, but the long decoder needs 8" in said
    assert "\nbaseOffset: 0 " in shown
    _, said = run(*log, "--key-decoder-class", "com.example.Mine", fails=2)
    assert "StringDecoder, IntegerDecoder, LongDecoder, DefaultDecoder" in said


@pytest.mark.slow
def test_indexes_are_compared_with_their_log(partition: Path) -> None:
    """The tool says of them: Index offset: 4, log offset: 5; Index timestamp: ...001, log timestamp: ...002."""
    index, times = partition / f"{NAME}.index", partition / f"{NAME}.timeindex"
    both = ("--files", f"{index},{times}")
    names = f"Dumping {index}\nDumping {times}\n"
    assert run(*both, "--verify-index-only")[0] == names
    assert len(run(*both)[0].splitlines()) == 7
    changed(index, 3, 4)
    changed(times, 7, times.read_bytes()[7] - 1)
    shown, said = run(*both, "--verify-index-only", fails=1)
    assert shown == names
    assert "offset 4: no batch at or after position 102 has this offset" in said
    assert f"timestamp {T + 1}, but the largest up to this offset is {T + 2}" in said
    assert run(*both, "--index-sanity-check")[0].count("passed sanity check") == 2
    (partition / f"{NAME}.log").unlink()
    assert len(run(*both)[0].splitlines()) == 7
    assert "No such file" in run(*both, "--verify-index-only", fails=3)[1]


@pytest.mark.parametrize("flags", [{}, {"sanity_check": True}, {"verify_only": True}])
def test_an_index_without_entries(flags: dict[str, bool], tmp_path: Path) -> None:
    """The tool looks for entries before it looks at its flags, but in an offset index alone."""
    for suffix in ("log", "index", "timeindex"):
        (tmp_path / f"{NAME}.{suffix}").write_bytes(b"")
    index, times = tmp_path / f"{NAME}.index", tmp_path / f"{NAME}.timeindex"
    assert list(sidecar_lines(index, **flags)) == [f"{index} is empty.\n"]
    assert list(sidecar_lines(times, **flags)) == [f"{times} passed sanity check.\n"] * ("sanity_check" in flags)


@pytest.mark.slow
def test_a_batch_that_is_larger_than_is_allowed(partition: Path) -> None:
    """The tool ends with a NoSuchElementException."""
    findings: list[Finding] = []
    index = partition / f"{NAME}.index"
    assert len(list(sidecar_lines(index, max_message_bytes=120, findings=findings))) == 2
    assert [(finding.position, finding.rule) for finding in findings] == [(102, "max-message-size")]
    assert "125 bytes, more than the allowed 120" in run("--files", index, "--max-message-size", 120, fails=1)[1]


@pytest.mark.slow
def test_flags_of_the_tool_need_its_format(partition: Path) -> None:
    for flag in (["--verify-index-only"], ["--max-message-size", "5"], ["--key-decoder-class", "LongDecoder"]):
        done = subprocess.run(
            [sys.executable, "-m", "recordpress", "dump", str(partition), *flag],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2 and "needs --format kafka" in done.stderr
