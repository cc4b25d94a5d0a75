"""The directory of dictionaries: what is damaged is refused by name, and two writers do not harm each other."""

from __future__ import annotations

import hashlib
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import recordpress
from patience import HANG
from recordpress.dictionaries import Dictionary, DictionaryCodec, DictionaryStore, train_values

VALUES = [b"value %d of many, in %s" % (n * 7919, (b"Paris", b"Lyon")[n % 2]) for n in range(2000)]
ONE = train_values(VALUES, 1024, dictionary_id=70_001)
TWO = train_values(VALUES, 512, dictionary_id=70_002)
SAME_ID = train_values(VALUES, 600, dictionary_id=70_001)


@pytest.fixture
def store(tmp_path: Path) -> DictionaryStore:
    return DictionaryStore(tmp_path / "dictionaries")


def files(store: DictionaryStore) -> list[str]:
    return sorted(name for name in os.listdir(store.path) if name != ".lock")


def name_of(dictionary: Dictionary) -> str:
    return f"{dictionary.id}.{hashlib.sha256(dictionary.data).hexdigest()}.zdict"


def test_add_get_list_remove(store: DictionaryStore) -> None:
    assert store.add(ONE) == ONE.id and store.add(TWO.data) == TWO.id and store.add(ONE) == ONE.id
    assert files(store) == sorted(map(name_of, (ONE, TWO)))
    assert (Path(store.path) / name_of(ONE)).read_bytes() == ONE.data
    for again in (store, DictionaryStore(store.path), pickle.loads(pickle.dumps(store))):
        assert list(again) == [ONE.id, TWO.id] and len(again) == 2 and ONE.id in again and 5 not in again
        assert again[ONE.id] == ONE and again.get(TWO.id) == TWO and again.get(5) is None
        assert again[ONE.id] is again[ONE.id]
        with pytest.raises(KeyError, match="has no dictionary 5") as caught:
            again[5]
        assert isinstance(caught.value, recordpress.errors.NotFoundError) and caught.value.field == "key"
    store.remove(ONE.id)
    assert list(store) == [TWO.id] and store.get(ONE.id) is None
    with pytest.raises(recordpress.errors.NotFoundError, match="has no dictionary 70001"):
        store.remove(ONE.id)


def test_what_another_object_adds_and_removes_is_seen(store: DictionaryStore) -> None:
    other = DictionaryStore(store.path)
    store.add(ONE)
    frame = recordpress.compress(VALUES[0], "zstd", dictionary=TWO)
    with pytest.raises(recordpress.DecompressionError, match=f"needs dictionary {TWO.id}, which is not"):
        recordpress.decompress(frame, "zstd", dictionaries=store)
    other.add(TWO)
    assert recordpress.decompress(frame, "zstd", dictionaries=store) == VALUES[0]
    other.remove(TWO.id)
    assert list(store) == [ONE.id]
    with pytest.raises(recordpress.DecompressionError, match="needs dictionary"):
        recordpress.decompress(frame, "zstd", dictionaries=store)


def test_an_old_directory_is_not_listed_again(store: DictionaryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """An id that a stranger's frame makes up costs no listing."""
    store.add(ONE)
    os.utime(store.path, (1, 1))
    assert store.get(5) is None
    monkeypatch.setattr(os, "listdir", None)
    assert store.get(6) is None and store[ONE.id] == ONE


def test_another_dictionary_of_the_same_id_is_refused(store: DictionaryStore) -> None:
    store.add(ONE)
    with pytest.raises(recordpress.InvalidArgumentError, match="another dictionary with the id 70001"):
        store.add(SAME_ID)
    assert store[ONE.id] == ONE and files(store) == [name_of(ONE)]
    (Path(store.path) / name_of(SAME_ID)).write_bytes(SAME_ID.data)
    with pytest.raises(recordpress.InvalidArgumentError, match=f"several files .*{name_of(SAME_ID)}"):
        DictionaryStore(store.path)[ONE.id]


DAMAGE = {
    "one bit": lambda data: data[:300] + bytes([data[300] ^ 1]) + data[301:],
    "cut": lambda data: data[:-1],
    "empty": lambda data: b"",
    "longer": lambda data: data + b"\0",
    "another": lambda data: TWO.data,
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_file_is_refused_by_name(store: DictionaryStore, kind: str) -> None:
    store.add(ONE)
    store.add(TWO)
    path = Path(store.path) / name_of(ONE)
    path.write_bytes(DAMAGE[kind](ONE.data))
    fresh = DictionaryStore(store.path)
    frame = recordpress.compress(VALUES[0], "zstd", dictionary=ONE)
    for read in (
        lambda: fresh[ONE.id],
        lambda: fresh.add(ONE),
        lambda: recordpress.decompress(frame, "zstd", dictionaries=fresh),
    ):
        with pytest.raises(recordpress.CorruptRecordError, match="SHA-256 differs from the one in its name") as caught:
            read()
        assert caught.value.file == str(path)
    assert fresh[TWO.id] == TWO
    fresh.remove(ONE.id)
    fresh.add(ONE)
    assert fresh[ONE.id] == ONE


def test_names_that_lie(store: DictionaryStore) -> None:
    """The name has the right digest of bytes that are not that dictionary."""
    store.add(ONE)
    for id, data, sentence in (
        (70_009, TWO.data, "has the id 70002"),
        (70_010, b"no dictionary at all", "not a zstd dictionary"),
    ):
        (Path(store.path) / f"{id}.{hashlib.sha256(data).hexdigest()}.zdict").write_bytes(data)
        with pytest.raises(recordpress.CorruptRecordError, match=sentence):
            store[id]
    huge = Path(store.path) / f"70011.{'0' * 64}.zdict"
    huge.touch()
    os.truncate(huge, (64 << 20) + 1)
    with pytest.raises(recordpress.CorruptRecordError, match="at most 67108864"):
        store[70_011]
    os.mkfifo(Path(store.path) / f"70012.{'0' * 64}.zdict")
    with pytest.raises(recordpress.InvalidArgumentError, match="named pipe"):
        store[70_012]
    (Path(store.path) / "70013.zdict").write_bytes(ONE.data)
    (Path(store.path) / "../outside.zdict").write_bytes(ONE.data)
    assert store.get(70_013) is None


def test_a_directory_that_is_not_there(tmp_path: Path) -> None:
    store = DictionaryStore(tmp_path / "no" / "such")
    with pytest.raises(FileNotFoundError):
        store.get(5)
    with pytest.raises(FileNotFoundError):
        recordpress.decompress(recordpress.compress(b"x", "zstd", dictionary=ONE), "zstd", dictionaries=store)
    assert store.add(ONE) == ONE.id and list(store) == [ONE.id]
    with pytest.raises(recordpress.ArgumentTypeError, match="path must be"):
        DictionaryStore(b"bytes")  # type: ignore[arg-type]
    with pytest.raises(recordpress.ArgumentTypeError, match="bytes-like"):
        store.add(5)  # type: ignore[arg-type]


WRITER = """
import sys
from recordpress.dictionaries import Dictionary, DictionaryStore
store = DictionaryStore(sys.argv[1])
for path in sys.argv[2:]:
    try:
        store.add(open(path, "rb").read())
    except ValueError as error:
        print(error)
"""


@pytest.mark.slow
def test_two_writers(store: DictionaryStore, tmp_path: Path) -> None:
    """Processes that add the same dictionaries, and two of each id: one of each is there in the end, and whole."""
    paths = []
    for number in range(6):
        for size in (400, 500):
            path = tmp_path / f"{number}-{size}"
            path.write_bytes(train_values(VALUES, size, dictionary_id=80_000 + number).data)
            paths.append(str(path))
    orders = (paths, paths[::-1], sorted(paths, key=hash))
    running = [
        subprocess.Popen([sys.executable, "-c", WRITER, store.path, *order], stdout=subprocess.PIPE, text=True)
        for order in orders
    ]
    said = [process.communicate(timeout=HANG)[0] for process in running]
    assert [process.returncode for process in running] == [0, 0, 0]
    assert sum(text.count("has another dictionary") for text in said) == 6 * len(orders)
    assert list(store) == list(range(80_000, 80_006)) and len(files(store)) == 6
    assert all(store[id].id == id for id in store)


def test_threads_that_write_and_read(store: DictionaryStore) -> None:
    dictionaries = [train_values(VALUES, 300, dictionary_id=90_000 + number) for number in range(8)]
    failed: list[BaseException] = []

    def work(mine: list[Dictionary]) -> None:
        try:
            for one in mine:
                store.add(one)
                assert store[one.id] == one
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(dictionaries[number % 2 :],)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == [] and len(store) == 8


KILLED = """
import os, signal, sys
from recordpress.dictionaries import Dictionary, DictionaryStore
os.replace = lambda *paths: (print("now", flush=True), signal.pause())
DictionaryStore(sys.argv[1]).add(open(sys.argv[2], "rb").read())
"""


@pytest.mark.slow
def test_a_killed_writer_leaves_nothing(store: DictionaryStore, tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(ONE.data)
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, store.path, str(tmp_path / "one")], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == b"now\n"
        waiting = threading.Thread(target=store.add, args=(TWO,))
        waiting.start()
        time.sleep(0.1)
        alone = waiting.is_alive() and store.get(TWO.id) is None
        process.send_signal(signal.SIGKILL)
    assert alone  # there is one writer at a time
    waiting.join()
    assert files(store) == [name_of(TWO)]


# --- the codec of a closed loop --------------------------------------------------------------------------------------


def test_the_codec() -> None:
    codec = DictionaryCodec(ONE, {TWO.id: TWO}, level=5)
    codecs = recordpress.CodecRegistry()
    codecs.register(codec.name, codec)
    written = recordpress.write_records([b"a value"] * 9, compression_type="zstd-dict", codecs=codecs)
    assert [batch.plugin_name for batch in recordpress.read_batches(written)] == ["zstd-dict"]
    assert recordpress.read_columns(written, ["value"], codecs=codecs)["value"].to_pylist() == [b"a value"] * 9
    packed = codec.compress(VALUES[0] * 9)
    assert packed == recordpress.compress(VALUES[0] * 9, "zstd", 5, dictionary=ONE)
    assert codec.compress(VALUES[0] * 9, 19) == recordpress.compress(VALUES[0] * 9, "zstd", 19, dictionary=ONE)
    assert codec.levels == (-131072, 22, 5) and DictionaryCodec(ONE).levels[2] == 3
    assert codec.decompress(packed, 1 << 40) == VALUES[0] * 9
    assert codec.decompress(recordpress.compress(b"old", "zstd", dictionary=TWO), 3) == b"old"
    with pytest.raises(recordpress.OutputTooLargeError):
        codec.decompress(packed, 10)
    with pytest.raises(recordpress.DecompressionError, match=f"needs dictionary {TWO.id}, which"):
        DictionaryCodec(ONE).decompress(recordpress.compress(b"old", "zstd", dictionary=TWO), 10)
    for wrong in (ONE.data, None, 5):
        with pytest.raises(recordpress.ArgumentTypeError, match="dictionary must be"):
            DictionaryCodec(wrong)  # type: ignore[arg-type]
    with pytest.raises(recordpress.ArgumentTypeError, match="dictionaries must be"):
        DictionaryCodec(ONE, [TWO])  # type: ignore[arg-type]
    with pytest.raises(recordpress.InvalidArgumentError, match="level of zstd"):
        DictionaryCodec(ONE, level=23)
