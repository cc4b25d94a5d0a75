"""Directories that hold what Kafka never puts there: one clear error, or a meaning that the docstring names."""

import os
import socket
from pathlib import Path

import pytest

import recordpress
from recordpress.log.sidecars import TopicPartition, read_transaction_index

SEGMENT = "00000000000000000000.log"
RECORDS = recordpress.write_records([b"a", b"b"])


def partition(path: Path, name: str = SEGMENT) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    (path / name).write_bytes(RECORDS)
    return path


def listed(path: Path) -> list[str]:
    return [str(found) for found in recordpress.open_log(path).partitions]


def refused(path: Path, *parts: str) -> recordpress.InvalidArgumentError:
    """The error of listing `path`, whose text has all these parts and can be printed."""
    with pytest.raises(recordpress.InvalidArgumentError) as caught:
        recordpress.open_log(path)
    text = str(caught.value).encode().decode()
    assert all(part in text for part in parts), text
    return caught.value


# ---- names


@pytest.mark.parametrize("name", ["d-99999999999", "d-2147483648", "d-00", "d-01", "caf\udce9-0"])
def test_names_that_kafka_gives_no_partition(name: str, tmp_path: Path) -> None:
    assert TopicPartition.of_directory(name) is None
    (tmp_path / name).mkdir()
    partition(tmp_path / "d-0")
    assert listed(tmp_path) == ["d-0"]  # without a segment it is no matter
    partition(tmp_path / name)
    shown = name.replace("\udce9", "\\xe9")
    error = refused(tmp_path, shown, "its name is not that of a partition")
    assert error.file == str(tmp_path / shown)
    refused(tmp_path / name, shown)


def test_the_largest_number_of_a_partition(tmp_path: Path) -> None:
    partition(tmp_path / "d-2147483647")
    assert listed(tmp_path) == ["d-2147483647"]


def test_the_largest_offset_of_a_segment(tmp_path: Path) -> None:
    partition(tmp_path / "d-0", f"{2**63 - 1:020}.log")
    assert [segment.base_offset for segment in recordpress.open_log(tmp_path).partitions[0].segments] == [2**63 - 1]
    partition(tmp_path / "d-0", f"{2**63:020}.log")
    refused(tmp_path, f"{2**63}.log", "greater than any offset")


def test_a_partition_inside_a_partition(tmp_path: Path) -> None:
    partition(tmp_path / "a-0" / "b-0")
    assert listed(tmp_path / "a-0") == ["b-0"]  # a log dir may have such a name
    partition(tmp_path / "a-0")
    for path in (tmp_path, tmp_path / "a-0"):
        assert refused(path, "inside the partition").file == str(tmp_path / "a-0" / "b-0")


# ---- what is not a file


@pytest.mark.parametrize(
    ("name", "meaning"),
    [
        ("00000000000000000000.index", "offset index"),
        ("00000000000000000000.timeindex", "time index"),
        ("00000000000000000000.txnindex", "transaction index"),
        ("00000000000000000000.snapshot", "producer state"),
        ("leader-epoch-checkpoint", "leader epochs"),
        ("partition.metadata", "metadata"),
        ("meta.properties", "is neither a directory nor a .log file"),
    ],
)
def test_a_file_is_no_log_dir(name: str, meaning: str, tmp_path: Path) -> None:
    (tmp_path / name).touch()
    refused(tmp_path / name, meaning)


@pytest.mark.parametrize("name", ["00000000000000000000.index", "00000000000000000007.snapshot", "partition.metadata"])
def test_a_file_that_holds_no_records_is_not_read_as_if_it_did(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(bytes(100))
    with open(path, "rb") as file, pytest.raises(recordpress.InvalidArgumentError, match="without records") as caught:
        recordpress.iter_columns(file)
    assert (caught.value.file, caught.value.field) == (str(path), "source")
    for call in (recordpress.log.FileRecords, recordpress.open_log):
        with pytest.raises(recordpress.InvalidArgumentError, match="without records") as caught:
            call(path)
        assert caught.value.field == "path"


def make_directory(path: Path) -> None:
    path.mkdir()


def make_socket(path: Path) -> None:
    cwd = os.getcwd()
    os.chdir(path.parent)  # a socket's path may have 108 bytes
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(cwd)


ODD = [(make_directory, "a directory"), (os.mkfifo, "a named pipe"), (make_socket, "a socket")]


@pytest.mark.parametrize(("make", "kind"), ODD)
def test_a_segment_that_is_not_a_file(make, kind: str, tmp_path: Path) -> None:
    odd = partition(tmp_path / "d-0") / "00000000000000000002.log"
    make(odd)
    assert refused(tmp_path, f"{odd} is {kind}, not a file").file == str(odd)


@pytest.mark.parametrize(("make", "kind"), ODD)
def test_an_index_that_is_not_a_file(make, kind: str, tmp_path: Path) -> None:
    index = partition(tmp_path / "d-0") / "00000000000000000000.txnindex"
    make(index)
    [found] = recordpress.open_log(tmp_path).partitions
    with pytest.raises(recordpress.InvalidArgumentError, match=f"is {kind}, not a file"):
        read_transaction_index(index)
    assert found.transactions() == []  # as without an index: the markers decide


# ---- links


@pytest.mark.parametrize("name", ["partition.metadata", "00000000000000000007.log", "x.snapshot", "anything"])
def test_a_link_that_leaves_the_directory(name: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(RECORDS)
    link = partition(tmp_path / "logs" / "d-0") / name
    link.symlink_to(Path("..") / ".." / "secret")
    for path in (tmp_path / "logs", tmp_path / "logs" / "d-0"):
        error = refused(path, str(link), str(secret), "outside")
        assert error.file == str(link)


def test_a_directory_that_is_a_link(tmp_path: Path) -> None:
    partition(tmp_path / "elsewhere" / "d-0")
    partition(tmp_path / "logs" / "e-0")
    link = tmp_path / "logs" / "d-0"
    link.symlink_to(tmp_path / "elsewhere" / "d-0")
    refused(tmp_path / "logs", str(link), "outside")
    assert listed(link) == ["d-0"]  # what was given may itself be a link


def test_links_inside_of_the_directory(tmp_path: Path) -> None:
    directory = partition(tmp_path / "logs" / "d-0")
    (tmp_path / "logs" / "metadata").write_text("version: 0")
    (directory / "partition.metadata").symlink_to(tmp_path / "logs" / "metadata")
    (directory / "00000000000000000002.log").symlink_to(SEGMENT)
    [found] = recordpress.open_log(tmp_path / "logs").partitions
    assert len(found.segments) == 2


@pytest.mark.parametrize("target", ["nothing", "loop.log", "00000000000000000007.log"])
def test_a_link_to_nothing(target: str, tmp_path: Path) -> None:
    directory = partition(tmp_path / "d-0")
    (directory / "00000000000000000007.log").symlink_to(target)
    (directory / "loop.log").symlink_to("00000000000000000007.log")
    refused(tmp_path, "symbolic link", "does not exist")


# ---- a file that changes


def test_a_segment_that_becomes_shorter_while_it_is_read(tmp_path: Path) -> None:
    """An error that names the file, and no signal, as a mapped file would give."""
    directory = tmp_path / "d-0"
    directory.mkdir()
    path = directory / SEGMENT
    path.write_bytes(RECORDS * 1000)
    [found] = recordpress.open_log(directory).partitions
    with recordpress.log.FileRecords(path) as file:
        os.truncate(path, 500)
        with pytest.raises(recordpress.CorruptRecordError, match="truncated while it was read") as caught:
            list(file.chunks())
    assert (caught.value.file, caught.value.position) == (str(path), 500)
    assert found.last_stable_offset() is None
