"""A CPython of our own, compiled from Debian's source package: one that no package has, for trying a wheel out.

    python -m build_support.cpython PREFIX 3.13 --disable-gil

Modules that need more than libc and zlib are left out.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from build_support import debian_suite

SUITES = {"3.13": "trixie", "3.14": "forky"}
WORK = Path("build", "cpython")
LEFT_OUT = ["_ssl", "_sqlite3", "_curses", "_curses_panel", "_dbm", "_gdbm", "_tkinter", "_lzma", "_bz2", "_uuid"]
LEFT_OUT += ["_ctypes", "_ctypes_test", "readline"]


def build(prefix, version, *options, compiler="cc", archiver="ar", settings=None):
    """Into `prefix`: bin/pythonX.Y and its standard library. It may be moved. `settings` are variables of configure."""
    prefix = Path(prefix).resolve()
    suite = debian_suite.Suite(SUITES[version], WORK / f"apt-{SUITES[version]}")
    source = unpacked(suite.sources(f"python{version}", WORK / "sources"), f"source-{prefix.name}")
    zlib = zlib_of(suite, prefix.name, compiler, archiver)
    settings = (settings or {}) | {
        "CC": compiler,
        "AR": archiver,
        # zig cc makes an error of __DATE__ unless warnings are off; and without -fPIC a program has an `environ` of its
        # own, which zig's stub of musl does not tell the linker to be libc's, too
        "CFLAGS": "-O1 -g0 -w -fPIC",
        "ZLIB_CFLAGS": f"-I{zlib}",
        "ZLIB_LIBS": f"{zlib}/libz.a",
        "PKG_CONFIG": "false",  # nothing of this machine
        **{f"py_cv_module_{name}": "n/a" for name in LEFT_OUT},
    }
    step(["./configure", "-q", f"--prefix={prefix}", "--without-doc-strings", *options], source, settings)
    step(["make", "-s", f"-j{os.cpu_count()}"], source)
    step(["make", "-s", "install"], source)
    shutil.rmtree(source)
    shutil.rmtree(prefix / "lib" / f"python{version}" / "test", ignore_errors=True)


def unpacked(archive, name):
    folder = WORK / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    step(["tar", "-xf", archive.resolve(), "--strip-components=1"], folder)
    return folder


def zlib_of(suite, name, compiler, archiver):
    """pip needs it to unpack a wheel; static, because a bare root has none."""
    folder = unpacked(suite.sources("zlib", WORK / "sources"), f"zlib-{name}").resolve()
    files = sorted(folder.glob("*.c"))
    step([compiler, "-c", "-O1", "-fPIC", "-DHAVE_UNISTD_H", *files], folder)
    step([archiver, "rcs", "libz.a", *sorted(folder.glob("*.o"))], folder)
    return folder


def step(command, folder, settings=None):
    log = folder / "log"
    with log.open("a") as out:
        code = subprocess.call(command, cwd=folder, stdout=out, stderr=out, env=os.environ | (settings or {}))
    if code:
        last = log.read_text(errors="replace").splitlines()[-20:]
        raise SystemExit("\n".join(["recordpress: " + " ".join(map(str, command)) + " failed:", *last]))


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[2] not in SUITES:
        raise SystemExit(f"{__doc__}\nversions: {', '.join(SUITES)}")
    build(*sys.argv[1:])
