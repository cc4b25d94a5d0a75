#!/bin/bash
# The tests of the readers' threads against a build with ThreadSanitizer.
#   sanitize_threads.sh [pytest arguments]
# Python itself is not instrumented: the runtime is preloaded, and what modules without instruments do is not looked at.
# PYTHON is the environment that builds and runs.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$PWD/build/threads python=${PYTHON:-.venv/bin/python} cc=${CC:-gcc}

echo "recordpress: compiling with ThreadSanitizer what changed, and the tests of threads: about two minutes" >&2
CC=$cc LDSHARED="$cc -shared" LDFLAGS=-fsanitize=thread CFLAGS="-O1 -g1 -fno-omit-frame-pointer -fsanitize=thread" \
  "$python" setup.py -q build --build-lib "$work/lib" --build-temp "$work/temp"

# Whatever shares a thread, a context or a block. Not polars, nor what imports it: it does not survive the preloaded
# runtime.
# A report ends the process: pytest would keep its text.
[ $# -gt 0 ] || set -- tests/columns/test_{interrupts,iter_columns,read_columns,resume}.py \
  tests/codecs/test_{codecs,contexts,stream,table}.py tests/broker/test_many_threads.py \
  tests/log/test_read.py tests/log/copy/test_{segment_copy,transcode,transcode_log}.py tests/threads
rm -f "$work"/report.*
env LD_PRELOAD="$($cc -print-file-name=libtsan.so)" PYTHONPATH="$work/lib" RECORDPRESS_SANITIZED=1 \
  TSAN_OPTIONS="ignore_noninstrumented_modules=1:halt_on_error=1:exitcode=66:die_after_fork=0:log_path=$work/report" \
  "$python" -m pytest -q -p no:cacheprovider -n "$(nproc)" --dist loadfile -m "not spark and not build and not memory${SLICE:+ and not slow}" -k "not polars and not other_libraries" "$@" || {
  cat "$work"/report.* >&2
  exit 1
}
