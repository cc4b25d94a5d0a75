"""Cython, which reads each .pxd file once, not once per module: that would take two thirds of its time.

Compiling a module changes what Cython has read, so each module is compiled in a fork of the process that read all.
"""

import functools
import gc
import os
import re
import sys
import traceback
from pathlib import Path

from setuptools.errors import CompileError
from setuptools.modified import newer_group

SOURCES = Path("src")
BUILD = Path("build", "cython")
CIMPORT = re.compile(r"^ *from ([\w.]+) cimport\b", re.MULTILINE)


def translate(sources, shared, directives, force, progress):
    """Path of the .pyx -> its C file, made again when the .pyx or a .pxd below it has changed; and that of the module
    ``shared``. ``progress(done, all, what)`` is called after each module."""
    written = {source: str(BUILD / Path(source).with_suffix(".c")) for source in sources}
    stale = [one for one, c_file in written.items() if force or newer_group([one, *_below(one)], c_file)]
    with_shared = BUILD / SOURCES / Path(*shared.split(".")).with_suffix(".c")
    options = {
        "include_path": [str(SOURCES)],
        "shared_utility_features_disabled": ["MemoryView"],  # no module has any; they would take up 100 kB
    }
    if force or not with_shared.exists():
        _write_shared(shared, with_shared, {**options, "compiler_directives": dict(directives)})
    if stale:
        options |= {"compiler_directives": directives, "shared_utility_qualified_name": shared}
        _translate_in_forks(stale, written, options, progress)
    return {**written, shared: str(with_shared)}


def _write_shared(name, c_file, options):
    from Cython.Build.SharedModule import generate_shared_module
    from Cython.Compiler.Options import CompilationOptions

    c_file.parent.mkdir(parents=True, exist_ok=True)
    error, _ = generate_shared_module(CompilationOptions(shared_c_file_path=str(c_file), module_name=name, **options))
    if error:
        raise CompileError(f"Cython did not write {c_file}: {error}")


def _translate_in_forks(stale, written, options, progress):
    gc.disable()  # syntax trees, which stay
    context = _read_declarations(options)
    gc.freeze()
    sys.stdout.flush()
    sys.stderr.flush()
    running, failed = {}, []
    for number, source in enumerate(stale):
        if len(running) == os.cpu_count():
            failed += _finished(running)
        progress(number - len(running), len(stale), "translated to C")
        Path(written[source]).parent.mkdir(parents=True, exist_ok=True)
        pid = os.fork()
        if not pid:
            _translate_and_exit(context, source, written[source], options)
        running[pid] = source
    while running:
        failed += _finished(running)
        progress(len(stale) - len(running), len(stale), "translated to C")
    gc.enable()
    if failed:
        raise CompileError(f"Cython did not translate {', '.join(failed)}")


def _read_declarations(options):
    """Cython's context, with all our .pxd files and what they name."""
    from Cython.Compiler import Errors, Options
    from Cython.Compiler.Main import CompilationOptions, Context

    Options.warning_errors = "RECORDPRESS_STRICT" in os.environ  # of CI: elsewhere Cython may be a later one
    Errors.init_thread()
    context = Context.from_options(CompilationOptions(**options))
    for path in sorted(SOURCES.rglob("*.pxd")):
        context.find_module(".".join(path.relative_to(SOURCES).with_suffix("").parts))
    if Errors.get_errors_count():
        raise CompileError("Cython did not read the .pxd files")
    return context


def _translate_and_exit(context, source, c_file, options):
    """One module, in a process of its own, which ends here."""
    from Cython.Compiler.Main import CompilationOptions, compile_single

    failed = True
    try:
        context.options = CompilationOptions(output_file=c_file, **options)
        context.pxds = _seen_from(context, source)
        failed = bool(compile_single(source, context.options, _module(source), context=context).num_errors)
    except BaseException:
        traceback.print_exc()
    finally:
        if failed:
            Path(c_file).unlink(missing_ok=True)
        sys.stderr.flush()
        os._exit(failed)


def _seen_from(context, source):
    """The .pxd files below a module, in the order in which Cython would read them: it copies their functions."""
    found, seen = {}, set()

    def add(name):
        if name in context.pxds and name not in seen:
            seen.add(name)
            for below in context.find_module(name).cimported_modules:
                add(below.qualified_name)
            found[name] = context.pxds[name]

    for name in (_module(source), *_cimports(source)):
        add(name)
    return found


def _finished(running):
    """Wait for a process: its source, if it failed."""
    pid, status = os.wait()
    source = running.pop(pid)
    return [source] if status else []


def _module(path):
    return ".".join(Path(path).relative_to(SOURCES).with_suffix("").parts)


@functools.cache
def _cimports(path):
    return CIMPORT.findall(Path(path).read_text(encoding="utf-8"))


def _below(path, found=frozenset()):
    """Our .pxd files that a file cimports, the one with its own name, and those that they cimport."""
    for name in (_module(path), *_cimports(path)):
        declarations = str(SOURCES.joinpath(*name.split(".")).with_suffix(".pxd"))
        if declarations not in found and Path(declarations).exists():
            found = _below(declarations, found | {declarations})
    return found
