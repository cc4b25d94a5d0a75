#!/bin/bash
# The suite against a build with AddressSanitizer and UndefinedBehaviorSanitizer, then the C tests, leaks included.
#   sanitize.sh [pytest arguments]
# PYTHON is the environment that builds and runs.
set -euo pipefail
cd "$(dirname "$0")/.."
export PYTHON=${PYTHON:-.venv/bin/python}

echo "recordpress: compiling with ASan and UBSan what changed, and the tests: about four minutes" >&2
build_support/under_asan.sh -m pytest -q -p no:cacheprovider -m "not spark and not build and not memory${SLICE:+ and not slow}" "$@"
# A slice runs the C tests under clang only: test-slow runs them under GCC.
"$PYTHON" -m pytest -q -p no:cacheprovider -n "$(nproc)" ${SLICE:+-k clang} tests/native
