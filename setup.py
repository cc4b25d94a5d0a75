"""The table of extension modules; how they are built is in build_support/."""

import sys
from pathlib import Path

from setuptools import Extension, setup

sys.path.insert(0, str(Path(__file__).resolve().parent))
from build_support.build_ext import build_ext

# module, libraries it calls (as pkg-config names them)
MODULES = [
    ("kpress._status", []),
    ("kpress._buffers", []),
    ("kpress._arguments", []),
    ("kpress.compress._context", ["libzstd", "libdeflate"]),
    ("kpress.compress._gzip", ["libzstd", "libdeflate"]),
    ("kpress.compress._snappy", ["libzstd", "libdeflate"]),
    ("kpress.compress._lz4", ["libzstd", "liblz4", "libdeflate"]),
    ("kpress.compress._zstd", ["libzstd", "libdeflate"]),
    ("kpress.compress._codec", ["libzstd", "libdeflate"]),
    ("kpress.compress._stream", ["libzstd", "libdeflate"]),
    ("kpress.checksum", ["libdeflate"]),
    ("kpress.record._arrow", []),
    ("kpress.record._decode", ["libzstd", "libdeflate"]),
    ("kpress.record._records", ["libzstd", "libdeflate"]),
    ("kpress.record._batch", ["libzstd", "libdeflate"]),
    ("kpress.record._column_builder", []),
    ("kpress.record._scan", ["libzstd", "libdeflate"]),
    ("kpress.record._columns", ["libzstd", "libdeflate"]),
    ("kpress.record._table", []),
    ("kpress.record._encoder", []),
    ("kpress.record._record_args", []),
    ("kpress.record._builder", ["libzstd", "libdeflate"]),
    ("kpress.record._set_writer", ["libzstd", "libdeflate"]),
    ("kpress.record._write_records", ["libzstd", "libdeflate"]),
    ("kpress.record._recompress", ["libzstd", "libdeflate"]),
    ("kpress.record._arrow_input", []),
    ("kpress.record._write_columns", ["libzstd", "libdeflate"]),
]

setup(
    cmdclass={"build_ext": build_ext},
    ext_modules=[
        Extension(
            name,
            [f"src/{name.replace('.', '/')}.pyx"],
            include_dirs=["include", "src"],
            libraries=libraries,
        )
        for name, libraries in MODULES
    ],
)
