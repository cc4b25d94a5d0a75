"""Work on logs in an object store: what it costs in requests, and what a store that fails in the middle leaves."""

import json
import os
import random
import select
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest

import oracle
import recordpress
from files.conftest import S3Server
from log.copy.test_transcode_log import JOINS, logs_of_producers, start
from patience import HANG
from recordpress.files import WALK_BYTES, FileInfo, LocalFileSystem, resolve
from recordpress.log import _stats as sampling, reindex, repair, scan, stats_of, verify
from recordpress.log.copy import _copy_log
from recordpress.log.publish import lease as _lease
from together import THOROUGH

pytestmark = pytest.mark.slow  # an S3 server

fs = pytest.importorskip("pyarrow.fs")

SEGMENT = "00000000000000000000.log"
PARTITION = next(p for p in oracle.PARTITIONS if str(p).endswith("txn_topic-0") and p.entry["broker"].endswith("4.3.1"))


def batches_of(n: int, size: int = 1000) -> list[bytes]:
    return [
        recordpress.write_records([b"%04d" % i * size] * 5, base_offset=5 * i, timestamps=[i] * 5) for i in range(n)
    ]


def command(*arguments: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "recordpress", *arguments],
        capture_output=True,
        check=False,
        timeout=HANG,
        env=os.environ,
    )
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


# ---- a store that fails


def reset(environ: dict[str, Any], start_response: Any) -> list[bytes]:
    """The connection goes down before an answer."""
    environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
    start_response("200 OK", [("Content-Length", "0")])
    return []


def cut(environ: dict[str, Any], start_response: Any) -> Iterator[bytes]:
    """The connection goes down in the middle of an answer."""
    first, _, last = environ["HTTP_RANGE"].removeprefix("bytes=").partition("-")
    size = int(last) - int(first) + 1
    start_response("206 Partial Content", [("Content-Length", str(size))])
    yield b"x" * (size // 2)
    environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)


def hang(environ: dict[str, Any], start_response: Any) -> list[bytes]:
    """No answer until the client has gone."""
    select.select([environ["werkzeug.socket"]], [], [], HANG)
    return reset(environ, start_response)


def client_of(s3: S3Server, failure: Any) -> Any:
    """A client that asks four times. It waits for an answer as long as it takes, unless none comes."""
    return fs.S3FileSystem(
        access_key="key",
        secret_key="secret",
        endpoint_override=s3.endpoint.removeprefix("http://"),
        scheme="http",
        request_timeout=1.0 if failure is hang else HANG,
        retry_strategy=fs.AwsDefaultS3RetryStrategy(max_attempts=3),
    )


@pytest.mark.parametrize("failure", [reset, cut, hang])
def test_a_failure_that_passes_is_not_noticed(failure: Any, s3: S3Server) -> None:
    data = b"".join(batches_of(100))
    s3.put(f"logs/t-0/{SEGMENT}", data)
    log = recordpress.open_log("logs/t-0", filesystem=client_of(s3, failure))
    s3.answers += [failure]
    assert log.read().to_pyarrow().equals(recordpress.read_columns(data).to_pyarrow())
    assert s3.answers == []


@pytest.mark.parametrize("failure", [reset, cut, hang])
def test_a_failure_that_stays_is_one_error(failure: Any, s3: S3Server) -> None:
    s3.put(f"logs/t-0/{SEGMENT}", b"".join(batches_of(100)))
    log = recordpress.open_log("logs/t-0", filesystem=client_of(s3, failure))
    s3.answers += [failure] * 60
    with pytest.raises(recordpress.StorageError) as caught:
        list(log.read())
    assert caught.value.file == f"s3://logs/t-0/{SEGMENT}"
    s3.answers.clear()
    assert log.count() == 500


def stats(path: str, filesystem: Any) -> None:
    for partition in recordpress.open_log(path, filesystem=filesystem).partitions:
        stats_of(partition)


@pytest.mark.parametrize("work", [scan, verify, stats])
def test_a_store_that_fails_is_no_damage(work: Any, s3: S3Server) -> None:
    s3.put(f"logs/t-0/{SEGMENT}", b"".join(batches_of(100)))
    client = client_of(s3, reset)
    log = recordpress.open_log("logs/t-0", filesystem=client)
    assert log.count() == 500
    s3.answers += [reset] * 20
    with pytest.raises(recordpress.StorageError):
        work("logs/t-0", filesystem=client)


# ---- a killed upload


def test_what_a_killed_upload_left_is_swept(s3: S3Server, tmp_path: Path) -> None:
    source = tmp_path / "t-0"
    source.mkdir()
    (source / SEGMENT).write_bytes(b"".join(batches_of(10)))
    left = [f"cold/t-0/.{SEGMENT}.{uuid4().hex}", f"cold/t-0/.recordpress-manifest.jsonl.{uuid4().hex}"]
    other = f"cold/t-1/.{SEGMENT}.{uuid4().hex}"
    for key in [*left, other]:
        s3.put(f"logs/{key}", b"part")
    assert recordpress.transcode(source, s3.url("logs/cold/t-0"), "zstd").complete
    assert [key for key in s3.keys("logs") if "/." in key] == [other]
    s3.put("logs/cold/t-2/.hidden", b"not of a name that we give")
    with pytest.raises(recordpress.InvalidArgumentError, match="exists"):
        recordpress.transcode(source, s3.url("logs/cold/t-2"), "zstd")


@pytest.mark.slow
@pytest.mark.parametrize("killed_at", [1, 2, 3])
def test_a_run_sweeps_what_the_one_before_left(killed_at: int, s3: S3Server, tmp_path: Path) -> None:
    """The first ends between an upload and its name, as if it had been killed."""
    source = tmp_path / "t-0"
    source.mkdir()
    for number in range(3):
        data = b"".join(batches_of(30)[10 * number : 10 * number + 10])
        (source / f"{50 * number:020}.log").write_bytes(data)
    script = """
import os, sys
import recordpress, recordpress.files._arrow as arrow
moved = 0
def move(self, source, target):
    global moved
    moved += target.endswith(".log")
    if moved == int(sys.argv[3]):
        os._exit(9)
    self._fs.move(source, target)
arrow.ArrowFileSystem.move = move
recordpress.transcode(sys.argv[1], sys.argv[2], "zstd", threads=1)
"""
    target = s3.url("logs/cold/t-0")
    run = [sys.executable, "-c", script, str(source), target, str(killed_at)]
    assert subprocess.run(run, check=False, timeout=HANG).returncode == 9
    hidden = [key for key in s3.keys("logs") if "/." in key]
    assert len(hidden) == 2  # the upload of the one thread, and what says that a call is at work
    manifest = recordpress.transcode(source, target, "zstd")
    assert manifest.complete
    assert manifest.resumed_segments <= killed_at - 1
    assert not [key for key in s3.keys("logs") if "/." in key]
    assert recordpress.open_log(target).count() == 150


@pytest.mark.parametrize("joins", ["keep", "settle"])
def test_a_copy_that_is_killed_at_random_moments(joins: str, s3: S3Server, tmp_path: Path) -> None:
    """The next call makes of it what one call would have made, byte for byte."""
    logs, draw = logs_of_producers(tmp_path / "logs", 120), random.Random(7)
    target = s3.url("logs/cold")
    started = time.monotonic()
    child = start(logs, target, joins)
    _, said = child.communicate(timeout=HANG)
    assert child.returncode == 0, said.decode()
    whole = time.monotonic() - started
    wanted = copy_in(s3)
    assert len(wanted) > 10
    resumed = 0
    for _ in range(100 if THOROUGH else 1):
        for key in s3.keys("logs"):
            s3.client.delete_object(Bucket="logs", Key=key)
        child = start(logs, target, joins)
        while child.poll() is None and not s3.keys("logs"):
            time.sleep(0.01)
        time.sleep(draw.uniform(0.0, whole))
        child.kill()
        child.communicate()
        manifest = recordpress.transcode(logs, target, "zstd", level=19, threads=2, **JOINS[joins])
        assert manifest.complete and copy_in(s3) == wanted
        resumed += manifest.resumed_segments
    print(f"\n{joins}: {resumed} segments were not done again")


def test_a_copy_that_is_killed_before_it_begins(s3: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While it looks for producers in all segments; the next call does not take the target for somebody else's."""
    logs, target = logs_of_producers(tmp_path / "logs", 20), s3.url("logs/cold")

    def killed(*given: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(_copy_log, "plan_joins", killed)
        with pytest.raises(KeyboardInterrupt):
            recordpress.transcode(logs, target, "zstd", **JOINS["keep"])
    assert recordpress.transcode(logs, target, "zstd", **JOINS["keep"]).complete


def test_a_copy_that_failed_may_be_tried_again(s3: S3Server, tmp_path: Path) -> None:
    source, target = tmp_path / "logs" / "t-0", s3.url("logs/cold")
    source.mkdir(parents=True)
    whole = b"".join(batches_of(3))
    (source / SEGMENT).write_bytes(whole[:-1] + b"?")
    with pytest.raises(recordpress.CorruptRecordError):
        recordpress.transcode(tmp_path / "logs", target, "zstd")
    (source / SEGMENT).write_bytes(whole)
    s3.put(f"logs/cold/..recordpress-at-work-{uuid4().hex}.{uuid4().hex}", b"of a call that was killed")
    assert recordpress.transcode(tmp_path / "logs", target, "zstd").complete
    assert not hidden_in(s3)


def copy_in(s3: S3Server) -> dict[str, bytes]:
    """All but the manifest, which says what was done when."""
    return {key: s3.get(f"logs/{key}") for key in s3.keys("logs") if not key.endswith(".json")}


# ---- two calls with one target


def hidden_in(s3: S3Server) -> list[str]:
    return [key for key in s3.keys("logs") if key.rpartition("/")[2].startswith(".")]


def lease_of(**said: object) -> tuple[str, bytes]:
    return f".recordpress-at-work-{uuid4().hex}", json.dumps(said).encode()


@pytest.mark.parametrize("said", [{"system": "another", "process": 1}, {"process": 1}, {"system": 5, "process": "x"}])
def test_a_second_call_with_the_same_target_is_refused(said: dict[str, object], s3: S3Server, tmp_path: Path) -> None:
    source = tmp_path / "t-0"
    source.mkdir()
    (source / SEGMENT).write_bytes(b"".join(batches_of(10)))
    name, data = lease_of(**said)
    s3.put(f"logs/cold/t-0/{name}", data)
    s3.put(f"logs/{name}", data)
    for target in ("logs/cold/t-0", f"logs/{SEGMENT}"):
        given = source if target.endswith("0") else source / SEGMENT
        with pytest.raises(recordpress.InvalidArgumentError, match="another call is writing") as caught:
            recordpress.transcode(given, s3.url(target), "zstd")
        assert (caught.value.field, name in str(caught.value)) == ("dst", True)
    assert sorted(hidden_in(s3)) == sorted([f"cold/t-0/{name}", name])
    assert not [key for key in s3.keys("logs") if key.endswith(".log")]


def test_two_calls_at_once(s3: S3Server, tmp_path: Path) -> None:
    """The first is asked for its progress while the second begins."""
    source = tmp_path / "t-0"
    source.mkdir()
    (source / SEGMENT).write_bytes(b"".join(batches_of(10)))
    target = s3.url("logs/cold/t-0")
    refused: list[recordpress.RecordpressError] = []

    def meanwhile(_: object) -> None:
        if not refused:
            with pytest.raises(recordpress.InvalidArgumentError, match="another call is writing") as caught:
                recordpress.transcode(source, target, "gzip")
            refused.append(caught.value)

    assert recordpress.transcode(source, target, "zstd", progress=meanwhile).complete
    assert refused
    assert not [key for key in s3.keys("logs") if "/." in key]


@pytest.mark.slow
def test_what_a_dead_call_said_counts_no_longer(s3: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of this system whose process is gone, and one that is old."""
    source = tmp_path / "t-0"
    source.mkdir()
    (source / SEGMENT).write_bytes(b"".join(batches_of(10)))
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    name, data = lease_of(system=_lease.system_id(), process=ended.pid)
    s3.put(f"logs/cold/t-0/{name}", data)
    assert recordpress.transcode(source, s3.url("logs/cold/t-0"), "zstd").complete
    name, data = lease_of(system="another", process=1)
    s3.put(f"logs/cold/t-1/{name}", data)
    monkeypatch.setattr(_lease, "COUNTS_FOR", 0.0)
    assert recordpress.transcode(source, s3.url("logs/cold/t-1"), "zstd").complete
    assert not [key for key in s3.keys("logs") if "/." in key]


@pytest.mark.slow
def test_a_call_that_takes_long_says_again_that_it_is_at_work(
    s3: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_lease, "RENEWED_EVERY", 0.01)
    files, path = resolve(s3.url("logs/cold"))
    with _lease.lease(files, path, path) as held:

        def written() -> int:
            return s3.asked("PUT").count((f"/{held.path}.renewed", None))

        before = written()
        deadline = time.monotonic() + HANG
        while written() < before + 3:
            assert time.monotonic() < deadline
            time.sleep(0.01)
    assert not hidden_in(s3)


def test_who_waits_goes_on_when_a_lease_was_not_renewed_for_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the clock of who waits, whatever the store's says."""
    now = 0.0

    def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds

    def leases(*given: Any) -> dict[str, FileInfo]:
        return {"lease": FileInfo("lease", "lease", "file", 1, 1e9 + min(now, 200.0) // 15)}

    monkeypatch.setattr(_lease, "time", SimpleNamespace(monotonic=lambda: now, sleep=sleep))
    monkeypatch.setattr(_lease, "_leases", leases)
    monkeypatch.setattr(_lease, "_is_over", lambda *given: False)
    _lease.wait_for_others(LocalFileSystem(), "place")
    assert 195.0 + 60.0 <= now < 195.0 + 60.0 + 15.0


def test_a_call_that_counted_as_dead_does_not_come_back(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor do its tasks publish or delete anything."""
    files, path = resolve(s3.url("logs/cold"))
    with _lease.lease(files, path, path) as held:
        fenced = files.fenced(held)
        with fenced.create(f"{path}/before") as writer:
            writer.publish()
        late = fenced.create(f"{path}/after")
        s3.client.delete_object(Bucket="logs", Key=held.path.partition("/")[2])
        monkeypatch.setattr(_lease, "RENEWED_EVERY", 0.01)
        _lease._renew(files, held, Event(), time.monotonic())
        with pytest.raises(recordpress.StorageError, match="another job has taken its place"):
            late.publish()
        late.discard()
        with pytest.raises(recordpress.StorageError, match="another job has taken its place"):
            fenced.delete(f"{path}/before")
    assert [key for key in s3.keys("logs") if not key.endswith("/")] == ["cold/before"]


# ---- repair and reindex


def test_repair_from_a_store_and_to_one(s3: S3Server, tmp_path: Path) -> None:
    batches = batches_of(50)
    damaged = bytearray(b"".join(batches))
    damaged[len(batches[0]) * 20 + 300] ^= 1
    source, here = tmp_path / "t-0", tmp_path / "here" / "t-0"
    source.mkdir()
    (source / SEGMENT).write_bytes(damaged)
    s3.put(f"logs/t-0/{SEGMENT}", bytes(damaged))
    repair(source, here)
    to_store = repair(source, s3.url("logs/saved/t-0"))
    from_store = repair(s3.url("logs/t-0"), tmp_path / "there" / "t-0")
    assert [s.batches for s in to_store.segments] == [s.batches for s in from_store.segments] == [49]
    for path in here.iterdir():
        if path.name != ".recordpress":
            assert s3.get(f"logs/saved/t-0/{path.name}") == path.read_bytes(), path.name
            assert (tmp_path / "there" / "t-0" / path.name).read_bytes() == path.read_bytes(), path.name


def test_reindex_in_a_store(s3: S3Server, tmp_path: Path) -> None:
    directory = PARTITION.write_to(tmp_path)
    wanted = {path.name: path.read_bytes() for path in directory.iterdir() if path.suffix in (".index", ".timeindex")}
    assert wanted
    for path in directory.iterdir():
        if path.name not in wanted:
            s3.put(f"logs/{directory.name}/{path.name}", path.read_bytes())
    report = reindex(s3.url(f"logs/{directory.name}"), index_interval_bytes=3000)
    assert {Path(name).name for name in report.files} >= wanted.keys()
    for name, data in wanted.items():
        made = s3.get(f"logs/{directory.name}/{name}")
        assert made == data.rstrip(b"\0") or data.startswith(made), name


# ---- requests


@pytest.fixture
def large(s3: S3Server) -> S3Server:
    """Two segments of 20 MB, the first with an index."""
    batches = batches_of(2000)
    half, index, position = len(batches) // 2, b"", 0
    for number, batch in enumerate(batches[:half]):
        if number:
            index += (5 * number + 4).to_bytes(4, "big") + position.to_bytes(4, "big")
        position += len(batch)
    s3.put(f"logs/t-0/{SEGMENT}", b"".join(batches[:half]))
    s3.put(f"logs/t-0/{SEGMENT.replace('.log', '.index')}", index)
    s3.put(f"logs/t-0/{5 * half:020}.log", b"".join(batches[half:]))
    s3.requests.clear()
    return s3


def bytes_asked(s3: S3Server) -> int:
    ranges = [part.removeprefix("bytes=").split("-") for _, part in s3.asked("GET") if part]
    return sum(int(last) - int(first) + 1 for first, last in ranges)


@pytest.mark.slow
def test_ls_reads_no_segment(large: S3Server) -> None:
    pytest.importorskip("click")
    listed = command("ls", large.url("logs/t-0"), "--json")
    assert [segment["size"] for segment in listed["partitions"][0]["segments"]] == [20106000, 20106000]
    assert [path for path, _ in large.asked("GET") if path.endswith(".log")] == []
    assert len(large.requests) <= 8


def test_stats_of_a_large_segment_asks_for_the_ranges_that_its_index_names(
    large: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each by one request, and nothing else of the segment."""
    monkeypatch.setattr(sampling, "SAMPLED_FROM", 20 << 20)
    monkeypatch.setattr(sampling, "RANGE_BYTES", 64 << 10)
    large.client.delete_object(Bucket="logs", Key=f"t-0/{5000:020}.log")
    batches = batches_of(1100)
    large.put(f"logs/t-0/{SEGMENT}", b"".join(batches))  # 22 MB
    [partition] = recordpress.open_log(large.url("logs/t-0")).partitions
    large.requests.clear()
    stats = stats_of(partition)
    assert stats.sampled and stats.findings == []
    asked = ranges_asked(large, SEGMENT)
    assert len(asked) == sampling.RANGES == len(set(asked))
    assert {end - start for start, end in asked} == {64 << 10}
    whole = (64 << 10) // len(batches[0])
    assert stats.seen.batches == sampling.RANGES * whole
    large.requests.clear()
    full = stats_of(partition, full=True)
    assert not full.sampled and full.seen.batches == 1100
    assert sum(end - start for start, end in ranges_asked(large, SEGMENT)) == full.size


@pytest.mark.slow
def test_stats_reads_headers_in_large_ranges(large: S3Server) -> None:
    pytest.importorskip("click")
    found = command("stats", large.url("logs/t-0"), "--json")
    assert found
    asked = large.asked("GET")
    assert len(asked) <= 10
    assert bytes_asked(large) <= 42 << 20


def ranges_asked(s3: S3Server, name: str = ".log") -> list[tuple[int, int]]:
    """First byte and end."""
    return [
        (int(part.removeprefix("bytes=").split("-")[0]), int(part.split("-")[1]) + 1)
        for path, part in s3.asked("GET")
        if part and path.endswith(name)
    ]


@pytest.mark.parametrize("level", ["batch", "record", "scan", "count", "batches"])
def test_every_walk_streams_ahead_and_fetches_nothing_twice(level: str, large: S3Server) -> None:
    """Never a request for a batch, of which each segment has a thousand."""
    log, url = recordpress.open_log(large.url("logs/t-0")), large.url("logs/t-0")
    large.requests.clear()
    if level == "scan":
        assert scan(url).findings == []
    elif level in ("batch", "record"):
        assert verify(url, check=level).batches == 2000
    elif level == "count":
        assert log.count() == 10_000
    else:
        assert sum(1 for _ in log.batches()) == 2000
    piece, size = 8 << 20, 20106000
    whole = [(start, min(start + piece, size)) for start in range(0, size, piece)]
    for name in (SEGMENT, f"{5000:020}.log"):
        asked = ranges_asked(large, name)
        assert [part for part in asked if part[1] - part[0] > 1000] == whole
        assert len(asked) <= len(whole) + 1  # and a look at the end


@pytest.mark.slow
def test_tail_reads_the_end(large: S3Server) -> None:
    pytest.importorskip("click")
    records = command("tail", "-n", "7", large.url("logs/t-0"), "--json")["records"]
    assert [record["offset"] for record in records] == list(range(9993, 10000))
    before = [part.removeprefix("bytes=").split("-") for path, part in large.asked("GET") if path.endswith(SEGMENT)]
    assert [int(last) - int(first) < WALK_BYTES for first, last in before] == [True]  # its end may reach into the last
    asked = ranges_asked(large, f"{5000:020}.log")
    assert len(asked) <= 6 and sum(last - first for first, last in asked) < 8 << 20  # of 20 MB without an index
