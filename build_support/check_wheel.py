"""Is a wheel what we promise? One shared object, stripped, that needs libc only and shows init functions only; small;
with every licence, and a bill of materials of what is in it. Of a wheel for macOS, only Linux's tools for looking into
the object are missing: delocate says which libraries it needs.

    python -m build_support.check_wheel WHEEL ...
"""

import json
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from build_support import sbom, static_libraries

LARGEST = 2_100_000  # bytes; a third is Python's sources

# libc: glibc 2.17 has parts of it in their own files
LIBC = r"libc\.so\.6|libc\.musl-\w+\.so\.1|lib(pthread|m|dl|rt)\.so\.\d|ld-linux[\w-]*\.so\.\d"


def check(wheel):
    """Exit with every promise that the wheel breaks."""
    wrong = list(faults(Path(wheel)))
    if wrong:
        raise SystemExit("\n  ".join([f"recordpress: {Path(wheel).name} is not fit to be published:", *wrong]))


def faults(wheel):
    size = wheel.stat().st_size
    if size > LARGEST:
        yield f"{size} bytes, more than {LARGEST}"
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as folder:
        archive.extractall(folder)
        objects = [file for pattern in ("**/*.so*", "**/*.dylib") for file in Path(folder).glob(pattern)]
        if [one.name.split(".")[0] for one in objects] != ["_native"]:
            yield f"shared objects: {', '.join(one.name for one in objects) or 'none'}; expected is _native alone"
        tag = wheel.stem.split("-")[-1]
        for one in objects if "linux" in tag else ():
            yield from faults_of_elf(one, tag)
        (info,) = Path(folder).glob("*.dist-info")
        yield from faults_of_info(info)


def faults_of_elf(file, tag):
    listing = readelf(file, "--dynamic")
    for needed in re.findall(r"\(NEEDED\).*\[(.+)\]", listing):
        if not re.fullmatch(LIBC, needed):
            yield f"{file.name} needs {needed}: libc is all that it may need"
    if "RPATH" in listing or "RUNPATH" in listing:
        yield f"{file.name} has a run path"
    if ".symtab" in readelf(file, "--sections") or ".debug_" in readelf(file, "--sections"):
        yield f"{file.name} is not stripped"
    yield from faults_of_symbols(file, tag)


def faults_of_symbols(file, tag):
    """What is shown, and from which glibc on what is asked for is there."""
    glibc = re.search(r"manylinux_(\d+)_(\d+)", tag)
    for line in readelf(file, "--dyn-syms").splitlines():
        columns = line.split()
        if len(columns) < 8 or not columns[0].rstrip(":").isdigit():
            continue
        name, version = re.fullmatch(r"([^@]*)(?:@+(.*))?", columns[7]).groups()
        if columns[6] != "UND":
            if not name.startswith("PyInit_"):
                yield f"{file.name} shows {name}"
        elif glibc and (needed := re.fullmatch(r"GLIBC_(\d+)\.(\d+)(?:\.\d+)?", version or "")):
            if tuple(map(int, needed.groups())) > tuple(map(int, glibc.groups())):
                yield f"{file.name} asks for {columns[7]}, which {tag} does not promise"
        elif glibc and columns[4] != "WEAK" and not re.match(r"_?Py", name):
            yield f"{file.name} asks for {name}, which is neither Python's nor of a version of glibc"


def readelf(file, option):
    return subprocess.run(["readelf", "--wide", option, file], check=True, capture_output=True, text=True).stdout


def faults_of_info(info):
    root = Path(__file__).parents[1]
    licences = {path.relative_to(root) for path in (*root.glob("LICENSE*"), *root.glob("licenses/*"))}
    missing = [str(path) for path in sorted(licences) if not (info / "licenses" / path).exists()]
    if missing:
        yield f"licences are missing: {', '.join(missing)}"
    bill = info / "sboms" / sbom.NAME
    if not bill.exists():
        yield f"no bill of materials {bill.relative_to(info.parent)}"
        return
    found = {one["name"]: one["version"] for one in json.loads(bill.read_text())["components"]}
    expected = {name: source.version for name, source in static_libraries.SOURCES.items()}
    if found != expected:
        yield f"the bill of materials names {found}, pinned are {expected}"
    listed = (info / "RECORD").read_text()
    if f"{info.name}/sboms/{sbom.NAME}" not in listed:
        yield "RECORD does not list the bill of materials"


if __name__ == "__main__":
    for given in sys.argv[1:]:
        check(given)
        print(f"{given}: as promised")
