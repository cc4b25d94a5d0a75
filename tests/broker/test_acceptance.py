"""The verdicts on odd Produce requests are those of real brokers, and so are the bytes."""

from __future__ import annotations

from typing import Any

from acceptance import Case, Exchange, cases, clock, without_topic

import recordpress
from recordpress.broker import PartitionLog, Verdict
from recordpress.log.sidecars import ProducerState
from together import grouped

CASES = cases()
PRELUDE = 3  # records were appended before
OWN_BUILDS = ("gzip", "zstd")  # whose compressed bytes are another build's
LONG_MAX = 2**63 - 1


def log_of(case: Case) -> PartitionLog:
    begin = PRELUDE if case.results["prelude_appended"] else 0
    return PartitionLog(broker_version=case.broker, topic_config=case.facts["topic_config"], next_offset=begin)


def append(log: PartitionLog, case: Case, exchange: Exchange) -> Verdict:
    before = int(case.facts["topic_config"].get("message.timestamp.before.max.ms", LONG_MAX))
    return log.append(
        exchange.sent,
        produce_version=case.facts["produce_version"],
        transactional_id=case.facts["transactional_id"],
        now_ms=clock(case, exchange.answer, before),
    )


def response_of(verdict: Verdict, response: dict[str, Any]) -> dict[str, Any]:
    """What a response says, with the fields that this version of Produce has."""
    if verdict.error_code is None:
        return {"connection_closed": True}
    ours = {
        "error_code": verdict.error_code,
        "base_offset": verdict.base_offset,
        "log_append_time": verdict.log_append_time,
        "record_errors": [{"batch_index": index, "message": text} for index, text in verdict.record_errors],
        "error_message": verdict.error_message,
    }
    return {name: value for name, value in ours.items() if name in response}


def theirs(response: dict[str, Any]) -> dict[str, Any]:
    facts = {name: value for name, value in response.items() if name != "log_start_offset"}
    if "error_message" in facts:
        facts["error_message"] = without_topic(facts["error_message"])
        facts["record_errors"] = [
            {"batch_index": error["batch_index"], "message": without_topic(error["message"])}
            for error in facts["record_errors"]
        ]
    return facts


def header_of(data: bytes) -> dict[str, Any]:
    (batch,) = recordpress.read_batches(data)
    return {
        "base_offset": batch.base_offset,
        "size": batch.size,
        "leader_epoch": batch.partition_leader_epoch,
        "magic": batch.magic,
        "crc": batch.crc,
        "attributes": batch.attributes,
        "codec": batch.compression_type,
        "last_offset_delta": batch.last_offset - batch.base_offset,
        "base_timestamp": batch.base_timestamp,
        "max_timestamp": batch.max_timestamp,
        "producer_id": batch.producer_id,
        "producer_epoch": batch.producer_epoch,
        "base_sequence": batch.base_sequence,
        "count": batch.records_count,
    }


def records_area(data: bytes) -> bytes:
    codec = header_of(data)["codec"]
    return recordpress.decompress(data[61:], codec)


@grouped("case", CASES, lambda case: case.broker, str)
def test_verdict(case: Case) -> None:
    log = log_of(case)
    for exchange in case.exchanges():
        before = log.next_offset
        verdict = append(log, case, exchange)
        response = exchange.answer["response"]
        assert response_of(verdict, response) == theirs(response)
        assert verdict.relation == exchange.answer["relation"]
        assert bool(verdict.reasons) == (verdict.relation != "kept")
        assert log.next_offset == before + (header_of(verdict.records)["count"] if verdict.records else 0)


STORED = [case for case in CASES if case.results["answers"][0]["stored_batch"]]


@grouped("case", STORED, lambda case: case.broker, str)
def test_stored_bytes(case: Case) -> None:
    log = log_of(case)
    for exchange in case.exchanges():
        verdict = append(log, case, exchange)
        expected = exchange.answer["stored_batch"]
        if expected is None:
            assert verdict.records == b""
        elif verdict.relation == "rebuilt" and expected["codec"] in OWN_BUILDS:
            ours = header_of(verdict.records)
            assert ours | {"size": None, "crc": None} == expected | {"size": None, "crc": None}
            if exchange.stored is not None:
                assert records_area(verdict.records) == records_area(exchange.stored)
        else:
            assert header_of(verdict.records) == expected
            assert exchange.is_stored(verdict.records)


def test_there_is_something_to_look_at() -> None:
    assert len(CASES) >= 319
    assert sum(case.facts["requests"][0].get("sent") is not None for case in CASES) >= 290
    assert {case.broker for case in CASES} >= {"4.3.1"}


def test_producers_have_the_shape_of_a_snapshot() -> None:
    log = PartitionLog(broker_version="4.3")
    batch = recordpress.write_records(
        [b"a"] * 3, timestamps=[5, 7, 6], producer_id=9, producer_epoch=2, base_sequence=4
    )
    assert log.append(batch).accepted
    assert log.producers == [ProducerState(9, 2, 6, 2, 2, 7, -1, -1)]
