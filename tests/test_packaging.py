"""The distributions: the sdist builds again, the wheel holds what it should and nothing else, licences are with it,
and a machine that lacks something is told everything at once."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from recordpress._extension_finder import LIBRARIES

ROOT = Path(__file__).parents[1]
NO_TOOLS = {"CC": "no-such-compiler", "PKG_CONFIG": "no-such-pkg-config"}

pytestmark = [pytest.mark.slow, pytest.mark.build]


def run(*command, cwd, **environment):
    return subprocess.run(
        [sys.executable, *map(str, command)], cwd=cwd, env=os.environ | environment, capture_output=True, text=True
    )


def succeed(*command, cwd, **environment):
    result = run(*command, cwd=cwd, **environment)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A copy, because setuptools writes next to its input."""
    copy = tmp_path_factory.mktemp("checkout") / "recordpress"
    made = shutil.ignore_patterns(".*", "build", "dist", "*.so", "*.egg-info", "__pycache__")
    shutil.copytree(ROOT, copy, ignore=made)
    return copy


@pytest.fixture(scope="module")
def sdist(checkout):
    """The sdist, made without a compiler or libraries: its metadata needs neither."""
    succeed("setup.py", "-q", "sdist", cwd=checkout, **NO_TOOLS)
    (archive,) = (checkout / "dist").glob("*.tar.gz")
    return archive


@pytest.fixture(scope="module")
def unpacked(sdist, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sdist")
    subprocess.run(["tar", "-xf", sdist, "-C", folder], check=True)
    (top,) = folder.iterdir()
    return top


@pytest.fixture(scope="module")
def wheel(unpacked, tmp_path_factory):
    """The wheel of the unpacked sdist; not optimized, and from the C files that `make` translated, which is quicker."""
    out, translated = tmp_path_factory.mktemp("wheel"), ROOT / "build" / "cython"
    if translated.exists():  # of what has changed since, setup.py translates it again
        shutil.copytree(translated, unpacked / "build" / "cython")
    pip = ("-m", "pip", "wheel", "-q", "--no-build-isolation", "--no-deps", "--no-index", "-w", out, ".")
    succeed(*pip, cwd=unpacked, CFLAGS="-O0 -g0")
    (archive,) = out.glob("*.whl")
    return archive


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def files_of(root, *patterns):
    return {str(path.relative_to(root)) for pattern in patterns for path in root.glob(pattern)}


def modules_of(root):
    return {re.sub(r"\.pyx$", "", name) for name in files_of(root / "src", "**/*.pyx")}


def test_sdist_holds_every_source(unpacked):
    sources = ("src/**/*.py", "src/**/*.pyx", "src/**/*.pxd", "src/**/*.pyi", "src/**/py.typed", "include/**/*.h")
    tests = ("tests/**/*.py", "tests/**/*.c")
    others = ("build_support/*", "licenses/*", "Makefile", "LICENSE*", "*.md", "*.toml", "setup.py", "examples/**/*.*")
    made = re.compile(r"/__pycache__|/\.|/build\b|\.egg-info")  # by trying an example
    expected = {name for name in files_of(ROOT, *sources, *tests, *others) if not made.search(name)}
    assert expected - files_of(unpacked, "**/*") == set()


def test_links_of_the_readme_work_on_a_package_index():
    """They are addresses of the declared repository, and the files are there."""
    source = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]["Source"]
    links = re.findall(r"\]\(([^)\s]+)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    paths = [re.sub(rf"^{source}/(blob|tree)/main/", "", link) for link in links if link.startswith(source)]
    assert len(paths) > 5 and [path for path in paths if not (ROOT / path).exists()] == []
    assert [link for link in links if "://" not in link] == []


def test_a_build_is_never_silent_for_long(monkeypatch, capsys):
    from build_support import build_ext

    counter = build_ext.Counter()
    monkeypatch.setattr(build_ext, "SECONDS", 0)
    counter.at(1, 95, "translated to C")
    assert capsys.readouterr().err == "recordpress: 1 of 95 modules translated to C\n"
    monkeypatch.setattr(build_ext, "SECONDS", 3600)
    counter.at(2, 95, "translated to C")
    assert capsys.readouterr().err == ""


def test_demo_says_first_which_packages_it_will_install():
    counted = [str(ROOT / "build_support" / "debian.sh"), "--count", "java"]
    environment = os.environ | {"JAVA_HOME": "/nowhere", "PYTHON3": sys.executable}
    done = subprocess.run(counted, env=environment, capture_output=True, text=True, check=True)
    said = " ".join(done.stderr.split())  # it is folded at 80 columns
    assert re.fullmatch(
        r"recordpress: Debian packages to install: (at least )?\d+(, [^,]+ of disk)?, for default-jre-headless", said
    )


def test_a_module_is_translated_again_when_a_declaration_below_it_changes():
    from Cython.Build.Dependencies import create_dependency_tree
    from Cython.Compiler.Main import Context

    from build_support import translate

    tree = create_dependency_tree(Context(["src"], {}), quiet=True)
    for module in ("columns/_gather", "adapters/_kafka_python", "_status"):
        source = f"src/recordpress/{module}.pyx"
        known = {os.path.relpath(path, ROOT) for path in tree.all_dependencies(str(ROOT / source))}
        assert translate._below(source) == {path for path in known if path.startswith("src/") and path.endswith(".pxd")}


def test_sdist_holds_nothing_built(unpacked):
    built = files_of(unpacked, "**/*.so", "**/*.o", "**/*.pyc", "**/*.c") - files_of(unpacked, "tests/**/*.c")
    assert built == set()


def test_wheel_holds_modules_stubs_and_nothing_else(installed):
    package = {name for name in files_of(installed, "**/*.*") if ".dist-info" not in name}
    assert [name.split(".")[0] for name in package if name.endswith(".so")] == ["recordpress/_native"]
    assert {f"recordpress/{name.replace('.', '/')}" for name in LIBRARIES} == modules_of(ROOT)
    expected = files_of(ROOT / "src", "**/*.py", "**/*.pyi", "**/py.typed")
    assert {name for name in package if not name.endswith(".so")} == expected


def is_seen_from_python(name):
    """A module of C functions alone is a door for other Cython modules, declared by its .pxd."""
    return re.search(r"^(def|cpdef|class|cdef class) ", (ROOT / "src" / f"{name}.pyx").read_text(), re.MULTILINE)


def test_wheel_has_a_stub_for_every_module_without_underscore(installed):
    public = {name for name in modules_of(ROOT) if not Path(name).name.startswith("_") and is_seen_from_python(name)}
    assert public
    stubs = {re.sub(r"\.pyi$", "", name) for name in files_of(installed, "**/*.pyi")}
    assert public <= stubs


def test_wheel_has_the_licences(installed):
    (info,) = installed.glob("recordpress-*.dist-info")
    held = files_of(info / "licenses", "*", "licenses/*") - {"licenses"}
    assert held == files_of(ROOT, "LICENSE*", "licenses/*")
    metadata = (info / "METADATA").read_text()
    assert "License-Expression: Apache-2.0\n" in metadata
    assert not re.search(r"^Requires-Dist: (?!.*extra ==)", metadata, re.MULTILINE)  # needs nothing at run time


def test_wheel_imports(installed):
    where = succeed(
        "-c", "import recordpress; print(recordpress.__file__)", cwd=installed.parent, PYTHONPATH=str(installed)
    )
    assert Path(where.strip()).parent.parent == installed


def test_every_linked_library_has_its_licence(installed):
    linked = set()
    for module in installed.glob("**/*.so"):
        listing = subprocess.run(["readelf", "-d", module], check=True, capture_output=True, text=True).stdout
        linked |= set(re.findall(r"\(NEEDED\).*\[(?:lib)?(.+?)\.so", listing))
    components = linked - {"c", "pthread", "m", "ld-linux-x86-64", "ld-linux-aarch64"}
    licensed = {path.name.split("-")[0].removeprefix("lib") for path in (ROOT / "licenses").iterdir()}
    assert components == licensed
    table = (ROOT / "LICENSE-binary").read_text()
    for path in (ROOT / "licenses").iterdir():
        assert f"licenses/{path.name}" in table
        component, licence = path.name.split("-", 1)
        assert re.search(rf"^{component} +{licence} ", table, re.MULTILINE)


def test_whoever_lacks_something_is_told_everything_at_once(checkout):
    result = run("setup.py", "-q", "build_ext", cwd=checkout, **NO_TOOLS)
    assert result.returncode == 1
    assert "Traceback" not in result.stderr
    for wanted in ("C compiler", "libzstd >= 1.4", "liblz4 >= 1.8", "libdeflate >= 1.10", "libxxhash >= 0.8"):
        assert wanted in result.stderr
    for command in ("apt-get install", "dnf install", "apk add", "brew install", "conda install"):
        assert command in result.stderr


class TestLookUp:
    @pytest.fixture
    def libraries(self, monkeypatch):
        monkeypatch.syspath_prepend(ROOT)
        for name in ("RECORDPRESS_PREFIX", *NO_TOOLS):
            monkeypatch.delenv(name, raising=False)
        from build_support import libraries

        return libraries

    def test_each_way_finds_each_library(self, libraries):
        for name, library in libraries.LIBRARIES.items():
            assert f"-l{library.link_name}" in libraries.by_pkg_config(name).link
            assert libraries.by_trial_link(name) == libraries.Flags([], [f"-l{library.link_name}"])
            assert libraries.in_prefix(name) is None

    def test_too_old_is_not_found(self, libraries, monkeypatch):
        zstd = libraries.LIBRARIES["libzstd"]._replace(oldest="99", too_old="ZSTD_VERSION_NUMBER < 990000")
        monkeypatch.setitem(libraries.LIBRARIES, "libzstd", zstd)
        assert libraries.by_pkg_config("libzstd") is None
        assert libraries.by_trial_link("libzstd") is None
        with pytest.raises(SystemExit, match="libzstd >= 99"):
            libraries.find(["libzstd", "liblz4"])

    def test_no_python_headers(self, libraries, monkeypatch, tmp_path):
        monkeypatch.setattr(libraries.sysconfig, "get_path", lambda name: str(tmp_path))
        with pytest.raises(SystemExit, match=r"Python\.h"):
            libraries.find([])

    def test_prefix_comes_first_and_is_static(self, libraries, monkeypatch, tmp_path):
        archive = tmp_path / "lib" / "liblz4.a"
        archive.parent.mkdir()
        archive.touch()
        monkeypatch.setenv("RECORDPRESS_PREFIX", str(tmp_path))
        found = libraries.find(["libzstd", "liblz4"])
        assert found["liblz4"].compile == [f"-I{tmp_path / 'include'}"]
        assert found["liblz4"].link[0] == str(archive)
        assert "-lzstd" in found["libzstd"].link  # not in the prefix: the next way

    def test_prefix_that_holds_no_library(self, libraries, monkeypatch, tmp_path):
        for prefix in (tmp_path, tmp_path / "nothing"):
            monkeypatch.setenv("RECORDPRESS_PREFIX", str(prefix))
            archives = r"libzstd\.a, liblz4\.a, libdeflate\.a, libxxhash\.a"
            with pytest.raises(SystemExit, match=f"RECORDPRESS_PREFIX=.*: none of {archives}"):
                libraries.find(["libzstd"])


def test_editable_install_compiles_nothing_that_was_built_in_place(checkout, tmp_path):
    """`make` does both, one after the other, and compiling everything takes a minute."""
    modules = Path("src", "recordpress", "_extension_finder.py")
    one_module = re.sub(r"(?ms)^LIBRARIES = \{.*?^\}", 'LIBRARIES = {"_status": ()}', (checkout / modules).read_text())
    shutil.copytree(checkout, tmp_path / "recordpress", ignore=shutil.ignore_patterns("build", "dist", "tests"))
    (tmp_path / "recordpress" / modules).write_text(one_module)
    succeed("setup.py", "-q", "build_ext", "--inplace", cwd=tmp_path / "recordpress", CFLAGS="-O0 -g0")
    # fails when it is asked to compile a module, and is a compiler when setup.py looks for one
    compiler = tmp_path / "cc"
    compiler.write_text('#!/bin/sh\ncase "$*" in *build/cython*) exit 1;; *) exec gcc "$@";; esac\n')
    compiler.chmod(0o755)
    install = ("-m", "pip", "install", "-q", "--no-build-isolation", "--no-deps", "--no-index", "--target", tmp_path)
    succeed(*install, "-e", ".", cwd=tmp_path / "recordpress", CC=str(compiler))
