"""Log directories by name, and transactions by their index and their markers, on what brokers left."""

import struct
from pathlib import Path

import pytest

import facts
import oracle
import recordpress
from recordpress.log.sidecars import AbortedTxn, TopicPartition, read_transaction_index

ENTRY = struct.Struct(">hqqqq")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("orders-0", TopicPartition("orders", 0)),
        ("a-b.c_d-12", TopicPartition("a-b.c_d", 12)),
        ("orders-0.5f1c8d9e0a7b4c3d2e1f0a9b8c7d6e5f-delete", None),
        ("orders-0.5f1c8d9e0a7b4c3d2e1f0a9b8c7d6e5f-future", None),
        ("orders-0.5f1c8d9e0a7b4c3d2e1f0a9b8c7d6e5f-stray", None),
        ("orders", None),
        ("-0", None),
        ("orders-", None),
        ("orders-\N{ARABIC-INDIC DIGIT ONE}", None),
    ],
)
def test_names_of_partition_directories(name: str, expected: TopicPartition | None) -> None:
    assert TopicPartition.of_directory(name) == expected
    assert expected is None or str(expected) == name


def test_a_log_dir_and_a_partition_directory(tmp_path: Path) -> None:
    for name in ("b-10/00000000000000000000.log", "b-2/00000000000000000007.log", "b-2/00000000000000000000.log"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    nine = "00000000000000000009.log"
    for name in (f"{nine}.deleted", f"{nine}.swap", "9.log", "leader-epoch-checkpoint"):
        (tmp_path / "b-2" / name).touch()
    (tmp_path / "empty-0").mkdir()
    (tmp_path / "recovery-point-offset-checkpoint").touch()
    two, ten = recordpress.open_log(tmp_path).partitions
    assert [(found.topic, found.partition) for found in (two, ten)] == [("b", 2), ("b", 10)]
    assert [segment.base_offset for segment in two.segments] == [0, 7]
    [alone] = recordpress.open_log(two.url).partitions
    assert repr(alone) == repr(two)


def test_no_partition(tmp_path: Path) -> None:
    with pytest.raises(recordpress.InvalidArgumentError, match="no partition found"):
        recordpress.open_log(tmp_path)
    with pytest.raises(FileNotFoundError):
        recordpress.open_log(tmp_path / "nowhere")


TRANSACTIONS = [partition for partition in oracle.PARTITIONS if str(partition).endswith("txn_topic-0")]


@oracle.each("partition", TRANSACTIONS)
def test_transaction_indexes_say_what_the_markers_say(partition: oracle.Partition, tmp_path: Path) -> None:
    [directory] = recordpress.open_log(partition.write_to(tmp_path)).partitions
    first: dict[int, int] = {}
    aborted = []
    for segment in directory.segments:
        for batch in recordpress.read_batches(Path(segment.path).read_bytes()):
            if batch.is_transactional and not batch.is_control:
                first.setdefault(batch.producer_id, batch.base_offset)
            elif batch.is_control:
                [marker] = batch
                started = first.pop(batch.producer_id, None)
                if recordpress.control_record(marker).type == "ABORT" and started is not None:
                    aborted.append((batch.producer_id, started, batch.base_offset))
    assert len(aborted) > 1
    assert [transaction[:3] for transaction in directory.transactions()] == aborted
    assert directory.last_stable_offset() == min(first.values(), default=None)


CONSUMED = [partition for partition in oracle.PARTITIONS if partition.entry.get("read_committed")]


@oracle.each("partition", CONSUMED)
def test_read_committed_is_what_the_consumer_returned(partition: oracle.Partition, tmp_path: Path) -> None:
    [directory] = recordpress.open_log(partition.write_to(tmp_path)).partitions
    data = b"".join(Path(segment.path).read_bytes() for segment in directory.segments)
    columns = recordpress.read_columns(
        data,
        ["offset", "key"],
        aborted_transactions=[transaction[:2] for transaction in directory.transactions()],
        end_offset=directory.last_stable_offset(),
    )
    pyarrow = pytest.importorskip("pyarrow")
    rows = [(row["offset"], facts.bytes_fact(row["key"])) for row in pyarrow.table(columns).to_pylist()]
    assert rows == [(row["offset"], row["key"]) for row in partition.consumed("read_committed")]


def open_and_ended(*ended: bool) -> bytes:
    """Two transactional producers, 20 records each, and for each whether its transaction ended."""
    data = b"".join(
        recordpress.write_records(
            [b"v"] * 20, producer_id=id, producer_epoch=0, base_sequence=0, is_transactional=True, base_offset=20 * id
        )
        for id in range(len(ended))
    )
    for id, is_ended in enumerate(ended):
        if is_ended:
            marker = recordpress.BatchBuilder(
                producer_id=id,
                producer_epoch=0,
                is_transactional=True,
                is_control=True,
                base_offset=20 * len(ended) + id,
            )
            marker.append_end_txn_marker(True, 0)
            data += marker.build()
    return data


@pytest.mark.parametrize(("ended", "expected"), [((True, True), None), ((True, False), 20), ((False, True), 0)])
def test_last_stable_offset(ended: tuple[bool, ...], expected: int | None, tmp_path: Path) -> None:
    directory = tmp_path / "t-0"
    directory.mkdir()
    (directory / "00000000000000000000.log").write_bytes(open_and_ended(*ended))
    (directory / "00000000000000000099.log").touch()
    [partition] = recordpress.open_log(directory).partitions
    assert partition.last_stable_offset() == expected


def test_last_stable_offset_names_the_file_of_a_damaged_segment(tmp_path: Path) -> None:
    directory = tmp_path / "t-0"
    directory.mkdir()
    path = directory / "00000000000000000000.log"
    path.write_bytes(bytes(99) + b"1")
    with pytest.raises(recordpress.CorruptRecordError) as caught:
        recordpress.open_log(directory).partitions[0].last_stable_offset()
    assert (caught.value.file, caught.value.position) == (str(path), 0)


def test_transaction_index(tmp_path: Path) -> None:
    path = tmp_path / "00000000000000000100.txnindex"
    assert read_transaction_index(path) == []
    good = ENTRY.pack(0, 4242, 100, 141, 100)
    path.write_bytes(good + ENTRY.pack(0, 7, 120, 150, 130))
    assert read_transaction_index(path, 100) == [AbortedTxn(4242, 100, 141, 100), AbortedTxn(7, 120, 150, 130)]
    for bad, position, field in (
        (good + good, 34 + 18, "lastOffset"),
        (good[:-1], 0, "version"),
        (good + b"\0", 34, "version"),
        (ENTRY.pack(256, 4242, 100, 141, 100), 0, "version"),
        (ENTRY.pack(0, 4242, 90, 99, 90), 18, "lastOffset"),
    ):
        path.write_bytes(bad)
        with pytest.raises(recordpress.CorruptRecordError) as caught:
            read_transaction_index(path, 100)
        assert (caught.value.file, caught.value.position, caught.value.field) == (str(path), position, field)


def test_an_open_transaction_begins_with_its_first_batch(tmp_path: Path) -> None:
    """Many batches of it, also in the next segment, and those of others between them, change nothing of that."""
    directory = tmp_path / "t-0"
    directory.mkdir()
    state = dict(producer_id=5, producer_epoch=0, is_transactional=True)
    transaction = [
        recordpress.write_records([b"v"] * 10, base_offset=offset, base_sequence=offset - 7, **state)
        for offset in (7, 17, 37)
    ]
    idempotent = recordpress.write_records(
        [b"v"] * 10, base_offset=27, producer_id=4, producer_epoch=0, base_sequence=0
    )
    plain = recordpress.write_records([b"v"] * 7)
    (directory / "00000000000000000000.log").write_bytes(plain + transaction[0] + transaction[1] + idempotent)
    (directory / "00000000000000000037.log").write_bytes(transaction[2])
    assert recordpress.open_log(directory).partitions[0].last_stable_offset() == 7


def test_an_index_belongs_to_its_segment(tmp_path: Path) -> None:
    directory = tmp_path / "t-0"
    directory.mkdir()
    (directory / "00000000000000000100.log").touch()
    index = directory / "00000000000000000100.txnindex"
    index.write_bytes(ENTRY.pack(0, 1, 50, 100, 50))
    assert recordpress.open_log(directory).partitions[0].transactions() == [AbortedTxn(1, 50, 100, 50)]
    index.write_bytes(ENTRY.pack(0, 1, 50, 99, 50))
    with pytest.raises(recordpress.CorruptRecordError, match="lastOffset 99 is below 100"):
        read_transaction_index(index)
    assert recordpress.open_log(directory).partitions[0].transactions() == []  # the markers tell, and there are none


@pytest.mark.parametrize("version", [b"\x00\x00", b"\xff\xff", b"\x80\x00", b"\x00\x01", b"\xff\x7f"])
def test_versions_that_are_read(version: bytes, tmp_path: Path) -> None:
    """Kafka's AbortedTxn takes the first byte for the version, and TransactionIndex refuses greater ones only."""
    path = tmp_path / "00000000000000000000.txnindex"
    path.write_bytes(version + ENTRY.pack(0, 4242, 100, 141, 100)[2:])
    assert read_transaction_index(path) == [AbortedTxn(4242, 100, 141, 100)]


@pytest.mark.parametrize("version", [b"\x01\x00", b"\x7f\xff"])
def test_versions_that_are_unknown(version: bytes, tmp_path: Path) -> None:
    path = tmp_path / "00000000000000000000.txnindex"
    path.write_bytes(version + ENTRY.pack(0, 4242, 100, 141, 100)[2:])
    with pytest.raises(recordpress.CorruptRecordError, match=f"version {version[0]} is unknown"):
        read_transaction_index(path)
