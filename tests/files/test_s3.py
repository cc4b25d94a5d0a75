"""Logs in an object store: a real S3 server on loopback, whose requests are counted."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import oracle
import recordpress
from files.conftest import S3Server
from patience import HANG
from recordpress.files import resolve

pytest.importorskip("pyarrow")
pytestmark = pytest.mark.slow

TXN = next(p for p in oracle.PARTITIONS if str(p).endswith("txn_topic-0") and p.entry.get("read_committed"))
SEGMENT = "00000000000000000000.log"
LARGE = 20 << 20


def large_log() -> bytes:
    """Batches of about 16 KB."""
    batch = recordpress.write_records([b"x" * 100] * 160, timestamps=[1700000000000] * 160)
    count = LARGE // len(batch)
    return b"".join((160 * i).to_bytes(8, "big") + batch[8:] for i in range(count))


def offset_index(data: bytes, every: int = 4096) -> bytes:
    found, last = b"", 0
    for batch in recordpress.read_batches(data):
        if batch.position - last > every:
            found += batch.last_offset.to_bytes(4, "big") + batch.position.to_bytes(4, "big")
            last = batch.position
    return found


@pytest.fixture(scope="module")
def data() -> bytes:
    return large_log()


def test_a_log_is_read_as_from_a_directory(s3: S3Server, tmp_path: Path) -> None:
    directory = TXN.write_to(tmp_path)
    for path in directory.iterdir():
        s3.put(f"logs/backup/{directory.name}/{path.name}", path.read_bytes())
    s3.put("logs/backup/other-topic.x-3/00000000000000000007.log", recordpress.write_records([b"a"], base_offset=7))
    here, there = recordpress.open_log(s3.url(f"logs/backup/{directory.name}")), recordpress.open_log(directory)
    for level in ("read_committed", "read_uncommitted"):
        assert here.read(isolation_level=level).to_pyarrow().equals(there.read(isolation_level=level).to_pyarrow())
    assert here.count() == there.count()
    both = recordpress.open_log(s3.url("logs/backup"))
    assert [str(partition) for partition in both.partitions] == ["other-topic.x-3", directory.name]
    assert both.partitions[0].url == "s3://logs/backup/other-topic.x-3"
    for place in ("logs/back*/other-*", "logs/backup/*-3", "logs/backup/other-topic.x-3/00000000000000000007.log"):
        assert [str(partition) for partition in recordpress.open_log(s3.url(place)).partitions] == ["other-topic.x-3"]


def test_opening_lists_each_directory_once_and_reads_no_data(s3: S3Server) -> None:
    for number in range(3):
        for base in range(0, 50, 10):
            s3.put(f"logs/t/orders-{number}/{base:020}.log", recordpress.write_records([b"a"] * 10, base_offset=base))
    s3.requests.clear()
    log = recordpress.open_log(s3.url("logs/t"))
    assert sum(segment.size or 0 for partition in log.partitions for segment in partition.segments) > 0
    assert len(s3.asked("LIST")) <= 5  # the three partitions, their parent, and whether that is a directory
    assert s3.asked("GET") == []


def test_directories_that_follow_one_another_are_listed_by_key(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages of seven keys, over what lies between the directories too; keys order `a-1/` after `a-1-x/`."""
    from recordpress.files import _arrow, _s3

    asked = []

    class Few:
        def __init__(self, client: Any) -> None:
            self.client = client

        def list_objects_v2(self, **given: Any) -> Any:
            asked.append(given)
            return self.client.list_objects_v2(MaxKeys=7, **given)

    places = ["a-1", "a-1-x", "a-10", "a-2", "b+c d&e-0", "\u00fc-3"]
    for place in [*places, "a-1-between"]:
        for name in ("0.log", "0.index", "1.log", "sub/x", "sub/y"):
            s3.put(f"logs/t/{place}/{name}", name.encode())
    s3.put("logs/t/a-15", b"a file")
    files, root = resolve(s3.url("logs/t"))
    paths = [f"{root}/{place}" for place in places]
    expected = [files.list(path) for path in paths]
    monkeypatch.setattr(_arrow, "s3_client", lambda filesystem: Few(_s3.s3_client(filesystem)))
    s3.requests.clear()
    assert list(files.list_each([paths[:4], paths[4:5], paths[5:]])) == expected
    assert len(s3.asked("LIST")) == len(asked) < 20
    assert [info.kind for info in expected[0]] == ["file", "file", "file", "directory"]


def test_a_full_read_streams_ahead_and_fetches_nothing_twice(s3: S3Server, data: bytes) -> None:
    s3.put(f"logs/t-0/{SEGMENT}", data)
    log = recordpress.open_log(s3.url("logs/t-0"))
    s3.requests.clear()
    rows = sum(columns.num_rows for columns in log.read(["offset"]))
    assert rows == recordpress.read_columns(data, ["offset"]).num_rows
    ranges = [part for _, part in s3.asked("GET")]
    piece = 8 << 20
    assert ranges == [f"bytes={start}-{min(start + piece, len(data)) - 1}" for start in range(0, len(data), piece)]


def test_headers_are_never_a_request_each(s3: S3Server, data: bytes) -> None:
    s3.put(f"logs/t-0/{SEGMENT}", data)
    log = recordpress.open_log(s3.url("logs/t-0"))
    s3.requests.clear()
    assert log.count() == recordpress.read_columns(data, ["offset"]).num_rows
    assert len(s3.asked("GET")) <= 4


def test_a_seek_is_an_index_and_a_range(s3: S3Server, data: bytes) -> None:
    s3.put(f"logs/t-0/{SEGMENT}", data)
    s3.put(f"logs/t-0/{SEGMENT.replace('.log', '.index')}", offset_index(data))
    log = recordpress.open_log(s3.url("logs/t-0"))
    last = recordpress.read_columns(data, ["offset"]).num_rows - 1
    s3.requests.clear()
    assert log.read(["offset"], start_offset=last - 100).to_pyarrow()["offset"].to_pylist() == list(
        range(last - 100, last + 1)
    )
    asked = s3.asked("GET")
    assert len(asked) == 3  # the index, the batch, and from there on
    bytes_asked = sum(int(part.split("-")[1]) - int(part.split("=")[1].split("-")[0]) + 1 for _, part in asked if part)
    assert bytes_asked < 1 << 20


def test_a_written_object_appears_whole(s3: S3Server) -> None:
    files, path = resolve(s3.url("logs/cold/t-0/a.log"))
    with files.create(path) as writer:
        writer.write(b"x" * (6 << 20))
        writer.write(b"y")
        assert "cold/t-0/a.log" not in s3.keys("logs")
        writer.publish()
    assert s3.get("logs/cold/t-0/a.log") == b"x" * (6 << 20) + b"y"
    with files.create(path) as writer:
        writer.write(b"not published")
    assert [key for key in s3.keys("logs") if key.endswith(".log") or key.count(".")] == ["cold/t-0/a.log"]
    assert s3.get("logs/cold/t-0/a.log")[:1] == b"x"


@pytest.mark.parametrize("status", ["403 Forbidden", "404 Not Found", "416 Range Not Satisfiable"])
def test_a_store_that_refuses_is_one_clear_error(status: str, s3: S3Server, data: bytes) -> None:
    s3.put(f"logs/t-0/{SEGMENT}", data[: 1 << 20])
    log = recordpress.open_log(s3.url("logs/t-0"))
    s3.answers += [status] * 50
    with pytest.raises(recordpress.StorageError) as caught:
        list(log.read())
    assert caught.value.file == f"s3://logs/t-0/{SEGMENT}"
    assert "reading a file failed" in str(caught.value)


def test_a_store_that_fails_for_a_moment_is_asked_again(s3: S3Server) -> None:
    s3.put(f"logs/t-0/{SEGMENT}", recordpress.write_records([b"a"] * 10))
    log = recordpress.open_log(s3.url("logs/t-0"))
    s3.answers += ["503 Slow Down"]
    assert sum(columns.num_rows for columns in log.read()) == 10


def test_what_is_not_there(s3: S3Server) -> None:
    with pytest.raises(FileNotFoundError, match="s3://logs/nowhere"):
        recordpress.open_log(s3.url("logs/nowhere"))
    with pytest.raises((FileNotFoundError, recordpress.InvalidArgumentError)):
        recordpress.open_log(s3.url("missing/logs"))


@pytest.mark.slow
def test_an_interrupted_reader_leaves_no_thread(s3: S3Server, data: bytes) -> None:
    """In a separate process: Ctrl-C while it reads."""
    s3.put(f"logs/t-0/{SEGMENT}", data)
    script = """
import signal, sys, threading
import recordpress
reader = recordpress.open_log(sys.argv[1]).read()
next(reader)
signal.setitimer(signal.ITIMER_REAL, 0.01)
signal.signal(signal.SIGALRM, signal.default_int_handler)
try:
    for _ in range(1000):
        for columns in reader: pass
        reader = recordpress.open_log(sys.argv[1]).read()
except KeyboardInterrupt:
    reader.close()
    print([t.name for t in threading.enumerate() if "read-ahead" in t.name])
"""
    done = subprocess.run(
        [sys.executable, "-c", script, s3.url("logs/t-0")], capture_output=True, text=True, timeout=HANG, check=False
    )
    assert done.stdout.strip() == "[]", done.stderr


def test_hadoops_names_of_schemes(s3: S3Server) -> None:
    s3.put(f"logs/t-0/{SEGMENT}", recordpress.write_records([b"a"]))
    assert recordpress.open_log(s3.url("logs/t-0").replace("s3://", "s3a://")).count() == 1


def test_a_file_system_that_is_given(s3: S3Server) -> None:
    from pyarrow.fs import S3FileSystem

    s3.put(f"logs/t-0/{SEGMENT}", recordpress.write_records([b"a"]))
    given: Any = S3FileSystem(
        access_key="key", secret_key="secret", endpoint_override=s3.endpoint.removeprefix("http://"), scheme="http"
    )
    log = recordpress.open_log("logs/t-0", filesystem=given)
    assert (log.count(), log.partitions[0].url) == (1, "s3://logs/t-0")


def test_a_store_has_one_client(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """boto3 takes a third of a second to make one."""
    session, made = pytest.importorskip("boto3").session.Session, list[str]()
    make = session.client

    def counted(own: Any, service: str, **options: Any) -> Any:
        made.append(service)
        return make(own, service, **options)

    monkeypatch.setattr(session, "client", counted)
    files, root = resolve(s3.url("logs/t"))
    files.create_new(f"{root}/a", b"")
    files.create_new(f"{root}/b", b"")
    assert (made, s3.keys("logs")) == (["s3"], ["t/a", "t/b"])
