"""Findings: data that says what was found where."""

import json
import pickle

import recordpress
from recordpress.log import Finding
from recordpress.log.findings import to_json

FINDING = Finding("a-0/00000000000000000000.log", 17, 4, 120, "checksum", "stored checksum 0x1, computed 0x2")


def test_json_has_the_fields_in_this_order() -> None:
    [found] = json.loads(to_json([FINDING]))["findings"]
    assert list(found) == ["file", "position", "size", "offset", "rule", "message", "fieldPosition"]
    assert Finding(*found.values()) == FINDING
    assert json.loads(to_json([])) == {"findings": []}


def test_a_finding_of_an_error() -> None:
    try:
        list(recordpress.read_batches(b"\0" * 100))
    except recordpress.RecordpressError as error:
        found = Finding.of_error(error, file="b.log", size=100)
    assert (found.file, found.size, found.position) == ("b.log", 100, error_position())
    named = recordpress.CorruptRecordError("m", file="c.log", position=1, offset=2, rule="r")
    assert Finding.of_error(named, file="b.log") == Finding("c.log", 1, None, 2, "r", "m")


def error_position() -> int | None:
    try:
        list(recordpress.read_batches(b"\0" * 100))
    except recordpress.RecordpressError as error:
        return error.position
    raise AssertionError


def test_text_names_what_is_known() -> None:
    assert str(FINDING).startswith("a-0/00000000000000000000.log: byte 17, offset 120: stored checksum")
    assert str(Finding("a", None, None, None, "r", "m")) == "a: m (r)"


def test_findings_are_values() -> None:
    assert pickle.loads(pickle.dumps(FINDING)) == FINDING
    assert len({FINDING, Finding(*FINDING.to_dict().values())}) == 1
