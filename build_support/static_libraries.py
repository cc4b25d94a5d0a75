"""The C libraries in the releases that a wheel carries, as static archives that setup.py finds by RECORDPRESS_PREFIX.

    python -m build_support.static_libraries PREFIX       (CC and AR choose the compiler)

Each source archive is pinned by its SHA-256: upstream's own, and where Debian is at hand the one in Debian's archive,
which is upstream's too, except for zstd's, repacked without a few tests. What was built is told in PREFIX/sources.json,
from which the wheel's SBOM is made.
"""

import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from build_support import debian_suite

SUITE = "trixie"
STALLED = 60  # seconds without an answer from a server; chosen, not measured
FLAGS = ["-O3", "-g0", "-fPIC", "-fvisibility=hidden", "-ffunction-sections", "-fdata-sections", "-DNDEBUG"]
FLAGS += ["-fno-asynchronous-unwind-tables"]


class Source(NamedTuple):
    version: str
    licence: str
    project: str  # on GitHub
    url: str  # of the archive, in the project
    sha256: str
    debian: tuple[str, str]  # source package in SUITE, SHA-256 of its upstream archive
    archive: str  # libNAME.a
    compiled: tuple[str, ...]
    headers: tuple[str, ...]
    flags: tuple[str, ...] = ()
    smaller: tuple[str, ...] = ()  # files compiled with -O2: up to a half smaller, and by callgrind no slower


SOURCES = {
    "zstd": Source(
        "1.5.7",
        "BSD-3-Clause",
        "facebook/zstd",
        "releases/download/v1.5.7/zstd-1.5.7.tar.gz",
        "eb33e51f49a15e023950cd7825ca74a4a2b43db8354825ac24fc1b7ee09e6fa3",
        ("libzstd", "0c092ef267edce57ba7f3f2645c861f72eaf5e76273c6c3632869423464b90a5"),
        "zstd",
        # the assembly decodes Huffman streams on x86_64; elsewhere it is empty
        ("lib/common/*.c", "lib/compress/*.c", "lib/decompress/*.[cS]", "lib/dictBuilder/*.c"),
        ("lib/zstd.h", "lib/zstd_errors.h", "lib/zdict.h"),
        smaller=(
            *("zstd_lazy.c", "zstd_compress.c"),
            *("zdict.c", "cover.c", "fastcover.c", "divsufsort.c"),
        ),
    ),
    "lz4": Source(
        "1.10.0",
        "BSD-2-Clause",
        "lz4/lz4",
        "archive/refs/tags/v1.10.0.tar.gz",
        "537512904744b35e232912055ccf8ec66d768639ff3abe5788d90d792ec5f48b",
        ("lz4", "537512904744b35e232912055ccf8ec66d768639ff3abe5788d90d792ec5f48b"),
        "lz4",
        ("lib/lz4.c", "lib/lz4hc.c", "lib/lz4frame.c", "lib/xxhash.c"),
        ("lib/lz4.h", "lib/lz4hc.h", "lib/lz4frame.h"),
        ("-DXXH_NAMESPACE=LZ4_",),  # as its own Makefile: lz4 has XXH32 in itself
        smaller=("lz4.c",),
    ),
    "libdeflate": Source(
        "1.23",
        "MIT",
        "ebiggers/libdeflate",
        "archive/refs/tags/v1.23.tar.gz",
        "1ab18349b9fb0ce8a0ca4116bded725be7dcbfa709e19f6f983d99df1fb8b25f",
        ("libdeflate", "1ab18349b9fb0ce8a0ca4116bded725be7dcbfa709e19f6f983d99df1fb8b25f"),
        "deflate",
        ("lib/*.c", "lib/*/*.c"),
        ("libdeflate.h",),
    ),
    "xxhash": Source(
        "0.8.3",
        "BSD-2-Clause",
        "Cyan4973/xxHash",
        "archive/refs/tags/v0.8.3.tar.gz",
        "aae608dfe8213dfd05d909a57718ef82f30722c392344583d3f39050c7f29a80",
        ("xxhash", "aae608dfe8213dfd05d909a57718ef82f30722c392344583d3f39050c7f29a80"),
        "xxhash",
        ("xxhash.c",),
        ("xxhash.h",),
    ),
}


def build(prefix, fetched, compiler, archiver):
    """Compile every library into `prefix`; the source archives stay in `fetched` for the next time."""
    prefix, fetched = Path(prefix).resolve(), Path(fetched).resolve()
    work = prefix / "work"
    shutil.rmtree(prefix, ignore_errors=True)
    for folder in (prefix / "lib", prefix / "include", work):
        folder.mkdir(parents=True)
    told = {}
    for name, source in SOURCES.items():
        archive, origin = fetch(name, source, fetched)
        compile_one(unpack(archive, work / name), source, prefix, compiler, archiver)
        told[name] = {
            "version": source.version,
            "licence": source.licence,
            "project": source.project,
            "url": f"https://github.com/{source.project}/{source.url}",
            "origin": origin,
            "sha256": digest(archive),
        }
    (prefix / "sources.json").write_text(json.dumps(told, indent=1) + "\n")
    shutil.rmtree(work)


def fetch(name, source, folder):
    """The archive with one of the two pinned digests, and where it is from: fetched before, Debian's, or upstream's."""
    folder.mkdir(parents=True, exist_ok=True)
    package, debian = source.debian
    upstream = f"https://github.com/{source.project}/{source.url}"
    origins = {debian: f"Debian {SUITE}, source package {package}", source.sha256: upstream}
    for file in folder.iterdir():
        if file.is_file() and (origin := origins.get(digest(file))):
            return file, origin
    if debian_suite.archive():
        suite = debian_suite.Suite(SUITE, folder / f"apt-{SUITE}")
        file, wanted = suite.sources(package, folder), debian
    else:
        file, wanted = folder / f"{name}-{source.version}{''.join(Path(source.url).suffixes[-2:])}", source.sha256
        with urllib.request.urlopen(upstream, timeout=STALLED) as answer, file.open("wb") as out:
            shutil.copyfileobj(answer, out)
    if digest(file) != wanted:
        raise SystemExit(f"recordpress: {file.name}: SHA-256 {digest(file)}, pinned is {wanted}")
    return file, origins[wanted]


def digest(file):
    return hashlib.sha256(file.read_bytes()).hexdigest()


def unpack(archive, folder):
    folder.mkdir()
    run(["tar", "-xf", archive, "-C", folder])
    (top,) = folder.iterdir()
    return top


def compile_one(top, source, prefix, compiler, archiver):
    files = sorted({file for pattern in source.compiled for file in top.glob(pattern)})
    objects = [top / f"{number}.o" for number in range(len(files))]

    def compiled(file, target):
        level = ["-O2"] if file.name in source.smaller else []
        run([*compiler, *FLAGS, *level, *source.flags, f"-I{top}", f"-I{top / 'lib'}", "-c", file, "-o", target])

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(compiled, files, objects))
    run([*archiver, "rcs", prefix / "lib" / f"lib{source.archive}.a", *objects])
    for header in source.headers:
        shutil.copy(top / header, prefix / "include")


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"recordpress: {shlex.join(map(str, command))}\n{done.stderr}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    tools = (shlex.split(os.environ.get(name, default)) for name, default in (("CC", "cc"), ("AR", "ar")))
    build(sys.argv[1], Path("build", "sources"), *tools)
