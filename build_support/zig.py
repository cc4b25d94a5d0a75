"""zig, a C compiler that comes from PyPI with the headers and stubs of every glibc and of musl, as commands.

    python -m build_support.zig FOLDER        cc, ar and link for this machine, in FOLDER

setuptools and make like a tool of one word, so each command is a script.
"""

import os
import platform
import re
import shlex
import subprocess
import sys
import sysconfig
from pathlib import Path

OLDEST_GLIBC = "2.17"
VERBOSE = {"ZIG_VERBOSE_LINK": "1"}


def tools(folder, target):
    """Write cc, ar and link for a target (`x86_64-linux-gnu.2.17`): their paths, by name."""
    binary = shlex.quote(zig_binary())
    # zig cc turns UBSan on, and keeps frame pointers, unless it is told not to
    flags = "-fno-sanitize=undefined -fomit-frame-pointer"
    cc = script(folder, "cc", f'exec {binary} cc -target {target} {flags} "$@"\n')
    archiver = script(folder, "ar", f'exec {binary} ar "$@"\n')
    return {"cc": cc, "ar": archiver, "link": script(folder, "link", linker(binary, cc, musl(folder, cc, target)))}


def musl(folder, cc, target):
    """A stub of musl, or None if the target is none of its. What is linked with it asks for the file that Alpine has;
    zig's own, of the same functions, is called libc.so, which auditwheel does not take for musl. musl's loader takes
    both names for itself."""
    architecture, _, libc = target.split("-")
    if libc != "musl":
        return None
    name = f"libc.musl-{architecture}.so.1"
    stub, source = Path(folder, name).resolve(), Path(folder, "musl.s").resolve()
    if not stub.exists():
        command = [cc, "-shared", "-x", "c", "/dev/null", "-o", stub]
        told = subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ | VERBOSE).stderr
        own = re.findall(r"\S+/libc\.so(?=\s)", told)[-1]
        listing = subprocess.run(["readelf", "--wide", "--dyn-syms", own], check=True, capture_output=True, text=True)
        shown = re.findall(r"(FUNC|OBJECT) +(?:GLOBAL|WEAK) +\w+ +\d+ (\w+)$", listing.stdout, re.MULTILINE)
        lines = (
            f".globl {name}\n.type {name}, %{kind.lower().replace('func', 'function')}\n{name}:" for kind, name in shown
        )
        source.write_text("\n".join([*lines, ".quad 0", ""]))
        options = ["-shared", "-nostdlib", f"-Wl,-soname,{name}"]
        subprocess.run([cc, *options, source, "-o", stub], check=True)
    return stub


def linker(binary, cc, libc=None):
    """The text of a script that links as zig does, and folds functions that are the same: modules have copies of
    Cython's.

    zig cc does not take --icf, but tells how it calls the linker, which is in zig too: last, as the first time it also
    links stubs of libc. No code of ours compares functions that do the same.

    What zig has of libc and of a compiler's own functions is offered to the linker. Nothing of it may be taken but what
    LICENSE-binary names: of glibc before 2.34 for aarch64, pthread_atfork is in no shared object.
    """
    in_place_of_libc = f" | sed 's# [^ ]*/libc\\.so # {libc} #'" if libc else ""
    return f"""\
told=$(ZIG_VERBOSE_LINK=1 {shlex.quote(cc)} "$@" 2>&1) || {{ echo "$told" >&2; exit 1; }}
call=$(echo "$told" | sed -n 's/^ld\\.lld //p' | tail -n 1{in_place_of_libc})
[ -n "$call" ] || {{ echo "zig did not tell how it links: $told" >&2; exit 1; }}
{binary} ld.lld $call -O2 --icf=all -Map="$0.map" || exit 1
if grep -E 'lib(c_nonshared|compiler_rt|unwind|c\\+\\+|c\\+\\+abi)\\.a[(:]|/crt\\w*\\.o:' "$0.map" |
  grep -vF '/pthread_atfork.o)' >&2; then
  echo "these are functions of zig's, which LICENSE-binary does not name" >&2
  exit 1
fi
"""


def script(folder, name, text):
    file = Path(folder, name).resolve()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n{text}")
    file.chmod(0o755)
    return str(file)


def zig_binary():
    import ziglang

    return str(Path(ziglang.__file__).parent / "zig")


def target_here():
    """The oldest libc of this machine's kind."""
    of_musl = "musl" in sysconfig.get_config_var("SOABI")
    return f"{platform.machine()}-linux-{'musl' if of_musl else f'gnu.{OLDEST_GLIBC}'}"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    tools(sys.argv[1], target_here())
