"""Packages of any Debian suite, fetched with an apt state of our own: apt checks signatures and hashes, and nothing of
the host changes. Which archive is asked is what the host's own sources say."""

import shutil
import subprocess
from pathlib import Path

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


def archive():
    """The address of the Debian archive that the host's apt uses, or None: not Debian, or no archive of Debian's."""
    if not shutil.which("apt-get") or not Path(KEYRING).exists():
        return None
    listing = ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"]
    found = subprocess.run(listing, capture_output=True, text=True).stdout.split()
    return next((address for address in found if address.endswith("/debian/")), None)


class Suite:
    """A suite (`trixie`) for an architecture in Debian's words (`amd64`, `arm64`); its state lies in `folder`."""

    def __init__(self, name, folder, architecture=None):
        self.folder = Path(folder).resolve()
        if not archive():
            raise SystemExit(f"recordpress: apt's sources name no Debian archive, so nothing of {name} can be fetched")
        for part in ("lists/partial", "cache/archives/partial", "parts"):
            (self.folder / part).mkdir(parents=True, exist_ok=True)
        (self.folder / "status").touch()
        sources = self.folder / "sources.list"
        lines = (f"{kind} [signed-by={KEYRING}] {archive()} {name} main\n" for kind in ("deb", "deb-src"))
        sources.write_text("".join(lines))
        settings = {
            "Dir::Etc::SourceList": sources,
            "Dir::Etc::SourceParts": self.folder / "parts",
            "Dir::State::Lists": self.folder / "lists",
            "Dir::State::status": self.folder / "status",
            "Dir::Cache": self.folder / "cache",
            "Debug::NoLocking": 1,
            "APT::Sandbox::User": "root",
            "APT::Install-Recommends": "false",
        }
        if architecture:
            settings |= {"APT::Architecture": architecture, "APT::Architectures": architecture}
        self.options = [option for key, value in settings.items() for option in ("-o", f"{key}={value}")]
        self.apt("update")

    def apt(self, *arguments, **options):
        command = ["apt-get", *self.options, "-qq", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, **options)
        if done.returncode:
            raise SystemExit(f"recordpress: apt-get {' '.join(arguments)} failed:\n{done.stderr}")

    def sources(self, package, folder):
        """The upstream archive (.orig.tar.*) of a source package, in `folder`."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        self.apt("source", "--tar-only", "--download-only", package, cwd=folder)
        (found,) = folder.glob(f"{package}_*.orig.tar.*[z2]")
        return found

    def unpacked(self, package, folder):
        """A binary package with all it needs, unpacked into `folder` and not installed."""
        self.apt("-y", "--download-only", "install", package)
        Path(folder).mkdir(parents=True, exist_ok=True)
        for deb in (self.folder / "cache" / "archives").glob("*.deb"):
            subprocess.run(["dpkg", "-x", deb, folder], check=True)
            deb.unlink()
