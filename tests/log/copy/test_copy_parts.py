"""A segment that is copied in parts is that of one process, byte for byte; and a part is never left over."""

import bz2
import pickle
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import oracle
import recordpress
from log.some_partitions import of_each_kind
from recordpress.codecs.choice import CodecChoice
from recordpress.log import _file_records
from recordpress.log.copy import _copy_parts, tasks as copy_tasks
from recordpress.log.sidecars import AbortedTxn, write_transaction_index
from together import thinned

PIECE = 4000
LARGE = [
    one for one in oracle.PARTITIONS if "unclean" not in str(one) and max(map(len, one.files(".log")), default=0) > 4000
]


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (_file_records, _copy_parts, copy_tasks):
        monkeypatch.setattr(module, "CHUNK_BYTES", PIECE)


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """One large segment with batches of many sizes, one of them larger than a part, and a small one; with a tail."""
    chosen = random.Random(3)
    directory = tmp_path / "logs" / "t-0"
    directory.mkdir(parents=True)
    data, offset, first_of_aborted = b"", 0, 0
    for number in range(200):
        values = [b"value %d " % chosen.randrange(99) * chosen.randrange(1, 9) for _ in range(chosen.randrange(1, 9))]
        values += [chosen.randbytes(5 * PIECE)] if number == 77 else []
        of_producer: dict[str, Any] = {}
        if number > 120:
            of_producer = {"producer_id": 7, "producer_epoch": 0, "base_sequence": offset}
        elif 40 <= number < 60:
            first_of_aborted = offset if number == 40 else first_of_aborted
            of_producer = {"producer_id": 8, "producer_epoch": 0, "base_sequence": offset, "is_transactional": True}
        data += recordpress.write_records(values, base_offset=offset, timestamps=1000 + number, **of_producer)
        offset += len(values)
        if number == 80:
            builder = recordpress.BatchBuilder(
                base_offset=offset, is_control=True, is_transactional=True, producer_id=8, producer_epoch=0
            )
            builder.append_end_txn_marker(False, 0, timestamp=1000)
            aborted = AbortedTxn(8, first_of_aborted, offset, offset + 1)
            write_transaction_index(directory / f"{0:020d}.txnindex", [aborted])
            data, offset = data + builder.build(), offset + 1
    (directory / f"{0:020d}.log").write_bytes(data)
    (directory / f"{offset:020d}.log").write_bytes(recordpress.write_records([b"last"], base_offset=offset) + bytes(50))
    return tmp_path / "logs"


def transcode(send: Any, logs: Path, target: Path, codec: str = "zstd", cores: int = 8, **options: Any) -> Any:
    return copy_tasks.transcode_by(
        send,
        copy_tasks.TranscodeJob(CodecChoice(codec, options.pop("level", None), options.pop("codecs", None)), **options),
        logs,
        target,
        group_bytes=lambda total: PIECE,
        side_by_side=lambda: cores,
    )


def one_by_one(groups: Any) -> list[Any]:
    return [copy_tasks.copy_group(group) for group in pickle.loads(pickle.dumps(groups))]


def files(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and path.name != "_SUCCESS"
    }


SETTLED = [{"batch_bytes": 600, "producers": "settle"}, {"batch_records": 99, "producers": "settle", "now_ms": 1 << 40}]
OPTIONS = [{}, {"batch_bytes": 600}, {"batch_bytes": 1 << 20}, {"codec": "none"}, *SETTLED]
WAYS = [(options, bool(number % 2)) for number, options in enumerate(OPTIONS)]  # each of both, but not each with each
OTHERS = [pytest.param(options, not with_index, marks=pytest.mark.slow) for options, with_index in WAYS]


@pytest.mark.parametrize(("options", "with_index"), [*WAYS, *OTHERS])
def test_it_is_the_copy_of_one_process(options: dict[str, Any], with_index: bool, logs: Path, tmp_path: Path) -> None:
    if with_index:
        recordpress.log.reindex(logs)
    counts = []

    def send(groups: Any) -> list[Any]:
        counts.append(len(groups))
        return one_by_one(groups)

    transcode(send, logs, tmp_path / "copy", **options)
    others = dict(options)
    recordpress.transcode(logs, tmp_path / "other", others.pop("codec", "zstd"), **others)
    assert counts[-2] > 10
    assert counts[-1] == 1
    assert files(tmp_path / "copy") == files(tmp_path / "other")
    assert not list(tmp_path.rglob(".*"))


class Bzip2:
    def compress(self, data: bytes) -> bytes:
        return bz2.compress(data)

    def decompress(self, data: bytes, max_output: int) -> bytes:
        return bz2.BZ2Decompressor().decompress(data, max_output + 1)


def test_a_codec_of_the_users_own(logs: Path, tmp_path: Path) -> None:
    """It goes to those who make the parts, and to those who join them."""
    codecs = recordpress.CodecRegistry()
    codecs.register("bzip2", Bzip2())
    transcode(one_by_one, logs, tmp_path / "copy", "bzip2", codecs=codecs)
    recordpress.transcode(logs, tmp_path / "other", "bzip2", codecs=codecs)
    assert files(tmp_path / "copy") == files(tmp_path / "other")


@oracle.each("partition", of_each_kind(LARGE))
def test_segments_of_every_format(partition: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (_file_records, _copy_parts, copy_tasks):
        monkeypatch.setattr(module, "CHUNK_BYTES", 1000)
    partition.write_to(tmp_path / "logs")
    transcode(one_by_one, tmp_path / "logs", tmp_path / "copy", "gzip", min_gain=None, batch_bytes=2000)
    recordpress.transcode(tmp_path / "logs", tmp_path / "other", "gzip", min_gain=None, batch_bytes=2000)
    assert files(tmp_path / "copy") == files(tmp_path / "other")


def test_parts_made_twice_at_once_are_made_once(logs: Path, tmp_path: Path) -> None:
    def send(groups: Any) -> list[Any]:
        with ThreadPoolExecutor(4) as pool:
            both = [[pool.submit(copy_tasks.copy_group, one) for _ in range(2)] for one in groups]
            results = [(first.result(), second.result()) for first, second in both]
        assert all(first == second for first, second in results)
        return [first for first, _ in results]

    transcode(send, logs, tmp_path / "copy")
    recordpress.transcode(logs, tmp_path / "other", "zstd")
    assert files(tmp_path / "copy") == files(tmp_path / "other")


@pytest.mark.parametrize(("phase", "done"), thinned([(0, 20), (0, 1), (1, 1), (1, 20)], 2))
def test_a_driver_that_is_lost_leaves_nothing_that_counts(phase: int, done: int, logs: Path, tmp_path: Path) -> None:
    phases = []

    def lost(groups: Any) -> list[Any]:
        phases.append(groups)
        if len(phases) > phase:
            one_by_one(groups[:done])
            raise RuntimeError("the driver is lost")
        return one_by_one(groups)

    with pytest.raises(RuntimeError, match="lost"):
        transcode(lost, logs, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()
    assert not [path for path in tmp_path.rglob(".*") if ".part." in path.name]
    transcode(one_by_one, logs, tmp_path / "copy")
    recordpress.transcode(logs, tmp_path / "other", "zstd")
    assert files(tmp_path / "copy").keys() == files(tmp_path / "other").keys()
    assert not list(tmp_path.rglob(".*"))
    assert recordpress.log.verify(tmp_path / "copy", "record").findings == []


def test_a_killed_driver_leaves_parts_that_the_next_one_removes(logs: Path, tmp_path: Path) -> None:
    work = tmp_path / ".copy.unfinished" / ("0" * 32) / "t-0"
    work.mkdir(parents=True)
    (work / f".{0:020d}.log.part.{PIECE:032x}").write_bytes(b"part")
    transcode(one_by_one, logs, tmp_path / "copy")
    assert not list(tmp_path.rglob(".*"))


def test_a_part_that_changes_before_it_is_joined_is_an_error(logs: Path, tmp_path: Path) -> None:
    """Even if its batches are intact."""

    def send(groups: Any) -> list[Any]:
        found = one_by_one(groups)
        for path in (tmp_path / ".copy.unfinished").glob(f"*/t-0/.*.part.{3 * PIECE:032x}"):
            path.write_bytes(recordpress.write_records([b"other"]))
        return found

    with pytest.raises(recordpress.CorruptRecordError, match="differs from the written bytes"):
        transcode(send, logs, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_damage_in_one_part_fails_the_job(logs: Path, tmp_path: Path) -> None:
    path = logs / "t-0" / f"{0:020d}.log"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(recordpress.RecordpressError) as caught:
        transcode(one_by_one, logs, tmp_path / "copy")
    with pytest.raises(recordpress.RecordpressError) as expected:
        recordpress.transcode(logs, tmp_path / "other", "zstd")
    assert str(caught.value) == str(expected.value)
    assert {path.name for path in tmp_path.iterdir()} <= {"logs", ".copy.unfinished", ".other.unfinished"}


def test_only_what_is_larger_than_a_share_is_cut(logs: Path, tmp_path: Path) -> None:
    for cores, kinds in ((1, {"CopyGroup"}), (8, {"CopyGroup", "CopyPart"})):
        seen = []

        def send(groups: Any, seen: list[Any] = seen) -> list[Any]:
            seen.append({type(group).__name__ for group in groups})
            return one_by_one(groups)

        transcode(send, logs, tmp_path / str(cores), cores=cores)
        assert seen[0] == kinds
