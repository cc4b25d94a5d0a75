"""Spark's own processes: the server of Spark Connect, a standalone cluster, and workers."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark
import pytest

BIN = Path(pyspark.__file__).parent / "bin"
# Without Java's second compiler Spark starts in half the time; to verify its classes takes a sixth of that.
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
STARTS_WITHIN = 120  # seconds


@contextmanager
def writer_killed(prefix: str) -> Iterator[None]:
    """The first other process that has a file open whose name begins so is killed meanwhile. There must be one."""
    killed: list[int] = []
    ended = threading.Event()
    killer = threading.Thread(target=_kill_a_writer, args=(prefix, killed, ended))
    killer.start()
    try:
        yield
    finally:
        ended.set()
        killer.join()
    assert len(killed) == 1


def _kill_a_writer(prefix: str, killed: list[int], ended: threading.Event) -> None:
    while not killed and not ended.is_set():
        for link in Path("/proc").glob("[0-9]*/fd/*"):
            try:
                if os.readlink(link).startswith(prefix) and int(link.parts[2]) != os.getpid():
                    os.kill(int(link.parts[2]), signal.SIGKILL)
                    killed.append(int(link.parts[2]))
                    return
            except OSError:
                continue


@contextmanager
def connect_server(folder: Path, master: str, environment: dict[str, str], **conf: str) -> Iterator[str]:
    """Its URL."""
    port = _free_port()
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.driver.extraJavaOptions": QUICK,
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
    }
    given = [word for name, value in (settings | conf).items() for word in ("--conf", f"{name}={value}")]
    name = "org.apache.spark.sql.connect.service.SparkConnectServer"
    command = [str(BIN / "spark-submit"), "--class", name, "--master", master, *given, "spark-internal"]
    with _running(command, environment, folder / "server.log") as process:
        _wait_for(process, port, folder / "server.log")
        yield f"sc://127.0.0.1:{port}"


@contextmanager
def standalone(folder: Path, environment: dict[str, str], hosts: tuple[str, ...]) -> Iterator[str]:
    """The URL of a master, which has a worker of one core on each of these hosts."""
    port = _free_port()
    master, log = f"spark://127.0.0.1:{port}", folder / "master.log"
    environment = environment | {"SPARK_DAEMON_JAVA_OPTS": QUICK, "SPARK_DAEMON_MEMORY": "512m"}
    of_all = ["--webui-port", "0", "--host"]
    with ExitStack() as stack:
        command = [str(BIN / "spark-class"), "org.apache.spark.deploy.master.Master", *of_all, "127.0.0.1", "--port"]
        process = stack.enter_context(_running([*command, str(port)], environment, log))
        _wait_for(process, port, log)
        for number, host in enumerate(hosts):
            own = [host, "--cores", "1", "--memory", "1g", "--work-dir", str(folder / f"work-{number}"), master]
            command = [str(BIN / "spark-class"), "org.apache.spark.deploy.worker.Worker", *of_all, *own]
            of_host = environment | {"SPARK_LOCAL_IP": host}
            stack.enter_context(_running(command, of_host, folder / f"worker-{number}.log"))
        latest = time.monotonic() + STARTS_WITHIN
        while log.read_text().count("Registering worker") < len(hosts) and time.monotonic() < latest:
            time.sleep(0.2)
        yield master


def environment_of(python: Path | str, driver_python: Path | str | None = None) -> dict[str, str]:
    """For Spark's processes: PYSPARK_PYTHON, perhaps PYSPARK_DRIVER_PYTHON, and sitecustomize.py."""
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        pytest.skip("no Java runtime is installed")
    environment = os.environ | {"PYSPARK_PYTHON": str(python), "SPARK_LOCAL_IP": "127.0.0.1"}
    environment["PYTHONPATH"] = python_path()
    environment.pop("PYSPARK_DRIVER_PYTHON", None)
    return environment | ({"PYSPARK_DRIVER_PYTHON": str(driver_python)} if driver_python else {})


def python_path() -> str:
    """PYTHONPATH with this folder, which has sitecustomize.py."""
    return os.pathsep.join(filter(None, [str(Path(__file__).parent), os.environ.get("PYTHONPATH")]))


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def _running(command: list[str], environment: dict[str, str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    with open(log, "wb") as file:
        process = subprocess.Popen(command, env=environment, cwd=log.parent, stdout=file, stderr=file)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def _wait_for(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    latest = time.monotonic() + STARTS_WITHIN
    while time.monotonic() < latest and process.poll() is None:
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    pytest.fail(f"Spark does not start:\n{log.read_text()[-3000:]}")
