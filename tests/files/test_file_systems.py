"""File systems: each reads the bytes that another library wrote, and its files appear complete or not at all."""

import os
import pickle
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import recordpress
from recordpress.files import (
    Buffered,
    Fence,
    FileInfo,
    FileSystem,
    LocalFileSystem,
    RandomAccessFile,
    Walked,
    read_ahead,
    resolve,
)

pa_fs = pytest.importorskip("pyarrow.fs")
fsspec = pytest.importorskip("fsspec")

DATA = bytes(range(256)) * 100


@dataclass
class Store:
    """A file system of ours, and another library's way to the same bytes."""

    files: FileSystem
    root: str
    put: Callable[[str, bytes], object]
    get: Callable[[str], bytes]
    names: Callable[[], set[str]]


def on_disk(files: FileSystem, root: str, place: Path) -> Store:
    def put(name: str, data: bytes) -> None:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(data)

    return Store(files, root, put, lambda name: (place / name).read_bytes(), lambda: set(os.listdir(place)))


def in_memory() -> Store:
    memory = fsspec.filesystem("memory")
    memory.store.clear()
    memory.pseudo_dirs[:] = [""]
    memory.makedirs("/logs")
    return Store(
        resolve("/logs", memory)[0],
        "/logs",
        lambda name, data: memory.pipe_file(f"/logs/{name}", data),
        lambda name: memory.cat_file(f"/logs/{name}"),
        lambda: {path.rpartition("/")[2] for path in memory.ls("/logs", detail=False)},
    )


def by_arrow(store: Any, root: str) -> Store:
    """A store without another library's way to it."""

    def put(name: str, data: bytes) -> None:
        store.create_dir(f"{root}/{name}".rpartition("/")[0])
        with store.open_output_stream(f"{root}/{name}") as file:
            file.write(data)

    def get(name: str) -> bytes:
        with store.open_input_file(f"{root}/{name}") as file:
            return bytes(file.read())

    listing = pa_fs.FileSelector(root)
    return Store(*resolve(root, store), put, get, lambda: {info.base_name for info in store.get_file_info(listing)})


@pytest.fixture(params=["local", "arrow", "arrow subtree", "fsspec memory", "fsspec local", "azure", "hdfs"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    root = str(tmp_path)
    if request.param == "local":
        yield on_disk(*resolve(root), tmp_path)
    elif request.param == "arrow":
        yield on_disk(*resolve(root, pa_fs.LocalFileSystem()), tmp_path)
    elif request.param == "arrow subtree":
        yield on_disk(*resolve("/", pa_fs.SubTreeFileSystem(root, pa_fs.LocalFileSystem())), tmp_path)
    elif request.param == "azure":
        yield by_arrow(request.getfixturevalue("azure"), "logs")
    elif request.param == "hdfs":
        yield by_arrow(request.getfixturevalue("hdfs"), "/logs")
    elif request.param == "fsspec local":
        yield on_disk(*resolve(root, fsspec.filesystem("file")), tmp_path)
    else:
        yield in_memory()


def test_bytes_at_any_position(store: Store) -> None:
    store.put("a.log", DATA)
    with store.files.open(store.files.join(store.root, "a.log")) as file:
        assert file.size == len(DATA)
        for position, length in ((0, 10), (5, 0), (1000, 5000), (len(DATA) - 3, 10), (len(DATA), 5)):
            assert file.read_at(position, length) == DATA[position : position + length]
            buffer = bytearray(b"x" * length)
            count = file.read_into(position, buffer)
            assert buffer[:count] == DATA[position : position + length]
        with pytest.raises(recordpress.CorruptRecordError, match="truncated while it was read"):
            file.read_exactly(len(DATA) - 3, 10)


def test_listings(store: Store) -> None:
    store.put("b-0/1.log", DATA)
    store.put("b-0/0.log", b"")
    store.put("a.txt", b"12")
    found = store.files.list(store.root)
    assert [(info.name, info.kind, info.size) for info in found] == [
        ("a.txt", "file", 2),
        ("b-0", "directory", None),
    ]
    inside = store.files.list(found[1].path)
    assert [(info.name, info.size) for info in inside] == [("0.log", 0), ("1.log", len(DATA))]
    assert store.files.info(inside[1].path).size == len(DATA)
    assert store.files.name(inside[1].path) == "1.log"
    assert store.files.info(store.files.parent(inside[1].path)).is_directory


def test_a_file_that_is_deleted_during_a_listing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a local disk, where a running broker deletes segments and other tasks rename their files."""
    for name in "abc":
        (tmp_path / name).write_bytes(b"")
    scan = os.scandir

    @contextmanager
    def scanned(path: str) -> Iterator[list[os.DirEntry[str]]]:
        with scan(path) as entries:
            found = list(entries)
        (tmp_path / "b").unlink()
        yield found

    monkeypatch.setattr(os, "scandir", scanned)
    assert [info.name for info in LocalFileSystem().list(str(tmp_path))] == ["a", "c"]


def test_a_file_that_is_created_once(store: Store) -> None:
    path = store.files.join(store.root, "once")
    store.files.create_new(path, b"first")
    with pytest.raises(FileExistsError):
        store.files.create_new(path, b"second")
    assert store.get("once") == b"first"


def test_of_two_that_create_at_once_one_succeeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a local disk, where both looked before."""
    files = LocalFileSystem()
    monkeypatch.setattr(LocalFileSystem, "find", lambda *_: None)
    files.create_new(f"{tmp_path}/once", b"first")
    with pytest.raises(FileExistsError):
        files.create_new(f"{tmp_path}/once", b"second")
    assert (tmp_path / "once").read_bytes() == b"first"


def test_what_is_not_there(store: Store) -> None:
    path = store.files.join(store.root, "nowhere")
    for call in (store.files.info, store.files.open, store.files.list):
        with pytest.raises(FileNotFoundError) as caught:
            call(path)
        assert "nowhere" in str(caught.value)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        store.files.delete(path)
    store.files.delete_directory(path)


def test_a_written_file_appears_whole(store: Store) -> None:
    store.put("kept", b"1")
    path = store.files.join(store.root, "copy.log")
    with store.files.create(path) as writer:
        writer.write(DATA[:100])
        writer.write(memoryview(DATA)[100:])
        assert "copy.log" not in store.names()
        writer.publish()
    assert store.names() == {"kept", "copy.log"}
    assert store.get("copy.log") == DATA
    with store.files.create(path) as writer:  # in place of one that is there
        writer.write(b"new")
        assert store.get("copy.log") == DATA
        writer.publish()
    assert store.get("copy.log") == b"new"
    store.files.delete(path)
    assert store.names() == {"kept"}


def test_nothing_is_left_of_a_file_that_was_not_published(store: Store) -> None:
    store.put("copy.log", b"old")
    path = store.files.join(store.root, "copy.log")
    with store.files.create(path) as writer:
        writer.write(DATA)
    with pytest.raises(ZeroDivisionError), store.files.create(path) as writer:
        writer.write(bytes(1 // 0))
    assert store.names() == {"copy.log"}
    assert store.get("copy.log") == b"old"


def test_directories_are_made(store: Store) -> None:
    path = store.files.join(store.root, "x", "y-0")
    for _ in range(2):
        store.files.make_directory(path)
    with store.files.create(store.files.join(path, "0.log")) as writer:
        writer.write(b"1")
        writer.publish()
    assert [info.name for info in store.files.list(path)] == ["0.log"]


# ---- reading ahead


class Counted(RandomAccessFile):
    """A remote file in memory that records its requests."""

    def __init__(self, data: bytes, size: int | None = None) -> None:
        self.name = "test://file"
        self.data = data
        self.size = len(data) if size is None else size
        self.asked: list[tuple[int, int]] = []
        self.before: Callable[[], object] = lambda: None

    def read_at(self, position: int, length: int) -> bytes:
        self.before()
        self.asked.append((position, length))
        return self.data[position : position + length]

    def close(self) -> None:
        pass


def readers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "recordpress read-ahead"]


@pytest.mark.parametrize("size", [1, 999, 5000, 100_000])
def test_pieces_are_fetched_once_and_in_order(size: int) -> None:
    file = Counted(DATA)
    read = b""
    with read_ahead(file, 100, 20_100, chunk=5000) as part:
        assert file.asked == []
        buffer = bytearray(size)
        while count := part.readinto(buffer):
            read += buffer[:count]
    assert read == DATA[100:20_100]
    assert file.asked == [(100, 5000), (5100, 5000), (10_100, 5000), (15_100, 5000)]
    assert readers() == []


def test_one_piece_is_fetched_ahead_and_closing_ends_it() -> None:
    file = Counted(DATA)
    with read_ahead(file, chunk=1000) as part:
        part.readinto(bytearray(1))
        while readers():
            pass
        assert file.asked == [(0, 1000), (1000, 1000)]
        gate = threading.Event()
        file.before = gate.wait
        part.readinto(bytearray(1500))
        part.readinto(bytearray(1500))
        assert len(readers()) == 1
        threading.Timer(0.05, gate.set).start()
    assert readers() == []
    assert part.readinto(bytearray(10)) == 0


def test_an_interrupt_leaves_no_thread() -> None:
    """The signal comes while the reader waits for its piece."""
    file = Counted(DATA)
    gate = threading.Event()
    file.before = gate.wait

    def interrupt(*args: Any) -> None:
        gate.set()
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(KeyboardInterrupt), read_ahead(file, chunk=1000) as part:
            part.readinto(bytearray(10))
    finally:
        signal.signal(signal.SIGALRM, before)
    assert readers() == []


def test_an_error_of_a_piece_is_raised_where_it_is_due() -> None:
    file = Counted(DATA[:2500], size=len(DATA))
    with read_ahead(file, chunk=1000) as part:
        assert [part.readinto(bytearray(1000)) for _ in range(2)] == [1000, 1000]
        with pytest.raises(recordpress.CorruptRecordError, match="now ends at 2500") as caught:
            part.readinto(bytearray(1000))
    assert caught.value.file == "test://file"
    assert readers() == []


def test_columns_of_a_remote_file() -> None:
    data = b"".join(recordpress.write_records([b"x" * 100] * 10, base_offset=10 * i) for i in range(100))
    file = Counted(data)
    with read_ahead(file, chunk=10_000) as part:
        rows = [offset for columns in recordpress.iter_columns(part, ["offset"]) for offset in columns["offset"]]
    assert rows == list(range(1000))
    assert len(file.asked) == -(-len(data) // 10_000)


def test_reads_here_and_there_are_few_requests() -> None:
    data = bytes(range(256)) * (1 << 14)  # 4 MiB
    file = Counted(data)
    near = Buffered(file)
    for position in (1_000_000, 1_000_100, 1_000_000 + (256 << 10) - 10):
        assert near.read_at(position, 10) == data[position : position + 10]
    assert file.asked == [(1_000_000, 256 << 10)]
    for position in range(0, len(data), 1000):
        assert near.read_at(position, 1000) == data[position : position + 1000]
    assert len(file.asked) < 9  # they grow while they go on
    assert near.read_at(len(data) - 3, 100) == data[-3:]
    assert near.read_at(len(data), 5) == b""
    assert near.read_at(0, len(data)) == data


def test_a_walk_is_fetched_ahead_and_once() -> None:
    file = Counted(DATA)
    with Walked(file, chunk=1000) as walked:
        for position in range(0, len(DATA), 70):
            assert walked.read_at(position, 100) == DATA[position : position + 100]
            # nothing but the first piece before the walk continues, and then always the next
            reached = position + 100
            assert len(file.asked) == (1 if reached <= 1000 else min(-(-reached // 1000) + 1, -(-len(DATA) // 1000)))
    assert file.asked == [(start, min(1000, len(DATA) - start)) for start in range(0, len(DATA), 1000)]
    assert readers() == []


@pytest.mark.parametrize("steps", [[0, 1900, 3700, 5600], [2500, 1600, 1700], [0, 1500, 9000, 10, 3000], [1_000, 0]])
def test_a_walk_may_pass_over_bytes_and_go_back(steps: list[int]) -> None:
    file = Counted(DATA)
    with Walked(file, chunk=1000) as walked:
        for position in steps:
            for length in (1, 300, 2500):
                assert walked.read_at(position, length) == DATA[position : position + length]
        assert walked.read_at(len(DATA) - 3, 100) == DATA[-3:]
        assert walked.read_at(len(DATA) + 5, 5) == b""
    assert readers() == []


def test_a_walk_over_a_file_that_was_truncated() -> None:
    file = Counted(DATA[:2500], size=len(DATA))
    with Walked(file, chunk=1000) as walked:
        assert walked.read_at(1400, 600) == DATA[1400:2000]
        for _ in range(2):
            with pytest.raises(recordpress.CorruptRecordError, match="now ends at 2500"):
                walked.read_at(2100, 1000)
    assert readers() == []


# ---- local files


def test_a_local_file_is_read_without_a_thread(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(DATA)
    with LocalFileSystem().open(str(tmp_path / "a")) as file, read_ahead(file, 10) as part:
        buffer = bytearray(len(DATA))
        assert part.readinto(buffer) == len(DATA) - 10
        assert readers() == []


def test_a_pipe_is_refused_and_links_are_told(tmp_path: Path) -> None:
    files = LocalFileSystem()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "dangling").symlink_to("nothing")
    (tmp_path / "out").symlink_to("/etc")
    with pytest.raises(recordpress.InvalidArgumentError, match="named pipe"):
        files.open(str(tmp_path / "pipe"))
    kinds = {info.name: (info.kind, info.is_link) for info in files.list(str(tmp_path))}
    assert kinds == {"pipe": ("other", False), "dangling": ("missing", True), "out": ("directory", True)}
    for info in files.list(str(tmp_path))[:2]:
        with pytest.raises(recordpress.InvalidArgumentError, match=f"{info.name} is a symbolic link to"):
            files.check_link(info, str(tmp_path))


# ---- paths and URLs


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("/var/logs", "/var/logs"),
        ("logs/a-0", "logs/a-0"),
        (Path("logs/a-0"), "logs/a-0"),
        ("file:///var/logs%20old", "/var/logs old"),
        ("file://localhost/var/logs", "/var/logs"),
        ("file:///var/a?b*#c", "/var/a?b*#c"),
    ],
)
def test_local_paths(url: str | Path, path: str) -> None:
    files, found = resolve(url)
    assert isinstance(files, LocalFileSystem) and found == path


@pytest.mark.parametrize(("path", "parent"), [("/logs", "/"), ("/logs/a-0/", "/logs"), ("bucket", ""), ("b/a", "b")])
def test_what_is_directly_below_the_root_stays_there(path: str, parent: str) -> None:
    """HDFS takes paths without a slash at their start as ones below the user's directory."""
    files = resolve(path, pa_fs.LocalFileSystem())[0]
    assert files.parent(path) == parent
    assert files.join(files.parent(path), files.name(path)) == path.rstrip("/")


def test_other_schemes() -> None:
    fsspec.filesystem("memory").pipe_file("/logs/a", b"123")
    files, path = resolve("memory://logs/a")
    assert files.open(path).read_at(0, 5) == b"123"
    assert files.url(path) == "memory:///logs/a"


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("abfs://logs@me.dfs.core.windows.net/t-0", "logs/t-0"),
        ("abfss://logs@me.dfs.core.windows.net", "logs"),
        ("abfs://me:c2VjcmV0@127.0.0.1:1/logs/t-*?enable_tls=false", "logs/t-*"),
        ("abfs://me:c2VjcmV0@127.0.0.1:1/logs/?enable_tls=false", "logs"),
    ],
)
def test_containers_in_azure(url: str, path: str) -> None:
    """By the account's name or by a server's; nothing is asked yet."""
    files, found = resolve(url)
    assert found == path and files.url(found) == f"{url.partition(':')[0]}://{path}"


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("s4://bucket/a", "nothing opens s4://.*file://, s3://"),
        ("file://host/a", "file://host/a names a host"),
        ("", "must not be empty"),
        ("a\0b", "zero byte"),
    ],
)
def test_what_cannot_be_resolved(url: str, text: str) -> None:
    with pytest.raises(recordpress.InvalidArgumentError, match=text):
        resolve(url)


def test_a_store_that_cannot_be_reached_is_named_without_the_password(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(url: str) -> None:
        raise ConnectionRefusedError("nobody listens")

    monkeypatch.setattr(fsspec.core, "url_to_fs", refused)
    with pytest.raises(recordpress.StorageError, match="nobody listens") as caught:
        resolve("ftp://me:secret@host/logs")
    assert caught.value.file == "ftp://host/logs"


def test_arguments_of_other_types() -> None:
    with pytest.raises(recordpress.ArgumentTypeError, match="filesystem must be"):
        resolve("a", object())
    with pytest.raises(recordpress.ArgumentTypeError, match="path must be text"):
        resolve(b"a")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("url", "missing", "line"),
    [
        ("s3://bucket/a", "pyarrow", r"s3:// needs pyarrow: pip install pyarrow"),
        ("memory://a", "fsspec", "memory:// needs fsspec .*: pip install fsspec"),
    ],
)
def test_a_missing_package_is_named(url: str, missing: str, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("pyarrow", "pyarrow.fs", "fsspec"):
        if name.startswith(missing):
            monkeypatch.setitem(__import__("sys").modules, name, None)
    with pytest.raises(recordpress.InvalidArgumentError, match=line):
        resolve(url)


def test_a_store_that_fails_is_one_error_with_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = fsspec.filesystem("memory")
    memory.pipe_file("/logs/b", b"123")
    files, path = resolve("memory://logs/b")
    with files.open(path) as file:

        def fail(*args: Any, **options: Any) -> bytes:
            raise RuntimeError("503 Slow Down")

        monkeypatch.setattr(type(memory), "cat_file", fail)
        with pytest.raises(recordpress.StorageError, match="503 Slow Down") as caught:
            file.read_at(0, 3)
    assert caught.value.file == "memory:///logs/b"
    assert isinstance(caught.value, OSError) and caught.value.code == 56


def test_threads_ask_for_a_fence_once() -> None:
    """All that come while one asks wait for its answer; a pickled fence that is over stays so."""
    asked, all_there = [], threading.Barrier(8)

    class Slow(LocalFileSystem):
        def info(self, path: str) -> FileInfo:
            asked.append(path)
            time.sleep(0.05)  # another thread asks in this time unless it waits
            return FileInfo(path, path, "file")

    files, fence = Slow(), Fence("lease", 60.0)

    def check() -> None:
        all_there.wait()
        fence.check(files)

    threads = [threading.Thread(target=check) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert asked == ["lease"]
    fence.end()
    with pytest.raises(recordpress.StorageError, match="it is gone"):
        pickle.loads(pickle.dumps(fence)).check(files)
