"""Results written as lines while others are made."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest

import recordpress
from recordpress.columns import Columns, json_lines, write_lines

NAMES = ["offset", "key", "value", "headers"]


def results(sizes: list[int], value: bytes = b"v" * 99) -> list[Columns]:
    """Each of so many rows."""
    return [
        recordpress.read_columns(recordpress.write_records([value] * size, base_offset=1000 * number), NAMES)
        if size
        else recordpress.read_columns(b"", NAMES)
        for number, size in enumerate(sizes)
    ]


def alone(columns: Columns, kind: Any, values: Any) -> bytes:
    """The lines of one small result, which are written at once."""
    written: list[bytes] = []
    write_lines([columns], lambda text: written.append(bytes(text)), kind, values)
    assert len(written) <= 1
    return b"".join(written)


def in_use() -> int:
    return recordpress.pool_bytes()[0]


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("kind", ["json", "csv"])
@pytest.mark.parametrize("values", ["utf8", "base64"])
def test_the_order_is_that_of_the_results(kind: Any, values: Any, threads: int) -> None:
    given = results([3, 0, 1, 900, 2, 0, 0, 7])
    written: list[bytes] = []
    write_lines(iter(given), lambda text: written.append(bytes(text)), kind, values, threads=threads)
    assert b"".join(written) == b"".join(alone(columns, kind, values) for columns in given)
    assert all(text.endswith(b"\n") for text in written)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("keep", [False, True])
def test_results_of_several_pieces(threads: int, keep: bool) -> None:
    given = [
        recordpress.read_columns(
            b"".join(
                recordpress.write_records([b"v" * 999] * 300, base_offset=300 * i) for i in range(first, first + 10)
            ),
            NAMES,
            threads=2,
        )
        for first in (0, 10, 20)
    ]
    written: list[Any] = []
    write_lines(given, lambda text: written.append(text if keep else bytes(text)), threads=threads)
    assert len(written) > len(given)
    assert b"".join(written) == b"".join(map(json_lines, given))


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_in_place_of_a_result_comes_after_the_lines_before_it(threads: int) -> None:
    given = results([2, 3])

    def broken() -> Iterator[Columns]:
        yield from given
        raise recordpress.CorruptRecordError("bad")

    written: list[bytes] = []
    with pytest.raises(recordpress.CorruptRecordError, match="bad"):
        write_lines(broken(), lambda text: written.append(bytes(text)), threads=threads)
    assert b"".join(written) == b"".join(map(json_lines, given))


@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupt_ends_it_at_once(threads: int) -> None:
    given = results([2] * 9)

    def interrupted() -> Iterator[Columns]:
        yield from given[:4]
        raise KeyboardInterrupt

    before = in_use()
    written: list[bytes] = []
    with pytest.raises(KeyboardInterrupt):
        write_lines(interrupted(), lambda text: written.append(bytes(text)), threads=threads)
    assert b"".join(map(json_lines, given)).startswith(b"".join(written))
    assert in_use() == before


@pytest.mark.parametrize("threads", [1, 2])
def test_nothing_is_written_after_an_error_of_write(threads: int) -> None:
    given = results([2] * 9)
    before, calls = in_use(), []

    def full(text: memoryview) -> None:
        calls.append(text.nbytes)
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        write_lines(given, full, threads=threads)
    assert len(calls) == 1
    assert in_use() == before


def test_with_one_thread_a_result_is_written_before_the_next_one_is_asked_for() -> None:
    given = results([1, 2, 3])
    steps: list[str] = []

    def told() -> Iterator[Columns]:
        for columns in given:
            steps.append("asked")
            yield columns

    write_lines(told(), lambda text: steps.append("written"))
    assert steps == ["asked", "written"] * 3


def test_write_may_write_lines_itself() -> None:
    given = results([4, 5, 6])
    inner: list[bytes] = []

    def write(text: memoryview) -> None:
        write_lines(given[:1], lambda piece: inner.append(bytes(piece)), threads=2)

    write_lines(given, write, threads=2)
    assert b"".join(inner) == 3 * json_lines(given[0])


def test_no_thread_is_left() -> None:
    import os

    tasks = "/proc/self/task"
    if not os.path.isdir(tasks):
        pytest.skip("threads are not counted here")
    before = len(os.listdir(tasks)), threading.active_count()
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            write_lines(results([1] * 5), lambda text: 1 // 0, threads=2)
        write_lines(results([1] * 5), len, threads=2)
    assert (len(os.listdir(tasks)), threading.active_count()) == before


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        ([[]], {}, "must be recordpress.Columns, not list"),
        ([], {"kind": "dump"}, "kind must be"),
        ([], {"values": "ascii"}, "values must be"),
        ([], {"threads": 0}, "threads must be"),
        ([], {"threads": "2"}, "threads must be"),
    ],
)
def test_arguments(given: Any, options: Any, message: str) -> None:
    with pytest.raises((recordpress.ArgumentTypeError, recordpress.InvalidArgumentError), match=message):
        write_lines(given, len, **options)
    with pytest.raises(TypeError, match="not iterable"):
        write_lines(3, len)  # type: ignore[arg-type]
