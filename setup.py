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
    ("kpress.codecs.context", ["libzstd", "libdeflate"]),
    ("kpress.codecs._gzip", ["libzstd", "libdeflate"]),
    ("kpress.codecs._snappy", ["libzstd", "libdeflate"]),
    ("kpress.codecs._lz4", ["libzstd", "liblz4", "libdeflate"]),
    ("kpress.codecs._zstd", ["libzstd", "libdeflate"]),
    ("kpress.codecs.payload", ["libzstd", "libdeflate"]),
    ("kpress.codecs._stream", ["libzstd", "libdeflate"]),
    ("kpress.checksum", ["libdeflate"]),
    ("kpress.columns._arrow_out", []),
    ("kpress.columns._values", []),
    ("kpress.columns._columns", []),
    ("kpress.record.decode", ["libzstd", "libdeflate"]),
    ("kpress.record._records", ["libzstd", "libdeflate"]),
    ("kpress.record._batch", ["libzstd", "libdeflate"]),
    ("kpress.columns.catalogue", []),
    ("kpress.columns._gather", []),
    ("kpress.columns._finish", []),
    ("kpress.columns._threads", []),
    ("kpress.columns._scan", ["libzstd", "libdeflate"]),
    ("kpress.columns._decode", ["libzstd", "libdeflate"]),
    ("kpress.columns._options", []),
    ("kpress.columns._window", ["libzstd", "libdeflate"]),
    ("kpress.columns._source", []),
    ("kpress.columns._iterate", ["libzstd", "libdeflate"]),
    ("kpress.columns._read", ["libzstd", "libdeflate"]),
    ("kpress.columns._table", []),
    ("kpress.record.encode", []),
    ("kpress.record._record_args", []),
    ("kpress.record._builder", ["libzstd", "libdeflate"]),
    ("kpress.record.set_writer", ["libzstd", "libdeflate"]),
    ("kpress.record._write_records", ["libzstd", "libdeflate"]),
    ("kpress.record._recompress", ["libzstd", "libdeflate"]),
    ("kpress.columns._arrow_in", []),
    ("kpress.columns._arrow_source", []),
    ("kpress.columns._input", []),
    ("kpress.columns._write", ["libzstd", "libdeflate"]),
    ("kpress.log._headers", []),
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
