"""The error of a Python without recordpress.

Objects that Spark sends to another Python are unpickled there by a function that does not need recordpress: Spark's
cloudpickle sends an inner function as code.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from typing import Any

from recordpress import errors

_SENTENCE = (
    "{python} has no {package}: install it there, or set PYSPARK_PYTHON (and PYSPARK_DRIVER_PYTHON if it is set) "
    "to a Python that has it, before Spark starts"
)
# The last paragraph of a PythonException; Spark appends the SQLSTATE.
_LAST = re.compile(
    r".*(?:^|worker: )(?:recordpress\.errors\.(\w+)|RuntimeError|ModuleNotFoundError): (.*?)\s*(?:SQLSTATE: \w+)?\s*\Z",
    re.DOTALL | re.MULTILINE,
)


def opener() -> Callable[[bytes], Any]:
    """Return ``pickle.loads`` for another Python.

    The function raises RuntimeError with the sentence if recordpress is missing: no class of recordpress exists there,
    and Spark passes only the text on to the driver, in a PythonException.
    """
    sentence = _SENTENCE

    def opened(pickled: bytes) -> Any:
        import os
        import pickle
        import sys

        try:
            return pickle.loads(pickled)
        except ModuleNotFoundError as error:
            if error.name != "recordpress":
                raise
            os.environ["SPARK_HIDE_TRACEBACK"] = "1"  # Spark's variable; this worker ends with the error
            raise RuntimeError(sentence.format(python=sys.executable, package="recordpress")) from None

    return opened


def error_of_worker(text: str) -> Exception | None:
    """Return the error that ends the text of a PythonException: an error of recordpress, or ImportError for a missing
    package; return None for any other error."""
    found = _LAST.match(text)
    if found is None:
        return None
    name, message = found.groups()
    if name is not None:
        kind: type[errors.RecordpressError] = getattr(errors, name)
        return kind(message)
    if (missing := re.fullmatch(r"No module named '(pyarrow|pandas)'", message)) is not None:
        message = _SENTENCE.format(python="the Python of a worker", package=missing[1])
    elif " has no recordpress: " not in message:
        return None
    return ImportError(f"recordpress.spark: {message}")


def maker_of(source: type[Any], settings: dict[str, Any]) -> Callable[[Any], Any]:
    """Return a function for another Python that creates the data source and sets its attributes."""
    opened, sent = opener(), pickle.dumps((source, settings))

    def made(options: Any) -> Any:
        source, settings = opened(sent)
        one = source(options)
        one.__dict__.update(settings)
        return one

    return made


class PickledForWorkers:
    """Object of the data source that Spark sends to other Pythons; a Python without recordpress reports that."""

    def __reduce__(self) -> tuple[Callable[[bytes], Any], tuple[bytes]]:
        from pyspark import cloudpickle

        dumps: Any = cloudpickle.dumps  # it has no type hints
        opened = opener()

        def rebuilt(pickled: bytes) -> Any:
            kind, state = opened(pickled)
            one = object.__new__(kind)
            one.__dict__.update(state)
            return one

        return rebuilt, (dumps((type(self), self.__dict__)),)
