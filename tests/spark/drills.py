"""Kill drills: two jobs write to one log dir at once, and one of them dies, or its disk or store fails, at a random
moment. After the next job each row is there once, nothing waits, and nothing is left over.

Each process of a job is one of the system's, without a JVM, and dies by SIGKILL. On a disk that is at an event of its
interpreter. In a store the server kills it, before or after it carries a request out: the credentials of a process
say what happens to it (`fault_of`).
"""

from __future__ import annotations

import errno
import http.client
import os
import pickle
import random
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, quote, unquote, urlsplit

ROWS, OLD = 30, 4  # of a job, and segments before
OF_WORKERS = 16  # moments of a task
EVENTS = ("open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.listdir", "os.scandir")


class Fault(NamedTuple):
    """What happens to a process: nothing, it is killed before or after its request or event of that number, or its
    store or disk fails by chance."""

    kind: str = "none"  # kill, answers, error
    moment: int = 0
    is_after: bool = False

    def key(self) -> str:
        """Return the credentials that say so to the server."""
        return f"P{os.getpid()}-{self.kind}-{self.moment}-{int(self.is_after)}"


NO_FAULT = Fault()


def fault_of(authorization: str) -> tuple[int, Fault] | None:
    """Return the process that sent a request, and its fault."""
    _, _, key = authorization.partition("Credential=P")
    parts = key.partition("/")[0].split("-")
    return (int(parts[0]), Fault(parts[1], int(parts[2]), parts[3] == "1")) if len(parts) == 4 else None


class FaultyServer:
    """An application of a store, whose answers are late, lost or errors, and which kills processes that ask it."""

    def __init__(self, application: Any) -> None:
        self.application = application
        self.requests: Counter[int] = Counter()  # of each process
        self.draws: dict[int, random.Random] = {}
        self.written: Counter[str] = Counter()  # times that an object was written

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:
        asker = fault_of(environ.get("HTTP_AUTHORIZATION", ""))
        if environ["REQUEST_METHOD"] == "PUT":
            self.written[environ["PATH_INFO"]] += 1
        if asker is None or asker[1].kind == "none":
            return self.application(environ, start_response)
        process, fault = asker
        self.requests[process] += 1
        if fault.kind == "kill":
            if self.requests[process] < fault.moment:
                return self.application(environ, start_response)
            if self.requests[process] == fault.moment and fault.is_after:
                _run(self.application, environ)
            _kill(process)
            return _answer(start_response, "400 Bad Request")
        draw = self.draws.setdefault(process, random.Random(fault.moment))
        if draw.random() > 0.03:
            return self.application(environ, start_response)
        if draw.random() < 0.5:  # it was carried out, and the library sends it again
            _run(self.application, environ)
        how = draw.choice(["500 Internal Server Error", "503 Slow Down", "timed out"])
        if how == "timed out":
            environ["werkzeug.socket"].shutdown(2)
        return _answer(start_response, how if how != "timed out" else "500 Internal Server Error")


def _run(application: Any, environ: dict[str, Any]) -> None:
    for _ in application(environ, lambda *arguments: None):
        pass


def _answer(start_response: Any, status: str) -> list[bytes]:
    start_response(status, [("Content-Type", "application/xml"), ("Content-Length", "0")])
    return [b""]


def _kill(process: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


# ---- processes


def forked(work: Callable[..., Any], *arguments: Any) -> tuple[int, int]:
    """Begin to work in another process; return its number, and where its result comes from."""
    reading, writing = os.pipe()
    process = os.fork()
    if process:
        os.close(writing)
        return process, reading
    try:
        os.close(reading)
        data = pickle.dumps(work(*arguments))
        while data:
            data = data[os.write(writing, data) :]
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def result_of(process: int, reading: int) -> Any:
    """Return the result of a process; None if it was killed."""
    parts = []
    while data := os.read(reading, 1 << 16):
        parts.append(data)
    os.close(reading)
    _, status = os.waitpid(process, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0:
        return pickle.loads(b"".join(parts))
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL, f"a process ended with status {status}"
    return None


def arm(place: str, fault: Fault) -> list[int]:
    """Let this process have its fault; return a counter of its moments, which are those of a disk."""
    os.environ["AWS_ACCESS_KEY_ID"] = fault.key()
    count = [0]
    if "://" not in place:

        def hook(event: str, arguments: Any) -> None:
            if event in EVENTS and isinstance(arguments[0], str | Path) and str(arguments[0]).startswith(place):
                count[0] += 1
                if count[0] == fault.moment and fault.kind == "kill":
                    _kill(os.getpid())
                if count[0] == fault.moment and fault.kind == "error":
                    raise OSError(errno.EIO, os.strerror(errno.EIO), str(arguments[0]))

        sys.addaudithook(hook)
    return count


# ---- jobs


@dataclass(frozen=True)
class Job:
    """A write of rows that begin with its name, or compact; what fails is its driver or its second task."""

    name: str
    place: str
    is_compact: bool = False
    fault: Fault = NO_FAULT
    in_worker: bool = False
    joins: bool = False  # in tasks, although there are few bytes

    def rows(self) -> list[bytes]:
        return [] if self.is_compact else [b"%s %d" % (self.name.encode(), number) for number in range(ROWS)]

    def run(self) -> Any:
        """Run as the driver, of which the parent is the JVM's part: they end together."""
        return result_of(*forked(self._drive))

    def _drive(self) -> tuple[str, str, int]:
        count = arm(self.place, NO_FAULT if self.in_worker else self.fault)
        try:
            if self.is_compact:
                import recordpress

                recordpress.log.compact(self.place)
            else:
                self._write()
        except Exception as error:
            notes = " ".join(getattr(error, "__notes__", ()))
            return "failed", f"{type(error).__name__}: {error} {notes}", count[0]
        return "done", "", count[0]

    def _write(self) -> None:
        import pyarrow as pa

        from recordpress.log.publish import task_group
        from recordpress.spark import KafkaLogDataSource, _sink
        from recordpress.spark.schema import spark_schema

        if self.joins:
            task_group._LEAST = 0
        options = {"path": self.place, "topic": "t", "partitions": "1", "writeId": self.name}
        writer: Any = KafkaLogDataSource(options).writer(spark_schema(["value"]), False)
        half = ROWS // 2
        tasks = [pa.record_batch({"value": rows}) for rows in (self.rows()[:half], self.rows()[half:])]
        messages: list[Any] = []
        try:
            messages.append(writer.write(iter([tasks[0]])))
            _sink._task_number = lambda: 1
            messages.append(self._second_task(writer, tasks[1]))
            writer.commit(messages)
        except Exception:
            writer.abort([*messages, None])
            raise

    def _second_task(self, writer: Any, rows: Any) -> Any:
        if not self.in_worker:
            return writer.write(iter([rows]))
        for attempt in range(2):
            message = result_of(*forked(self._work, writer, rows, NO_FAULT if attempt else self.fault))
            if message is not None and not isinstance(message, Exception):
                return message
        raise RuntimeError(f"a task failed twice: {message}")

    def _work(self, writer: Any, rows: Any, fault: Fault) -> Any:
        arm(self.place, fault)
        try:
            return writer.write(iter([rows]))
        except Exception as error:
            return RuntimeError(str(error))


# ---- a drill


def old_segments() -> Iterator[tuple[str, bytes, bytes]]:
    """Name, bytes and value of segments that a stream left."""
    import recordpress

    for offset in range(OLD):
        value = b"old %d" % offset
        data = recordpress.write_records([value], base_offset=offset, timestamps=1, compression_type="zstd")
        yield f"t-0/{offset:020}.log", data, value


def prepare(place: str) -> list[bytes]:
    """Write the log dir of a drill; return its values."""
    found = []
    url = urlsplit(place)
    for name, data, value in old_segments():
        if not url.scheme:
            path = Path(place, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        else:
            [endpoint] = parse_qs(url.query)["endpoint_override"]
            connection = http.client.HTTPConnection(urlsplit(unquote(endpoint)).netloc)
            connection.request("PUT", f"/{url.netloc}{quote(url.path)}/{name}", data)
            assert connection.getresponse().status == 200
            connection.close()
        found.append(value)
    return found


def drill(number: int, place: str, moments: int) -> str:
    """Run a drill; return its line in the log."""
    draw = random.Random(number)
    expected = prepare(place)
    kinds = ("kill", "kill", "answers" if "://" in place else "error")

    def drawn(name: str, is_compact: bool, is_faulty: bool) -> Job:
        in_worker = not is_compact and draw.random() < 0.3
        moment = draw.randrange(1, OF_WORKERS if in_worker else moments)
        fault = Fault(draw.choice(kinds), moment, draw.random() < 0.5) if is_faulty else NO_FAULT
        return Job(name, place, is_compact, fault, in_worker, draw.random() < 0.5)

    is_first = draw.random() < 0.5
    both = draw.random() < 0.3
    jobs = [drawn("a", False, is_first or both), drawn("b", draw.random() < 0.6, not is_first or both)]
    ended = [result_of(*one) for one in [forked(job.run) for job in jobs]]
    texts = ["killed" if end is None else end[0] for end in ended]
    for job, end in zip(jobs, ended, strict=True):
        if end is not None and end[0] == "failed":
            assert job.fault.kind != "none" or any(one.fault.kind != "none" for one in jobs), end[1]
    result_of(*forked(check, place, jobs, texts, expected))
    shown = ", ".join(
        f"{'compact' if job.is_compact else 'sink'} {'task' if job.in_worker else 'driver'} {job.fault.kind}"
        f"@{job.fault.moment}{'+' * job.fault.is_after}: {text}"
        for job, text in zip(jobs, texts, strict=True)
    )
    return f"{number:4}  {shown}"


def check(place: str, jobs: list[Job], texts: list[str], expected: list[bytes]) -> None:
    """Run the next jobs: what was reported as done is there, the rest as a whole or not at all; afterwards once."""
    arm(place, NO_FAULT)
    before = values(place)
    for job, text in zip(jobs, texts, strict=True):
        rows = set(job.rows())
        assert text != "done" or rows <= set(before), f"rows of {job.name} are lost"
    assert set(expected) <= set(before), "old rows are lost"
    again = [job for job, text in zip(jobs, texts, strict=True) if text != "done"]
    for job in [*again, Job("last", place, is_compact=True)]:
        state, text, _ = Job(job.name, place, job.is_compact)._drive()
        assert state == "done", f"the next job failed: {text}"
    wanted = sorted([*expected, *(row for job in jobs for row in job.rows())])
    found = sorted(values(place))
    assert found == wanted, f"{len(found)} rows instead of {len(wanted)}, {len(set(found))} of them different"
    from recordpress.log import verify

    odd = [one for one in verify(place, "record").findings if "index" not in str(one) and "snapshot" not in str(one)]
    assert odd == [], odd
    left = [name for name in names(place) if any(part.startswith(".") for part in name.split("/"))]
    assert left == [], left


def values(place: str) -> list[bytes]:
    """Return the values in the log, of which no offset is there twice."""
    import recordpress

    found = []
    for columns in recordpress.open_log(place).read(["value"]):
        found += columns["value"].to_pylist()
    return found


def names(place: str) -> list[str]:
    from recordpress.files import resolve

    files, root = resolve(place)

    def walk(path: str) -> Iterator[str]:
        for info in files.list(path):
            yield info.path.removeprefix(root)
            if info.is_directory:
                yield from walk(info.path)

    return list(walk(root))


def main(place: str, first: int, count: int, moments: int) -> None:
    os.environ |= {"AWS_SECRET_ACCESS_KEY": "secret", "AWS_EC2_METADATA_DISABLED": "true"}
    sleep = time.sleep
    time.sleep = lambda seconds: sleep(min(seconds, 0.05))  # jobs that wait for others
    import pyarrow.fs  # noqa: F401 - imported once, before processes are forked
    import pyspark  # noqa: F401

    import recordpress.log.copy.compact
    import recordpress.log.publish.commit_staged
    import recordpress.spark._sink_rows  # noqa: F401

    for number in range(first, first + count):
        base, query, options = place.partition("?")
        print(drill(number, f"{base}/{number}{query}{options}", moments), flush=True)
    print(f"{count} drills: nothing lost, nothing twice, nothing blocked, no litter", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:5]))
