"""iter_columns: a walk that is stopped anywhere and taken up again gives what one walk gives."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest

import recordpress
from together import together

pa = pytest.importorskip("pyarrow")

PIECES = [
    recordpress.write_records(
        [b"%d" % i] * 4,
        base_offset=4 * i,
        magic=2 if i % 4 else 1,
        compression_type=("none", "lz4", "gzip")[i % 3] if i % 4 else "snappy",  # one entry each
        timestamps=[100 * i] * 4,
    )
    for i in range(12)
]
LOG = b"".join(PIECES)
ENDS = [sum(map(len, PIECES[: i + 1])) for i in range(len(PIECES))]
SOURCES = pytest.mark.parametrize("source", [bytes, io.BytesIO])
THREADS = pytest.mark.parametrize("threads", [1, 3])


def offsets(columns: recordpress.Columns) -> list[int]:
    return pa.table(columns)["offset"].to_pylist()  # type: ignore[no-any-return]


def rows(data: object, **options: object) -> list[int]:
    pieces = recordpress.iter_columns(data, ["offset"], **options)  # type: ignore[arg-type]
    return [offset for columns in pieces for offset in offsets(columns)]


@THREADS
@SOURCES
def test_position_and_offset_are_those_after_the_result(source: Callable[[bytes], object], threads: int) -> None:
    """However far the threads have read ahead."""
    with recordpress.iter_columns(source(LOG), ["offset"], batch_bytes=1, threads=threads) as pieces:
        assert (pieces.position, pieces.next_offset, pieces.valid_bytes) == (0, None, 0)
        for i, columns in enumerate(pieces):
            last = offsets(columns)[-1]
            assert pieces.position == pieces.valid_bytes
            assert pieces.position in ENDS
            assert pieces.next_offset == last + 1
            assert columns.valid_bytes == len(PIECES[i])
        assert (pieces.position, pieces.next_offset, pieces.trailing_bytes) == (len(LOG), 48, 0)


@pytest.mark.parametrize("batch_bytes", [1, 500])
def test_a_walk_is_taken_up_at_any_entry(batch_bytes: int) -> None:
    first = recordpress.iter_columns(LOG, ["offset"], batch_bytes=batch_bytes)
    seen: list[int] = []
    for columns in first:
        seen += offsets(columns)
        assert seen + rows(LOG, start_position=first.position) == list(range(48))
        file = io.BytesIO(LOG)
        file.seek(first.position)
        assert seen + rows(file) == list(range(48))


@SOURCES
@together("end", range(49))
def test_a_walk_ends_at_an_offset_and_goes_on_from_there(source: Callable[[bytes], object], end: int) -> None:
    first = recordpress.iter_columns(source(LOG), ["offset"], end_offset=end)
    seen = [offset for columns in first for offset in offsets(columns)]
    assert seen == list(range(end))
    assert first.next_offset == (end if end or first.position else first.next_offset)
    assert first.position <= (ENDS[end // 4] if end < 48 else len(LOG))
    assert rows(LOG, start_position=first.position, start_offset=end) == list(range(end, 48))


def test_what_lies_after_the_end_offset_is_not_read() -> None:
    """Damage there is not an error, and of a file nothing is read beyond the piece with the end in it."""
    damaged = LOG + bytes(1000)
    assert rows(damaged, end_offset=20) == list(range(20))
    file = io.BytesIO(LOG * 50)
    assert rows(file, end_offset=3, batch_bytes=100) == list(range(3))
    assert file.tell() < 2 * len(LOG)


@SOURCES
@pytest.mark.parametrize("cut", [0, 1, 30])
@pytest.mark.parametrize("entries", [0, 5, 12])
def test_a_walk_ends_at_a_byte(source: Callable[[bytes], object], entries: int, cut: int) -> None:
    """As if the source ended there: an entry that reaches beyond it is cut."""
    whole = ENDS[entries - 1] if entries else 0
    end = whole + (cut if entries < 12 else 0)
    pieces = recordpress.iter_columns(source(LOG), ["offset"], end_position=end, batch_bytes=200)
    assert [offset for columns in pieces for offset in offsets(columns)] == rows(LOG[:end])
    assert pieces.position + pieces.trailing_bytes == end
    if pieces.trailing_bytes:
        with pytest.raises(recordpress.CorruptRecordError) as caught:
            rows(source(LOG), end_position=end, complete=True)
        assert caught.value.position == pieces.position


def test_positions_count_from_where_a_file_stood(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(b"before" + LOG[:-1])
    with path.open("rb") as file:
        file.seek(6)
        pieces = recordpress.iter_columns(file, ["offset"], batch_bytes=100)
        assert sum(columns.num_rows for columns in pieces) == 44
        assert pieces.position + pieces.trailing_bytes == len(LOG) - 1
    with path.open("rb") as file, pytest.raises(recordpress.InvalidArgumentError, match="seek") as caught:
        recordpress.iter_columns(file, start_position=6)
    assert caught.value.field == "start_position"


# --- read_committed ---------------------------------------------------------------------------------------


def _transactional(producer: int, offset: int) -> bytes:
    builder = recordpress.BatchBuilder(
        base_offset=offset, producer_id=producer, producer_epoch=0, base_sequence=0, is_transactional=True
    )
    builder.append(b"v")
    return builder.build()


def _marker(producer: int, offset: int, commit: bool) -> bytes:
    builder = recordpress.BatchBuilder(
        base_offset=offset, producer_id=producer, producer_epoch=0, is_transactional=True, is_control=True
    )
    builder.append_end_txn_marker(commit, coordinator_epoch=1)
    return builder.build()


def test_read_committed_is_taken_up_at_any_entry() -> None:
    """Producer 7 aborts, commits and aborts again; 8 aborts across the middle."""
    log = [
        _transactional(7, 0),
        _transactional(8, 1),
        _marker(7, 2, False),
        _transactional(7, 3),
        _transactional(8, 4),
        _marker(7, 5, True),
        _transactional(7, 6),
        _marker(8, 7, False),
        _transactional(8, 8),
        _marker(7, 9, False),
        _transactional(7, 10),
        _marker(8, 11, True),
        _marker(7, 12, True),
    ]
    aborted = [(7, 0), (8, 1), (7, 6)]
    data = b"".join(log)
    assert rows(data, aborted_transactions=aborted) == [3, 8, 10]
    for stop in range(len(log) + 1):
        at = sum(map(len, log[:stop]))
        first = recordpress.iter_columns(data, ["offset"], end_position=at, aborted_transactions=aborted)
        seen = [offset for columns in first for offset in offsets(columns)]
        assert first.position == at
        rest = rows(data, start_position=at, aborted_transactions=first.aborted_transactions)
        assert seen + rest == [3, 8, 10]
    assert first.aborted_transactions == []


@THREADS
def test_the_state_of_transactions_is_that_after_the_result(threads: int) -> None:
    log = [_transactional(5, 0), _transactional(7, 1), _transactional(5, 2), _marker(7, 3, False), _transactional(7, 4)]
    pieces = recordpress.iter_columns(
        b"".join(log), ["offset"], batch_bytes=1, threads=threads, aborted_transactions=[(7, 1)]
    )
    found = [(offsets(columns), pieces.aborted_transactions) for columns in pieces]
    assert found == [([0], [(7, 1)]), ([2], [(7, 1)]), ([4], [])]


def test_after_an_error_a_walk_stands_before_the_entry_that_is_wrong() -> None:
    wrong = bytearray(_transactional(5, 2))
    wrong[-1] ^= 1
    log = [_transactional(5, 0), _transactional(7, 1), bytes(wrong), _transactional(7, 3)]
    data = b"".join(log)
    pieces = recordpress.iter_columns(data, ["offset"], aborted_transactions=[(7, 1), (9, 50)])
    assert offsets(next(pieces)) == [0]
    at = len(log[0] + log[1])
    assert (pieces.position, pieces.next_offset, pieces.aborted_transactions) == (at, 2, [(7, 1), (9, 50)])
    with pytest.raises(recordpress.CorruptRecordError):
        next(pieces)
    assert pieces.position == at
    assert rows(data, start_position=at + len(wrong), aborted_transactions=pieces.aborted_transactions) == []


# --- ends and tails ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 1, 11, 12, 16, 17, 60, 61])
def test_every_reader_tells_of_a_cut_tail(size: int) -> None:
    good, tail = PIECES[1], PIECES[2][:size]
    data = good + tail
    columns, table = recordpress.read_columns(data), recordpress.batch_table(data)
    pieces = recordpress.iter_columns(data)
    found = list(pieces)
    for reader in (columns, table, pieces):
        assert (reader.valid_bytes, reader.trailing_bytes) == (len(good), size)
    assert found[0].valid_bytes == len(good)
    calls: list[Callable[..., object]] = [
        lambda **options: recordpress.read_columns(data, **options),
        lambda **options: list(recordpress.iter_columns(data, **options)),
        lambda **options: list(recordpress.iter_columns(io.BytesIO(data), batch_bytes=70, **options)),
        lambda **options: recordpress.batch_table(data, **options),
    ]
    for call in calls:
        call(complete=False)
        if size == 0:
            call(complete=True)
            continue
        with pytest.raises(recordpress.CorruptRecordError, match="truncated") as caught:
            call(complete=True)
        assert caught.value.position == len(good)


def test_a_cut_tail_comes_after_the_rows_and_is_the_last_of_the_errors() -> None:
    data = PIECES[1] + PIECES[2][:-1]
    pieces = recordpress.iter_columns(data, complete=True)
    assert next(pieces).num_rows == 4
    with pytest.raises(recordpress.CorruptRecordError):
        next(pieces)
    pieces = recordpress.iter_columns(data, complete=True, on_corrupt="skip")
    assert [columns.num_rows for columns in pieces] == [4]
    assert [error.position for error in pieces.errors] == [len(PIECES[1])]


def test_an_iteration_is_closed_once_and_for_all() -> None:
    pieces = recordpress.iter_columns(LOG, batch_bytes=1)
    next(pieces)
    at = pieces.position
    pieces.close()
    pieces.close()
    assert list(pieces) == []
    assert pieces.position == at


@pytest.mark.parametrize("threads", [1, 3])
def test_a_closed_iteration_holds_no_memory_of_the_caller(threads: int) -> None:
    data = bytearray(LOG)
    pieces = recordpress.iter_columns(data, ["offset"], batch_bytes=1, threads=threads)
    next(pieces)
    with pytest.raises(BufferError):
        data.append(0)
    pieces.close()
    data.append(0)


def test_valid_bytes_count_from_the_start_position() -> None:
    start, cut = len(PIECES[0]), PIECES[2][:20]
    pieces = recordpress.iter_columns(PIECES[0] + PIECES[1] + cut, start_position=start)
    assert [columns.valid_bytes for columns in pieces] == [len(PIECES[1])]
    assert (pieces.position, pieces.valid_bytes, pieces.trailing_bytes) == (start + len(PIECES[1]), len(PIECES[1]), 20)


@pytest.mark.parametrize(
    ("option", "value"),
    [("on_corrupt", "ignore"), ("start_position", len(LOG) + 1), ("end_position", -1), ("max_message_bytes", 0)],
)
def test_a_wrong_option_is_named(option: str, value: object) -> None:
    with pytest.raises(recordpress.InvalidArgumentError) as caught:
        recordpress.iter_columns(LOG, **{option: value})  # type: ignore[arg-type]
    assert caught.value.field == option
