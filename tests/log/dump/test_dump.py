"""What DumpLogSegments of Kafka 3.9.2 and 4.3.1 printed of the records and batches, byte for byte."""

import json
from pathlib import Path
from typing import Any

import pytest

import oracle
import recordpress
from recordpress.errors import RecordpressError
from recordpress.log import DumpOptions, SegmentDump
from recordpress.log.dump._messages import schema
from recordpress.log.dump.sidecar_lines import is_sidecar, sidecar_lines

SAME_TEXT = [
    partition
    for partition in oracle.PARTITIONS
    if partition.entry["broker"] in ("kafka-3.9.2", "kafka-4.3.1")
    and partition.entry.get("dump_log_segments")
    and not partition.entry["topic"].startswith("__")
]
METADATA = [
    partition
    for partition in oracle.PARTITIONS
    if partition.entry["broker"] == "kafka-4.3.1" and partition.entry["topic"] == "__cluster_metadata"
]

SEGMENT = "00000000000000000000.log"
BATCH, RECORD = (b"baseOffset: ", b"offset: "), b"| "


def stored(text: bytes) -> list[bytes]:
    """The lines of batches and records in .log files; those of an index look like a batch's without its size."""
    lines = text.splitlines(keepends=True)
    return [line for line in lines if line.startswith(RECORD) or (line.startswith(BATCH) and b" magic: " in line)]


def dumped(path: Path, options: DumpOptions) -> list[bytes]:
    [partition] = recordpress.open_log(path).partitions
    text = b"".join(part for segment in partition.segments for part in SegmentDump(segment, options))
    return text.splitlines(keepends=True)


@oracle.each("partition", SAME_TEXT)
def test_real_directories(partition: oracle.Partition, tmp_path: Path) -> None:
    text = oracle.read("segments/" + partition.entry["dump_log_segments"])
    directory = partition.write_to(tmp_path)
    expected = stored(text)
    assert expected
    assert dumped(directory, DumpOptions(print_data_log=True)) == expected
    batches = [line for line in expected if not line.startswith(RECORD)]
    assert dumped(directory, DumpOptions(deep_iteration=False)) == batches


def sections(text: bytes) -> dict[str, str]:
    """What was printed of each file."""
    parts = text.decode("utf-8", "replace").split("Dumping ")[1:]
    return {name.rpartition("/")[2]: lines for name, _, lines in (part.partition("\n") for part in parts)}


@oracle.each("partition", [*SAME_TEXT, *METADATA])
def test_files_beside_a_log(partition: oracle.Partition, tmp_path: Path) -> None:
    directory = partition.write_to(tmp_path)
    told = sections(oracle.read("segments/" + partition.entry["dump_log_segments"]))
    checked = 0
    for path in sorted(directory.iterdir()):
        if is_sidecar(path) and path.name in told:
            expected = told[path.name].replace(f"{directory.name}/{path.name}", str(path))  # called from the log dir
            assert "".join(sidecar_lines(path)) == expected, path.name
            checked += 1
    assert checked > 0
    index = next(directory.glob("*.index"))
    found = "passed sanity check" if index.stat().st_size else "is empty"
    assert list(sidecar_lines(index, sanity_check=True)) == [f"{index} {found}.\n"]


@pytest.mark.parametrize("entry", oracle.shipped_manifest()["damaged"], ids=lambda entry: entry["dir"])
def test_damaged_segments(entry: oracle.Facts, tmp_path: Path) -> None:
    """The lines up to where the tool gives up are the same. What follows them is told."""
    name = Path(entry["source"]).name
    directory = tmp_path / "t-0"
    directory.mkdir()
    (directory / name).write_bytes(oracle.read(f"segments/{entry['dir']}/{name}"))
    [partition] = recordpress.open_log(directory).partitions
    dump = SegmentDump(partition.segments[0], DumpOptions(print_data_log=True))
    lines: list[bytes] = []
    failed = False
    try:
        for part in dump:
            lines += part.splitlines(keepends=True)
    except RecordpressError:
        failed = True
    assert lines == stored(oracle.read(f"segments/{entry['dump']}"))
    changes_no_size = ("flip_crc", "flip_payload", "flip_leader_epoch")  # the lines say isvalid: false, or are as ever
    assert failed or dump.findings or entry["name"] in changes_no_size


def test_part_of_a_segment(tmp_path: Path) -> None:
    directory = next(p for p in SAME_TEXT if p.entry["topic"] == "txn_topic").write_to(tmp_path)
    batches = dumped(directory, DumpOptions(deep_iteration=False))
    assert len(batches) > 20
    log = directory / f"{0:020}.log"
    rows = recordpress.batch_table(log.read_bytes()).to_numpy()
    between = DumpOptions(deep_iteration=False, start_offset=rows["baseOffset"][1], end_offset=rows["baseOffset"][3])
    assert dumped(directory, between) == batches[1:3]
    two = int(rows["position"][2])
    for most, count in ((two, 2), (two - 1, 1)):
        first = dumped(log, DumpOptions(deep_iteration=False, max_bytes=most))
        assert first == batches[:count]


@pytest.mark.parametrize("codec", ["none", "gzip"])
@pytest.mark.parametrize("magic", [0, 1])
def test_legacy_messages(magic: int, codec: str, tmp_path: Path) -> None:
    """As DumpLogSegments.printRecordMetadata has it: each message says whether its checksum is right."""
    directory = tmp_path / "t-0"
    directory.mkdir()
    times = [5, 6] if magic else None
    data = recordpress.write_records([b"a", None], [b"k", None], times, magic=magic, compression_type=codec)  # type: ignore[call-overload]
    (directory / f"{0:020}.log").write_bytes(data)
    lines = [line for line in dumped(directory, DumpOptions(print_data_log=True)) if line.startswith(RECORD)]
    kind = b"CreateTime: %d" if magic else b"NoTimestampType: -1"
    sizes_of = (b"keySize: 1 valueSize: 1", b"keySize: -1 valueSize: -1")
    contents_of = (b" key: k payload: a", b"")
    for number, (line, sizes, contents) in enumerate(zip(lines, sizes_of, contents_of, strict=True)):
        shown = kind % (5 + number) if magic else kind
        start = b"| offset: %d %s %s isValid: true crc: " % (number, shown, sizes)
        assert line.startswith(start)
        assert line[len(start) :].lstrip(b"0123456789") == contents + b"\n"


# ---- internal topics

INTERNAL: list[tuple[oracle.Partition, str]] = [
    (partition, decoder)
    for partition in oracle.PARTITIONS
    if partition.entry["broker"] == "kafka-4.3.1" and partition.entry.get("dump_log_segments")
    for topic, decoder in (("__transaction_state", "transaction-log"), ("__cluster_metadata", "cluster-metadata"))
    if partition.entry["topic"] == topic
]
# Drawn by tests/compat/test_internal_topics.py, some of them damaged, and what DumpLogSegments of Kafka 4.4.0 printed.
DRAWN = json.loads((Path(__file__).parent / "internal_records.json").read_text())


@pytest.mark.parametrize(("partition", "decoder"), INTERNAL, ids=str)
def test_internal_topics(partition: oracle.Partition, decoder: Any, tmp_path: Path) -> None:
    expected = stored(partition.dumped())
    assert expected
    assert dumped(partition.write_to(tmp_path), DumpOptions(print_data_log=True, decoder=decoder)) == expected


@pytest.mark.parametrize("drawn", DRAWN, ids=lambda drawn: drawn["decoder"])
def test_drawn_records_of_internal_topics(drawn: dict[str, Any], tmp_path: Path) -> None:
    pairs = [[None if text is None else bytes.fromhex(text) for text in record[:2]] for record in drawn["records"]]
    keys, values = zip(*pairs, strict=True)
    (tmp_path / SEGMENT).write_bytes(recordpress.write_records(values, keys, [5] * len(pairs)))
    lines = dumped(tmp_path, DumpOptions(print_data_log=True, decoder=drawn["decoder"]))[1:]
    assert [line.decode().removesuffix("\n") for line in lines] == [record[2] for record in drawn["records"]]


def test_a_record_of_a_coordinator_without_a_key(tmp_path: Path) -> None:
    """There the tool ends too."""
    (tmp_path / SEGMENT).write_bytes(recordpress.write_records([b"v"], [None], [5]))
    with pytest.raises(recordpress.InvalidRecordError, match="it has no key") as caught:
        dumped(tmp_path, DumpOptions(print_data_log=True, decoder="offsets"))
    assert (caught.value.offset, caught.value.field) == (0, "key")


@pytest.mark.parametrize("magic", [0, 1])
def test_old_messages_of_an_internal_topic(magic: int, tmp_path: Path) -> None:
    key = bytes.fromhex("0000" + "000161" * 2 + "00000007")
    value = bytes.fromhex("0000" + "00" * 7 + "2a0000" + "00" * 8)
    times = [5] if magic else None
    data = recordpress.write_records([value], [key], times, magic=magic, compression_type="gzip")  # type: ignore[call-overload]
    (tmp_path / SEGMENT).write_bytes(data)
    [_, line] = dumped(tmp_path, DumpOptions(print_data_log=True, decoder="offsets"))
    assert b" isValid: true crc: " in line
    assert line.endswith(
        b' key: {"type":"0","data":{"group":"a","topic":"a","partition":7}} '
        b'payload: {"version":"0","data":{"offset":42,"metadata":"","commitTimestamp":0}}\n'
    )


# ---- KRaft's own records

# What StorageTool of Kafka 4.3.1 wrote (format --standalone): the first snapshot of a quorum of one.
SNAPSHOT = bytes.fromhex(
    "00000000000000000000009a00000000029ab1e554002000000002000001a2027cd049000001a2027cd049ffffffffffffff"
    "ffffffffffffff000000032a0000000800000003160000000001a2027ccfed00001e00000208000000050a00000001000082"
    "0100000408000000066e00000200000bb84af0437ffad74596846036da9d1fd6f3020b434f4e54524f4c4c45520a3132372e"
    "302e302e3198b500000000010000000000000000000000030000003f000000000276dd846c002000000000000001a2027cd0"
    "ca000001a2027cd0caffffffffffffffffffffffffffff000000011a00000008000000040600000000"
)
VOTERS = (
    b'{"version":0,"voters":[{"voterId":3000,"voterDirectoryId":"SvBDf_rXRZaEYDbanR_W8w","endpoints":[{"name":"CONTROLLER",'
    b'"host":"127.0.0.1","port":39093}],"kRaftVersionFeature":{"minSupportedVersion":0,"maxSupportedVersion":1}}]}'
)
SNAPSHOT_LINES = [
    b"| offset: 0 CreateTime: 1795338063945 keySize: 4 valueSize: 11 sequence: -1 headerKeys: [] "
    b'SnapshotHeader {"version":0,"lastContainedLogTimestamp":1795338063853}\n',
    b"| offset: 1 CreateTime: 1795338063945 keySize: 4 valueSize: 5 sequence: -1 headerKeys: [] "
    b'KRaftVersion {"version":0,"kRaftVersion":1}\n',
    b"| offset: 2 CreateTime: 1795338063945 keySize: 4 valueSize: 55 sequence: -1 headerKeys: [] KRaftVoters "
    + VOTERS
    + b"\n",
    b"| offset: 3 CreateTime: 1795338064074 keySize: 4 valueSize: 3 sequence: -1 headerKeys: [] "
    b'SnapshotFooter {"version":0}\n',
]


@oracle.each("partition", METADATA)
def test_batches_and_control_records_of_a_quorum(partition: oracle.Partition, tmp_path: Path) -> None:
    """The stored text has the other records decoded."""
    expected = stored(oracle.read("segments/" + partition.entry["dump_log_segments"]))
    found = dumped(partition.write_to(tmp_path), DumpOptions(print_data_log=True))
    for kind in (b" magic: ", b" LeaderChange: "):
        lines = [line for line in found if kind in line]
        assert lines
        assert lines == [line for line in expected if kind in line]


def test_a_snapshot_of_a_quorum(tmp_path: Path) -> None:
    (tmp_path / SEGMENT).write_bytes(SNAPSHOT)
    assert [line for line in dumped(tmp_path, DumpOptions()) if line.startswith(RECORD)] == SNAPSHOT_LINES


@pytest.mark.parametrize("end", range(3, 55, 4))
def test_a_control_record_that_ends_too_early(end: int, tmp_path: Path) -> None:
    [first, _] = recordpress.read_batches(SNAPSHOT)
    voters = list(first)[2]
    assert voters.value is not None
    builder = recordpress.BatchBuilder(is_control=True)
    builder.append_control("KRAFT_VOTERS", voters.value[:end])
    (tmp_path / SEGMENT).write_bytes(builder.build())
    reasons = r"is not a KRaftVoters record: (it ends|Error reading|Tried)"
    with pytest.raises(recordpress.InvalidRecordError, match=reasons) as caught:
        dumped(tmp_path, DumpOptions())
    assert caught.value.offset == 0


@pytest.mark.parametrize("text", ["no versions", "0\n  a field that is none"])
def test_a_line_that_is_no_schema_is_named(text: str) -> None:
    with pytest.raises(recordpress.InvalidArgumentError, match=r"is not a line of a schema") as caught:
        schema(text)
    assert caught.value.field == "text"
