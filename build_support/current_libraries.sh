#!/bin/bash
# Newer releases of the C libraries than the machine's, as static archives that setup.py finds by KPRESS_PREFIX.
#   current_libraries.sh PREFIX
# Their sources are Debian 13's source packages, fetched with an apt state of our own: apt checks their signatures, and
# nothing of the host changes.
set -euo pipefail
suite=trixie
packages=(libzstd lz4 libdeflate xxhash)
prefix=$(mkdir -p "$1" && cd "$1" && pwd)
work=$prefix/sources
flags=(-O3 -fPIC -fvisibility=hidden -DNDEBUG)

fetch() {
  local apt=$work/apt archive
  archive=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -m 1 '/debian/$') || {
    echo "kpress: apt's sources name no Debian archive" >&2; exit 1
  }
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/parts"; : > "$apt/status"
  echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $archive $suite main" > "$apt/sources.list"
  local options=(-o Dir::Etc::SourceList="$apt/sources.list" -o Dir::Etc::SourceParts="$apt/parts"
    -o Dir::State::Lists="$apt/lists" -o Dir::State::status="$apt/status" -o Dir::Cache="$apt/cache"
    -o Debug::NoLocking=1 -o APT::Sandbox::User=root)
  apt-get "${options[@]}" -qq update
  cd "$work"
  apt-get "${options[@]}" -qq source --tar-only --download-only "${packages[@]}" > /dev/null
}

unpack() {  # unpack PACKAGE: into a folder of its name, and go there
  mkdir -p "$work/$1"
  tar -C "$work/$1" --strip-components=1 -xf "$(ls "$work/$1"_*.orig.tar.*)"
  cd "$work/$1"
}

archive() {  # archive NAME SOURCE...: compile the sources into libNAME.a
  local name=$1 source object; shift
  rm -f "$prefix/lib/lib$name.a"
  for source; do
    object=$work/objects/$name/${source//\//_}.o
    mkdir -p "${object%/*}"
    gcc "${flags[@]}" -I. -Ilib -c "$source" -o "$object"
  done
  ar rcs "$prefix/lib/lib$name.a" "$work/objects/$name"/*.o
}

rm -rf "$work" "$prefix/lib" "$prefix/include"
mkdir -p "$work" "$prefix/lib" "$prefix/include"
echo "kpress: fetching and compiling ${packages[*]} of Debian $suite: about a minute" >&2
fetch

unpack libzstd  # the assembly decodes Huffman streams on x86_64; elsewhere it is empty
archive zstd lib/{common,compress,decompress}/*.[cS]
cp lib/zstd.h lib/zstd_errors.h "$prefix/include"

unpack lz4
archive lz4 lib/*.c
cp lib/lz4.h lib/lz4hc.h "$prefix/include"

unpack libdeflate
archive deflate lib/*.c lib/*/*.c
cp libdeflate.h "$prefix/include"

unpack xxhash
archive xxhash xxhash.c
cp xxhash.h "$prefix/include"

rm -rf "$work"
