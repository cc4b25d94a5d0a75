"""Options of read_columns and iter_columns, each at the value where it begins to matter, and who does the work."""

from __future__ import annotations

import io
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

import recordpress
from other_thread import another_thread
from patience import HANG

pa = pytest.importorskip("pyarrow")

LOG = b"".join(
    recordpress.write_records([b"v" * 10] * 5, base_offset=5 * i, timestamps=range(500 * i, 500 * i + 500, 100))
    for i in range(4)
)


def _offsets(**options: object) -> list[int]:
    return pa.table(recordpress.read_columns(LOG, ["offset"], **options))["offset"].to_pylist()  # type: ignore


@pytest.mark.parametrize("first", [-1, 0, 1, 100, 499, 500, 501, 1000, 1900, 1901])
def test_records_at_the_start_timestamp_are_there(first: int) -> None:
    """Also where it is the last timestamp of a batch, which the header alone could leave out."""
    assert _offsets(start_timestamp=first) == [i for i in range(20) if 100 * i >= first]
    assert _offsets(end_timestamp=max(first, 0)) == [i for i in range(20) if 100 * i < first]


def test_a_batch_of_the_start_timestamp_alone_is_there() -> None:
    data = recordpress.write_records([b"v"], timestamps=[7])
    for magic in (1, 2):
        data = recordpress.write_records([b"v"], timestamps=[7], magic=magic)
        for start, rows in ((6, 1), (7, 1), (8, 0)):
            assert recordpress.read_columns(data, start_timestamp=start).num_rows == rows


def test_times_are_datetimes_text_or_milliseconds() -> None:
    when = datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)
    for time_of in (when, "1970-01-01T00:00:01Z", "1970-01-01T02:00:01+02:00", 1000, np.int64(1000)):
        assert _offsets(start_timestamp=time_of) == list(range(10, 20))
        assert _offsets(end_timestamp=time_of) == list(range(10))
    with pytest.raises(recordpress.InvalidArgumentError, match="time zone") as caught:
        _offsets(start_timestamp=when.replace(tzinfo=None))
    assert caught.value.field == "start_timestamp"


def test_arrays_are_taken_wherever_a_sequence_is() -> None:
    columns = recordpress.read_columns(
        LOG, np.array(["value", "offset"]), start_offset=np.int32(3), threads=np.uint8(2)
    )
    assert columns.column_names == ["value", "offset"]
    assert columns.num_rows == 17
    assert recordpress.read_columns(LOG, aborted_transactions=np.array([[1, 2], [3, 4]])).num_rows == 20


# --- sizes ------------------------------------------------------------------------------------------------


def _parts(data: bytes, **options: object) -> list[pa.RecordBatch]:
    return pa.table(recordpress.read_columns(data, **options)).to_batches()  # type: ignore


@pytest.mark.parametrize("name", ["key", "value", "header keys", "header values"])
@pytest.mark.parametrize("codec", ["none", "lz4"])
def test_a_record_batch_ends_before_a_column_is_larger_than_chunk_bytes(codec: str, name: str) -> None:
    """The guard of the 2 GiB that a binary column can hold, tried with 1 KB."""
    big = b"x" * 300
    data = b"".join(
        recordpress.write_records(
            [big if name == "value" else b""],
            keys=[big if name == "key" else b""],
            headers=[
                [("h", big)] if name == "header values" else [(big.decode(), None)] if name == "header keys" else []
            ],
            base_offset=i,
            compression_type=codec,
        )
        for i in range(20)
    )
    batches = _parts(data, chunk_bytes=1024)
    assert sum(batch.num_rows for batch in batches) == 20
    assert len(batches) >= 3
    for batch in batches:
        column = batch.column("headers" if name.startswith("header") else name)
        if name.startswith("header"):
            fields = column.flatten()
            sizes = [fields.field(i).nbytes - 4 * (len(fields) + 1) for i in range(2)]
        else:
            sizes = [column.nbytes - 4 * (len(column) + 1)]
        assert max(sizes) <= 1024
    assert len(_parts(data)) == 1


@pytest.mark.parametrize("codec", ["none", "lz4"])
def test_headers_without_bytes_count_for_chunk_bytes(codec: str) -> None:
    """Each takes eight bytes, for the offsets of its key and of its value."""
    data = recordpress.write_records(
        [b""] * 20, headers=[[("", None)] * 50] * 20, batch_records=1, compression_type=codec
    )
    batches = _parts(data, chunk_bytes=1024)
    assert [batch.num_rows for batch in batches] == [3] * 6 + [2]
    assert len(_parts(data)) == 1


def test_one_batch_may_be_larger_than_chunk_bytes() -> None:
    data = recordpress.write_records([b"x" * 5000]) * 3
    assert [batch.num_rows for batch in _parts(data, chunk_bytes=10)] == [1, 1, 1]


@pytest.mark.parametrize("make", [bytes, io.BytesIO])
def test_an_entry_above_max_message_bytes_is_corrupt(make: type) -> None:
    small, large = recordpress.write_records([b"s"]), recordpress.write_records([b"l" * 100], base_offset=1)
    size = len(large) - 12
    assert sum(c.num_rows for c in recordpress.iter_columns(make(small + large), max_message_bytes=size)) == 2
    pieces = recordpress.iter_columns(make(small + large), max_message_bytes=size - 1)
    assert next(pieces).num_rows == 1
    with pytest.raises(recordpress.CorruptRecordError) as caught:
        next(pieces)
    assert (caught.value.position, caught.value.field_position) == (len(small), len(small) + 8)
    with pytest.raises(recordpress.CorruptRecordError):
        recordpress.read_columns(small + large, max_message_bytes=size - 1)
    assert recordpress.read_columns(small + large, max_message_bytes=size).num_rows == 2


# --- files ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("batch_bytes", [100, 200, 450, 1 << 20])
def test_rows_before_damage_in_any_piece_of_a_file(tmp_path: Path, batch_bytes: int, threads: int) -> None:
    """The error names the file and counts from where it stood."""
    good = LOG * 3
    wrong = bytearray(LOG)
    wrong[-1] ^= 1
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(good + wrong + LOG)
    rows: list[int] = []
    with path.open("rb") as file, pytest.raises(recordpress.CorruptRecordError) as caught:
        rows.extend(map(len, recordpress.iter_columns(file, ["offset"], batch_bytes=batch_bytes, threads=threads)))
    assert sum(rows) == 75
    last = len(good) + len(LOG) // 4 * 3
    assert (caught.value.file, caught.value.position, caught.value.offset) == (str(path), last, 15)


def test_damage_to_the_framing_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(LOG + bytes(20))
    with path.open("rb") as file, pytest.raises(recordpress.CorruptRecordError) as caught:
        list(recordpress.iter_columns(file, batch_bytes=100))
    assert (caught.value.file, caught.value.position) == (str(path), len(LOG))
    path.write_bytes(LOG[:-1])
    with path.open("rb") as file, pytest.raises(recordpress.CorruptRecordError) as caught:
        list(recordpress.iter_columns(file, batch_bytes=100, complete=True))
    assert (caught.value.file, caught.value.position) == (str(path), len(LOG) // 4 * 3)


# --- threads ----------------------------------------------------------------------------------------------

SLOW = b"".join(recordpress.write_records([bytes(4000)] * 500, compression_type="gzip") for _ in range(24))


def _cpu_of_threads() -> dict[str, float]:
    """CPU seconds of each thread of recordpress, from /proc."""
    found = {}
    for path in Path("/proc/self/task").iterdir():
        try:
            name, fields = (path / "comm").read_text().strip(), (path / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        if name == "recordpress":
            found[path.name] = float(fields[11]) + float(fields[12])
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="threads are counted in /proc")
def test_every_thread_does_some_of_the_work() -> None:
    pieces = recordpress.iter_columns(SLOW * 8, ["value"], batch_bytes=1, threads=3)
    until = time.monotonic() + HANG
    busy: dict[str, float] = {}
    while len(busy) < 2 and time.monotonic() < until:
        if next(pieces, None) is None:
            pieces = recordpress.iter_columns(SLOW * 8, ["value"], batch_bytes=1, threads=3)
        busy = {name: cpu for name, cpu in _cpu_of_threads().items() if cpu > 0}
    assert len(busy) == 2
    pieces.close()


@pytest.mark.skipif(sys.platform != "linux", reason="threads are counted in /proc")
def test_read_columns_has_the_threads_it_is_told() -> None:
    most = 0
    done = threading.Event()

    def watch() -> None:
        nonlocal most
        while not done.is_set():
            most = max(most, len(_cpu_of_threads()))

    watcher = threading.Thread(target=watch)
    watcher.start()
    until = time.monotonic() + HANG
    while most < 3 and time.monotonic() < until:
        columns = recordpress.read_columns(SLOW, ["value"], threads=4)
        assert len(pa.table(columns).to_batches()) == 4
    done.set()
    watcher.join()
    assert most == 3


@pytest.mark.parametrize("threads", [1, 3])
def test_other_threads_go_on_while_columns_are_read(threads: int) -> None:
    with another_thread() as goes_on:
        assert goes_on(lambda: recordpress.read_columns(SLOW, ["value"], threads=threads))
