"""A peer in a separate process, as its users run it: no other code has used its heap.

That matters. malloc's memory costs a page fault for each fresh page, and whether pages are kept depends on what the
process has freed before: with the same malloc and the same input, aiokafka decodes up to twice as fast once 30 MB
have been freed. Clients live in long-lived processes, so the Python peers are measured in one (`long-lived`: the heap
has grown to 30 MB and is kept) as well as in a new process.

usage: python -m bench.peers.worker PEER JOB PATH CODEC [long-lived]
Each line of input, "CALLS CLOCK", is answered with the seconds of that many calls by that clock of `time`. The
programs of `built.py` do the same, and answer the line "answer" with what they read (`answers.told`).
"""

import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]


class Worker:
    """The caller's end. The process starts with the first question."""

    def __init__(self, command: Sequence[str]):
        self._command = command
        self._process: subprocess.Popen | None = None

    def ask(self, question: str) -> str:
        if self._process is None:
            self._process = subprocess.Popen(
                self._command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
            )
        self._process.stdin.write(question + "\n")
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"no answer from {' '.join(self._command)}")
        return answer.strip()

    def seconds(self, calls: int, clock: str = "thread_time") -> float:
        return float(self.ask(f"{calls} {clock}"))

    def close(self) -> None:
        if self._process is not None:
            self._process.communicate()


def _job(peer_name: str, job: str, path: str, codec: str) -> Callable[[], object]:
    """`decode` a record set in memory, `decode_file` read from the disk each time, `encode` the records of a batch,
    `encode_level` the same at the level of Java's default."""
    from bench.peers import records

    peer = {peer.name: peer for peer in [records.AIOKAFKA, records.KAFKA_PYTHON]}[peer_name]
    if job == "decode_file":
        return lambda: peer.decode(Path(path).read_bytes())
    data = Path(path).read_bytes()
    if job == "decode":
        return lambda: peer.decode(data)
    rows = [(record.key, record.value, record.timestamp) for batch in peer.batches(data) for record in batch]
    columns = [list(column) for column in zip(*rows, strict=True)]
    return lambda: peer.encode(*columns, codec, java_level=job == "encode_level")


def main(peer: str, job: str, path: str, codec: str, long_lived: str = "") -> None:
    work = _job(peer, job, path, codec)
    if long_lived:
        bytearray(30 << 20)  # below 32 MB, where glibc's thresholds follow what is freed
    for line in sys.stdin:
        calls, clock = line.split()
        now = getattr(time, clock)
        start = now()
        for _ in range(int(calls)):
            result = work()
        print(now() - start, flush=True)
        del result


if __name__ == "__main__":
    main(*sys.argv[1:])
