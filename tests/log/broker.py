"""A Kafka broker of one node on loopback, which is its own controller (KRaft)."""

from __future__ import annotations

import atexit
import base64
import functools
import os
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

ROOT = Path(__file__).parents[2]
JARS = ROOT / "build/broker"
# serial GC and the first compiler only: what counts is how fast it starts
JAVA = [
    "java",
    "-Xmx512m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
]
_HANG = 600  # seconds, as in patience.py, which benchmarks that load this file do not have
SETTINGS = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
inter.broker.listener.name=PLAINTEXT
controller.listener.names=CONTROLLER
log.dirs={data}
log.retention.ms=-1
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
group.initial.rebalance.delay.ms=0
auto.create.topics.enable=false
"""


class Broker:
    """Running inside a ``with`` statement; `data` is its log dir."""

    def __init__(self, directory: Path, jars: Path = JARS, java: Sequence[str] = JAVA, settings: str = "") -> None:
        self.directory = directory
        self.more_settings = settings
        self.jars = jars
        self.java = java
        self.data = directory / "data"
        self.port = _free_port()
        self._settings = directory / "server.properties"
        self._log = directory / "broker.log"

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        """Of the process that runs."""
        return self._process.pid

    def __enter__(self) -> Self:
        settings = SETTINGS.format(port=self.port, controller=_free_port(), data=self.data)
        self._settings.write_text(settings + self.more_settings)
        if not (self.data / "meta.properties").exists():
            shutil.copytree(_formatted(self.jars), self.data, dirs_exist_ok=True)
        with open(self._log, "wb") as log:
            command = [*self.java, "-cp", f"{self.jars}/*", "kafka.Kafka", str(self._settings)]
            self._process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        deadline = time.monotonic() + _HANG
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self._process.kill()
                raise RuntimeError(self._log.read_text()[-3000:])
            time.sleep(0.1)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """A clean stop: snapshots are written."""
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(_HANG)
        finally:
            self._process.kill()

    def _answers(self) -> bool:
        """Whether it has got so far that it answers an ApiVersions request."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), 1) as connection:
                connection.sendall(struct.pack(">ihhih", 10, 18, 0, 1, -1))
                return len(connection.recv(4)) == 4
        except OSError:
            return False


@functools.cache
def _formatted(jars: Path) -> Path:
    """A log dir that is formatted and empty: a JVM makes it once for all brokers of a release."""
    directory = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, directory)
    settings, data = directory / "server.properties", directory / "data"
    settings.write_text(SETTINGS.format(port=_free_port(), controller=_free_port(), data=data))
    # "-" at the beginning would be read as an option
    name = "K" + base64.urlsafe_b64encode(os.urandom(16)).decode()[1:22]
    command = [*JAVA, "-cp", f"{jars}/*", "kafka.tools.StorageTool", "format", "-t", name, "-c", str(settings)]
    subprocess.run(command, capture_output=True, check=True, timeout=_HANG)
    return data


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
