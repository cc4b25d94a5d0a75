"""Kafka's own producer classes, 4.3.1 and 4.4.0, and recordpress.producer get the same records, times and answers: the
same batches.

`make -f labs.mk producer-rules` brings Kafka's jars and asks 1,000 streams and 10^6 updates; without the jars this is
skipped. Codec libraries differ by some bytes between releases, so both sides use sizes and ratios of Java's batches.
"""

from __future__ import annotations

import os
import random
import struct
import subprocess
import tempfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from kafka_classes import JARS, OPTIONS, missing

from patience import HANG
from recordpress.producer import BatchAccumulator, CompressionRatioEstimator, ProducerBatch, _batch_order

STREAMS = int(os.environ.get("RECORDPRESS_PRODUCER_STREAMS", "50"))
UPDATES = int(os.environ.get("RECORDPRESS_PRODUCER_UPDATES", "100000"))
SEED = int(os.environ.get("RECORDPRESS_PRODUCER_SEED", "1"))
SOURCE = Path(__file__).parent / "java" / "AskProducer.java"
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
SUCCESS, TOO_LARGE, AGAIN = 0, 10, 6  # MESSAGE_TOO_LARGE, NOT_LEADER_OR_FOLLOWER
AT_ONCE = 20  # streams in one question

VERSIONS = ("4.3", "4.4")

reason = missing("4.3") or missing("4.4")
pytestmark = [pytest.mark.slow, pytest.mark.build, pytest.mark.skipif(reason is not None, reason=str(reason))]


@pytest.fixture(scope="module")
def classes() -> Iterator[dict[str, str]]:
    """The class path of each version."""
    with tempfile.TemporaryDirectory(prefix="recordpress-producer-") as directory:
        paths = {version: f"{directory}/{version}:{JARS[version]}/*" for version in VERSIONS}
        for version, path in paths.items():
            command = ["javac", "-nowarn", "-d", f"{directory}/{version}", "-cp", path, str(SOURCE)]
            subprocess.run(command, check=True, timeout=HANG)
        yield paths


def ask(classes: str, question: bytes, *arguments: str) -> BytesIO:
    command = ["java", *OPTIONS, "-cp", classes, "AskProducer", *arguments]
    answer = subprocess.run(command, input=question, capture_output=True, timeout=HANG)
    assert answer.returncode == 0, answer.stderr.decode()[-3000:]
    return BytesIO(answer.stdout)


def number(source: BytesIO, kind: str) -> Any:
    return struct.unpack(">" + kind, source.read(struct.calcsize(">" + kind)))[0]


# --- the estimator -----------------------------------------------------------------------------------------------


def drawn_ratio(numbers: random.Random) -> float:
    """Ratios of batches as a rule; edges of float32 now and then."""
    if numbers.random() < 0.9:
        return numbers.random() * numbers.choice([0.05, 0.3, 1.0, 1.2])
    return numbers.choice([0.0, 1.0, 0.005, 0.05, 1e-45, 1e-38, 3e38, 16777216.0, 0.1, numbers.random() * 1000])


@pytest.mark.parametrize("version", VERSIONS)
def test_estimates_are_javas_to_the_bit(classes: dict[str, str], version: str) -> None:
    numbers = random.Random(SEED)
    estimator = CompressionRatioEstimator()
    question = bytearray()
    ours: list[float] = []
    for _ in range(UPDATES):
        step = numbers.choices("usrg", (90, 5, 1, 4))[0]
        topic, id = numbers.choice(["a", "b", "c-\u00e9"]), numbers.randrange(5)
        [ratio] = struct.unpack(">f", struct.pack(">f", drawn_ratio(numbers)))
        name = topic.encode()
        question += struct.pack(">BH", ord(step), len(name)) + name + struct.pack(">Bf", id, ratio)
        ours.append(estimate(estimator, step, topic, CODECS[id], ratio))
    answer = ask(classes[version], bytes(question), "estimator").read()
    assert answer == struct.pack(f">{UPDATES}f", *ours)


def estimate(estimator: CompressionRatioEstimator, step: str, topic: str, codec: str, ratio: float) -> float:
    if step == "u":
        return estimator.update_estimation(topic, codec, ratio)
    if step == "s":
        estimator.set_estimation(topic, codec, ratio)
    elif step == "r":
        estimator.reset_estimation(topic)
    return estimator.estimation(topic, codec)


# --- streams of records ------------------------------------------------------------------------------------------


class Append(NamedTuple):
    now_ms: int
    partition: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes | None]]


class Drain(NamedTuple):
    now_ms: int
    flush: bool


class Answer(NamedTuple):
    """What the batch that has been on its way for longest gets."""

    now_ms: int
    code: int


class Stream(NamedTuple):
    batch_size: int
    linger_ms: int
    codec: str
    max_request_size: int
    partitions: int
    one_node: bool
    ratio: float
    steps: list[Append | Drain | Answer]


def stream(seed: int) -> Stream:
    numbers = random.Random(seed)
    one_node = numbers.random() < 0.3  # whose partitions share a request; lingering would make them wait for each other
    codec = numbers.choice(CODECS)
    partitions = numbers.choice([1, 1, 3, 6])
    return Stream(
        batch_size=numbers.choice([0, 1, 100, 300, 1024, 5000, 16384]),
        linger_ms=0 if one_node else numbers.choice([0, 5, 100]),
        codec=codec,
        max_request_size=numbers.choice([1500, 4000]) if one_node and codec == "none" else 10**6,  # of equal bytes
        partitions=partitions,
        one_node=one_node,
        ratio=struct.unpack("f", struct.pack("f", numbers.choice([0.0, 0.05, 0.3, 0.8, 1.0, 1.1])))[0],
        steps=list(steps(numbers, partitions)),
    )


def steps(numbers: random.Random, partitions: int) -> Iterator[Append | Drain | Answer]:
    """Values compress to a twentieth, then not at all, and so on; each partition has a record at the start."""
    now, good, left = 1000, True, 0
    records = numbers.choice([100, 400, 1000])
    for i in range(records):
        now += numbers.choice([0, 0, 0, 1, 7])
        if left == 0:
            good, left = not good, numbers.choice([1, 10, 100, 300])
        left -= 1
        partition = i if i < partitions else numbers.randrange(partitions)
        yield append(numbers, now, partition, good)
        if i >= partitions and numbers.random() < 0.2:
            yield Drain(now, numbers.random() < 0.1)
        while numbers.random() < 0.2:
            yield Answer(now, numbers.choice([SUCCESS, TOO_LARGE, TOO_LARGE, TOO_LARGE, AGAIN]))
    for _ in range(200):
        yield Drain(now, True)
        yield Answer(now, numbers.choice([SUCCESS, TOO_LARGE]))
    for _ in range(records):  # no batch is left
        yield Drain(now, True)
        yield Answer(now, SUCCESS)


def append(numbers: random.Random, now: int, partition: int, good: bool) -> Append:
    size = numbers.randrange(300) if numbers.random() < 0.95 else numbers.randrange(1200)
    value: bytes | None = bytes(size) if good else numbers.randbytes(size)
    if numbers.random() < 0.03:
        value = None
    key = numbers.randbytes(numbers.randrange(20)) if numbers.random() < 0.3 else None
    headers: list[tuple[str, bytes | None]] = []
    while numbers.random() < 0.1:
        headers.append(("name\u00fc", numbers.choice([None, b"", bytes(30)])))
    return Append(now, partition, 1_700_000_000_000 + numbers.randrange(100_000), key, value, headers)


def encoded(drawn: Stream) -> bytes:
    parts = [struct.pack(">iibii?f", drawn.batch_size, drawn.linger_ms, CODECS.index(drawn.codec),
                         drawn.max_request_size, drawn.partitions, drawn.one_node, drawn.ratio)]  # fmt: skip
    for step in drawn.steps:
        if isinstance(step, Append):
            parts.append(struct.pack(">cqiq", b"a", step.now_ms, step.partition, step.timestamp))
            parts += [sized(step.key), sized(step.value), struct.pack(">i", len(step.headers))]
            for key, value in step.headers:
                parts += [struct.pack(">H", len(key.encode())), key.encode(), sized(value)]
        elif isinstance(step, Drain):
            parts.append(struct.pack(">cq?", b"d", step.now_ms, step.flush))
        else:
            parts.append(struct.pack(">cqb", b"c", step.now_ms, (SUCCESS, TOO_LARGE, AGAIN).index(step.code)))
    return b"".join(parts) + b"\0"


def sized(data: bytes | None) -> bytes:
    return struct.pack(">i", -1) if data is None else struct.pack(">i", len(data)) + data


class Drained(NamedTuple):
    partition: int
    records: int
    size: int
    ratio: float


class Reply(NamedTuple):
    """Java's to one step."""

    full: bool = False
    upper_bound: int = 0
    drained: tuple[Drained, ...] = ()
    parts: int = 0
    estimate: float = 0.0


def reply(step: Append | Drain | Answer, source: BytesIO) -> Reply:
    if isinstance(step, Append):
        return Reply(full=number(source, "?"), upper_bound=number(source, "i"))
    if isinstance(step, Answer):
        return Reply(parts=number(source, "i"), estimate=number(source, "f"))
    batches = [Drained(*struct.unpack(">iiif", source.read(16))) for _ in range(number(source, "i"))]
    return Reply(drained=tuple(batches), estimate=number(source, "f"))


class JavasRatios(CompressionRatioEstimator):
    """An estimator that is told the ratios of Java's batches, in their order."""

    next: list[float]

    def update_estimation(self, topic: str, compression_type: str, observed: float) -> float:
        return super().update_estimation(topic, compression_type, self.next.pop(0))

    def set_estimation(self, topic: str, compression_type: str, ratio: float) -> None:
        super().set_estimation(topic, compression_type, max(1.0, self.next.pop(0)))


class Ours:
    """The same stream here."""

    def __init__(self, drawn: Stream) -> None:
        self.drawn = drawn
        self.estimator = JavasRatios()
        CompressionRatioEstimator.set_estimation(self.estimator, "t", drawn.codec, drawn.ratio)
        self.accumulator = BatchAccumulator(
            batch_size=drawn.batch_size, compression_type=drawn.codec, linger_ms=drawn.linger_ms,
            max_request_size=drawn.max_request_size, estimator=self.estimator, max_in_flight=2**31 - 1,
            retry_backoff_ms=0, delivery_timeout_ms=2**40)  # fmt: skip
        self.flying: list[tuple[ProducerBatch, Drained]] = []

    def take(self, step: Append | Drain | Answer, java: Reply) -> None:
        if isinstance(step, Append):
            full = self.accumulator.append(step.value, step.key, step.timestamp, step.headers, topic="t",
                                           partition=step.partition, now_ms=step.now_ms)  # fmt: skip
            assert full == java.full
            assert self.accumulator.upper_bound(step.value, step.key, step.headers) == java.upper_bound
            return
        if isinstance(step, Drain):
            self.drain(step, java)
        elif java.parts >= 0:
            self.answer(step, java)
        assert self.estimator.estimation("t", self.drawn.codec) == java.estimate

    def drain(self, step: Drain, java: Reply) -> None:
        self.estimator.next = [batch.ratio for batch in java.drained]
        ready = self.accumulator.drain(step.now_ms, flush=step.flush)
        assert [(batch.partition, batch.records_count) for batch in ready] == [b[:2] for b in java.drained]
        if self.drawn.codec == "none":
            assert [len(batch.records) for batch in ready] == [batch.size for batch in java.drained]
        self.flying += list(zip(ready, java.drained, strict=True))

    def answer(self, step: Answer, java: Reply) -> None:
        batch, of_java = self.flying.pop(0)
        waiting = self.accumulator.undrained
        self.estimator.next = [of_java.ratio]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_batch_order, "size_of", lambda _: of_java.size)
            self.accumulator.complete(batch, TOO_LARGE if java.parts else step.code % TOO_LARGE, step.now_ms)
        assert self.accumulator.undrained - waiting == java.parts + (step.code == AGAIN)


@pytest.mark.parametrize("first", range(0, STREAMS, AT_ONCE))
def test_batches_have_the_records_that_javas_have(classes: dict[str, str], first: int) -> None:
    version = VERSIONS[first // AT_ONCE % len(VERSIONS)]
    streams = {seed: stream(SEED * 1_000_000 + seed) for seed in range(first, min(first + AT_ONCE, STREAMS))}
    answers = ask(classes[version], b"".join(map(encoded, streams.values())))
    for seed, drawn in streams.items():
        replies = [reply(step, answers) for step in drawn.steps]
        ours = Ours(drawn)
        for i, (step, java) in enumerate(zip(drawn.steps, replies, strict=True)):
            try:
                ours.take(step, java)
            except AssertionError as error:
                raise AssertionError(f"seed {SEED} stream {seed} step {i} of {version} {step!r:.80}") from error
        assert not (ours.flying or ours.accumulator.undrained)
    assert answers.read() == b""
