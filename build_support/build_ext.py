"""The build_ext command: .pyx to C under build/cython, C to objects in parallel, and these to one shared object."""

import functools
import os
import re
import runpy
import shlex
import sys
import time
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

from setuptools import Extension
from setuptools.command import build_ext as setuptools_build_ext
from setuptools.modified import newer_group

from build_support import libraries, translate

DIRECTIVES = {
    "language_level": "3",
    "binding": True,  # functions have real signatures: inspect, stubtest and doctest read them
    "boundscheck": False,
    "wraparound": False,
    "cdivision": True,
    "freethreading_compatible": True,  # the module does not turn the GIL on: tests/threads
    "auto_pickle": False,  # it takes a uint8_t* for text that ends with a zero byte; without it pickle says TypeError
}

# -g0: Python's own flags often ask for debug information, which doubles the time to compile. CFLAGS=-g brings it back.
FLAGS = ["-std=c11", "-O3", "-g0", "-fvisibility=hidden"]
# A tenth of the size: functions that no one calls, which the linker leaves out, and tables for C++ exceptions.
FLAGS += ["-ffunction-sections", "-fdata-sections", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables"]
# Cython would pack each module's strings by themselves, half as well as the wheel packs all, and unpack them at import.
# The functions that would unpack them are left without a caller, of which the compiler warns for each module.
FLAGS += ["-DCYTHON_COMPRESS_STRINGS=0", "-Wno-unused-function"]
# In CI and in wheels, warnings of the C compiler are errors, too (translate.py: those of Cython); not tried with the
# Clang of macOS.
if "RECORDPRESS_STRICT" in os.environ and sys.platform == "linux":
    FLAGS.append("-Werror")
COLD_CODE = Path("build_support", "cold_code.h")

# Modules that work per record or per byte. In a build from source the others are compiled with -Og, which takes half of
# the time.
FOR_SPEED = {
    "_buffers",
    "_cyutility",  # which calls all functions
    "checksum",
    *(f"adapters.{name}" for name in ("_entry", "_open_batch")),
    *(f"codecs.{name}" for name in ("_calls", "_gzip", "_lz4", "_output", "_snappy", "_stream", "_zstd", "context")),
    *(f"columns.{name}" for name in ("_by_value", "_decode", "_gather", "_lines", "_match", "_text")),
    *(f"columns.{name}" for name in ("column_rows", "header_table")),
    "log._digest",
    "producer._murmur2",
    *(f"record.{name}" for name in ("_batch", "_records", "_write_records", "builder", "decode", "encode", "fields")),
    *(f"record.{name}" for name in ("header", "open_batch", "rows", "set_writer")),
}

# Modules whose work is done once per call, or in the functions of other modules: nothing here runs per record or byte.
# A wheel has them small, and all others for speed.
FOR_SIZE = {
    "_libraries",
    "_sealed",
    "_threads",
    *(f"codecs.{name}" for name in ("_registry", "_zstd_dictionary", "table")),
    "columns._result_stream",
    *(f"broker.{name}" for name in ("_analyze", "_message_validator", "_validator")),
    "log._header_walk",
    *(f"log.copy.{name}" for name in ("_change_entry_magic", "_recompress_entries", "_recompress_threads")),
    "record.change_magic",
    "adapters._client",
}

# Only init functions are seen from outside (exported.map).
LINK_FLAGS = {
    "linux": ["-Wl,--version-script=build_support/exported.map", "-Wl,--gc-sections"],
    "darwin": ["-Wl,-exported_symbol,_PyInit_*", "-Wl,-dead_strip"],
}.get(sys.platform, [])
HALF_THE_SEGMENTS = "-Wl,-z,noseparate-code"  # to map; not every linker knows it

INCLUDE = Path("include")
SECONDS = 10  # from one line about the progress to the next


class build_ext(setuptools_build_ext.build_ext):
    def finalize_options(self):
        super().finalize_options()
        if self.editable_mode:  # else setuptools builds in a temporary folder, and `build_ext --inplace` all over again
            build = self.distribution.get_command_class("build")(self.distribution)
            build.finalize_options()
            self.build_lib, self.build_temp = build.build_platlib, build.build_temp

    def build_extension(self, extension):
        """All modules, each compiled by itself and as many at a time as there are cores, in one shared object."""
        libraries_of = self.libraries_of_modules(extension)
        flags = libraries.find({library for names in libraries_of.values() for library in names})
        counter = Counter()
        modules = self.translated(extension, libraries_of, counter)
        first = self.precompiled()
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            made = [pool.submit(self.compiled, module, flags, first) for module in modules]
            while pending := wait(made, 1).not_done:
                counter.at(len(made) - len(pending), len(made), "compiled")
        objects = [one.result() for one in made]
        target = self.get_ext_fullpath(extension.name)
        if self.force or newer_group(objects, target):
            link = [option for name in sorted(flags) for option in flags[name].link]
            if libraries.compiles("int main(void) { return 0; }", HALF_THE_SEGMENTS):
                link.append(HALF_THE_SEGMENTS)
            self.compiler.link_shared_object(objects, target, extra_postargs=[*link, *LINK_FLAGS])

    @staticmethod
    def libraries_of_modules(extension):
        """Path of the .pyx -> libraries; two modules must not end in the same name."""
        table = tables()["LIBRARIES"]
        last = [name.rpartition(".")[2] for name in table]
        assert len(set(last)) == len(last), f"two modules have one init function: {sorted(last)}"
        found = {f"src/recordpress/{name.replace('.', '/')}.pyx": names for name, names in table.items()}
        return {source: found[source] for source in extension.sources}

    def translated(self, extension, libraries_of, counter):
        """An Extension of each module, with its C file."""
        shared = f"recordpress.{tables()['SHARED']}"
        written = translate.translate(list(libraries_of), shared, DIRECTIVES, self.force, counter.at)
        return [
            Extension(
                source.removeprefix("src/").removesuffix(".pyx").replace("/", "."),
                [c_file],
                include_dirs=extension.include_dirs,
            )
            for source, c_file in written.items()
        ]

    def precompiled(self):
        """The header that all modules include first. GCC reads Python.h once for it, and not once for each module."""
        header = Path(self.build_temp, "first.h")
        header.parent.mkdir(parents=True, exist_ok=True)
        header.write_text(f'#include "{COLD_CODE.resolve()}"\n#define PY_SSIZE_T_CLEAN\n#include <Python.h>\n')
        if libraries.compiles(
            "#if !defined(__GNUC__) || defined(__clang__)\n#error\n#endif\nint main(void) { return 0; }"
        ):
            include = [f"-I{path}" for path in self.include_dirs]
            options = [*include, *FLAGS, *zeroing(), *environment(), "-x", "c-header"]
            self.compiler.spawn([*self.compiler.compiler_so, *options, str(header), "-o", f"{header}.gch"])
        return header

    def compiled(self, module, flags, first):
        """The object of a module, made again when its C file, one of our headers or a flag has changed."""
        (source,) = module.sources
        # Where headers are is told to all modules: those of one library come in through modules that call it.
        # CFLAGS once more at the end: setuptools puts them first, where ours would override them.
        options = [option for name in sorted(flags) for option in flags[name].compile]
        level = optimization(module.name.removeprefix("recordpress."))
        options = ["-include", str(first), *FLAGS, *zeroing(), *level, *options, *environment()]
        (target,) = self.compiler.object_filenames([source], output_dir=self.build_temp)
        if self.force or newer_group([source, COLD_CODE, __file__, *sorted(headers_of(source))], target):
            include = [*module.include_dirs, *self.include_dirs]
            self.compiler.compile([source], self.build_temp, include_dirs=include, extra_postargs=options)
        return target


class Counter:
    """Prints how many modules are done, now and then."""

    def __init__(self):
        self.said = time.monotonic()

    def at(self, done, total, what):
        if time.monotonic() - self.said >= SECONDS:
            self.said = time.monotonic()
            say(f"{done} of {total} modules {what}")


def say(text):
    print(f"recordpress: {text}", file=sys.stderr, flush=True)


def optimization(name):
    """The flags of a module: a wheel's are built with RECORDPRESS_PREFIX."""
    if "RECORDPRESS_PREFIX" in os.environ:
        return smallest() if name in FOR_SIZE else []
    return [] if name in FOR_SPEED else ["-Og", "-Wno-maybe-uninitialized"]


def environment():
    return shlex.split(os.environ.get("CFLAGS", ""))


@functools.cache
def smallest():
    """-Oz, of clang's, is half as much again as -Os; zig takes one for the other unless it is told so. GCC for x86
    copies byte by byte (rep movsb) at -Os, unless it is to call memcpy, which is smaller still."""
    options = ["-Os"]
    for more in (["-Xclang", "-Oz"], ["-mstringop-strategy=libcall"]):
        if libraries.compiles("int main(void) { return 0; }", *more):
            options += more
    return options


@functools.cache
def zeroing():
    """GCC for x86 zeroes a new object by `rep stos`, which takes longer to begin than plain stores take for all of it:
    records are read 2 to 5 % faster without."""
    option = "-mmemset-strategy=unrolled_loop:256:noalign,libcall:-1:noalign"
    return [option] if libraries.compiles("int main(void) { return 0; }", option) else []


def tables():
    """What src/recordpress/_extension_finder.py says, by name."""
    return runpy.run_path(str(Path("src") / "recordpress" / "_extension_finder.py"))


def headers_of(source, found=frozenset()):
    """Our headers that a C file includes, and those that they include: when one changes, the module is made again."""
    for name in re.findall(r'^ *# *include "(?:recordpress/)?(\w+\.h)"', Path(source).read_text(), re.MULTILINE):
        header = str(INCLUDE / "recordpress" / name)
        if header not in found and Path(header).exists():
            found = headers_of(header, found | {header})
    return found
