"""`helpful` gives the error that names the cause where a broker has none, and repairs what a broker fails to repair."""

from __future__ import annotations

import pytest

import oracle
import recordpress
from recordpress.broker import PartitionLog, Reason, validate

NOW = 1700000000000


def crafted(name: str) -> bytes:
    return oracle.find(f"crafted/{name}").data


@pytest.mark.parametrize(
    ("name", "broker", "helpful"),
    [
        ("gzip_bad_crc", -1, 2),
        ("gzip_zlib", -1, 2),
        ("lz4_flip_mid", -1, 2),
        ("lz4_cut_half", -1, 2),
        ("snappy_negative_chunk", -1, 2),
        ("zstd_garbage", -1, 2),
        ("zstd_checksum_wrong", -1, 2),
        ("codec_6_v8", -1, 76),
        ("rec_length_too_long_none", -1, 87),
        ("count_zero_gzip", 87, 87),
        ("size_13", 2, 2),
    ],
)
def test_codes(name: str, broker: int, helpful: int) -> None:
    as_it_is, better = (validate(crafted(name), now_ms=NOW, helpful=flag) for flag in (False, True))
    assert (as_it_is.error_code, better.error_code) == (broker, helpful)
    assert as_it_is.reasons == better.reasons != []


@pytest.mark.parametrize("codec", ["gzip", "lz4"])
def test_offsets_are_repaired(codec: str) -> None:
    sent = crafted(f"deltas_gap_{codec}")
    assert validate(sent, now_ms=NOW).reasons == [Reason.OFFSETS_NOT_REPAIRED]
    verdict = validate(sent, now_ms=NOW, next_offset=10, helpful=True)
    assert (verdict.relation, verdict.reasons) == ("rebuilt", [Reason.NON_SEQUENTIAL_INNER_OFFSETS])
    [batch] = recordpress.read_batches(verdict.records)
    assert [record.offset for record in batch] == [10, 11, 12, 13]


def test_a_null_set_and_an_unknown_codec_in_an_old_request() -> None:
    assert validate(None, helpful=True).error == "INVALID_RECORD"
    assert validate(crafted("codec_6_v8"), produce_version=5).error_code == -1
    assert validate(crafted("codec_6_v8"), produce_version=5, helpful=True).error_code == 76


@pytest.mark.parametrize("name", ["rec_length_big_gzip", "rec_length_minus2_lz4", "rec_length_minus_first_zstd"])
@pytest.mark.parametrize("helpful", [False, True])
def test_lengths_that_lie_are_told_of(name: str, helpful: bool) -> None:
    """A broker keeps them, and consumers stop there; from 4.4 on, it refuses those that are negative."""
    newest = validate(crafted(name), now_ms=NOW, helpful=helpful)
    assert newest.reasons == ([Reason.RECORD_SIZE] if "minus" in name else [])
    verdict = validate(crafted(name), now_ms=NOW, helpful=helpful, broker_version="4.3")
    assert verdict.accepted
    assert verdict.findings == ["poisoned"]
    with pytest.raises(recordpress.InvalidRecordError):
        [list(batch) for batch in recordpress.read_batches(verdict.records)]


def test_a_batch_that_holds_more_than_may_be_decompressed() -> None:
    data = recordpress.write_records([bytes(65 << 20)], compression_type="zstd", timestamps=NOW)
    log = PartitionLog(broker_version="4.3", next_offset=5)
    with pytest.raises(recordpress.OutputTooLargeError):
        log.append(data, now_ms=NOW)
    assert log.next_offset == 5
    verdict = validate(data, now_ms=NOW, helpful=True)
    assert (verdict.error_code, verdict.reasons) == (10, [Reason.DECOMPRESSED_TOO_LARGE])
