"""The C ceiling: the speed that one thread can reach with the same bytes and the same C libraries.

`batch.h` checks the CRC, decompresses into a scratch buffer, parses, and gathers into columns that every call uses
again, and back; `codecs.h` calls the libraries; `module.c` makes that callable and adds the floor for Python
objects: an iterator of small objects with four fields, one alive at a time.

The extension is built when it is first needed, against the libraries that recordpress is built against
(RECORDPRESS_PREFIX names others than the machine's) and the machine's libsnappy, which recordpress does without.
"""

import importlib.machinery
import importlib.util
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

from build_support import libraries

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
BUILD = Path(os.environ.get("RECORDPRESS_PREFIX") or ROOT / "build", "bench")
TARGET = BUILD / f"_ceiling{sysconfig.get_config_var('EXT_SUFFIX')}"


def _library_flags() -> tuple[list[str], list[str]]:
    """For the compiler, and for the linker."""
    found = libraries.find(libraries.LIBRARIES).values()
    snappy = subprocess.run(["pkg-config", "--libs", "snappy"], check=True, capture_output=True, text=True).stdout
    return (
        [option for flags in found for option in flags.compile],
        [*(option for flags in found for option in flags.link), *snappy.split()],
    )


def _build() -> None:
    sources = [*HERE.glob("*.[ch]"), *(ROOT / "include" / "recordpress").glob("*.h")]
    if TARGET.exists() and TARGET.stat().st_mtime > max(source.stat().st_mtime for source in sources):
        return
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    compiler = sysconfig.get_config_var("CC").split()
    include = [f"-I{ROOT / 'include'}", f"-I{sysconfig.get_path('include')}"]
    options = [
        "-std=gnu11",
        "-O3",
        "-Wall",
        "-Wextra",
        "-Wno-missing-field-initializers",
        "-Wno-cast-function-type",
        "-fPIC",
        "-shared",
    ]
    compile_flags, link_flags = _library_flags()
    subprocess.run(
        [*compiler, *options, *include, *compile_flags, str(HERE / "module.c"), "-o", str(TARGET), *link_flags],
        check=True,
    )


def _load():
    _build()
    loader = importlib.machinery.ExtensionFileLoader("_ceiling", str(TARGET))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("_ceiling", loader))
    sys.modules["_ceiling"] = module
    loader.exec_module(module)
    return module


_module = _load()
Ceiling = _module.Ceiling
time_memcpy = _module.time_memcpy
libraries_used = _module.libraries
