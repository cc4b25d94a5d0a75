"""What a new user does first, by the Python that has the wheel installed, and nothing but it:

    python -W error try_wheel.py README.md WHEEL [TESTS ...]

import recordpress, the README's examples that need no other package, `recordpress doctor`;
and the TESTS, if pytest is there.
"""

import doctest
import json
import platform
import re
import subprocess
import sys
import zipfile
from pathlib import Path

NEEDS_MORE = re.compile(r"spark|duckdb|polars|pandas|pyarrow|open_log")


def main(readme, wheel, *tests):
    imports(wheel)
    examples(readme)
    doctor(wheel)
    if tests:
        slices(tests)


def imports(wheel):
    import recordpress

    here = Path(recordpress.__file__)
    assert "site-packages" in here.parts, f"recordpress is {here}, not the wheel"
    assert recordpress.__version__ == Path(wheel).name.split("-")[1]


def examples(readme):
    blocks = re.findall(r"```python\n(.*?)```", Path(readme).read_text(encoding="utf-8"), re.S)
    text = "\n".join(block for block in blocks if not NEEDS_MORE.search(block))
    test = doctest.DocTestParser().get_doctest(text, {}, "README.md", readme, 0)
    result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL).run(test)
    assert result.failed == 0
    assert result.attempted > 5, f"{result.attempted} examples"
    print(f"{result.attempted} examples of the README")


def doctor(wheel):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "recordpress", "doctor", "--json"], capture_output=True, text=True
    )
    assert done.returncode == 0 and done.stderr == "", done.stdout + done.stderr
    told = json.loads(done.stdout)
    bill = json.loads(zipfile.ZipFile(wheel).read(bill_of(wheel)))
    assert told["libraries"] == {one["name"]: one["version"] for one in bill["components"]}, told["libraries"]
    assert told["crc32cPath"] == path_of_this_processor(told["crc32cPath"]), told["crc32cPath"]
    print(f"recordpress doctor: {told['python']} on {told['platform']}, {told['build']}; {told['libraries']}")


def path_of_this_processor(found):
    """By the kernel's list for x86_64, `found` elsewhere: a compiler's runtime library may say no to everything."""
    flags = re.search(r"^flags\s*:(.*)$", cpuinfo(), re.M)
    has = set(flags[1].split()) if flags and platform.machine() == "x86_64" else None
    if has is None:
        return found
    if not has >= {"sse4_2", "pclmulqdq"}:
        return "table"
    if not has >= {"avx2", "vpclmulqdq"}:
        return "sse42"
    return "avx512" if has >= {"avx512f", "avx512bw", "avx512vl", "avx512vbmi"} else "avx2"


def cpuinfo():
    path = Path("/proc/cpuinfo")
    return path.read_text() if path.exists() else ""


def bill_of(wheel):
    (name,) = (name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".cdx.json"))
    return name


def slices(tests):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not build and not memory"]
    raise SystemExit(subprocess.call([*command, *tests]))


if __name__ == "__main__":
    main(*sys.argv[1:])
