"""The bytes of a verdict: what was sent when it was judged, whoever owns the memory, whenever they are asked for."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import recordpress
from recordpress.broker import PartitionLog, Verdict, validate

T = 1700000000000
SENT = recordpress.write_records([b"a", b"b"], [b"k", None], timestamps=[T, T + 1], compression_type="lz4")
MESSAGES = recordpress.write_records([b"a", b"b"], timestamps=[T, T + 1], magic=1)
WRAPPER = recordpress.write_records([b"a", b"b"], timestamps=[T, T + 1], magic=1, compression_type="gzip")
OPTIONS: dict[str, Any] = {"broker_version": "2.8", "now_ms": T + 9, "next_offset": 70, "leader_epoch": 5}


def stored(data: Any, **settings: str) -> Verdict:
    return validate(data, topic_config=settings, **OPTIONS)


def batch_at(data: bytes, offset: int, epoch: int) -> bytes:
    """A batch of magic 2 as the log has it: offset and epoch are not covered by its checksum."""
    return offset.to_bytes(8, "big") + data[8:12] + epoch.to_bytes(4, "big") + data[16:]


def test_a_batch_gets_offset_and_epoch() -> None:
    verdict = stored(SENT)
    assert (verdict.relation, verdict.records) == ("kept", batch_at(SENT, 70, 5))
    assert verdict.records is verdict.records


@pytest.mark.parametrize("data", [SENT, MESSAGES, WRAPPER], ids=["batch", "messages", "wrapper"])
@pytest.mark.parametrize("time", ["CreateTime", "LogAppendTime"])
@pytest.mark.parametrize(
    "of",
    [bytearray, memoryview, lambda data: memoryview(bytearray(data)), lambda data: memoryview(b"?%b?" % data)[1:-1]],
    ids=["bytearray", "bytes seen", "bytearray seen", "slice"],
)
def test_any_buffer_gives_the_same(data: bytes, time: str, of: Callable[[bytes], Any]) -> None:
    settings = {"message.timestamp.type": time, "message.format.version": "2.8" if data is SENT else "0.10.2"}
    expected = stored(data, **settings)
    assert expected.relation == ("header rewritten" if time == "LogAppendTime" else "kept")
    assert all(batch.is_valid() for batch in recordpress.read_batches(expected.records))
    assert stored(of(data), **settings) == expected


def test_the_senders_buffer_may_change_after_the_verdict() -> None:
    buffer = bytearray(SENT)
    seen = memoryview(buffer)
    verdicts = [stored(buffer), stored(seen), stored(seen.toreadonly())]
    buffer[:] = bytes(len(buffer))
    assert [verdict.records for verdict in verdicts] == [batch_at(SENT, 70, 5)] * 3


def test_a_view_of_bytes_may_be_released_before_they_are_asked_for() -> None:
    view = memoryview(b"before" + SENT + b"after")[6:-5]
    verdict = stored(view)
    view.release()
    assert verdict.records == batch_at(SENT, 70, 5)


def test_what_is_cut_off_is_not_in_it() -> None:
    verdict = stored(SENT + SENT[:40])
    assert (verdict.relation, verdict.records) == ("kept, tail cut", batch_at(SENT, 70, 5))


def test_verdicts_are_values_whether_their_bytes_were_asked_for_or_not() -> None:
    asked, other = stored(SENT), stored(SENT)
    assert asked.records
    assert asked == other
    assert pickle.loads(pickle.dumps(stored(SENT))) == asked
    assert copy.copy(stored(SENT)) == copy.deepcopy(asked) == asked
    assert stored(SENT) != stored(WRAPPER)
    with pytest.raises(AttributeError, match="'Verdict' object has no attribute 'record'"):
        asked.record  # type: ignore[attr-defined]  # noqa: B018


def test_a_log_goes_on_from_what_it_kept() -> None:
    log = PartitionLog(broker_version="4.3", next_offset=10)
    verdicts = [log.append(SENT) for _ in range(3)]
    assert b"".join(verdict.records for verdict in verdicts) == b"".join(batch_at(SENT, at, 0) for at in (10, 12, 14))
