"""What is said where a Python has no recordpress.

Whatever Spark carries to another Python is unpickled there by a function that needs no recordpress: cloudpickle, which
Spark uses, sends a function inside another one as its code.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

SENTENCE = (
    "{python} has no recordpress: install it there (pip install 'recordpress[spark]'), or set {variable} "
    "to a Python that has it before the session starts. PYSPARK_PYTHON decides for jobs and functions of columns, "
    "PYSPARK_DRIVER_PYTHON (PYSPARK_PYTHON if that is not set) for spark.read.format('recordpress')."
)


def opener(variable: str) -> Callable[[bytes], Any]:
    """``pickle.loads`` for another Python, which `variable` decides on there.

    What it gives raises RuntimeError with the sentence where recordpress is missing: there is no class of ours there,
    and Spark takes the text alone to the driver, in a PythonException.
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
    """Makes the data source from options, for another Python, and sets attributes of it."""
    opened, sent = opener("PYSPARK_DRIVER_PYTHON"), pickle.dumps((source, settings))

    def made(options: Any) -> Any:
        source, settings = opened(sent)
        one = source(options)
        one.__dict__.update(settings)
        return one

    return made


class PickledForWorkers:
    """A part of the data source, which Spark carries to other Pythons: these say if they cannot have it."""

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
