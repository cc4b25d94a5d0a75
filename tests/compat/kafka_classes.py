"""Kafka's own classes, 3.9.2, 4.3.1 and 4.4.0, asked what a broker answers to Produce requests:
java/produce/AskBroker.java.

`make -f labs.mk broker-rules` brings the jars: build/old-brokers/3.9.2 (tests/broker/old/pom.xml), build/broker
and build/broker-4.4 (tests/log/kafka/pom.xml).
"""

from __future__ import annotations

import contextlib
import struct
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, NamedTuple

from patience import HANG
from recordpress.record import BatchBuilder

ROOT = Path(__file__).parents[2]
JAVA = Path(__file__).parent / "java/produce"
JARS = {"3.9": ROOT / "build/old-brokers/3.9.2", "4.3": ROOT / "build/broker", "4.4": ROOT / "build/broker-4.4"}
SOURCES = {"3.9": "kafka_3_9", "4.3": "kafka_4", "4.4": "kafka_4"}
IN_MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None  # Kafka waits for the disk, many times for each log
OPTIONS = ("-Xmx1g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=off")


@dataclass(frozen=True)
class Request:
    """A Produce request to one partition."""

    records: bytes
    produce_version: int = 8
    transactional_id: str = ""
    verified: bool = False
    now_ms: int = 1_700_000_000_000


@dataclass(frozen=True)
class Marker:
    """The end of a transaction, which its coordinator writes."""

    producer_id: int
    producer_epoch: int
    coordinator_epoch: int
    transaction_version: int
    now_ms: int = 1_700_000_000_000

    @property
    def records(self) -> bytes:
        batch = BatchBuilder(
            is_control=True,
            is_transactional=True,
            producer_id=self.producer_id,
            producer_epoch=self.producer_epoch,
        )
        batch.append_end_txn_marker(True, self.coordinator_epoch, self.now_ms)
        return batch.build()


@dataclass(frozen=True)
class Case:
    """A log that is empty, its settings by Java's names, and the requests that it gets."""

    name: str
    requests: Sequence[Request | Marker]
    settings: Mapping[str, str] = field(default_factory=dict)
    next_offset: int = 0
    leader_epoch: int = 0


class Answer(NamedTuple):
    """What Kafka says of a request.

    `error_message` is the response's, which most errors leave empty, and `cause` the exception. `records` is what the
    log holds for it.
    """

    error_code: int
    error_message: str
    cause: str
    record_errors: list[tuple[int, str]]
    first_offset: int
    last_offset: int
    log_append_time: int
    max_timestamp: int
    rebuilt_records: int
    temporary_bytes: int
    records: bytes


def missing(version: str) -> str | None:
    """Why Kafka's classes cannot be asked, if they cannot."""
    return None if (JARS[version] / ".jars").exists() else f"no jars of Kafka {version}: make -f labs.mk broker-rules"


class Kafka:
    """The classes of one version, in a Java process for as long as the `with` statement lasts."""

    def __init__(self, version: str) -> None:
        self.version = version

    def __enter__(self) -> Kafka:
        self.directory = tempfile.TemporaryDirectory(prefix="recordpress-kafka-", dir=IN_MEMORY)
        classes = Path(self.directory.name)
        path = f"{classes}:{JARS[self.version]}/*"
        sources = [*JAVA.glob("*.java"), *(JAVA / SOURCES[self.version]).rglob("*.java")]
        subprocess.run(["javac", "-nowarn", "-d", classes, "-cp", path, *sources], check=True, timeout=HANG)
        command = ["java", *OPTIONS, "-cp", path, "AskBroker", classes]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin and self.process.stdout
        self.process.kill()  # it has nothing to finish, and may be in the middle of an answer
        self.process.wait()
        self.process.stdout.close()
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.directory.cleanup()

    def ask(self, cases: Sequence[Case]) -> Iterator[list[Answer]]:
        """The answers to each case, which is sent while earlier ones are answered."""
        assert self.process.stdin and self.process.stdout
        writer = threading.Thread(target=_write, args=(cases, self.process.stdin))
        writer.start()
        for case in cases:
            yield [_read(self.process.stdout) for _ in case.requests]
        writer.join()


def _write(cases: Sequence[Case], out: BinaryIO) -> None:
    for case in cases:
        out.write(_case(case))
    out.flush()


def _case(case: Case) -> bytes:
    parts = [struct.pack(">i", len(case.settings))]
    for name, value in case.settings.items():
        parts += _utf(name), _utf(value)
    parts.append(struct.pack(">qii", case.next_offset, case.leader_epoch, len(case.requests)))
    for request in case.requests:
        if isinstance(request, Marker):
            head = -1, str(request.transaction_version), False
        else:
            head = request.produce_version, request.transactional_id, request.verified
        version, text, verified = head
        parts += struct.pack(">h", version), _utf(text)
        parts.append(struct.pack(">?qi", verified, request.now_ms, len(request.records)))
        parts.append(request.records)
    return b"".join(parts)


def _utf(text: str) -> bytes:
    return struct.pack(">H", len(text)) + text.encode("ascii")


def _read(source: BinaryIO) -> Answer:
    code, message, cause = _number(source, "h"), _text(source), _text(source)
    errors = [(_number(source, "i"), _text(source)) for _ in range(_number(source, "i"))]
    numbers = [_number(source, kind) for kind in "qqqqiq"]
    return Answer(code, message, cause, errors, *numbers, records=source.read(_number(source, "i")))  # type: ignore[misc]


def _number(source: BinaryIO, kind: str) -> int:
    data = source.read(struct.calcsize(">" + kind))
    return int(struct.unpack(">" + kind, data)[0])


def _text(source: BinaryIO) -> str:
    return source.read(_number(source, "H")).decode("utf-8", "replace")
