"""The error of a Python without recordpress.

Objects that Spark sends to another Python are unpickled there by a function that does not need recordpress: Spark's
cloudpickle sends an inner function as code.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

SENTENCE = (
    "{python} has no recordpress: install it there, or set {variable} "
    "to a Python that has it before the session starts. PYSPARK_PYTHON applies to jobs and column functions, "
    "PYSPARK_DRIVER_PYTHON (PYSPARK_PYTHON if that is not set) for spark.read.format('recordpress')."
)


def opener(variable: str) -> Callable[[bytes], Any]:
    """Return ``pickle.loads`` for another Python, which the environment's `variable` selects.

    It raises RuntimeError with the sentence if recordpress is missing: none of our classes exist there, and Spark
    passes only the text on to the driver, in a PythonException.
    """
    sentence = SENTENCE

    def opened(pickled: bytes) -> Any:
        import pickle
        import sys

        try:
            return pickle.loads(pickled)
        except ModuleNotFoundError as error:
            if error.name != "recordpress":
                raise
            raise RuntimeError(sentence.format(python=sys.executable, variable=variable)) from None

    return opened


def maker_of(source: type[Any], settings: dict[str, Any]) -> Callable[[Any], Any]:
    """Return a function for another Python that creates the data source and sets its attributes."""
    opened, sent = opener("PYSPARK_DRIVER_PYTHON"), pickle.dumps((source, settings))

    def made(options: Any) -> Any:
        source, settings = opened(sent)
        one = source(options)
        one.__dict__.update(settings)
        return one

    return made


class PickledForWorkers:
    """Object of the data source that Spark sends to other Pythons, which report that they lack recordpress."""

    def __reduce__(self) -> tuple[Callable[[bytes], Any], tuple[bytes]]:
        from pyspark import cloudpickle

        dumps: Any = cloudpickle.dumps  # it has no types
        opened = opener("PYSPARK_DRIVER_PYTHON")

        def rebuilt(pickled: bytes) -> Any:
            kind, state = opened(pickled)
            one = object.__new__(kind)
            one.__dict__.update(state)
            return one

        return rebuilt, (dumps((type(self), self.__dict__)),)
