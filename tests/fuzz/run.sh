#!/bin/bash
# Fuzz every target for SECONDS each, on all cores, and say how many runs that were.
#   run.sh SECONDS [TARGET ...]
# Works in build/fuzz: programs, seeds, the growing corpus of each target, and in found/ every input that fails, which
# then belongs into tests/fuzz/corpus. CLANG names the compiler, PYTHON the environment that has recordpress' build tools.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=tests/fuzz work=build/fuzz python=${PYTHON:-.venv/bin/python} clang=${CLANG:-clang}
seconds=$1; shift
sanitizers=address,undefined,pointer-overflow,bounds,nullability,local-bounds
flags="-std=gnu11 -O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer,$sanitizers -fno-sanitize-recover=all -Iinclude"
export here work clang seconds flags PYTHON="$python"

names=("$@")
[ $# -gt 0 ] || for source in $here/targets/*.c $here/python/fuzz_*.py; do
  name=${source##*/}; name=${name%.*}; names+=("${name#fuzz_}")
done

fuzz_c() {
  local name=$1 log=$work/$1.log
  local longest=512
  case $name in snappy_encode|deflate_cut) longest=4096;; columns) longest=1024;; pool) longest=128;; esac
  mkdir -p "$work/corpus/$name" "$work/seeds/$name" "$here/corpus/$name"
  "$clang" $flags "$here/targets/$name.c" -o "$work/$name"
  # both limits are chosen, not measured: less memory than ASan's default of 256 MB, and more time than a run needs
  ASAN_OPTIONS=quarantine_size_mb=16 "$work/$name" -max_total_time="$seconds" -max_len=$longest -timeout=60 -print_final_stats=1 \
    -artifact_prefix="$work/found/$name-" "$work/corpus/$name" "$work/seeds/$name" "$here/corpus/$name" > "$log" 2>&1 || {
    tail -40 "$log" >&2
    return 1
  }
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
}

fuzz_python() {
  build_support/under_asan.sh "$here/python/fuzz_$1.py" --seconds "$seconds" --found "$work/found" \
    > "$work/$1.log" 2>&1 || { tail -40 "$work/$1.log" >&2; return 1; }
  runs=$(sed -n 's/^runs: *//p' "$work/$1.log")
}

fuzz() {
  local kind=python runs
  [ ! -e "$here/targets/$1.c" ] || kind=c
  if "fuzz_$kind" "$1" && [ -n "$runs" ]; then printf '%-16s %12s runs\n' "$1" "$runs"
  else printf '%-16s FAILED, the input is in %s/found\n' "$1" "$work"; return 1; fi
}

mkdir -p "$work/found"
"$python" $here/seeds.py "$work/seeds"
build_support/under_asan.sh -c '' # built once, before targets share it
export BUILT=1
export -f fuzz fuzz_c fuzz_python
printf '%s\n' "${names[@]}" | xargs -P "$(nproc)" -I {} bash -euc 'fuzz {}'
