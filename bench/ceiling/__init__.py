"""The C ceiling: what one thread can do with the same bytes and the same C libraries.

`batch.h` checks the CRC, decompresses into a scratch buffer, parses, and gathers into columns that every call uses
anew, and back; `codecs.h` calls the libraries; `module.c` makes that callable and adds the floor for Python
objects: an iterator of small objects with four fields, one alive at a time.

The extension is built when it is first needed, into build/bench, against the libraries that pkg-config names: the
same ones that kpress is built against, and libsnappy, which kpress does without.
"""

import importlib.machinery
import importlib.util
import subprocess
import sys
import sysconfig
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
LIBRARIES = ["libzstd", "liblz4", "snappy", "libdeflate"]
TARGET = ROOT / "build" / "bench" / f"_ceiling{sysconfig.get_config_var('EXT_SUFFIX')}"


def _pkg_config(option: str) -> list[str]:
    return subprocess.run(["pkg-config", option, *LIBRARIES], check=True, capture_output=True, text=True).stdout.split()


def _build() -> None:
    sources = [*HERE.glob("*.[ch]"), *(ROOT / "include" / "kpress").glob("*.h")]
    if TARGET.exists() and TARGET.stat().st_mtime > max(source.stat().st_mtime for source in sources):
        return
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    compiler = sysconfig.get_config_var("CC").split()
    include = [f"-I{ROOT / 'include'}", f"-I{sysconfig.get_path('include')}"]
    options = ["-std=gnu11", "-O3", "-Wall", "-Wextra", "-Wno-missing-field-initializers", "-Wno-cast-function-type",
               "-fPIC", "-shared"]
    subprocess.run([*compiler, *options, *include, *_pkg_config("--cflags"), str(HERE / "module.c"), "-o", str(TARGET),
                    *_pkg_config("--libs")], check=True)


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
