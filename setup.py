"""The table of extension modules; how they are built is in build_support/."""

import sys
from pathlib import Path

from setuptools import Extension, setup

sys.path.insert(0, str(Path(__file__).resolve().parent))
from build_support.build_ext import build_ext

# module, libraries it calls (as pkg-config names them)
MODULES = [
    ("kpress._status", []),
    ("kpress._sealed", []),
    ("kpress._buffers", []),
    ("kpress._arguments", []),
    ("kpress.codecs._output", []),
    ("kpress._threads", []),
    ("kpress.codecs._gzip", ["libdeflate"]),
    ("kpress.codecs._snappy", []),
    ("kpress.codecs._lz4", ["liblz4"]),
    ("kpress.codecs._zstd", ["libzstd"]),
    ("kpress.codecs._object", []),
    ("kpress.codecs.table", []),
    ("kpress.codecs.context", []),
    ("kpress.codecs.payload", []),
    ("kpress.codecs._calls", []),
    ("kpress.codecs._stream", []),
    ("kpress.checksum", ["libdeflate"]),
    ("kpress.columns._arrow_out", []),
    ("kpress.columns._values", []),
    ("kpress.columns._columns", []),
    ("kpress.record.decode", []),
    ("kpress.record._records", []),
    ("kpress.record._batch", []),
    ("kpress.columns.catalogue", []),
    ("kpress.columns._gather", []),
    ("kpress.columns._finish", []),
    ("kpress.columns._scan", []),
    ("kpress.columns._decode", []),
    ("kpress.columns._options", []),
    ("kpress.columns._window", []),
    ("kpress.columns._source", []),
    ("kpress.columns._iterate", []),
    ("kpress.columns._read", []),
    ("kpress.columns._stream", []),
    ("kpress.columns._text", []),
    ("kpress.columns._lines", []),
    ("kpress.columns._table", []),
    ("kpress.record.encode", []),
    ("kpress.record._record_args", []),
    ("kpress.record._limit", []),
    ("kpress.record._builder", []),
    ("kpress.record.set_writer", []),
    ("kpress.record._write_records", []),
    ("kpress.record.recode", []),
    ("kpress.record._recompress", []),
    ("kpress.columns._arrow_in", []),
    ("kpress.columns._arrow_source", []),
    ("kpress.columns._input", []),
    ("kpress.columns._rows", []),
    ("kpress.columns._write_batches", []),
    ("kpress.columns._write", []),
    ("kpress.log._hop", []),
    ("kpress.log._digest", ["libxxhash"]),
    ("kpress.log._pack", []),
    ("kpress.log._recode", []),
    ("kpress.log._recoder", []),
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
