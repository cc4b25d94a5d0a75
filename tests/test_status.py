"""Every row of status.h as the exception that it becomes."""

from __future__ import annotations

import re

import pytest

import recordpress
from recordpress._status import _every_status
from together import together

CODES = {
    recordpress.CorruptRecordError: 2,
    recordpress.DecompressionError: 2,
    recordpress.InvalidRecordError: 87,
    recordpress.UnsupportedCompressionTypeError: 76,
    recordpress.OutputTooLargeError: None,
    recordpress.InvalidArgumentError: None,
}
ROWS = dict(_every_status())


@together("name", sorted(ROWS))
def test_a_status_is_an_exception_with_its_code(name: str) -> None:
    error = ROWS[name]
    if isinstance(error, MemoryError):
        assert name == "NO_MEMORY"
        return
    assert error.code == CODES[type(error)]
    assert (error.position, error.field_position) == (None, 1)
    assert error.offset is None
    assert not re.search(r"[{}]", error.message)


@pytest.mark.parametrize(
    ("name", "kind", "field", "rule"),
    [
        ("CRC", recordpress.CorruptRecordError, "crc", "checksum"),
        ("CUT_ENTRY", recordpress.CorruptRecordError, "size", "record set framing"),
        ("RECORDS_COUNT", recordpress.InvalidRecordError, "recordsCount", "record batch v2"),
        ("CODEC_ID", recordpress.UnsupportedCompressionTypeError, "attributes", "codec table"),
        ("GZIP_HEADER", recordpress.DecompressionError, "header", "gzip (RFC 1952)"),
        ("OUTPUT_CAP", recordpress.OutputTooLargeError, "max_decompressed_bytes", "decompression limit"),
        ("OFFSET_ORDER", recordpress.InvalidArgumentError, "offset", "record set builder"),
    ],
)
def test_rows(name: str, kind: type[recordpress.RecordpressError], field: str, rule: str) -> None:
    error = ROWS[name]
    assert (type(error), error.field, error.rule) == (kind, field, rule)
