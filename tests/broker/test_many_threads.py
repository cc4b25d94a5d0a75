"""Verdicts from many threads at once, which share records, settings, contexts of codecs and blocks: the GIL is
released while records are decompressed, looked at and compressed again."""

from __future__ import annotations

import threading
from typing import Any

import pytest

import recordpress
from recordpress.broker import PartitionLog, Verdict, fetch, validate

NOW = 1_700_000_000_000
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
THREADS, ROUNDS = 8, 6
LINES = [b"line %d of a log that many threads look at" % number for number in range(400)]
SENT = {codec: recordpress.write_records(LINES, timestamps=NOW, compression_type=codec) for codec in CODECS}


def together(work: Any) -> None:
    """`work(number)` in each thread, begun at the same time; the first exception is raised."""
    start, failed = threading.Barrier(THREADS), []

    def run(number: int) -> None:
        try:
            start.wait()
            for _ in range(ROUNDS):
                work(number)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("target", ["producer", "uncompressed", "lz4", "zstd"])
def test_verdicts(codec: str, target: str) -> None:
    def ask() -> Verdict:
        return validate(SENT[codec], topic_config={"compression.type": target}, now_ms=NOW, next_offset=7)

    alone = ask()
    expected = alone.relation, bytes(alone.records)

    def work(number: int) -> None:
        verdict = ask()
        assert (verdict.relation, bytes(verdict.records)) == expected

    together(work)


def test_logs_of_their_own_and_fetches_of_one_log() -> None:
    logs = [PartitionLog(topic_config={"compression.type": "gzip"}, broker_version="3.9") for _ in range(THREADS)]
    stored = [recordpress.write_records(LINES, timestamps=NOW, base_offset=offset) for offset in (0, 400)]

    def work(number: int) -> None:
        before = logs[number].next_offset
        assert logs[number].append(SENT["lz4"], now_ms=NOW).base_offset == before
        assert fetch(stored, 400, fetch_version=2).converted_records == 400

    together(work)
    assert [log.next_offset for log in logs] == [ROUNDS * 400] * THREADS
