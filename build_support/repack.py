"""A wheel with the same files, packed as small as deflate can: Zopfli finds three bytes in a hundred more than zlib.

    python -m build_support.repack [--cache FOLDER] WHEEL ...

The folder keeps what was packed, by its SHA-256: most files of a release are in each of its wheels.
"""

import argparse
import hashlib
import os
import zipfile
from pathlib import Path
from unittest import mock

import zopfli.zlib


class Compressor:
    """In place of zlib's: raw deflate, from a zlib stream without its header of 2 bytes and its checksum of 4."""

    def __init__(self, cache):
        self.cache = cache
        self.data = bytearray()

    def compress(self, data):
        self.data += data
        return b""

    def flush(self):
        data = bytes(self.data)
        if self.cache is None:
            return packed(data)
        kept = self.cache / hashlib.sha256(data).hexdigest()
        if not kept.exists():
            new = kept.with_suffix(f".{os.getpid()}")
            new.write_bytes(packed(data))
            os.replace(new, kept)
        return kept.read_bytes()


def packed(data):
    # no more rounds than pay: fifteen take off another hundred bytes
    return zopfli.zlib.compress(data, numiterations=5)[2:-4]


def repack(wheel, cache=None):
    """Write the wheel again, in place."""
    smaller = Path(f"{wheel}.smaller")
    if cache is not None:
        cache.mkdir(parents=True, exist_ok=True)
    # zipfile takes no compressor of one's own
    ours = mock.patch.object(zipfile, "_get_compressor", side_effect=lambda *ignored: Compressor(cache))
    with ours, zipfile.ZipFile(wheel) as old, zipfile.ZipFile(smaller, "w") as new:
        for file in old.infolist():
            new.writestr(file, old.read(file), zipfile.ZIP_DEFLATED)
    os.replace(smaller, wheel)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheels", nargs="+", metavar="WHEEL")
    parser.add_argument("--cache", type=Path, metavar="FOLDER")
    arguments = parser.parse_args()
    for given in arguments.wheels:
        repack(given, arguments.cache)
