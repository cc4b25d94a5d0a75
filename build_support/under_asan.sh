#!/bin/bash
# Python with a build of recordpress under AddressSanitizer and UndefinedBehaviorSanitizer.
#   under_asan.sh [arguments of python]
# Python itself is not rebuilt: the runtimes are preloaded. PYTHON is the environment that builds and runs;
# BUILT=1 takes the build that is there.
# Bytes and bytearrays end in a hidden NUL, which hides an over-read of one byte from ASan: tests of hostile input use
# buffers of exactly their size (ctypes arrays).
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
work=$root/build/sanitize python=${PYTHON:-.venv/bin/python} cc=${CC:-gcc}
# ASan reports a null pointer that is followed, UBSan need not; calls in place of inlined checks of addresses. Both take
# 30 % off the time to compile.
sanitizers="-fsanitize=address,undefined -fno-sanitize=null --param asan-instrumentation-with-call-threshold=0"

[ -n "${BUILT-}" ] || (cd "$root" && CC=$cc LDSHARED="$cc -shared" LDFLAGS=-fsanitize=address,undefined \
  CFLAGS="-O1 -g1 -fno-omit-frame-pointer -fno-sanitize-recover=undefined $sanitizers" \
  "$python" setup.py -q build --build-lib "$work/lib" --build-temp "$work/temp")

# PYTHONMALLOC puts every Python object into ASan's heap. libstdc++ is preloaded because ASan must find its __cxa_throw.
# Leaks are looked for elsewhere (tests/hostile/test_leaks.py and the C tests): CPython frees little at exit.
runtimes=$(for name in libasan libubsan libstdc++; do $cc -print-file-name=$name.so; done | paste -sd ' ')
exec env LD_PRELOAD="$runtimes" PYTHONMALLOC=malloc PYTHONPATH="$work/lib" RECORDPRESS_SANITIZED=1 \
  ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:detect_stack_use_after_return=1${ASAN_OPTIONS:+:$ASAN_OPTIONS} \
  UBSAN_OPTIONS=print_stacktrace=1 \
  "$python" "$@"
