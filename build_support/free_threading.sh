#!/bin/bash
# recordpress on a CPython without the GIL: built for it, every module imported, and tested by many threads.
#   free_threading.sh [pytest arguments]
# Everything lies in build/free-threading. Debian 12 and 13 have no such Python: it is compiled from Debian 13's sources,
# once, and takes five minutes. It has no OpenSSL, so PYTHON, the environment of the other targets, fetches its packages.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$PWD/build/free-threading host=${PYTHON:-.venv/bin/python}
own=$work/python/bin/python3.13t

say() { echo "recordpress: $*" >&2; }

if ! [ -e "$work/python/.made" ]; then
  say "compiling a CPython without the GIL: five minutes"
  nice "$host" -m build_support.cpython "$work/python" 3.13 --disable-gil
  touch "$work/python/.made"
fi

# Files of tests that need a package without a wheel for this Python are left out, and named at the end.
fetch() {
  "$host" -m pip install -q --disable-pip-version-check --upgrade --target "$work/packages" --only-binary=:all: \
    --python-version 3.13 --implementation cp --abi cp313t --abi none --platform any \
    --platform "manylinux_2_28_$(uname -m)" --platform "manylinux_2_17_$(uname -m)" "$@"
}
if ! [ "$work/packages/.made" -nt build_support/free_threading.sh ]; then
  say "fetching its packages"
  fetch setuptools cython pytest hypothesis
  for package in numpy pyarrow lz4 xxhash crc32c google-crc32c zstandard cramjam python-snappy kafka-python; do
    fetch "$package" 2>/dev/null || say "no wheel of $package for this Python"
  done
  touch "$work/packages/.made"
fi

say "compiling recordpress for it: two minutes"
PYTHONPATH=$work/packages "$own" setup.py -q build --build-lib "$work/lib" --build-temp "$work/temp"

export PYTHONPATH=$work/lib:$work/packages
"$own" -W error -c '
import importlib, sys
import recordpress
from recordpress._extension_finder import LIBRARIES
for name in LIBRARIES:
    importlib.import_module(f"recordpress.{name}")
assert not sys._is_gil_enabled(), "importing recordpress turned the GIL on"
print(f"{len(LIBRARIES)} modules imported by {sys.version.split()[0]}, and the GIL is off")
'
# PYTHON_GIL=0: packages of the tests would turn it on. This Python has no bz2, which an example uses.
[ $# -gt 0 ] || set -- tests/threads tests/codecs tests/record tests/columns tests/test_checksum.py \
  tests/test_import.py::test_a_second_interpreter_is_told_that_it_cannot_import \
  --deselect tests/codecs/test_registry.py::test_the_page_runs
PYTHON_GIL=0 "$own" -m pytest -q -p no:cacheprovider -p build_support.importable -m "not build and not memory and not spark" "$@"
