"""``recordpress doctor`` without click: versions, speeds and missing packages."""

from __future__ import annotations

import json
import platform
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from importlib.metadata import PackageNotFoundError, distribution, version
from typing import Any

import recordpress
from recordpress._libraries import library_versions
from recordpress._version import DISTRIBUTION
from recordpress.cli._output import print_json, print_table, say
from recordpress.codecs.table import CodecTable

_SECONDS = 0.1  # for each speed; chosen, not measured: all speeds in a few seconds
_LINE = b'203.0.113.%d - - [17/May/2015:10:05:%02d +0000] "GET /item/%d HTTP/1.1" 200 %d "-" "Mozilla/5.0"\n'

_PURPOSES = {
    "click": "the command line",
    "pyarrow": "Arrow and Parquet; s3://, gs://, abfs:// and hdfs:// paths",
    "fsspec": "paths in other stores",
    "numpy": "columns as arrays",
    "pandas": "columns as frames",
    "polars": "columns as frames, lazy scans of logs",
    "duckdb": "SQL over columns",
    "pyspark": "the Spark data source",
}
_JAVA = "apt-get install default-jre-headless"


def report(as_json: bool) -> None:
    """Measure speeds and print a report, with only the standard library."""
    data = _data()
    result = {
        "recordpress": recordpress.__version__,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "platform": platform.platform(),
        "executable": sys.executable,
        "build": _build(),
        "libraries": library_versions(),
        "crc32cPath": recordpress.crc32c_path(),
        "crc32cSpeed": _speed(data, partial(recordpress.crc32c, data)),
        "java": _java(),
        "packages": {name: _version(name) for name in _PURPOSES},
        "speeds": _speeds(data),
    }
    if as_json:
        print_json(result)
    else:
        _print(result)


def _print(result: dict[str, Any]) -> None:
    libraries = ", ".join(f"{name} {number}" for name, number in result["libraries"].items())
    print_table(
        ("installation", ""),
        (
            ("recordpress", result["recordpress"]),
            ("Python", f"{result['python']}, {result['executable']}"),
            ("platform", result["platform"]),
            ("built as", result["build"]),
            ("C libraries", libraries),
            ("CRC-32C", f"by {result['crc32cPath']}, {result['crc32cSpeed']:,.0f} MB/s"),
            ("Java", result["java"] or f"missing, for Spark: {_JAVA}"),
        ),
    )
    say()
    print_table(
        ("codec", ">compress MB/s", ">decompress MB/s", ">ratio"),
        (
            (name, f"{speed['compress']:,.0f}", f"{speed['decompress']:,.0f}", f"{speed['ratio']:.2f}")
            for name, speed in result["speeds"].items()
        ),
    )
    say()
    print_table(
        ("package", "version", "for", "to get it"),
        (
            (name, found or "missing", _PURPOSES[name], "" if found else f"pip install {name}")
            for name, found in result["packages"].items()
        ),
    )
    if None in result["packages"].values():
        say()
        print(f"pip is  {sys.executable} -m pip")  # not wrapped, so that it can be copied


def _build() -> str:
    """Describe the build: a wheel that bundles its libraries lists them (PEP 770), other builds do not."""
    try:
        installed = distribution(DISTRIBUTION)
    except PackageNotFoundError:
        return "not installed: imported from a folder"
    if json.loads(installed.read_text("direct_url.json") or "{}").get("dir_info", {}).get("editable"):
        return "an editable installation, linked to this machine's libraries"
    tags = re.findall(r"^Tag: (.+)$", installed.read_text("WHEEL") or "", re.MULTILINE)
    own = any("sboms" in file.parts for file in installed.files or ())
    linked = "with bundled libraries" if own else "linked to libraries of this machine"
    return f"{' '.join(tags) or 'in place'}, {linked}"


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _java() -> str | None:
    java = shutil.which("java")
    if java is None:
        return None
    try:
        done = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=10)  # seconds; chosen
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = (done.stderr or done.stdout).splitlines()
    return f"{lines[0]}, {java}" if lines else java


def _data() -> bytes:
    return b"".join(_LINE % (i * 7 % 250, i % 60, i * i % 9973, i * 31 % 50021) for i in range(12_000))


def _speeds(data: bytes) -> dict[str, dict[str, float]]:
    """Measure each codec at its default level, in MB (10^6 bytes) of records per second."""
    found: dict[str, dict[str, float]] = {}
    codecs: Any = CodecTable().ids
    for codec in codecs:
        if codec == "none":
            continue
        packed = recordpress.compress(data, codec)
        found[codec] = {
            "compress": _speed(data, partial(recordpress.compress, data, codec)),
            "decompress": _speed(data, partial(recordpress.decompress, packed, codec)),
            "ratio": len(data) / len(packed),
        }
    return found


def _speed(data: bytes, work: Callable[..., object]) -> float:
    begun, rounds = time.perf_counter(), 0
    while (seconds := time.perf_counter() - begun) < _SECONDS:
        work()
        rounds += 1
    return rounds * len(data) / seconds / 1e6
