"""Finder of the compiled modules, which are in one shared object.

One file is mapped and relocated in a fraction of the time that seventy files take, and holds one copy of each C library
that is linked statically. The import system finds an extension module by its file name, so `Finder` locates these
modules. They keep their own names and init functions. The last part of a module's name is also the name of its init
function, so it must be unique.

setup.py builds the modules listed here.
"""

TYPE_CHECKING = False  # importing typing would add a tenth to the time that importing recordpress takes
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

# By module name without "recordpress.": the libraries that the module calls, as pkg-config names them.
LIBRARIES = {
    "_status": (),
    "_sealed": (),
    "_buffers": (),
    "_arguments": (),
    "codecs._output": (),
    "_threads": (),
    "codecs._gzip": ("libdeflate",),
    "codecs._snappy": (),
    "codecs._lz4": ("liblz4",),
    "codecs._zstd": ("libzstd",),
    "codecs._zstd_parameters": ("libzstd",),
    "codecs._registry": (),
    "codecs._zstd_dictionary": ("libzstd",),
    "codecs.table": (),
    "codecs.context": (),
    "codecs._calls": (),
    "codecs._stream": (),
    "checksum": ("libdeflate",),
    "_libraries": ("libzstd", "liblz4", "libdeflate", "libxxhash"),
    "columns._roundtrip_loss": (),
    "columns._arrow_out": (),
    "columns._columns": (),
    "record.decode": (),
    "record.fields": (),
    "record._records": (),
    "record.header": (),
    "record._batch": (),
    "columns.catalogue": (),
    "columns._gather": (),
    "columns._select_batches": (),
    "columns._decode": (),
    "columns._iterate": (),
    "columns._read": (),
    "columns._result_stream": (),
    "columns._text": (),
    "columns._lines": (),
    "columns._match": (),
    "producer._murmur2": (),
    "columns.header_table": (),
    "record.encode": (),
    "record.open_batch": (),
    "record.builder": (),
    "record.set_writer": (),
    "record.rows": (),
    "record._write_records": (),
    "producer._estimator": (),
    "producer._filling": (),
    "record.recompress_batch": (),
    "record.change_magic": (),
    "columns._arrow_in": (),
    "columns._by_value": (),
    "columns._write": (),
    "columns.column_rows": (),
    "producer._packing": (),
    "broker._lazy_conversion": (),
    "log._header_walk": (),
    "log._digest": ("libxxhash",),
    "log.copy._join": (),
    "log.copy._settle": (),
    "log.copy._change_entry_magic": (),
    "log.copy._recompress_entries": (),
    "log.copy._recompress_threads": (),
    "broker._analyze": (),
    "broker._check": (),
    "broker._walk": (),
    "broker._validator": (),
    "broker._message_validator": (),
    "adapters._client": (),
    "adapters._entry": (),
    "adapters._open_batch": (),
    "adapters._aiokafka": (),
    "adapters._kafka_python": (),
}

FILE = "_native"  # without the suffix of extension modules

# The module with code that all modules share, such as the type of functions: Cython generates it, and a copy in each
# module would make the file a fifth larger.
SHARED = "_cyutility"


class Finder:
    """Entry of sys.meta_path that finds the compiled modules."""

    def __init__(self) -> None:
        # importlib.machinery has these, but importing it takes longer than finding all modules
        from _frozen_importlib import ModuleSpec
        from _frozen_importlib_external import EXTENSION_SUFFIXES, ExtensionFileLoader
        from os.path import dirname, join

        self._spec, self._loader = ModuleSpec, ExtensionFileLoader
        self._file = join(dirname(__file__), FILE + EXTENSION_SUFFIXES[0])
        self._names = {f"recordpress.{name}" for name in (SHARED, *LIBRARIES)}

    def find_spec(self, name: str, path: object = None, target: object = None) -> "ModuleSpec | None":
        """Return the spec of a compiled module, for the import system."""
        if name not in self._names:
            return None
        spec = self._spec(name, self._loader(name, self._file), origin=self._file)
        spec.has_location = True
        return spec


if __name__ == "recordpress._extension_finder":  # not when setup.py reads the names
    import sys

    sys.meta_path.insert(0, Finder())
