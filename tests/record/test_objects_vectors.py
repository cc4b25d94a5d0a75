"""Every vector as objects: batches, their header fields, their records, and the errors where Kafka's code erred."""

from __future__ import annotations

import pytest

import oracle
import recordpress
from facts import Facts, batch_facts, error_class, record_facts
from oracle import Vector


def _read_records(batch: recordpress.Batch) -> tuple[list[Facts], type[Exception] | None]:
    """Records handed out before the error, and its class; no CRC is checked first, as Kafka's iterator does."""
    records = []
    is_control = batch.magic == 2 and batch.is_control
    try:
        for record in batch:
            records.append(record_facts(record, batch.magic, is_control))
    except recordpress.RecordpressError as error:
        return records, type(error)
    return records, None


def _read_batches(batches: recordpress.BatchIterator) -> tuple[list[recordpress.Batch], type[Exception] | None]:
    found = []
    try:
        for batch in batches:
            found.append(batch)
    except recordpress.RecordpressError as error:
        return found, type(error)
    return found, None


def _class(error: Facts | None) -> type[recordpress.RecordpressError] | None:
    return error_class(error) if error else None


def _check_header(batch: recordpress.Batch, expected: Facts) -> None:
    facts = batch_facts(batch)
    assert facts == {name: expected[name] for name in facts}
    assert batch.is_valid() == expected["valid"]
    if expected["valid"]:
        batch.ensure_valid()
    else:
        with pytest.raises(recordpress.CorruptRecordError):
            batch.ensure_valid()


def _check_codec(batch: recordpress.Batch, expected: Facts) -> None:
    """A codec id that Kafka did not assign is an error when decoding; the header can be read. KIP-984 assigns 5."""
    codec_id = batch.attributes & 7
    named = "pluggable" if codec_id == 5 and batch.magic == 2 else f"unknown({codec_id})"
    assert batch.compression_type == (expected["codec"] or named)


def _check_base_offset(batch: recordpress.Batch, expected: Facts) -> None:
    if "base_offset_error" in expected:
        with pytest.raises(error_class(expected["base_offset_error"])):
            _ = batch.base_offset
    else:
        assert batch.base_offset == expected["base_offset"]


def _check_records(batch: recordpress.Batch, expected: Facts) -> None:
    records, error = _read_records(batch)
    for record, expected_record in zip(records, expected["records"], strict=False):
        assert record == expected_record
    assert len(records) == expected["records_read"] == len(expected["records"])
    assert error is _class(expected.get("records_error"))


@oracle.each("vector", oracle.EVERYTHING)
def test_batches_and_records(vector: Vector) -> None:
    expected = vector.expected
    iterator = recordpress.read_batches(vector.data, check_crcs=False)
    batches, scan_error = _read_batches(iterator)
    if "decoder_error" in expected:  # Kafka's scanner crashed on it
        assert scan_error is recordpress.CorruptRecordError
        return
    assert scan_error is _class(expected.get("scan_error"))
    assert len(batches) == expected["batch_count"]
    for batch, expected_batch in zip(batches, expected["batches"], strict=True):
        _check_header(batch, expected_batch)
        _check_codec(batch, expected_batch)
        _check_base_offset(batch, expected_batch)
        _check_records(batch, expected_batch)
    assert iterator.valid_bytes == expected["valid_bytes"]
    ended = scan_error is None
    assert iterator.trailing_bytes == (expected["trailing_bytes"] if ended else None)


@oracle.each("vector", oracle.EVERYTHING)
def test_a_bad_checksum_is_an_error_before_the_first_record(vector: Vector) -> None:
    batches, _ = _read_batches(recordpress.read_batches(vector.data))
    for batch in batches:
        records, error = _read_records(batch)
        if not batch.is_valid():
            assert not records
            assert error is recordpress.CorruptRecordError


@oracle.each("vector", oracle.EVERYTHING)
def test_len_is_the_number_of_records(vector: Vector) -> None:
    batches, _ = _read_batches(recordpress.read_batches(vector.data, check_crcs=False))
    for batch in batches:
        records, error = _read_records(batch)
        if error is None:
            assert len(batch) == len(records) == len(batch.records)
            assert [record.offset for record in batch.records] == [record["offset"] for record in records]
        else:
            with pytest.raises(error):
                _ = batch.records
