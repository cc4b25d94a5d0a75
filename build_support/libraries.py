"""Where the C libraries are: their flags, or one message that names everything that is missing.

Looked for in this order:

1. ``RECORDPRESS_PREFIX``: a folder with ``include/`` and static archives in ``lib/`` (wheels, cross builds)
2. pkg-config (``PKG_CONFIG`` names another one)
3. a trial link with ``CC``, ``CFLAGS`` and ``LDFLAGS`` (conda, Homebrew)
"""

import os
import platform
import shlex
import shutil
import subprocess
import sysconfig
import tempfile
from pathlib import Path
from typing import NamedTuple


class Library(NamedTuple):
    oldest: str  # version that has every function we call
    link_name: str
    includes: str
    too_old: str  # the same bound for the preprocessor, where a header tells the version


class Flags(NamedTuple):
    compile: list[str]
    link: list[str]


LIBRARIES = {
    "libzstd": Library("1.4", "zstd", "zstd.h zdict.h", "ZSTD_VERSION_NUMBER < 10400"),
    "liblz4": Library("1.8", "lz4", "lz4frame.h lz4.h", "LZ4_VERSION_NUMBER < 10800"),
    "libdeflate": Library(
        "1.10", "deflate", "libdeflate.h", "LIBDEFLATE_VERSION_MAJOR < 1 || LIBDEFLATE_VERSION_MINOR < 10"
    ),
    "libxxhash": Library("0.8", "xxhash", "xxhash.h", "XXH_VERSION_NUMBER < 800"),
}

INSTALL = """\
Install what is missing with the one of these that is yours:
  Debian, Ubuntu  apt-get install gcc python3-dev pkg-config libzstd-dev liblz4-dev libdeflate-dev libxxhash-dev
  Fedora          dnf install gcc python3-devel pkgconf-pkg-config libzstd-devel lz4-devel libdeflate-devel xxhash-devel
  Alpine          apk add build-base python3-dev pkgconf zstd-dev lz4-dev libdeflate-dev xxhash-dev
  Homebrew        brew install pkgconf zstd lz4 libdeflate xxhash
  conda           conda install -c conda-forge c-compiler pkg-config zstd lz4-c libdeflate xxhash
or let RECORDPRESS_PREFIX name a folder that has them in include/ and, as static archives, in lib/."""


def find(names):
    """The flags of each library in `names`; exits with one message when anything is missing."""
    check_prefix()
    missing = []
    if not shutil.which(compiler()[0]):
        missing.append(f"a C compiler ({compiler()[0]})")
    elif not compiles("#include <Python.h>", "-c", f"-I{sysconfig.get_path('include')}"):
        missing.append(f"Python.h, the headers of Python {platform.python_version()}")
    found = {name: in_prefix(name) or by_pkg_config(name) or by_trial_link(name) for name in sorted(names)}
    missing += [f"{name} >= {LIBRARIES[name].oldest}" for name in found if not found[name]]
    if missing:
        raise SystemExit("\n  ".join(["recordpress cannot be built: this machine lacks", *missing]) + "\n" + INSTALL)
    return found


def check_prefix():
    """A prefix that holds nothing is a mistake: the build would silently link what the machine has."""
    prefix = os.environ.get("RECORDPRESS_PREFIX")
    if prefix and not any(archive_in(prefix, name).exists() for name in LIBRARIES):
        archives = ", ".join(archive_in(prefix, name).name for name in LIBRARIES)
        raise SystemExit(f"RECORDPRESS_PREFIX={prefix}: none of {archives} is in {Path(prefix, 'lib')}")


def archive_in(prefix, name):
    return Path(prefix, "lib", f"lib{LIBRARIES[name].link_name}.a")


def in_prefix(name):
    prefix = os.environ.get("RECORDPRESS_PREFIX")
    if not prefix or not archive_in(prefix, name).exists():
        return None
    return Flags([f"-I{Path(prefix, 'include')}"], [str(archive_in(prefix, name))])


def by_pkg_config(name):
    wanted = f"{name} >= {LIBRARIES[name].oldest}"
    found = [run([os.environ.get("PKG_CONFIG", "pkg-config"), option, wanted]) for option in ("--cflags", "--libs")]
    return None if None in found else Flags(*(shlex.split(flags) for flags in found))


def by_trial_link(name):
    library = LIBRARIES[name]
    includes = "\n".join(f"#include <{header}>" for header in library.includes.split())
    source = f"{includes}\n#if {library.too_old}\n#error too old\n#endif\nint main(void) {{ return 0; }}"
    link = [f"-l{library.link_name}"]
    return Flags([], link) if compiles(source, *link) else None


def compiles(source, *flags):
    """Does the compiler make something of `source`?"""
    if not shutil.which(compiler()[0]):
        return False
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "trial.c")
        file.write_text(source)
        cflags, ldflags = (shlex.split(os.environ.get(name, "")) for name in ("CFLAGS", "LDFLAGS"))
        return run([*compiler(), *cflags, str(file), "-o", f"{folder}/trial", *ldflags, *flags]) is not None


def compiler():
    return shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")


def run(command):
    """What `command` printed, None if it failed or is not there."""
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
