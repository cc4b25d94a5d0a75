"""Sets of messages that only the code of brokers before 0.11 meets, and what bounds the work on them."""

from __future__ import annotations

import pytest
from sets import ROWS, TIME, lz4_frame, message, messages, wrapper

import recordpress
from recordpress.broker import Reason, validate

OLD = ["0.8.2", "0.9", "0.10.0", "0.10.1", "0.10.2"]


def nested(depth: int) -> bytes:
    data = messages(0, ROWS[:1])
    for _ in range(depth):
        data = wrapper(0, "gzip", data, offset=0)
    return data


def test_0_8_2_opens_a_wrapper_in_a_wrapper() -> None:
    """ByteBufferMessageSet.internalIterator is deep again; 0.9 takes what is inside for a message."""
    [batch] = recordpress.read_batches(validate(nested(3), broker_version="0.8.2", next_offset=7).records)
    assert [(record.offset, record.key, record.value) for record in batch] == [(7, *ROWS[0])]
    assert validate(nested(3), broker_version="0.9").accepted
    for release in OLD[2:]:
        assert validate(nested(3), broker_version=release).error_code != 0


def test_nesting_has_an_end() -> None:
    assert validate(nested(32), broker_version="0.8.2").accepted
    verdict = validate(nested(33), broker_version="0.8.2")
    assert (verdict.error_code, verdict.reasons) == (-1, [Reason.NESTED_COMPRESSION])


@pytest.mark.parametrize("release", OLD)
def test_decompression_has_an_end(release: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a broker would say is not known then."""
    monkeypatch.setattr("recordpress.broker._old_streams.DEFAULT_MAX_SIZE", 1000)
    data = b"".join(wrapper(0, "gzip", messages(0, [(b"k", b"v" * 600)]), offset=0) for _ in range(2))
    with pytest.raises(recordpress.OutputTooLargeError):
        validate(data, broker_version=release)
    helpful = validate(data, broker_version=release, helpful=True)
    assert (helpful.error_code, helpful.reasons) == (10, [Reason.DECOMPRESSED_TOO_LARGE])
    assert validate(data[: len(data) // 2], broker_version=release).accepted


def test_a_cut_gzip_stream_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recordpress.broker._old_streams.DEFAULT_MAX_SIZE", 100)
    payload = recordpress.compress(messages(0, [(b"k", b"v" * 600)]), "gzip")[:-5]
    with pytest.raises(recordpress.OutputTooLargeError):
        validate(wrapper(0, "gzip", payload=payload), broker_version="0.9")


@pytest.mark.parametrize(
    ("flags", "broken", "codes"),
    [
        (0x60, False, [-1, -1, 0, 0, 0]),
        (0x60, True, [0, 0, 0, 0, 0]),
        (0x68, True, [-1, -1, 0, 0, 0]),
        (0x64, True, [-1, -1, 0, 0, 0]),
        (0x70, True, [0, 0, 0, 0, 0]),
    ],
)
def test_lz4_headers_before_and_after_kip_57(flags: int, broken: bool, codes: list[int]) -> None:
    """Also of 0.8.2 and 0.9, for which a correct checksum, or a size or checksum of the content, is an error."""
    data = wrapper(0, "lz4", payload=lz4_frame(messages(0), flags=flags, broken=broken))
    assert [validate(data, broker_version=release).error_code for release in OLD] == codes


@pytest.mark.parametrize("release", OLD[2:])
def test_helpful_answers(release: str) -> None:
    unknown = wrapper(1, "gzip", codec_id=7)
    assert validate(unknown, broker_version=release).error_code == -1
    assert validate(unknown, broker_version=release, helpful=True).error_code == 76
    linked = wrapper(1, "lz4", payload=lz4_frame(messages(1), flags=0x40))
    assert validate(linked, broker_version=release).error_code == -1
    assert validate(linked, broker_version=release, helpful=True).error_code == 2


def test_a_time_so_far_away_that_the_difference_wraps_is_in_range() -> None:
    settings = {"message.timestamp.difference.max.ms": 1000}
    data = message(1, b"k", b"v", timestamp=-(2**63))
    assert validate(data, broker_version="0.10.2", topic_config=settings, now_ms=0).accepted
    assert validate(data, broker_version="0.10.2", topic_config=settings, now_ms=TIME).error_code == 32


def test_wrappers_full_of_wrappers_have_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """2^40 empty messages in 60 kB: what is in them is counted at every level."""
    monkeypatch.setattr("recordpress.broker._old_streams.DEFAULT_MAX_SIZE", 1 << 24)
    data = wrapper(0, "gzip", b"", offset=0)
    for _ in range(4):
        data = wrapper(0, "gzip", data * 1024, offset=0)
    with pytest.raises(recordpress.OutputTooLargeError):
        validate(data, broker_version="0.8.2")


def test_0_10_2_takes_a_wrappers_offset_for_the_last_ones_unless_that_is_negative() -> None:
    """DeepRecordsIterator.absoluteBaseOffset is a long, which wraps."""
    for offset, reasons in ((2, []), (1, []), (-5, []), (-(2**63), [Reason.NON_SEQUENTIAL_INNER_OFFSETS])):
        verdict = validate(wrapper(1, "gzip", offset=offset), broker_version="0.10.2", next_offset=70)
        assert (verdict.error, verdict.reasons) == ("NONE", reasons)
        [batch] = recordpress.read_batches(verdict.records)
        assert [record.offset for record in batch] == [70, 71, 72]
