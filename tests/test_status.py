"""Every row of status.h as the exception that it becomes."""

from __future__ import annotations

import re

import pytest

import kpress
from kpress._status import _every_status

CODES = {
    kpress.CorruptRecordError: 2,
    kpress.DecompressionError: 2,
    kpress.InvalidRecordError: 87,
    kpress.UnsupportedCompressionTypeError: 76,
    kpress.OutputTooLargeError: None,
    kpress.InvalidArgumentError: None,
}
ROWS = dict(_every_status())


@pytest.mark.parametrize("name", sorted(ROWS))
def test_a_status_is_an_exception_with_its_code(name: str) -> None:
    error = ROWS[name]
    if isinstance(error, MemoryError):
        assert name == "NO_MEMORY"
        return
    assert error.code == CODES[type(error)]
    assert error.position == 1
    assert error.offset is None
    assert not re.search(r"[{}]", error.message)


@pytest.mark.parametrize(
    ("name", "kind", "field", "rule"),
    [
        ("CRC", kpress.CorruptRecordError, "crc", "checksum"),
        ("CUT_ENTRY", kpress.CorruptRecordError, "size", "record set framing"),
        ("RECORDS_COUNT", kpress.InvalidRecordError, "recordsCount", "record batch v2"),
        ("CODEC_ID", kpress.UnsupportedCompressionTypeError, "attributes", "codec table"),
        ("GZIP_HEADER", kpress.DecompressionError, "header", "gzip (RFC 1952)"),
        ("OUTPUT_CAP", kpress.OutputTooLargeError, "max_decompressed_bytes", "decompression limit"),
        ("OFFSET_ORDER", kpress.InvalidArgumentError, "offset", "record set builder"),
    ],
)
def test_rows(name: str, kind: type[kpress.KpressError], field: str, rule: str) -> None:
    error = ROWS[name]
    assert (type(error), error.field, error.rule) == (kind, field, rule)
