"""Pack the vectors that ship with this repository: `python tests/vectors/pack.py <the full collection>`.

The same input gives the same archives, byte for byte, with the same liblzma: members are sorted, carry no
time and no owner, and are stored without the gzip of the source tree, because xz over the plain text of a
whole archive is five times smaller.
"""

import gzip
import io
import json
import lzma
import sys
import tarfile
from pathlib import Path

HERE = Path(__file__).resolve().parent

# The archive of a path: the first prefix that fits.
ARCHIVES = {
    "batches/clients-": "clients.tar.xz",
    "batches/scala-": "clients.tar.xz",
    "batches/crafted/": "crafted.tar.xz",
    "batches/": "brokers.tar.xz",
    "segments/": "segments.tar.xz",
    "acceptance": "brokers.tar.xz",
}
# Files of the list that are not packed: the README of this folder and manifest.json take their place.
REPLACED = ("README.md", "manifest-ship.json")
# The same for every entry (README.md says it), or only a matter of how the source tree is stored.
DROPPED = ("decoded_by", "stored_as")


def archive_of(path: str) -> str:
    return next(archive for prefix, archive in ARCHIVES.items() if path.startswith(prefix))


def plain(path: str) -> str:
    return path.removesuffix(".gz")


def slim(value: object) -> object:
    """A manifest entry as it is here: paths without .gz, without what is dropped."""
    if isinstance(value, dict):
        return {key: slim(item) for key, item in value.items() if key not in DROPPED}
    if isinstance(value, list):
        return [slim(item) for item in value]
    return plain(value) if isinstance(value, str) else value


def pack_archive(paths: list[str], source: Path) -> bytes:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path in sorted(paths):
            data = (source / path).read_bytes()
            if path.endswith(".gz"):
                data = gzip.decompress(data)
            member = tarfile.TarInfo(plain(path))
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return lzma.compress(raw.getvalue(), preset=9 | lzma.PRESET_EXTREME)


def pack_manifest(source: Path) -> str:
    """One line an entry, so that a change of one shows as one."""
    parts = []
    for name, value in json.loads((source / "manifest-ship.json").read_text()).items():
        value = slim(value)
        if isinstance(value, list):
            text = "[\n" + ",\n".join(json.dumps(entry) for entry in value) + "\n]"
        else:
            text = json.dumps(value)
        parts.append(f"{json.dumps(name)}: {text}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main(source: Path) -> None:
    members: dict[str, list[str]] = {}
    for path in (source / "ship.txt").read_text().split():
        if path not in REPLACED:
            members.setdefault(archive_of(path), []).append(path)
    for archive, paths in sorted(members.items()):
        data = pack_archive(paths, source)
        (HERE / archive).write_bytes(data)
        print(f"{archive}: {len(paths)} files, {len(data)} bytes")
    (HERE / "manifest.json").write_text(pack_manifest(source))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
