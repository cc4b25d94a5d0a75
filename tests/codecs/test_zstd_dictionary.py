"""Values with a dictionary of zstd against the zstandard package, and what is refused."""

import contextlib
import pickle
import random
import subprocess
import threading
from collections.abc import Callable

import pytest
import zstandard
from hypothesis import given, strategies as st

import recordpress
from recordpress.dictionaries import Dictionary, dictionary_id, train_values
from together import together

VALUES = [
    b'{"user": %d, "city": "%s", "active": %s}' % (n * 7919 % 10007, city, flag)
    for n, (city, flag) in enumerate([(b"Paris", b"true"), (b"Lyon", b"false"), (b"Nice", b"true")] * 700)
]
TRAINED = train_values(VALUES, 4096)
OTHER = train_values([b"<event kind='%d' at='%d'/>" % (n % 5, n * 31) for n in range(2000)], 2048)
BOTH = {TRAINED.id: TRAINED, OTHER.id: OTHER}
THEIRS = zstandard.ZstdCompressionDict(TRAINED.data)
SIZES = (0, 1, 44, 255, 256, 5000, 70_000, 300_000)


def sized(size: int) -> bytes:
    return (b"".join(VALUES) * (size // 50_000 + 1))[:size]


def test_a_trained_dictionary_is_zstd_s() -> None:
    theirs = zstandard.train_dictionary(4096, VALUES)
    assert TRAINED.id == theirs.dict_id() == dictionary_id(recordpress.compress(b"", "zstd", dictionary=TRAINED))
    assert 0.98 < len(TRAINED) / len(theirs.as_bytes()) < 1.02
    ours = sum(len(recordpress.compress(value, "zstd", dictionary=TRAINED)) for value in VALUES)
    packer = zstandard.ZstdCompressor(dict_data=theirs)
    assert ours <= 1.02 * sum(len(packer.compress(value)) for value in VALUES)
    assert ours < 0.6 * sum(len(recordpress.compress(value, "zstd")) for value in VALUES)


@together("level", [None, -7, 1, 3, 9, 19])
@pytest.mark.parametrize("size", SIZES)
def test_frames_go_both_ways(level: int | None, size: int) -> None:
    value = sized(size)
    ours = recordpress.compress(value, "zstd", level, dictionary=TRAINED)
    theirs = zstandard.ZstdCompressor(level=3 if level is None else level, dict_data=THEIRS).compress(value)
    assert zstandard.get_frame_parameters(ours).dict_id == TRAINED.id
    assert zstandard.ZstdDecompressor(dict_data=THEIRS).decompress(ours) == value
    for frame in (ours, theirs):
        assert recordpress.decompress(frame, "zstd", dictionaries=TRAINED) == value
        assert recordpress.decompress(frame, "zstd", len(value), dictionaries=BOTH) == value
    assert len(ours) <= 1.02 * len(theirs) + 4


def test_into_a_buffer() -> None:
    value = VALUES[3]
    room = bytearray(recordpress.compress_bound(len(value), "zstd"))
    size = recordpress.compress_into(value, room, "zstd", dictionary=TRAINED)
    assert room[:size] == recordpress.compress(value, "zstd", dictionary=TRAINED)
    out = bytearray(len(value))
    assert recordpress.decompress_into(room[:size], out, "zstd", dictionaries=BOTH) == len(value)
    assert out == value
    with pytest.raises(recordpress.InvalidArgumentError, match="too small"):
        recordpress.decompress_into(room[:size], bytearray(len(value) - 1), "zstd", dictionaries=TRAINED)
    with pytest.raises(recordpress.InvalidArgumentError, match="too small"):
        recordpress.compress_into(value, bytearray(8), "zstd", dictionary=TRAINED)


@given(st.lists(st.tuples(st.binary(max_size=300), st.sampled_from([None, TRAINED, OTHER])), max_size=6))
def test_frames_one_after_another_each_with_its_own(values: list[tuple[bytes, Dictionary | None]]) -> None:
    data = b"".join(recordpress.compress(value, "zstd", dictionary=dictionary) for value, dictionary in values)
    assert recordpress.decompress(data, "zstd", dictionaries=BOTH) == b"".join(value for value, _ in values)


@pytest.mark.slow
def test_the_program_zstd_reads_and_writes_the_same(tmp_path) -> None:
    """Where it is installed."""
    names = {name: tmp_path / name for name in ("dictionary", "value", "ours.zst", "theirs.zst")}
    names["dictionary"].write_bytes(TRAINED.data)
    names["value"].write_bytes(VALUES[5])
    names["ours.zst"].write_bytes(recordpress.compress(VALUES[5], "zstd", dictionary=TRAINED))
    zstd = ["zstd", "-q", "-D", str(names["dictionary"])]
    try:
        done = subprocess.run([*zstd, "-dc", str(names["ours.zst"])], check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("the program zstd is not installed")
    assert done.stdout == VALUES[5]
    subprocess.run([*zstd, str(names["value"]), "-o", str(names["theirs.zst"])], check=True)
    assert recordpress.decompress(names["theirs.zst"].read_bytes(), "zstd", dictionaries=TRAINED) == VALUES[5]


# --- in pieces -------------------------------------------------------------------------------------------------------


def read_in_pieces(data: bytes, step: int, dictionaries, cap: int = 1 << 26) -> bytes:
    stream = recordpress.decompressor("zstd", cap, dictionaries=dictionaries)
    out = b"".join(stream.decompress(data[at : at + step]) for at in range(0, len(data), step))
    rest = stream.flush()
    assert stream.eof
    return out + rest


@together("level", [None, -7, 1, 9, 19])
@pytest.mark.parametrize("size", SIZES)
def test_streams_go_both_ways(level: int | None, size: int) -> None:
    value = sized(size)
    stream = recordpress.compressor("zstd", level, dictionary=TRAINED)
    ours = b"".join(stream.compress(value[at : at + 7000]) for at in range(0, size, 7000)) + stream.flush()
    packer = zstandard.ZstdCompressor(level=3 if level is None else level, dict_data=THEIRS).compressobj()
    theirs = packer.compress(value) + packer.flush()
    assert zstandard.get_frame_parameters(ours).dict_id == TRAINED.id
    assert zstandard.ZstdDecompressor(dict_data=THEIRS).decompressobj().decompress(ours) == value
    assert len(ours) <= 1.02 * len(theirs) + 8
    for frame in (ours, theirs):
        for step in (1, 6, 4096, 1 << 20) if size < 10_000 else (4096, 1 << 20):
            assert read_in_pieces(frame, step, TRAINED) == value
            assert read_in_pieces(frame, step, BOTH) == value
    assert recordpress.decompress(ours, "zstd", dictionaries=TRAINED) == value
    assert recordpress.decompress(recordpress.compress(value, "zstd"), "zstd") == value  # the context has forgotten it


SKIPPABLE = (0x184D2A53).to_bytes(4, "little") + (5).to_bytes(4, "little") + b"bytes"


@given(
    st.lists(st.tuples(st.binary(max_size=300), st.sampled_from([None, TRAINED, OTHER])), max_size=6),
    st.integers(1, 400),
)
def test_streams_of_frames_each_with_its_own(values: list[tuple[bytes, Dictionary | None]], step: int) -> None:
    data = SKIPPABLE.join(recordpress.compress(value, "zstd", dictionary=dictionary) for value, dictionary in values)
    assert read_in_pieces(data, step, BOTH) == b"".join(value for value, _ in values)


@pytest.mark.parametrize("step", [1, 5, 1000])
def test_a_stream_names_a_missing_dictionary(step: int) -> None:
    before = recordpress.compress(VALUES[1], "zstd", dictionary=OTHER)
    frame = before + recordpress.compress(VALUES[0], "zstd", dictionary=TRAINED)
    for known in (OTHER, {OTHER.id: OTHER}):
        with pytest.raises(
            recordpress.DecompressionError, match=f"needs dictionary {TRAINED.id}, which is not"
        ) as caught:
            read_in_pieces(frame, step, known)
        assert (caught.value.field, caught.value.field_position) == ("dictionaryId", len(before))


class Lookup:
    """Of a caller: it is asked for each id once."""

    def __init__(self, answer: Callable[[int], object]) -> None:
        self.answer = answer
        self.asked: list[int] = []

    def get(self, number: int) -> object:
        self.asked.append(number)
        return self.answer(number)


def test_a_stream_asks_when_it_reads_a_header() -> None:
    data = b"".join(recordpress.compress(value, "zstd", dictionary=TRAINED) for value in VALUES[:50])
    lookup = Lookup(BOTH.get)
    assert read_in_pieces(data, 3, lookup) == b"".join(VALUES[:50])
    assert lookup.asked == [TRAINED.id]


def test_what_a_lookup_raises_ends_the_stream() -> None:
    frame = recordpress.compress(VALUES[0], "zstd", dictionary=TRAINED)

    def again(number: int) -> None:
        stream.decompress(frame)

    for answer, error in (
        (lambda number: 1 // 0, ZeroDivisionError),
        (lambda number: OTHER, recordpress.InvalidArgumentError),
        (lambda number: b"bytes", recordpress.ArgumentTypeError),
        (again, recordpress.InvalidArgumentError),
    ):
        stream = recordpress.decompressor("zstd", dictionaries=Lookup(answer))
        with pytest.raises(error):
            stream.decompress(frame)
        with pytest.raises(recordpress.ClosedError):
            stream.decompress(frame)


def test_streams_of_damaged_frames() -> None:
    stream = recordpress.compressor("zstd", dictionary=TRAINED)
    frame = stream.compress(sized(3000)) + stream.flush()
    for at in range(0, len(frame), 7):
        for data in (frame[:at], frame[:at] + bytes([frame[at] ^ 0xFF]) + frame[at + 1 :], bytes(at)):
            for step in (1, 50):
                with contextlib.suppress(recordpress.DecompressionError, recordpress.OutputTooLargeError):
                    read_in_pieces(data, step, BOTH, 10_000)
    for cap in (0, 2999):
        with pytest.raises(recordpress.OutputTooLargeError):
            read_in_pieces(frame, 64, TRAINED, cap)
    assert read_in_pieces(frame, 64, TRAINED, 3000) == sized(3000)


def test_streams_of_other_codecs_take_none() -> None:
    with pytest.raises(recordpress.InvalidArgumentError, match="gzip does not support dictionaries"):
        recordpress.compressor("gzip", dictionary=TRAINED)
    with pytest.raises(recordpress.InvalidArgumentError, match="lz4 does not support dictionaries"):
        recordpress.decompressor("lz4", dictionaries=BOTH)
    with pytest.raises(recordpress.ArgumentTypeError, match="dictionary must be"):
        recordpress.compressor("zstd", dictionary=TRAINED.data)


# --- what is missing or wrong ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [OTHER, {}, {OTHER.id: OTHER}])
def test_a_missing_dictionary_is_named(given: Dictionary | dict[int, Dictionary]) -> None:
    frame = recordpress.compress(VALUES[0], "zstd", dictionary=TRAINED)
    with pytest.raises(recordpress.DecompressionError, match=f"needs dictionary {TRAINED.id}, which is not") as caught:
        recordpress.decompress(recordpress.compress(b"plain", "zstd") + frame, "zstd", dictionaries=given)
    assert (caught.value.field, caught.value.field_position) == (
        "dictionaryId",
        len(recordpress.compress(b"plain", "zstd")),
    )


def test_without_dictionaries_kafka_s_rule_holds() -> None:
    frame = recordpress.compress(VALUES[0], "zstd", dictionary=TRAINED)
    for read in (
        lambda: recordpress.decompress(frame, "zstd"),
        lambda: recordpress.decompressor("zstd").decompress(frame),
        lambda: recordpress.decompress_into(frame, bytearray(100), "zstd"),
    ):
        with pytest.raises(
            recordpress.DecompressionError, match=f"needs dictionary {TRAINED.id}, but Kafka uses no dictionaries"
        ):
            read()


def test_the_right_id_with_another_content_is_damage_or_other_bytes() -> None:
    """The id is all that a frame says of its dictionary: nothing outside of memory is read."""
    wrong = Dictionary(OTHER.data[:4] + TRAINED.data[4:8] + OTHER.data[8:])
    for value in VALUES[:200]:
        frame = recordpress.compress(value, "zstd", dictionary=TRAINED)
        with contextlib.suppress(recordpress.DecompressionError):
            assert recordpress.decompress(frame, "zstd", dictionaries=wrong) != value


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "not a zstd dictionary"),
        (b"raw content, as long as a dictionary might be" * 10, "raw content has no id"),
        (TRAINED.data[:16], "damaged"),
        (TRAINED.data[:60], "damaged"),
        (TRAINED.data[:4] + bytes(4) + TRAINED.data[8:], "the id 0"),
        (TRAINED.data[:8] + bytes(200) + TRAINED.data[208:], "damaged"),
    ],
)
def test_what_is_no_dictionary_is_refused(data: bytes, sentence: str) -> None:
    with pytest.raises(recordpress.InvalidArgumentError, match=sentence) as caught:
        Dictionary(data)
    assert caught.value.field == "data"


def test_changed_dictionaries_are_refused_or_used_without_harm() -> None:
    chance = random.Random(7)
    used = 0
    for _ in range(1500):
        data = bytearray(TRAINED.data)
        for _ in range(chance.randrange(1, 4)):
            data[chance.randrange(8, 200)] = chance.randrange(256)
        try:
            changed = Dictionary(data[: chance.choice((len(data), chance.randrange(len(data))))])
        except recordpress.InvalidArgumentError:
            continue
        used += 1
        frame = recordpress.compress(VALUES[1], "zstd", dictionary=changed)
        assert recordpress.decompress(frame, "zstd", dictionaries=changed) == VALUES[1]
    assert used > 10


def test_cut_and_changed_frames_are_errors_or_other_bytes() -> None:
    frame = recordpress.compress(sized(5000), "zstd", dictionary=TRAINED)
    for end in range(len(frame)):
        with pytest.raises(recordpress.DecompressionError):
            recordpress.decompress(frame[:end] or b"\x00", "zstd", dictionaries=TRAINED)
    for at in range(len(frame)):
        for mask in (1, 0x80):
            changed = bytearray(frame)
            changed[at] ^= mask
            with contextlib.suppress(recordpress.DecompressionError, recordpress.OutputTooLargeError):
                recordpress.decompress(changed, "zstd", 1 << 20, dictionaries=BOTH)


def test_bombs_end_at_the_cap() -> None:
    packer = zstandard.ZstdCompressor(dict_data=THEIRS, write_content_size=False)
    for frame in (
        recordpress.compress(bytes(10_000_000), "zstd", dictionary=TRAINED),
        packer.compress(bytes(10_000_000)),
    ):
        assert len(frame) < 2000
        with pytest.raises(recordpress.OutputTooLargeError):
            recordpress.decompress(frame, "zstd", 9_999_999, dictionaries=TRAINED)
        assert len(recordpress.decompress(frame, "zstd", 10_000_000, dictionaries=TRAINED)) == 10_000_000


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (
            lambda: recordpress.compress(b"", "lz4", dictionary=TRAINED),
            recordpress.InvalidArgumentError,
            "lz4 does not support dictionaries",
        ),
        (
            lambda: recordpress.decompress(b"", "gzip", dictionaries={}),
            recordpress.InvalidArgumentError,
            "gzip does not support dictionaries",
        ),
        (
            lambda: recordpress.decompress(b"", "none", dictionaries=TRAINED),
            recordpress.InvalidArgumentError,
            "none does not support dictionaries",
        ),
        (
            lambda: recordpress.compress(b"", "zstd", dictionary=TRAINED.data),
            recordpress.ArgumentTypeError,
            "not bytes",
        ),
        (
            lambda: recordpress.decompress(b"", "zstd", dictionaries=[TRAINED]),
            recordpress.ArgumentTypeError,
            "not list",
        ),
        (
            lambda: recordpress.compress(b"", "zstd", 23, dictionary=TRAINED),
            recordpress.InvalidArgumentError,
            "level of zstd",
        ),
        (lambda: Dictionary("text"), recordpress.ArgumentTypeError, "bytes-like"),
        (lambda: train_values([b"a"] * 6), recordpress.InvalidArgumentError, "6 samples are too few"),
        (lambda: train_values([b""] * 600), recordpress.InvalidArgumentError, "finds no dictionary"),
        (lambda: train_values(b"text"), recordpress.ArgumentTypeError, "samples must be a sequence"),
        (lambda: train_values(VALUES, 255), recordpress.InvalidArgumentError, "size must be from 256"),
        (
            lambda: train_values(VALUES, dictionary_id=7),
            recordpress.InvalidArgumentError,
            "dictionary_id must be from 32768",
        ),
        (lambda: train_values([1] * 10), recordpress.ArgumentTypeError, "bytes-like"),
    ],
)
def test_arguments(call: Callable[[], object], error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        call()


def test_a_mapping_that_lies() -> None:
    frame = recordpress.compress(b"value", "zstd", dictionary=TRAINED)
    with pytest.raises(recordpress.InvalidArgumentError, match=f"id {OTHER.id} for {TRAINED.id}"):
        recordpress.decompress(frame, "zstd", dictionaries={TRAINED.id: OTHER})
    with pytest.raises(recordpress.ArgumentTypeError, match="not bytes"):
        recordpress.decompress(frame, "zstd", dictionaries={TRAINED.id: TRAINED.data})

    class Failing(dict):
        def get(self, key, default=None):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        recordpress.decompress(frame, "zstd", dictionaries=Failing())


# --- the object ------------------------------------------------------------------------------------------------------


def test_the_object() -> None:
    again = pickle.loads(pickle.dumps(TRAINED))
    assert again == TRAINED and hash(again) == hash(TRAINED) and again.data == TRAINED.data and again != OTHER
    assert again != 5
    assert len(again) == len(again.data)
    assert repr(again) == f"<recordpress.dictionaries.Dictionary {again.id}: {len(again)} bytes>"
    before = again.nbytes
    recordpress.compress(b"x", "zstd", 5, dictionary=again)
    after = again.nbytes
    recordpress.compress(b"x", "zstd", 5, dictionary=again)
    assert len(again) < before < after == again.nbytes
    assert train_values(VALUES, 4096, dictionary_id=77_777).id == 77_777
    assert train_values(iter(VALUES), 4096) == TRAINED


def test_plain_frames_are_java_s_after_a_dictionary() -> None:
    """Both use one context."""
    plain = recordpress.compress(VALUES[0], "zstd")
    recordpress.compress(VALUES[0], "zstd", dictionary=TRAINED)
    assert recordpress.compress(VALUES[0], "zstd") == plain
    with pytest.raises(recordpress.InvalidArgumentError):
        recordpress.compress_into(VALUES[0], bytearray(3), "zstd", dictionary=TRAINED)
    assert recordpress.compress(VALUES[0], "zstd") == plain


def test_threads_share_a_dictionary() -> None:
    fresh = Dictionary(TRAINED.data)
    failed: list[object] = []

    def work(number: int) -> None:
        chance = random.Random(number)
        for _ in range(300):
            value, level = chance.choice(VALUES), chance.choice((1, 2, 3, 4, 5))
            frame = recordpress.compress(value, "zstd", level, dictionary=fresh)
            if recordpress.decompress(frame, "zstd", dictionaries=fresh) != value:
                failed.append(value)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


def test_a_compressor_that_is_used_again() -> None:
    stream = recordpress.compressor("zstd", dictionary=TRAINED)
    for value in VALUES[:5]:
        payload = stream.compress(value) + stream.flush()
        assert dictionary_id(payload) == TRAINED.id
        assert recordpress.decompress(payload, "zstd", dictionaries=TRAINED) == value
        stream.reset()
