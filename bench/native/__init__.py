"""Loops in C over our headers and over C libraries that have no Python package, called through ctypes.

`crc32c.c` is compiled when it is first needed, into build/bench. ISA-L is used where libisal is installed
(Debian: libisal2).
"""

import ctypes
import ctypes.util
import subprocess
import sysconfig
from ctypes import c_char_p, c_int, c_size_t, c_uint32, c_uint64, c_void_p
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
TARGET = ROOT / "build" / "bench" / "crc32c.so"


def _declare(library: ctypes.CDLL, name: str, result: type | None, *arguments: type):
    function = library[name]
    function.restype, function.argtypes = result, arguments
    return function


def _load() -> ctypes.CDLL:
    sources = [HERE / "crc32c.c", *(ROOT / "include" / "recordpress").glob("*.h")]
    if not TARGET.exists() or TARGET.stat().st_mtime < max(source.stat().st_mtime for source in sources):
        TARGET.parent.mkdir(parents=True, exist_ok=True)
        compiler = sysconfig.get_config_var("CC").split()
        subprocess.run(
            [
                *compiler,
                "-std=gnu11",
                "-O3",
                "-Wall",
                "-Wextra",
                "-fPIC",
                "-shared",
                f"-I{ROOT / 'include'}",
                str(HERE / "crc32c.c"),
                "-o",
                str(TARGET),
            ],
            check=True,
        )
    return ctypes.CDLL(str(TARGET))


_loops = _load()
crc32c = _declare(_loops, "crc32c", c_uint32, c_char_p, c_size_t)
loop_crc32c = _declare(_loops, "loop_crc32c", None, c_char_p, c_size_t, c_size_t)
crc32c_table = _declare(_loops, "crc32c_table", c_uint32, c_char_p, c_size_t)
loop_crc32c_table = _declare(_loops, "loop_crc32c_table", None, c_char_p, c_size_t, c_size_t)
loop_isal = _declare(_loops, "loop_isal", None, c_void_p, c_char_p, c_size_t, c_size_t)
patch = _declare(_loops, "patch", c_uint32, c_uint32, c_char_p, c_char_p, c_size_t, c_uint64)
loop_patch = _declare(_loops, "loop_patch", None, c_uint32, c_char_p, c_char_p, c_size_t, c_uint64, c_size_t)

_isal = ctypes.util.find_library("isal")
crc32_iscsi = _declare(ctypes.CDLL(_isal), "crc32_iscsi", c_uint32, c_char_p, c_int, c_uint32) if _isal else None
