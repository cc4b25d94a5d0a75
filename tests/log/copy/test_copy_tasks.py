"""A copy whose segments are made by others: tried again, made twice at once, given up, and gone on with."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import recordpress
from recordpress.codecs.choice import CodecChoice
from recordpress.log import _file_records
from recordpress.log.copy import _copy_parts, tasks as copy_tasks


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    root = tmp_path / "logs"
    for partition in (0, 1):
        directory = root / f"t-{partition}"
        directory.mkdir(parents=True)
        for base in (0, 40, 80):
            batches = [recordpress.write_records([b"value" * 20] * 10, base_offset=base + at) for at in (0, 10, 20, 30)]
            (directory / f"{base:020d}.log").write_bytes(b"".join(batches))
    return root


def transcode(send: Any, logs: Path, target: Path, size: int = 1, **options: Any) -> Any:
    of_call = {name: options.pop(name) for name in ("resume", "side_by_side") if name in options}
    job = copy_tasks.TranscodeJob(CodecChoice("zstd", options.pop("level", None)), **options)
    return copy_tasks.transcode_by(send, job, logs, target, group_bytes=lambda total: size, **of_call)


def one_by_one(groups: Any) -> list[Any]:
    return [copy_tasks.copy_group(group) for group in groups]


def files(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and path.name != "_SUCCESS"
    }


@pytest.mark.parametrize(("size", "groups"), [(1, 6), (1 << 30, 1)])
def test_it_is_the_copy_of_one_process(size: int, groups: int, logs: Path, tmp_path: Path) -> None:
    counts = []

    def send(given: Any) -> list[Any]:
        counts.append(len(given))
        return one_by_one(given)

    transcode(send, logs, tmp_path / "copy", size)
    recordpress.transcode(logs, tmp_path / "other", "zstd")
    assert files(tmp_path / "copy") == files(tmp_path / "other")
    assert (tmp_path / "copy" / "_SUCCESS").read_bytes() == b""
    assert counts == [groups]
    assert not list(tmp_path.rglob(".*"))


def test_a_group_made_twice_at_once_is_made_once(logs: Path, tmp_path: Path) -> None:
    def send(groups: Any) -> list[Any]:
        with ThreadPoolExecutor(4) as pool:
            both = [[pool.submit(copy_tasks.copy_group, one) for _ in range(2)] for one in groups]
            results = [(first.result(), second.result()) for first, second in both]
        assert all(first == second for first, second in results)
        return [first for first, _ in results]

    transcode(send, logs, tmp_path / "copy")
    recordpress.transcode(logs, tmp_path / "other", "zstd")
    assert files(tmp_path / "copy") == files(tmp_path / "other")


def test_what_a_killed_attempt_left_is_swept(logs: Path, tmp_path: Path) -> None:
    def send(groups: Any) -> list[Any]:
        for group in groups:
            for directory in (group.tasks[0].directory, group.work):
                (Path(directory) / f".{0:020d}.log.{'0' * 32}").write_bytes(b"part")
        return one_by_one(groups)

    transcode(send, logs, tmp_path / "copy")
    assert not list(tmp_path.rglob(".*"))


@pytest.mark.parametrize("survivors", [0, 2, 6])
def test_a_driver_that_is_lost_is_gone_on_after(survivors: int, logs: Path, tmp_path: Path) -> None:
    """With what was proven to be done; unless the source or the options have changed since."""

    def lost(groups: Any) -> list[Any]:
        one_by_one(groups[:survivors])
        raise RuntimeError("the driver is lost")

    left = []

    def rest(groups: Any) -> list[Any]:
        left.append(len(groups))
        return one_by_one(groups)

    with pytest.raises(RuntimeError, match="lost"):
        transcode(lost, logs, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()
    assert bool(list(tmp_path.glob(".copy*"))) == bool(survivors)
    manifest = transcode(rest, logs, tmp_path / "copy")
    assert sum(left) == 6 - survivors
    assert manifest.resumed_segments == survivors
    recordpress.transcode(logs, tmp_path / "other", "zstd")
    assert files(tmp_path / "copy").keys() == files(tmp_path / "other").keys()
    assert {path.name for path in tmp_path.iterdir()} == {"logs", "copy", "other"}


def test_proofs_for_other_options_prove_nothing(logs: Path, tmp_path: Path) -> None:
    def lost(groups: Any) -> list[Any]:
        one_by_one(groups[:3])
        raise RuntimeError("the driver is lost")

    for damaged in (False, True):
        with pytest.raises(RuntimeError, match="lost"):
            transcode(lost, logs, tmp_path / "copy")
        for proof in (tmp_path / ".copy.unfinished").glob("*/_done-*.jsonl"):
            if damaged:
                proof.write_text("{")
        assert transcode(one_by_one, logs, tmp_path / "copy", level=None if damaged else 3).resumed_segments == 0
        for path in sorted((tmp_path / "copy").rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        (tmp_path / "copy").rmdir()


def test_a_second_job_is_refused_early(logs: Path, tmp_path: Path) -> None:
    def send(groups: Any) -> list[Any]:
        with pytest.raises(recordpress.InvalidArgumentError, match="another call is writing"):
            transcode(one_by_one, logs, tmp_path / "copy")
        return one_by_one(groups)

    transcode(send, logs, tmp_path / "copy")


def test_an_attempt_after_the_end_writes_nothing(logs: Path, tmp_path: Path) -> None:
    """A scheduler may let one go on that it has given up."""
    late = []

    def send(groups: Any) -> list[Any]:
        late.extend(groups)
        return one_by_one(groups)

    transcode(send, logs, tmp_path / "copy")
    for group in late:
        with pytest.raises(FileNotFoundError):
            copy_tasks.copy_group(group)
    assert {path.name for path in tmp_path.iterdir()} == {"logs", "copy"}


def test_damage_fails_the_job(logs: Path, tmp_path: Path) -> None:
    path = logs / "t-1" / f"{40:020d}.log"
    data = bytearray(path.read_bytes())
    data[100] ^= 1
    path.write_bytes(data)
    with pytest.raises(recordpress.CorruptRecordError, match="checksum"):
        transcode(one_by_one, logs, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


# ---- damaged segments that are kept


def damage(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[100] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("cores", [1, 8])
def test_a_damaged_segment_is_kept_as_it_is(
    cores: int, logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside those of the copy, under a name that no reader takes for a segment's; also if it is made in parts."""
    for module in (_file_records, _copy_parts, copy_tasks):
        monkeypatch.setattr(module, "CHUNK_BYTES", 200)
    path = logs / "t-1" / f"{40:020d}.log"
    damage(path)
    options: dict[str, Any] = {"on_corrupt": "quarantine", "side_by_side": lambda: cores}
    manifest = transcode(one_by_one, logs, tmp_path / "copy", **options)
    copy = tmp_path / "copy" / "t-1"
    assert {one.name for one in copy.glob("*.log*")} == {
        f"{0:020d}.log", f"{40:020d}.log.quarantined", f"{80:020d}.log"
    }  # fmt: skip
    assert (copy / f"{40:020d}.log.quarantined").read_bytes() == path.read_bytes()
    [finding] = manifest.findings
    assert (finding.file, finding.rule) == (str(path), "checksum")
    assert "00000000000000000040.log.quarantined in the copy" in finding.message
    assert manifest.totals["segments"] == 5
    assert sum(columns.num_rows for columns in recordpress.open_log(tmp_path / "copy").read(["offset"])) == 200
    assert recordpress.log.Manifest.read(tmp_path / "copy").partitions == manifest.partitions
    again = transcode(one_by_one, logs, tmp_path / "copy", **options)
    assert again.partitions == manifest.partitions
    (copy / f"{40:020d}.log.quarantined").write_bytes(b"")
    with pytest.raises(recordpress.CorruptRecordError, match="differs from the manifest"):
        transcode(one_by_one, logs, tmp_path / "copy", **options)


def test_the_manifest_of_a_quarantine_is_as_its_schema_says(logs: Path, tmp_path: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    damage(logs / "t-1" / f"{40:020d}.log")
    manifest = transcode(one_by_one, logs, tmp_path / "copy", on_corrupt="quarantine")
    schema = json.loads((Path(__file__).parents[3] / "docs" / "manifest.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(json.loads(manifest.to_json()), schema)


def test_what_is_not_damage_fails_the_job(logs: Path, tmp_path: Path) -> None:
    """A source that was written to, and a file that is gone."""

    def send(groups: Any) -> list[Any]:
        path = logs / "t-1" / f"{40:020d}.log"
        path.write_bytes(path.read_bytes()[:-10])
        return one_by_one(groups)

    with pytest.raises(recordpress.CorruptRecordError, match="replaced or written to"):
        transcode(send, logs, tmp_path / "copy", on_corrupt="quarantine")

    old = tmp_path / "old" / "t-0"
    old.mkdir(parents=True)
    (old / f"{0:020d}.log").write_bytes(recordpress.write_records([b"value"], magic=1))
    with pytest.raises(recordpress.UnsupportedCompressionTypeError, match="it needs magic 2"):
        transcode(one_by_one, tmp_path / "old", tmp_path / "copy", on_corrupt="quarantine")

    def without(groups: Any) -> list[Any]:
        (logs / "t-1" / f"{40:020d}.log").unlink()
        return one_by_one(groups)

    with pytest.raises(FileNotFoundError):
        transcode(without, logs, tmp_path / "copy", on_corrupt="quarantine")
    assert not (tmp_path / "copy").exists()
    with pytest.raises(
        recordpress.InvalidArgumentError, match="on_corrupt must be one of raise, quarantine, not 'skip'"
    ):
        transcode(one_by_one, logs, tmp_path / "copy", on_corrupt="skip")
