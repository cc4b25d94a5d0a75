#!/bin/bash
# The suite on Debian's arm64 CPython, on a machine of another kind: cross build, then pytest under qemu.
#   aarch64.sh [pytest arguments]
# Everything lies in build/aarch64; nothing of the host is changed: the arm64 packages are fetched with an apt state of
# their own and unpacked, not installed. Made once: sysroot/ (Python, the libraries, 150 MB) and site/ (pytest and peers).
# Needs what `debian.sh aarch64` installs; PYTHON is the environment that builds.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$PWD/build/aarch64 python=${PYTHON:-.venv/bin/python}
sysroot=$work/sysroot
mkdir -p "$work"

say() { echo "recordpress: $*" >&2; }

unpack_sysroot() {
  say "unpacking Debian's arm64 packages: about a minute"
  local apt=$work/apt deb link
  rm -rf "$sysroot.new" "$apt"; mkdir -p "$sysroot.new" "$apt/lists/partial" "$apt/cache/archives/partial"; : > "$apt/status"
  # the host's sources, asked for another architecture
  local options=(-o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Install-Recommends=false
    -o Dir::State::Lists="$apt/lists" -o Dir::State::status="$apt/status" -o Dir::Cache="$apt/cache"
    -o Debug::NoLocking=1 -o APT::Sandbox::User=root)
  apt-get "${options[@]}" -qq update
  apt-get "${options[@]}" -qq -y -d install python3 libpython3-dev libstdc++6 \
    libzstd-dev liblz4-dev libdeflate-dev libxxhash-dev > /dev/null
  for deb in "$apt"/cache/archives/*.deb; do dpkg -x "$deb" "$sysroot.new"; done
  # absolute links point into the host: make them relative
  find "$sysroot.new" -type l -lname '/*' -print | while read -r link; do
    ln -sfn "$(realpath -m --relative-to="$(dirname "$link")" "$sysroot.new$(readlink "$link")")" "$link"
  done
  [ -e "$sysroot.new/lib" ] || ln -s usr/lib "$sysroot.new/lib"  # from Debian 13 on base-files makes this link
  rm -rf "$apt" "$sysroot"; mv "$sysroot.new" "$sysroot"; touch "$sysroot/.ready"
}

[ "$sysroot/.ready" -nt build_support/aarch64.sh ] || unpack_sysroot
interpreter=$(basename "$(readlink -f "$sysroot/usr/bin/python3")") # python3.11
version=${interpreter#python}

if [ ! "$work/site/.ready" -nt pyproject.toml ]; then
  say "installing pytest and the peers for aarch64: about half a minute"
  rm -rf "$work/site"
  platforms=(); for tag in manylinux2014 manylinux_2_17 manylinux_2_26 manylinux_2_27 manylinux_2_28 manylinux_2_31 manylinux_2_34
  do platforms+=(--platform "${tag}_aarch64"); done
  "$python" -m pip install -q --target "$work/site" --only-binary=:all: --implementation cp --python-version "$version" \
    "${platforms[@]}" --group tools --group peers --group arrow
  touch "$work/site/.ready"
fi

compile_it() {
# Debian's pyconfig.h is a wrapper that looks for the one of the architecture: one plain folder instead.
headers=$work/headers
mkdir -p "$headers"
cp -rL "$sysroot/usr/include/$interpreter/." "$headers"
cp "$sysroot/usr/include/aarch64-linux-gnu/$interpreter/pyconfig.h" "$headers"

say "compiling for aarch64 what changed: about a minute for everything on two cores"
# --sysroot, because libc.so is a linker script with absolute paths
cc="aarch64-linux-gnu-gcc --sysroot=$sysroot"
env CC="$cc" LDSHARED="$cc -shared" CFLAGS="-g0 -I$headers" LDFLAGS="-L$sysroot/usr/lib/aarch64-linux-gnu" \
  PKG_CONFIG_LIBDIR="$sysroot/usr/lib/aarch64-linux-gnu/pkgconfig:$sysroot/usr/share/pkgconfig" \
  PKG_CONFIG_SYSROOT_DIR= _PYTHON_HOST_PLATFORM=linux-aarch64 \
  SETUPTOOLS_EXT_SUFFIX=".cpython-${version/./}-aarch64-linux-gnu.so" \
  "$python" setup.py -q build --build-lib "$work/lib" --build-temp "$work/temp"
}

# RECORDPRESS_WHEEL names a wheel that is tested instead of a build of this checkout.
if [ -n "${RECORDPRESS_WHEEL-}" ]; then
  rm -rf "$work/lib"
  "$python" -m zipfile -e "$RECORDPRESS_WHEEL" "$work/lib"
else
  compile_it
fi

# The emulated Python. Two settings decide its speed: the default CPU emulates pointer authentication, which makes Debian
# 13's binaries several times slower; and the unpacked standard library has no .pyc files, so they are kept beside it.
mkdir -p "$work/start"
cat > "$work/python" <<PYTHON
#!/bin/sh
unset PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX=$work/pyc QEMU_CPU=\${QEMU_CPU:-neoverse-n1}
exec qemu-aarch64-static -L $sysroot -E PYTHONPATH=$work/start:$work/lib:$work/site $sysroot/usr/bin/$interpreter "\$@"
PYTHON
chmod +x "$work/python"
# so that tests can start Python again: the kernel runs the wrapper, not an arm64 file
echo "import sys; sys.executable = '$work/python'" > "$work/start/sitecustomize.py"

# the packed vectors unless somebody names others: under emulation the full collection takes three times as long
export RECORDPRESS_VECTORS=${RECORDPRESS_VECTORS-}
say "running the tests under qemu: about two minutes"
"$work/python" -c 'import platform; print("suite on", platform.machine(), platform.python_version())'
exec "$work/python" -m pytest -q -p no:cacheprovider -n "$(nproc)" --dist loadfile -m "not spark and not build and not memory${SLICE:+ and not slow}" "$@"
