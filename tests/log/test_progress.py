"""How far a call has come that reads a whole log."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import recordpress
from recordpress.log import Progress, reindex, repair, scan, verify

BIG = [recordpress.write_records([bytes(200_000)] * 2, base_offset=2 * i) for i in range(12)]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "a-0"
    path.mkdir()
    for base, batches in ((0, BIG[:6]), (12, BIG[6:])):
        (path / f"{base:020}.log").write_bytes(b"".join(batches))
    return path


CALLS: dict[str, tuple[Callable[..., Any], int]] = {
    "scan": (lambda path, **options: scan(path, **options), 1),
    "verify": (lambda path, **options: verify(path, "record", **options), 1),
    "repair": (lambda path, **options: repair(path, path.parent / "copy" / "a-0", **options), 3),
    "reindex": (lambda path, **options: reindex(path, **options), 1),
}


@pytest.mark.parametrize("name", CALLS)
def test_progress(name: str, log: Path) -> None:
    call, passes = CALLS[name]
    size = sum(map(len, BIG))
    told: list[Progress] = []
    call(log, progress=told.append)
    done = [progress.bytes_done for progress in told]
    assert done == sorted(done)
    assert len(done) > passes * size >> 21
    assert {progress.bytes_total for progress in told} == {passes * size}
    assert told[-1] == (passes * size, passes * size, 2, 2)


@pytest.mark.parametrize("name", CALLS)
def test_what_progress_raises_ends_the_call_and_leaves_nothing(name: str, log: Path) -> None:
    call, _ = CALLS[name]
    before = sorted(log.parent.rglob("*"))

    def stop(progress: Progress) -> None:
        if progress.bytes_done > progress.bytes_total // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        call(log, progress=stop)
    left = [path for path in sorted(log.parent.rglob("*")) if path not in before]
    assert [path.name for path in left] == (["copy"] if name == "repair" else [])
