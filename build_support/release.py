"""`make release`: the checklist of a release. All points are checked, and if none is wrong a tag is made.

    python -m build_support.release [--dry-run] [--wheels FOLDER]

--dry-run makes no tag. The wheels are those of `make wheels`. Publishing is the workflow's part: wheels.yml builds from
the tag, on runners of each platform, and uploads with an attestation of where the files are from.
"""

import argparse
import json
import re
import runpy
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from build_support import check_wheel, wheels

ROOT = Path(__file__).parents[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dry-run", action="store_true", help="check everything, make no tag")
    parser.add_argument("--wheels", type=Path, default=ROOT / "wheelhouse", metavar="FOLDER")
    arguments = parser.parse_args()
    version = runpy.run_path(str(ROOT / "src/recordpress/_version.py"))["VERSION"]
    ready = True
    for point, check in POINTS.items():
        wrong = list(check(version, arguments.wheels))
        ready = ready and not wrong
        print(f"{'no' if wrong else 'ok':3} {point}")
        for text in wrong:
            print(f"      {text}")
    if not ready:
        raise SystemExit(f"recordpress {version} is not ready to be released")
    if arguments.dry_run:
        print(f"recordpress {version} is ready: without --dry-run the tag v{version} is made")
    else:
        git("tag", "--annotate", f"v{version}", "--message", f"recordpress {version}")
        print(f"v{version} is made; publish it with: git push origin v{version}")


def git(*arguments):
    done = subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.rstrip()  # a line of `git status` may begin with a space


def name_is_ours(version, folder, published=None):
    """Check that nobody else has the distribution's name on the package index; `published` answers for the index."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    name = project["name"]
    if name != runpy.run_path(str(ROOT / "src/recordpress/_version.py"))["DISTRIBUTION"]:
        yield f"pyproject.toml names the distribution {name}, _version.py names another one"
    urls = (published or published_urls)(name)
    if urls is not None and project["urls"]["Source"] not in urls:
        yield f"the name {name} is taken on the package index: its pages are {', '.join(urls) or 'unknown'}"


def published_urls(name):
    """Return the URLs in the metadata of the newest release on the index, or None if there is no such project."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "-q",
            "--no-deps",
            "--ignore-requires-python",
            "-d",
            folder,
            name,
        ]
        done = subprocess.run(command, capture_output=True, text=True)
        if "No matching distribution found" in done.stderr:
            return None
        if done.returncode:
            raise SystemExit(f"recordpress: the package index does not answer: {done.stderr.strip()[-500:]}")
        (file,) = Path(folder).iterdir()
        command = [sys.executable, "-m", "pip", "install", "-q", "--dry-run", "--no-deps", "--ignore-requires-python"]
        text = subprocess.run([*command, "--report", "-", file], capture_output=True, text=True, check=True).stdout
    metadata = json.loads(text)["install"][0]["metadata"]
    return [url.partition(", ")[2] for url in metadata.get("project_url", [])] + [metadata.get("home_page", "")]


def changes_are_told(version, folder):
    headings = re.findall(r"^## (.+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    if not any(re.fullmatch(rf"{re.escape(version)} - \d{{4}}-\d\d-\d\d", heading) for heading in headings):
        yield f"CHANGELOG.md has no heading `## {version} - YYYY-MM-DD`; it begins with `## {headings[0]}`"


def everything_is_committed(version, folder):
    if changed := git("status", "--porcelain"):
        yield f"changed or new: {', '.join(line[3:] for line in changed.splitlines()[:5])}"
    if git("tag", "--list", f"v{version}"):
        yield f"v{version} was tagged before: raise the version"


def sdist_is_there(version, folder):
    if not (folder / f"recordpress-{version}.tar.gz").exists():
        yield f"{folder.name}/recordpress-{version}.tar.gz is missing: make wheels"


def wheels_are_there(version, folder):
    held = {"-".join(file.stem.split("-")[2:]) for file in folder.glob(f"recordpress-{version}-*.whl")}
    for python in wheels.PYTHONS:
        for name, platform in wheels.PLATFORMS.items():
            abi = f"cp{python.replace('.', '')}"
            wanted = f"{abi.removesuffix('t')}-{abi}-"
            libc = platform.tag.partition("_")[0]
            if not any(one.startswith(wanted + libc) and one.endswith(platform.architecture) for one in held):
                yield f"{wheels.name(python, name)} is missing: make wheels WHEELS={wheels.name(python, name)}"


def wheels_keep_their_promises(version, folder):
    """Libc only, licences, bill of materials."""
    files = sorted(folder.glob("*.whl"))
    if not files:
        yield f"no wheel to look at in {folder.name}"
    for file in files:
        yield from (f"{file.name}: {fault}" for fault in check_wheel.faults(file))


def metadata_is_sound(version, folder):
    files = sorted(map(str, [*folder.glob("*.whl"), *folder.glob("*.tar.gz")]))
    if not files:
        yield f"no file to look at in {folder.name}"
        return
    done = subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *files], capture_output=True, text=True)
    if done.returncode:
        yield done.stdout.strip() + done.stderr.strip()


def documentation_is_built(version, folder):
    if "\ndocs:" in (ROOT / "Makefile").read_text() and subprocess.run(["make", "-s", "docs"], cwd=ROOT).returncode:
        yield "make docs fails"


POINTS = {
    "the name on the package index is free or ours": name_is_ours,
    "CHANGELOG.md tells of it, with a date": changes_are_told,
    "everything is committed, and the tag is new": everything_is_committed,
    "the sdist is made": sdist_is_there,
    "every wheel is made": wheels_are_there,
    "wheels hold what they promise: libc only, licences, bill of materials": wheels_keep_their_promises,
    "the metadata is sound (twine check --strict)": metadata_is_sound,
    "the documentation is built": documentation_is_built,
}

if __name__ == "__main__":
    main()
