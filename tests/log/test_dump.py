"""What DumpLogSegments of Kafka 3.9.2 and 4.3.1 printed of the records and batches, byte for byte."""

from pathlib import Path

import pytest

import kpress
import oracle
from kpress.log import DumpOptions, SegmentDump

SAME_TEXT = [
    partition
    for partition in oracle.PARTITIONS
    if partition.entry["broker"] in ("kafka-3.9.2", "kafka-4.3.1")
    and partition.entry.get("dump_log_segments")
    and not partition.entry["topic"].startswith("__")
]
BATCH, RECORD = (b"baseOffset: ", b"offset: "), b"| "


def stored(text: bytes) -> list[bytes]:
    """The lines of batches and records in .log files; those of an index look like a batch's without its size."""
    lines = text.splitlines(keepends=True)
    return [line for line in lines if line.startswith(RECORD) or (line.startswith(BATCH) and b" magic: " in line)]


def dumped(path: Path, options: DumpOptions) -> list[bytes]:
    [partition] = kpress.open_log(path).partitions
    text = b"".join(part for segment in partition.segments for part in SegmentDump(segment, options))
    return text.splitlines(keepends=True)


@pytest.mark.parametrize("partition", SAME_TEXT, ids=str)
def test_real_directories(partition: oracle.Partition, tmp_path: Path) -> None:
    text = oracle.read("segments/" + partition.entry["dump_log_segments"])
    directory = partition.write_to(tmp_path)
    expected = stored(text)
    assert expected
    assert dumped(directory, DumpOptions(print_data_log=True)) == expected
    batches = [line for line in expected if not line.startswith(RECORD)]
    assert dumped(directory, DumpOptions(deep_iteration=False)) == batches
