"""A partition remembers producers, sequences and transactions as Kafka's ProducerStateManager does."""

from __future__ import annotations

from typing import Any

import pytest

import recordpress
from recordpress.broker import PartitionLog, Reason, Verdict, validate
from recordpress.log.sidecars import ProducerState

NOW = 1700000000000
LAST_SEQUENCE = 2**31 - 1
TXN = "orders-txn"


def batch(sequence: int, count: int = 1, *, producer: int = 7, epoch: int = 0, txn: bool = False) -> bytes:
    return recordpress.write_records(
        [b"line"] * count,
        timestamps=NOW,
        producer_id=producer,
        producer_epoch=epoch,
        base_sequence=sequence,
        is_transactional=txn,
    )


def log_of(version: str = "4.3", **options: Any) -> PartitionLog:
    return PartitionLog(broker_version=version, verified_transactions=[TXN], **options)


def append(log: PartitionLog, data: bytes, **options: Any) -> Verdict:
    return log.append(data, now_ms=NOW, transactional_id=TXN, **options)


def outcome(verdict: Verdict) -> tuple[int | None, list[str], int]:
    return verdict.error_code, [str(reason) for reason in verdict.reasons], verdict.base_offset


OK: list[str] = []


@pytest.mark.parametrize(
    ("steps", "code", "reasons"),
    [
        ([(0, 3, 0), (3, 1, 0)], 0, OK),
        ([(5, 1, 0)], 0, OK),  # nothing is known of the producer: any sequence will do (KIP-360)
        ([(0, 3, 0), (4, 1, 0)], 45, ["OUT_OF_ORDER_SEQUENCE"]),
        ([(0, 3, 0), (2, 1, 0)], 45, ["OUT_OF_ORDER_SEQUENCE"]),
        ([(0, 3, 0), (0, 3, 1)], 0, OK),
        ([(0, 3, 0), (3, 3, 1)], 45, ["NEW_EPOCH_SEQUENCE"]),
        ([(0, 3, 2), (3, 3, 1)], 47, ["PRODUCER_EPOCH"]),
        ([(LAST_SEQUENCE - 1, 2, 0), (0, 1, 0)], 0, OK),
        ([(LAST_SEQUENCE, 2, 0), (1, 1, 0)], 0, OK),
        ([(LAST_SEQUENCE, 2, 0), (0, 1, 0)], 45, ["OUT_OF_ORDER_SEQUENCE"]),
    ],
)
def test_sequences(steps: list[tuple[int, int, int]], code: int, reasons: list[str]) -> None:
    log = log_of("3.9")
    *earlier, last = (append(log, batch(sequence, count, epoch=epoch)) for sequence, count, epoch in steps)
    assert all(verdict.relation == "kept" for verdict in earlier)
    assert outcome(last)[:2] == (code, reasons)


@pytest.mark.parametrize("back", [1, 2, 3, 4, 5, 6])
def test_the_last_five_batches_are_remembered(back: int) -> None:
    log = log_of(next_offset=100)
    for sequence in range(6):
        assert append(log, batch(2 * sequence, 2)).base_offset == 100 + 2 * sequence
    verdict = append(log, batch(2 * (6 - back), 2))
    if back <= 5:
        assert outcome(verdict) == (0, ["DUPLICATE_BATCH"], 100 + 2 * (6 - back))
        assert (verdict.relation, verdict.records, verdict.log_append_time) == ("nothing stored", b"", NOW)
    else:
        assert outcome(verdict) == (45, ["OUT_OF_ORDER_SEQUENCE"], -1)
    assert log.next_offset == 112


def test_a_new_epoch_forgets_the_batches_of_the_last_one() -> None:
    log = log_of()
    for epoch in (0, 1):
        assert append(log, batch(0, 3, epoch=epoch)).relation == "kept"
    assert outcome(append(log, batch(0, 3, epoch=1))) == (0, ["DUPLICATE_BATCH"], 3)


def test_a_batch_that_is_refused_leaves_no_trace() -> None:
    log = log_of()
    append(log, batch(0))
    state = log.producers, log.next_offset
    assert append(log, batch(0, epoch=1)[:-1] + b"?").error_code == 2
    assert append(log, batch(9, epoch=0)).error_code == 45
    assert append(log, batch(9, epoch=1)).error_code == 45
    assert (log.producers, log.next_offset) == state


def test_a_snapshot_goes_in_and_comes_out() -> None:
    states = [ProducerState(7, 3, 24, 99, 4, NOW, 15, -1), ProducerState(8, 0, -1, -1, 0, NOW, 2, -1)]
    repeated = validate(batch(20, 5, epoch=3), producers=states, next_offset=200, now_ms=NOW)
    assert outcome(repeated) == (0, ["DUPLICATE_BATCH"], 95)
    assert validate(batch(25, epoch=3), producers=states, next_offset=200, now_ms=NOW).base_offset == 200
    assert validate(batch(26, epoch=3), producers=states, now_ms=NOW).error_code == 45
    assert validate(batch(0, producer=8), producers=states, now_ms=NOW).error_code == 0
    assert validate(batch(1, producer=8), producers=states, now_ms=NOW).error_code == 45


def test_producers_are_told_as_a_snapshot() -> None:
    log = log_of(next_offset=10)
    append(log, batch(0, 2))
    append(log, batch(2, 3))
    append(log, batch(0, 1, producer=9, txn=True))
    assert log.producers == [ProducerState(7, 0, 4, 14, 2, NOW, -1, -1), ProducerState(9, 0, 0, 15, 0, NOW, -1, 15)]
    assert log.open_transactions == {9: 15}


# ---- transactions


def test_a_transaction_needs_an_id() -> None:
    verdict = validate(batch(0, txn=True), now_ms=NOW)
    assert outcome(verdict) == (53, ["TRANSACTIONAL_ID_MISSING"], -1)


@pytest.mark.parametrize(("version", "code"), [("3.5", 0), ("3.6", 19), ("3.9", 19), ("4.3", 19)])
def test_an_unknown_transaction_is_not_appended(version: str, code: int) -> None:
    verdict = validate(batch(0, txn=True), transactional_id=TXN, broker_version=version, now_ms=NOW)
    assert outcome(verdict)[:2] == (code, ["TRANSACTION_UNVERIFIED"] if code else OK)
    known = validate(batch(0, txn=True), transactional_id=TXN, verified_transactions=["x", TXN], now_ms=NOW)
    assert known.relation == "kept"


def test_verification_can_be_switched_off_for_older_requests() -> None:
    off = {"transaction.partition.verification.enable": "false"}
    for version, code in ((11, 0), (12, 19)):
        verdict = validate(
            batch(0, txn=True), transactional_id=TXN, topic_config=off, produce_version=version, now_ms=NOW
        )
        assert verdict.error_code == code


def test_nothing_is_asked_while_the_transaction_is_open() -> None:
    log = log_of()
    assert append(log, batch(0, txn=True)).relation == "kept"
    assert log.append(batch(1, txn=True), transactional_id="unknown to the coordinator", now_ms=NOW).relation == "kept"
    assert log.open_transactions == {7: 0}


def test_data_outside_of_an_open_transaction() -> None:
    log = log_of()
    append(log, batch(0, txn=True))
    assert outcome(append(log, batch(1))) == (48, ["TRANSACTION_OPEN"], -1)
    assert append(log, batch(1, txn=True)).base_offset == 1


def test_an_older_epoch_is_refused_before_the_coordinator_is_asked() -> None:
    states = [ProducerState(7, 3, 0, 0, 0, NOW, -1, -1)]
    for version, code in (("3.9", 19), ("4.0", 19), ("4.1", 47)):
        verdict = validate(
            batch(1, epoch=2, txn=True), transactional_id=TXN, producers=states, broker_version=version, now_ms=NOW
        )
        assert verdict.error_code == code


@pytest.mark.parametrize(
    ("version", "produce", "code"), [("4.3", 13, 45), ("4.1", 12, 45), ("4.3", 11, 0), ("4.0", 12, 0), ("3.9", 11, 0)]
)
def test_a_transaction_with_an_epoch_of_its_own_begins_at_sequence_0(version: str, produce: int, code: int) -> None:
    verdict = append(log_of(version), batch(5, txn=True), produce_version=produce)
    assert outcome(verdict)[:2] == (code, ["NEW_EPOCH_SEQUENCE"] if code else OK)


@pytest.mark.parametrize(
    ("txn", "producer", "size", "code"),
    [
        (False, 7, 49, -1),
        (False, 7, 50, -1),
        (False, 7, 51, 2),
        (True, 7, 50, -1),
        (True, 7, 56, -1),
        (True, -1, 56, 2),
        (True, 7, 57, 19),
        (True, 7, 60, 19),
    ],
)
def test_a_header_that_is_cut_is_read_beyond_its_end(txn: bool, producer: int, size: int, code: int) -> None:
    data = bytearray(batch(0, txn=True)[:size])
    data[8:12] = (size - 12).to_bytes(4, "big")
    data[22] = 0x10 if txn else 0
    data[43:51] = producer.to_bytes(8, "big", signed=True)[: size - 43]
    verdict = log_of("4.3").append(data, now_ms=NOW, transactional_id="unknown")
    assert verdict.error_code == code
    assert validate(data, now_ms=NOW, transactional_id="unknown", helpful=True).error_code in (2, 19)


@pytest.mark.parametrize(
    ("version", "sent", "code"),
    [
        ("3.9", [(-1, 0, False), (7, 0, True), (8, 0, True)], 49),
        ("3.9", [(-1, 0, False), (7, 0, True), (7, 1, True)], 49),
        ("3.9", [(-1, 0, False), (7, 0, True), (7, 0, True)], 87),
        ("3.9", [(-1, 0, False), (7, 0, True), (8, 0, False)], 87),
        ("3.9", [(7, 0, True), (8, 0, True)], 53),
        ("3.8", [(-1, 0, False), (7, 0, True), (8, 0, True)], 49),
        ("3.7", [(-1, 0, False), (7, 0, True), (8, 0, True)], 87),
    ],
)
def test_transactions_of_several_producers_in_an_old_request(
    version: str, sent: list[tuple[int, int, bool]], code: int
) -> None:
    data = b"".join(batch(0, producer=producer, epoch=epoch, txn=txn) for producer, epoch, txn in sent)
    verdict = log_of(version).append(data, produce_version=2, now_ms=NOW)
    assert verdict.error_code == code
    assert (verdict.reasons == [Reason.MIXED_PRODUCERS]) is (code == 49)


@pytest.mark.parametrize(
    ("version", "sizes", "tail", "code"),
    [
        ("3.9", [0, 52], b"", -1),  # a transactional batch without its epoch
        ("3.9", [0, 52], bytes(17), 2),
        ("3.9", [0, 50], bytes(17), -1),  # without its producer id
        ("3.9", [56, 0], b"", -1),  # the first batch without its sequence
        ("3.9", [56, 57], b"", -1),
        ("3.9", [57, 57], b"", 2),
        ("3.9", [0, 0], b"", 87),
        ("3.7", [0, 52], b"", 2),
        ("3.7", [0, 50], b"", 2),
    ],
)
def test_headers_that_are_cut_in_an_old_request(version: str, sizes: list[int], tail: bytes, code: int) -> None:
    data = tail
    for size, whole in zip(reversed(sizes), (batch(0, txn=True), batch(0, producer=-1)), strict=True):
        cut = whole[:8] + (size - 12).to_bytes(4, "big") + whole[12:size] if size else whole
        data = cut + data
    assert log_of(version).append(data, produce_version=2, now_ms=NOW).error_code == code


def test_a_later_batch_waits_for_the_one_that_could_not_be_verified() -> None:
    log = log_of("3.9")
    unknown = log.append(batch(3, txn=True), transactional_id="unknown", now_ms=NOW)
    assert unknown.error_code == 19
    assert outcome(append(log, batch(4, txn=True)))[:2] == (45, ["OUT_OF_ORDER_SEQUENCE"])
    assert log.append(batch(2, txn=True), transactional_id="unknown", now_ms=NOW).error_code == 19
    assert append(log, batch(3, txn=True)).error_code == 45
    assert append(log, batch(2, txn=True)).error_code == 0
    assert append(log, batch(3, txn=True)).error_code == 0


@pytest.mark.parametrize(
    ("version", "produce", "marker_epoch", "code"),
    [("4.3", 12, 0, 45), ("4.0", 12, 0, 45), ("4.3", 12, 1, 0), ("4.3", 11, 0, 0), ("3.9", 11, 0, 0)],
)
def test_the_lowest_sequence_is_kept_after_a_marker_of_its_epoch(
    version: str, produce: int, marker_epoch: int, code: int
) -> None:
    """Markers of transactions that have their own epoch come in the next one (UnifiedLog.updateProducers)."""
    log = log_of(version)
    unnumbered = bytearray(batch(0, txn=True))
    unnumbered[53:57] = b"\xff" * 4
    unnumbered[17:21] = recordpress.crc32c(unnumbered[21:]).to_bytes(4, "big")
    assert append(log, bytes(unnumbered), produce_version=produce).error_code == 87
    assert log.end_transaction(7, marker_epoch, commit=False, now_ms=NOW).error_code == 0
    assert append(log, batch(0, epoch=marker_epoch, txn=True), produce_version=produce).error_code == code


@pytest.mark.parametrize(
    ("version", "epochs", "is_open", "transaction_version", "code"),
    [
        ("4.3", (5, 5), True, 2, 47),
        ("4.3", (5, 5), True, 1, 0),
        ("4.3", (5, 6), True, 2, 0),
        ("4.3", (5, 5), False, 2, 0),  # a retry: the transaction has ended (KAFKA-19999)
        ("4.3", (5, 4), False, 2, 47),
        ("4.3", (32767, 32767), True, 2, 0),
        ("4.2", (32767, 32767), True, 2, 47),
        ("4.2", (5, 5), False, 2, 0),
        ("4.1", (5, 5), True, 2, 0),
    ],
)
def test_a_marker_of_transaction_version_2_is_of_a_new_epoch(
    version: str, epochs: tuple[int, int], is_open: bool, transaction_version: int, code: int
) -> None:
    log = log_of(version)
    assert append(log, batch(0, epoch=epochs[0], txn=is_open)).error_code == 0
    answer = log.end_transaction(7, epochs[1], commit=True, transaction_version=transaction_version, now_ms=NOW)
    assert outcome(answer)[:2] == (code, ["PRODUCER_EPOCH"] if code else OK)


def test_the_epoch_of_a_marker_counts_before_that_of_its_coordinator() -> None:
    log = log_of("4.3")
    assert log.end_transaction(7, 5, commit=True, coordinator_epoch=9, now_ms=NOW).error_code == 0
    append(log, batch(0, epoch=5, txn=True))
    for version, code in ((2, 47), (1, 52)):
        answer = log.end_transaction(7, 5, commit=True, transaction_version=version, coordinator_epoch=8, now_ms=NOW)
        assert answer.error_code == code


@pytest.mark.parametrize("committed", [True, False])
def test_a_marker_ends_a_transaction(committed: bool) -> None:
    log = log_of("3.9", next_offset=10, leader_epoch=4)
    append(log, batch(0, 2, txn=True))
    verdict = log.end_transaction(7, 0, commit=committed, coordinator_epoch=15, now_ms=NOW + 5)
    assert outcome(verdict) == (0, OK, 12)
    [[record]] = recordpress.read_batches(verdict.records)
    assert (len(verdict.records), record.offset, record.timestamp) == (78, 12, NOW + 5)
    assert recordpress.control_record(record).type == ("COMMIT" if committed else "ABORT")
    assert log.producers == [ProducerState(7, 0, 1, 11, 1, NOW + 5, 15, -1)]
    assert (log.open_transactions, log.next_offset) == ({}, 13)
    assert append(log, batch(2, txn=True)).base_offset == 13
    assert log.open_transactions == {7: 13}


def test_a_marker_of_a_later_epoch_makes_sequences_begin_again() -> None:
    log = log_of("4.3")
    append(log, batch(0, 2, txn=True))
    assert log.end_transaction(7, 1, commit=True, now_ms=NOW).error_code == 0
    assert log.producers == [ProducerState(7, 1, -1, -1, 0, NOW, 0, -1)]
    assert append(log, batch(2, txn=True)).error_code == 47
    assert append(log, batch(2, epoch=1, txn=True)).error_code == 45
    assert append(log, batch(0, epoch=1, txn=True)).error_code == 0


def test_a_marker_of_another_time() -> None:
    log = log_of("3.9")
    append(log, batch(0, epoch=3, txn=True))
    assert outcome(log.end_transaction(7, 2, commit=True, now_ms=NOW)) == (47, ["PRODUCER_EPOCH"], -1)
    assert log.end_transaction(7, 3, commit=True, coordinator_epoch=5, now_ms=NOW).accepted
    older = log.end_transaction(7, 3, commit=True, coordinator_epoch=4, now_ms=NOW)
    assert (older.error, outcome(older)) == ("TRANSACTION_COORDINATOR_FENCED", (52, ["COORDINATOR_EPOCH"], -1))


# ---- the request


@pytest.mark.parametrize(
    ("version", "produce", "code"),
    [("3.9", 0, 0), ("3.9", 12, None), ("4.0", 2, None), ("4.0", 3, 0), ("4.0", 13, None), ("4.1", 13, 0)],
)
def test_versions_that_a_broker_does_not_speak(version: str, produce: int, code: int | None) -> None:
    data = recordpress.write_records([b"a"], timestamps=NOW)
    verdict = validate(data, broker_version=version, produce_version=produce, now_ms=NOW)
    assert outcome(verdict)[:2] == (code, OK if code == 0 else ["PRODUCE_VERSION"])
    assert verdict.error == ("NONE" if code == 0 else "CONNECTION_CLOSED")


def test_a_null_record_set() -> None:
    assert (validate(None).error_code, validate(None).error) == (None, "CONNECTION_CLOSED")
    assert validate(None).reasons == [Reason.NULL_RECORD_SET]
    assert validate(None, helpful=True).error_code == 87


@pytest.mark.parametrize("data", [b"", b"\0" * 11, recordpress.write_records([b"a"], timestamps=1)[:-1]])
def test_without_a_whole_batch(data: bytes) -> None:
    assert outcome(validate(data)) == (87, ["NO_BATCH"], -1)
    older = validate(data, broker_version="3.9", produce_version=2)
    assert (outcome(older), older.relation) == ((0, ["NO_BATCH"], -1), "nothing stored")


@pytest.mark.parametrize(("size", "code"), [(2**31 - 13, 87), (2**31 - 12, -1), (2**31 - 1, -1)])
def test_a_size_that_an_int_cannot_hold_with_what_comes_before_it(size: int, code: int) -> None:
    """4.3.1 and 3.9.2 answer -1: ByteBufferLogInputStream adds 12 to the size."""
    data = recordpress.write_records([b"a"], timestamps=NOW)
    huge = data[:8] + size.to_bytes(4, "big") + data[12:]
    assert outcome(validate(huge, now_ms=NOW))[:2] == (code, ["ENTRY_SIZE" if code == -1 else "NO_BATCH"])
    assert validate(huge[:16], now_ms=NOW).reasons == [Reason.NO_BATCH]
    assert validate(huge, now_ms=NOW, helpful=True).error_code == (2 if code == -1 else 87)
    after = validate(data + huge, now_ms=NOW)
    assert (after.error_code, after.relation) == ((-1, "nothing stored") if code == -1 else (0, "kept, tail cut"))
    old = validate(data + huge, now_ms=NOW, broker_version="3.9", produce_version=2)
    assert old.error_code == (-1 if code == -1 else 0)


def test_a_cut_tail() -> None:
    data = recordpress.write_records([b"a"], timestamps=NOW)
    verdict = validate(data + data[:30], now_ms=NOW, next_offset=5)
    assert (verdict.relation, verdict.reasons) == ("kept, tail cut", [Reason.PARTIAL_ENTRY])
    assert verdict.records == validate(data, now_ms=NOW, next_offset=5).records


def test_the_clock_is_this_machines_without_another() -> None:
    verdict = validate(recordpress.write_records([b"a"]), topic_config={"message.timestamp.type": "LogAppendTime"})
    assert verdict.log_append_time > NOW
    assert verdict.reasons == [Reason.LOG_APPEND_TIME]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("broker_version", 4.3),
        ("broker_version", "5.0"),
        ("produce_version", -1),
        ("produce_version", "8"),
        ("topic_config", []),
        ("transactional_id", b"x"),
        ("next_offset", -1),
        ("next_offset", 2**63 - 1),
        ("leader_epoch", 2**31),
        ("now_ms", "yesterday"),
        ("now_ms", -5),
        ("producers", [1]),
        ("producers", 3),
        ("verified_transactions", TXN),
        ("verified_transactions", [1]),
        ("verified_transactions", None),
        ("helpful", 1),
        ("records", "text"),
    ],
)
def test_an_argument_that_is_wrong(name: str, value: Any) -> None:
    arguments: dict[str, Any] = {"records": recordpress.write_records([b"a"]), name: value}
    with pytest.raises((recordpress.InvalidArgumentError, recordpress.ArgumentTypeError)) as error:
        validate(arguments.pop("records"), **arguments)
    assert name in str(error.value) or error.value.field == name
