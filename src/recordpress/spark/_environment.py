"""The packages of this Python, and the Python of Spark's workers: checked before Spark fails without them.

Spark runs Python for each task, and on the driver's host to plan a data source. PYSPARK_PYTHON selects it; the default
is the python3 on PATH, a different Python if the driver's virtual environment is not activated.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

# Requirements by package, as in the extra "spark" of pyproject.toml.
_PACKAGES = {"pyspark": "pyspark >= 4.1", "pyarrow": "pyarrow >= 15", "pandas": "pandas >= 2.2, < 3"}
_VARIABLE = "PYSPARK_PYTHON"
_SETTING = "spark.sql.execution.pyspark.python"  # of a session; overrides the variables
_OF_WORKERS = ("recordpress", "pyarrow", "pandas")
_PROBE = "import sys, importlib.util as u; print(*(name for name in sys.argv[1:] if not u.find_spec(name)))"
_PROBE_SECONDS = 60  # for a Python to start on a busy machine; chosen, not measured
_PROBE_FORMAT = "recordpress_probe"


def prepare() -> SparkSession | None:
    """Check this Python's packages, select the Python of the first session, and return the active session, if any.

    Importing recordpress.spark calls this function, which raises ImportError with one sentence. In a Spark worker, it
    only checks what reading and writing need there.
    """
    if "SPARK_PYTHON_RUNTIME" in os.environ:
        _check_packages("pyarrow")
        return None
    _check_packages(*_PACKAGES)
    session = active_session()
    if session is None:
        _select_first_python()
    return session


def prepare_session(spark: SparkSession) -> None:
    """Run the workers of a local session with this Python if PYSPARK_PYTHON is not set; otherwise raise ImportError if
    the selected Python lacks a package."""
    context = context_of(spark)
    if context is None:  # the server selects the Python
        return
    if not _is_local(context.master):
        if _selected and os.environ.get(_VARIABLE) == _selected:
            context.pythonExec = "python3"  # Spark's default: the executors need not have this path
        return
    chosen = spark.conf.get(_SETTING, None)
    if chosen:
        _check_python(_SETTING, chosen)
    elif _VARIABLE in os.environ:
        _check_python(_VARIABLE, context.pythonExec)
    elif not _is_this_python(context.pythonExec):
        context.pythonExec = sys.executable


def is_connect(spark: SparkSession) -> bool:
    """Return whether a session belongs to a client of Spark Connect."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def context_of(spark: SparkSession) -> Any:
    """Return the SparkContext of a session, or None for a client of Spark Connect."""
    return None if is_connect(spark) else spark.sparkContext


def check_server(spark: SparkSession) -> None:
    """Raise ImportError if the Python with which the server plans reads and writes lacks a package."""

    from pyspark.sql.datasource import DataSource

    class Probe(DataSource):
        """Data source whose column names are the server's Python and its missing packages."""

        @classmethod
        def name(cls) -> str:
            return _PROBE_FORMAT

        def schema(self) -> StructType:
            import sys
            from importlib.util import find_spec

            from pyspark.sql.types import StringType, StructField, StructType

            found = [sys.executable, *(name for name in _OF_WORKERS if not find_spec(name))]
            return StructType([StructField(name, StringType()) for name in found])

    spark.dataSource.register(Probe)
    python, *missing = spark.read.format(_PROBE_FORMAT).load().columns
    if missing:
        raise ImportError(
            f"recordpress.spark: {python}, with which the Spark Connect server plans reads and writes, has no "
            f"{' and no '.join(missing)}: install {'them' if missing[1:] else 'it'} there, or start the server with "
            "PYSPARK_PYTHON set to a Python that has it",
            name=missing[0],
        )


_complete: set[str] = set()  # Pythons that have all packages
_selected: str | None = None  # value of PYSPARK_PYTHON that the import set


def _select_first_python() -> None:
    """Set PYSPARK_PYTHON for the first session, unless it is set or a cluster is selected."""
    global _selected
    master = re.search(r"--master[ =](\S+)", os.environ.get("PYSPARK_SUBMIT_ARGS", ""))
    # spark-submit has already started the JVM, with this Python
    if "PYSPARK_GATEWAY_PORT" in os.environ or (master and not _is_local(master[1])):
        return
    # the driver's host plans data sources with the first of these variables that is set
    for variable in filter(os.environ.get, ("PYSPARK_DRIVER_PYTHON", _VARIABLE)):
        _check_python(variable, os.environ[variable])
        break
    if _VARIABLE not in os.environ and not _is_this_python("python3"):
        _selected = os.environ[_VARIABLE] = sys.executable


def _check_packages(*names: str) -> None:
    """Raise ImportError if this Python lacks a package, or has a version that is too old."""
    missing = [name for name in names if not find_spec(name)]
    old = [name for name in names if name not in missing and _is_too_old(name)]
    if missing or old:
        what = [f"no {name}" for name in missing] + [f"{name} {_version(name)}, which is too old" for name in old]
        install = " ".join(f"'{_PACKAGES[name]}'" for name in missing + old)
        sentence = f"recordpress.spark: {sys.executable} has {' and '.join(what)}: run  {sys.executable} -m pip install"
        raise ImportError(f"{sentence} {install}", name=(missing + old)[0])


def _is_too_old(package: str) -> bool:
    found, oldest = (re.findall(r"\d+", text)[:2] for text in (_version(package) or "", _PACKAGES[package]))
    return bool(found) and [int(number) for number in found] < [int(number) for number in oldest]


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:  # on PYTHONPATH, as Spark's own copy of pyspark is
        return None


def active_session() -> SparkSession | None:
    """Return the active session, if any, without importing pyspark."""
    if "pyspark.sql" not in sys.modules:
        return None
    from pyspark.sql import SparkSession

    return SparkSession.getActiveSession()


def _is_local(master: str) -> bool:
    """Return whether a master runs all tasks in the driver's JVM; local-cluster does not."""
    return master == "local" or master.startswith("local[")


def _is_this_python(name: str) -> bool:
    """Return whether a command runs this Python, in this environment."""
    found = shutil.which(name)
    if found is None or os.path.dirname(found) != os.path.dirname(sys.executable):
        return False
    return os.path.samefile(found, sys.executable)


def _check_python(variable: str, name: str) -> None:
    """Raise ImportError if the Python on this machine that `variable` selects for workers lacks a package."""
    python = shutil.which(name)
    if python is None or _is_this_python(python) or not os.path.basename(python).startswith("python"):
        return  # elsewhere, as in an archive that executors unpack; or a front end such as ipython
    if python in _complete:
        return
    missing = _missing_from(python)
    if missing:
        raise ImportError(
            f"recordpress.spark: {python}, which {variable} selects, has no {' and no '.join(missing)}: install "
            f"{'them' if missing[1:] else 'it'} there, or set {variable} to {sys.executable} before the session starts",
            name=missing[0],
        )
    _complete.add(python)


def _missing_from(python: str) -> tuple[str, ...]:
    """Return the packages that workers need and another Python lacks; an empty tuple if that Python does not run."""
    command = [python, "-c", _PROBE, *_OF_WORKERS]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_PROBE_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return tuple(done.stdout.split()) if done.returncode == 0 else ()
