"""Peers in other languages: programs that `make -f labs.mk bench-peers` builds, asked in the same way as worker.py.

usage: PROGRAM JOB PATH
The job `decode` reads a record set in memory, `decode_file` a log file from the disk, all records of it each time.
"""

from dataclasses import dataclass
from pathlib import Path

from bench.peers.worker import ROOT

BUILT = ROOT / "build/bench/peers"
BROKER_JARS = ROOT / "build/broker"
RUST = BUILT / "rust/release/kafka-protocol-peer"


@dataclass(frozen=True)
class Program:
    """`file` is there once it is built; `name` is the report's."""

    name: str
    file: Path
    command: tuple[str, ...]
    jobs: tuple[str, ...] = ("decode",)


PROGRAMS = [
    Program(
        "java copies",
        BUILT / "java/Peer.class",
        ("java", "-XX:+UseSerialGC", "-cp", f"{BUILT}/java:{BUILT}/java/*", "Peer"),
        ("decode", "decode_file"),
    ),
    Program("kafka-protocol", RUST, (str(RUST),)),
    Program("franz-go", BUILT / "go/franz-go", (f"{BUILT}/go/franz-go",)),
    Program("sarama", BUILT / "go/sarama", (f"{BUILT}/go/sarama",)),
]

# Kafka's LogValidator; the job is the log's codec.
VALIDATOR = Program(
    "LogValidator",
    BUILT / "broker/Validator.class",
    ("java", "-XX:+UseSerialGC", "-cp", f"{BUILT}/broker:{BROKER_JARS}/*", "Validator"),
)

# Java's consumer and producer: a topic into one of another codec.
RECOMPRESS = Program(
    "consume and produce",
    BUILT / "broker/Recompress.class",
    ("java", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", f"{BUILT}/broker:{BROKER_JARS}/*", "Recompress"),
)
