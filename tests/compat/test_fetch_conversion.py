"""Kafka 3.9's own classes convert logs for old clients and send them (java/ConvertSets.java); recordpress sends the
same.

`make -f labs.mk differential` brings the jars and runs this with more sets; without them it is skipped.
"""

from __future__ import annotations

import io
import os
import random
import struct
import subprocess
import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

import recordpress
from drawn_logs import cut, damage, draw_log, is_same_but_for_gzip
from patience import HANG
from recordpress.broker._lazy_conversion import DownConversion

ROOT = Path(__file__).parents[2]
JARS = ROOT / "build/old-brokers/3.9.2"
DRIVER = Path(__file__).parent / "java/ConvertSets.java"
SETS = int(os.environ.get("RECORDPRESS_FETCH_SETS", 2000))
CLOSED, NO_ANSWER = 1000, 1001  # of the driver; the latter where a header makes Java allocate room for 2^30 records
CAP = 1 << 26  # what the JVM has memory for

pytestmark = [
    pytest.mark.slow,
    pytest.mark.build,
    pytest.mark.skipif(
        not any(JARS.glob("kafka-clients-*.jar")), reason="no jars of Kafka 3.9: make -f labs.mk differential"
    ),
]


class Question(NamedTuple):
    log: bytes
    magic: int
    offset: int


class Answer(NamedTuple):
    code: int
    size: int
    converted: int
    temporary_bytes: int
    records: bytes


def ask_kafka(questions: list[Question]) -> list[Answer]:
    with tempfile.TemporaryDirectory() as directory:
        segment, asked = Path(directory, "00000000000000000000.log"), Path(directory, "questions")
        position, parts = 0, []
        with open(segment, "wb") as file:
            for log, magic, offset in questions:
                parts.append(struct.pack(">bqii", magic, offset, position, len(log)))
                position += file.write(log + bytes(64))  # headers are read past the end of a slice
        asked.write_bytes(b"".join(parts))
        command = ["java", "-Xmx1g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", f"{JARS}/*", DRIVER]
        answers = subprocess.run([*command, segment, asked], check=True, capture_output=True, timeout=HANG).stdout
    source = io.BytesIO(answers)
    return [read_answer(source) for _ in questions]


def read_answer(source: io.BytesIO) -> Answer:
    code, size, converted, temporary, length = struct.unpack(">hiiqi", source.read(22))
    return Answer(code, size, converted, temporary, source.read(length))


def ask_recordpress(question: Question) -> Answer:
    try:
        done = DownConversion(question.log, question.magic, question.offset, max_decompressed_bytes=CAP)
    except recordpress.errors.OutputTooLargeError:
        return Answer(-1, 0, 0, 0, b"")
    if done.closed:
        return Answer(CLOSED, done.size, done.converted_records, done.temporary_bytes, b"")
    if done.error_code:
        return Answer(done.error_code, 0, 0, 0, b"")
    return Answer(0, done.size, done.converted_records, done.temporary_bytes, done.records)


def drawn(seed: int, count: int, *, damaged: bool) -> list[Question]:
    draw = random.Random(seed)
    found = []
    for _ in range(count):
        log = draw_log(draw)
        first = struct.unpack_from(">q", log)[0]
        log = cut(draw, damage(draw, log) if damaged else log)
        found.append(Question(log, draw.randrange(2), draw.choice((0, first, first + 1, first + 5, first + 20))))
    return found


def differences(question: Question, kafka: Answer, ours: Answer) -> str:
    """What differs, but for the bytes of a closed response, and for gzip's, which come from another library."""
    if kafka.code != ours.code:
        return f"code {kafka.code}, ours {ours.code}"
    if kafka.code:
        return ""
    if kafka.records == ours.records:
        return "" if kafka == ours else f"{kafka[1:4]}, ours {ours[1:4]}"
    same = is_same_but_for_gzip(question.log, kafka.records, ours.records)
    return "" if same else f"{len(kafka.records)} bytes, ours {len(ours.records)}"


@pytest.mark.parametrize("damaged", [False, True])
def test_kafka_sends_the_same(damaged: bool) -> None:
    wrong: list[str] = []
    seen: Counter[int] = Counter()
    for start in range(0, SETS, 1000):
        questions = drawn(start, min(1000, SETS - start), damaged=damaged)
        for question, kafka in zip(questions, ask_kafka(questions), strict=True):
            seen[kafka.code] += 1
            if kafka.code != NO_ANSWER and (different := differences(question, kafka, ask_recordpress(question))):
                wrong.append(f"{different}: {question.log[:4000].hex()} {question[1:]}")
    assert not wrong, f"{len(wrong)} of {SETS}: " + "\n".join(wrong[:3])
    assert seen[0] and seen[76] and seen[CLOSED] and (not damaged or (seen[87] and seen[-1] and seen[2]))
