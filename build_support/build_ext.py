"""The build_ext command: .pyx to C under build/cython, C to modules side by side, with the libraries' flags."""

import os
import re
import shlex
import sys
from pathlib import Path

from setuptools.command import build_ext as setuptools_build_ext

from build_support import libraries

DIRECTIVES = {
    "language_level": "3",
    "binding": True,  # functions have real signatures: inspect, stubtest and doctest read them
    "boundscheck": False,
    "wraparound": False,
    "cdivision": True,
    "auto_pickle": False,  # it takes a uint8_t* for text that ends with a zero byte; without it pickle says TypeError
}

# -g0: Python's own flags often ask for debug information, which doubles the time to compile. CFLAGS=-g brings it back.
FLAGS = ["-std=c11", "-O3", "-g0", "-fvisibility=hidden"]

# Half the segments of a module to map: importing the package takes a twentieth less.
LINK_FLAGS = ["-Wl,-z,noseparate-code"] if sys.platform == "linux" else []

INCLUDE = Path("include")


class build_ext(setuptools_build_ext.build_ext):
    def finalize_options(self):
        super().finalize_options()
        self.parallel = self.parallel or True  # as many compilers as there are cores
        if self.editable_mode:  # else setuptools builds in a temporary folder, and `build_ext --inplace` all over again
            build = self.distribution.get_command_class("build")(self.distribution)
            build.finalize_options()
            self.build_lib, self.build_temp = build.build_platlib, build.build_temp

    def build_extensions(self):
        from Cython.Build import cythonize

        flags = libraries.find({name for extension in self.extensions for name in extension.libraries})
        for extension in self.extensions:
            names, extension.libraries = extension.libraries, []
            # CFLAGS once more at the end: setuptools puts them first, where ours would override them
            extension.extra_link_args += LINK_FLAGS
            extension.extra_compile_args = [*FLAGS, *shlex.split(os.environ.get("CFLAGS", ""))]
            for name in names:
                extension.extra_compile_args += flags[name].compile
                extension.extra_link_args += flags[name].link
        translated = cythonize(
            # a new list: cythonize() may reorder what it is given
            list(self.extensions),
            build_dir="build/cython",
            compiler_directives=DIRECTIVES,
            include_path=["src"],
            force=self.force,
            quiet=not self.verbose,
        )
        sources = {extension.name: extension.sources for extension in translated}
        for extension in self.extensions:
            extension.sources = sources[extension.name]
            extension.depends = sorted(headers_of(extension.sources[0]))
        super().build_extensions()


def headers_of(source, found=frozenset()):
    """Our headers that a C file includes, and those that they include: when one changes, the module is made again."""
    for name in re.findall(r'^ *# *include "(?:kpress/)?(\w+\.h)"', Path(source).read_text(), re.MULTILINE):
        header = str(INCLUDE / "kpress" / name)
        if header not in found and Path(header).exists():
            found = headers_of(header, found | {header})
    return found
