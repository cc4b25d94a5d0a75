"""The exceptions of a plug-in reach the errors that they are the causes of, however many there are at a time."""

import threading
from collections.abc import Callable

import pytest

import recordpress

AT_ONCE = 100  # more than are kept of those that nobody asks for


class Numbered(Exception):
    pass


class Refusing:
    """Refuses everything it wrote; says which."""

    def __init__(self, wait: Callable[[], object] = lambda: None) -> None:
        self.wait = wait

    def compress(self, data: bytes) -> bytes:
        return data

    def decompress(self, data: bytes, max_output: int) -> bytes:
        self.wait()
        raise Numbered(data)


def registry(codec: object) -> recordpress.CodecRegistry:
    codecs = recordpress.CodecRegistry()
    codecs.register("refusing", codec)  # type: ignore[arg-type]
    return codecs


def batches(codecs: recordpress.CodecRegistry) -> list[bytes]:
    return [
        recordpress.write_records([b"%d" % i], base_offset=i, compression_type="refusing", codecs=codecs)
        for i in range(AT_ONCE)
    ]


def test_all_errors_of_one_window_have_their_causes() -> None:
    codecs = registry(Refusing())
    parts = recordpress.iter_columns(b"".join(batches(codecs)), ["value"], codecs=codecs, on_corrupt="skip")
    assert list(parts) == []
    causes = [error.__cause__ for error in parts.errors]
    assert len(causes) == AT_ONCE and all(isinstance(cause, Numbered) for cause in causes)
    assert len({str(cause) for cause in causes}) == AT_ONCE


def test_all_errors_of_batches_that_name_an_unknown_codec_name_it() -> None:
    data = b"".join(batches(registry(Refusing())))
    parts = recordpress.iter_columns(data, ["value"], on_corrupt="skip")
    assert list(parts) == []
    assert len(parts.errors) == AT_ONCE and all("'refusing'" in str(error) for error in parts.errors)


def test_records_that_are_asked_for_late_raise_the_cause_of_their_own_batch() -> None:
    codecs = registry(Refusing())
    begun = [iter(batch) for batch in recordpress.read_batches(b"".join(batches(codecs)), codecs=codecs)]
    for i, records in enumerate(begun):
        with pytest.raises(recordpress.DecompressionError) as caught:
            next(records)
        assert isinstance(caught.value.__cause__, Numbered) and b"%d" % i in caught.value.__cause__.args[0]


def test_each_of_many_threads_gets_the_cause_of_its_own_call() -> None:
    barrier = threading.Barrier(AT_ONCE)
    codecs = registry(Refusing(barrier.wait))
    causes: dict[bytes, BaseException | None] = {}

    def read(payload: bytes) -> None:
        try:
            recordpress.decompress(payload, "refusing", codecs=codecs)
        except recordpress.DecompressionError as error:
            causes[payload] = error.__cause__

    threads = [threading.Thread(target=read, args=(b"%d" % i,)) for i in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(causes) == AT_ONCE
    assert all(isinstance(cause, Numbered) and cause.args == (payload,) for payload, cause in causes.items())


def test_causes_that_nobody_asks_for_do_not_pile_up() -> None:
    import gc

    codecs = registry(Refusing())
    [batch] = recordpress.read_batches(batches(codecs)[0], codecs=codecs)
    for _ in range(3 * AT_ONCE):
        iter(batch)
    gc.collect()
    assert sum(isinstance(thing, Numbered) for thing in gc.get_objects()) <= AT_ONCE
