"""A Python that has no recordpress says what to do, whatever Spark sends to it. Without Spark: as its workers do it."""

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.spark]

from pyspark import cloudpickle
from pyspark.sql import functions as of_spark
from pyspark.sql.types import BinaryType, StructType

from recordpress.errors import CorruptRecordError, StorageError
from recordpress.spark import KafkaLogDataSource, _read, _run, _session, functions
from recordpress.spark._without_recordpress import error_of_worker, opener
from recordpress.spark.schema import spark_schema

LOGS = Path(__file__).parents[2] / "demo" / "logs"

WITHOUT_RECORDPRESS = """
import pickle, sys

class Finder:
    def find_spec(name, path=None, target=None):
        if name == "recordpress":
            raise ModuleNotFoundError("No module named 'recordpress'", name=name)

sys.meta_path.insert(0, Finder)
"""


def said_without_recordpress(sent: Any, then: str = "") -> str:
    """What a Python that cannot import recordpress says to `sent`, and to what is done with it (as `it`)."""
    script = f"{WITHOUT_RECORDPRESS}\nit = pickle.load(sys.stdin.buffer)\n{then}\n"
    done = subprocess.run([sys.executable, "-c", script], input=cloudpickle.dumps(sent), capture_output=True)
    assert done.returncode == 1
    return done.stderr.decode().splitlines()[-1]


SENTENCE = (
    f"RuntimeError: {sys.executable} has no recordpress: install it there, or set PYSPARK_PYTHON (and "
    "PYSPARK_DRIVER_PYTHON if it is set) to a Python that has it, before Spark starts"
)


class Session:
    """As much of a session as is asked when the data source is registered."""

    class conf:
        @staticmethod
        def get(name: str, otherwise: str) -> str:
            return {"spark.default.parallelism": "7"}.get(name, "true")


def test_a_function_of_a_column(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[Any] = []
    monkeypatch.setattr(of_spark, "arrow_udf", lambda function, _: lambda _: sent.append(function), raising=False)
    functions.crc32c("value")
    assert said_without_recordpress(sent[0], "next(it(iter([])), None)") == SENTENCE


@pytest.mark.parametrize("worker", [_run._worker, _read._worker])
def test_a_job(worker: Any) -> None:
    item = pickle.dumps((_run.run, None))
    then = f"import pyarrow as pa\nlist(it([pa.record_batch({{'number': [0], 'item': [{item!r}]}})]))"
    assert said_without_recordpress(worker(), then) == SENTENCE


def test_spark_reports_the_sentence_alone() -> None:
    then = """
import io, pyspark.util
try:
    it(b"crecordpress\\nname\\n.")
except RuntimeError as error:
    pyspark.util.handle_worker_exception(error, sent := io.BytesIO())
    sys.exit(sent.getvalue()[8:].decode().rstrip())
"""
    assert said_without_recordpress(opener(), then) == SENTENCE


DAMAGED = "stored checksum 0x1, computed 0x2 (file a/0.log, byte 0)"
TRACE = 'Traceback (most recent call last):\n  File "a.py", line 1, in worked\n'
CLASSIC = "An exception was thrown from the Python worker:\n{}\n"
CONNECT = (
    "\n  An exception was thrown from the Python worker. Please see the stack trace below.\n"
    "[PYTHON_EXCEPTION] An exception was thrown from the Python worker: {}\n SQLSTATE: 38000"
)


@pytest.mark.parametrize("form", [CLASSIC, CONNECT], ids=["classic", "connect"])
@pytest.mark.parametrize(
    ("raised", "kind", "message"),
    [
        (f"{TRACE}recordpress.errors.CorruptRecordError: {DAMAGED}", CorruptRecordError, DAMAGED),
        (f"{TRACE}recordpress.errors.ClosedError: a\n\n{TRACE}recordpress.errors.StorageError: b", StorageError, "b"),
        (SENTENCE, ImportError, SENTENCE.replace("RuntimeError", "recordpress.spark")),
        (
            f"{TRACE}ModuleNotFoundError: No module named 'pyarrow'",
            ImportError,
            "recordpress.spark: the Python of a worker has no pyarrow: install it there, or set PYSPARK_PYTHON (and "
            "PYSPARK_DRIVER_PYTHON if it is set) to a Python that has it, before Spark starts",
        ),
    ],
)  # fmt: skip
def test_the_error_of_a_job(form: str, raised: str, kind: type[Exception], message: str) -> None:
    error = error_of_worker(form.format(raised))
    assert type(error) is kind and str(error) == message


@pytest.mark.parametrize("text", ["KeyError: 1", "RuntimeError: no", "ModuleNotFoundError: No module named 'a'"])
def test_other_errors_keep_their_traceback(text: str) -> None:
    assert error_of_worker(CLASSIC.format(TRACE + text)) is None


def test_the_data_source_that_a_session_registers() -> None:
    source = _session.for_session(Session())  # type: ignore[arg-type]
    then = "assert it.name() == 'recordpress'\nit(options={'path': 'p'})"
    assert said_without_recordpress(source, then) == SENTENCE


def sent_by_the_data_source() -> dict[str, Any]:
    source = KafkaLogDataSource({"path": str(LOGS)})
    schema = spark_schema(["offset", "value"])
    pushing = KafkaLogDataSource({"path": str(LOGS)})
    pushing.is_pushdown_on = True
    writing = KafkaLogDataSource({"path": "p", "topic": "t", "partitions": "1"})
    return {
        "source": source,
        "reader": source.reader(schema),
        "filtering reader": pushing.reader(schema),
        "stream reader": source.streamReader(schema),
        "writer": writing.writer(StructType().add("value", BinaryType()), False),
    }


@pytest.mark.parametrize("name", ["source", "reader", "filtering reader", "stream reader", "writer"])
def test_what_the_data_source_sends(name: str) -> None:
    sent = sent_by_the_data_source()[name]
    assert said_without_recordpress(sent) == SENTENCE
    again = cloudpickle.loads(cloudpickle.dumps(sent))
    assert type(again) is type(sent) and again.__dict__.keys() == sent.__dict__.keys()


def test_the_data_source_that_a_session_registers_is_this_one() -> None:
    source = cloudpickle.loads(cloudpickle.dumps(_session.for_session(Session())))  # type: ignore[arg-type]
    made = source(options={"path": str(LOGS)})
    assert type(made) is KafkaLogDataSource and (made.parallelism, made.is_pushdown_on) == (7, True)
    assert cloudpickle.loads(cloudpickle.dumps(made)).parallelism == 7


def test_other_modules_that_are_missing_are_told_as_they_are() -> None:
    said = said_without_recordpress(opener(), "it(b'cnowhere_at_all\\nname\\n.')")
    assert said == "ModuleNotFoundError: No module named 'nowhere_at_all'"
