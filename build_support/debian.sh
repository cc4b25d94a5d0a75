#!/bin/bash
# Install the Debian packages that are missing; silent, and without root, when none is.
#   debian.sh build            compiler, Python's headers and venv, pkg-config, the four libraries
#   debian.sh bench            libsnappy, which the benchmarks compare with
#   debian.sh java             a Java runtime for Spark (17 or newer)
#   debian.sh shells           zsh and fish, whose completion is tested
#   debian.sh differential     a JDK and Maven, which bring Kafka's own classes and a broker
#   debian.sh azurite          Node.js, which runs Azure's server for tests
#   debian.sh browser          Chromium, which takes pictures of a report, and opens the pages of the site
#   debian.sh docs             Graphviz, which draws the site's flowcharts
#   debian.sh bench-peers      what builds the benchmarks' peers: a JDK and Maven, Rust, Go
#   debian.sh fuzz             clang with libFuzzer and its sanitizers
#   debian.sh aarch64          cross compiler and user-mode emulator
#   debian.sh wheels           what compiles the libraries of wheels for x86_64
#   debian.sh wheels-aarch64   the cross compiler for those of wheels for 64-bit ARM
#   debian.sh roots            what makes file systems of other systems, to try wheels out
#   debian.sh --count build java   only say how many packages these groups would install, and their disk
# PYTHON3 names the interpreter that the virtual environment is made of.
set -euo pipefail
python=${PYTHON3:-python3}
missing=()

need() {  # need "PACKAGE ..." COMMAND...: the packages are missing when the command fails
  local packages=$1; shift
  "$@" >/dev/null 2>&1 || missing+=($packages)
}

say() { echo "recordpress: $*" | fold -s -w 80 >&2; }

library() { pkg-config --exists "$1"; }

python_header() { test -e "$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h"; }

java_runs() {  # JAVA_HOME first, as Spark does
  local java=java
  [ -z "${JAVA_HOME:-}" ] || java=$JAVA_HOME/bin/java
  local version
  version=$("$java" -version 2>&1 | sed -nE '1s/.*version "([0-9]+).*/\1/p')
  [ "${version:-0}" -ge 17 ]
}

python_is_new_enough() {
  "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' && return
  say "$python is older than Python 3.11 or not there: PYTHON3=/path/to/python3 names another one"
  exit 1
}

group_build() {
  python_is_new_enough
  local v; v=$("$python" -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
  need "gcc libc6-dev" sh -c 'command -v ${CC:-gcc} && echo "#include <stdlib.h>" | ${CC:-gcc} -E -'
  need "$v-dev" python_header
  need "$v-venv" "$python" -c 'import ensurepip, venv'
  need pkg-config pkg-config --version
  need libzstd-dev library libzstd
  need liblz4-dev library liblz4
  need libdeflate-dev library libdeflate
  need libxxhash-dev library libxxhash
}

group_bench() { need libsnappy-dev library snappy; }

group_java() { need default-jre-headless java_runs; }

group_shells() {
  need zsh zsh --version
  need fish fish --version
}

group_azurite() { need "nodejs npm" npm --version; }

group_differential() {
  need default-jdk-headless javac -version
  need maven mvn --version
}

group_browser() { need chromium chromium --version; }

group_docs() { need graphviz dot -V; }

group_bench-peers() {
  group_differential
  need cargo cargo --version
  need golang go version
}

libfuzzer() {
  local target="int LLVMFuzzerTestOneInput(const char *data, unsigned long size) { return !data && size; }"
  echo "$target" | ${CLANG:-clang} -fsanitize=fuzzer,address -x c -o /dev/null -
}

group_fuzz() { need "clang libclang-rt-dev" libfuzzer; }

group_aarch64() {
  need qemu-user-static qemu-aarch64-static --version
  need crossbuild-essential-arm64 aarch64-linux-gnu-g++ --version
}

group_wheels() {
  need gcc gcc --version
  need binutils readelf --version
  need xz-utils xz --version
}

group_wheels-aarch64() { need crossbuild-essential-arm64 aarch64-linux-gnu-gcc --version; }

group_roots() {
  need debootstrap command -v debootstrap
  need qemu-user-static qemu-aarch64-static --version
  need maven mvn --version
}

if [ "${1:-}" = --count ]; then
  shift
  for group; do "group_$group"; done
  [ ${#missing[@]} -gt 0 ] || { say "Debian packages to install: none"; exit 0; }
  # without lists of packages apt-get does not know what they need
  plan=$(LC_ALL=C apt-get -o Debug::NoLocking=1 --assume-no --no-install-recommends install "${missing[@]}" 2>/dev/null) || :
  all=$(sed -nE 's/.* ([0-9]+) newly installed.*/\1/p' <<<"$plan")
  disk=$(sed -nE 's/^After this operation, (.*) of additional .*/, \1 of disk/p' <<<"$plan")
  say "Debian packages to install: ${all:-at least ${#missing[@]}}$disk, for ${missing[*]}"
  exit 0
fi
for group; do "group_$group"; done
[ ${#missing[@]} -gt 0 ] || exit 0

sudo=
if [ "$(id -u)" != 0 ]; then
  sudo=sudo
  command -v sudo >/dev/null || { say "not root and no sudo: have somebody run  apt-get install ${missing[*]}"; exit 1; }
fi
command -v apt-get >/dev/null || { say "no apt-get here: install by hand what Debian calls ${missing[*]}"; exit 1; }
say "installing the Debian packages ${missing[*]}: about a minute"
progress=("$python" "$(dirname "$0")/progress.py" "Debian packages" $sudo env DEBIAN_FRONTEND=noninteractive)
# one command: the ten seconds of silence do not begin again after the update
"${progress[@]}" sh -c 'apt-get -qq update && "$@" 3>&1 >/dev/null' sh \
  apt-get -qq -o APT::Status-Fd=3 install -y --no-install-recommends "${missing[@]}"
