"""A wheel with the same files, packed as small as deflate can: Zopfli finds three bytes in a hundred more than zlib.

    python -m build_support.repack WHEEL ...
"""

import os
import sys
import zipfile
from pathlib import Path
from unittest import mock

import zopfli.zlib


class Compressor:
    """In place of zlib's: raw deflate, from a zlib stream without its header of 2 bytes and its checksum of 4."""

    def __init__(self, *ignored):
        self.data = bytearray()

    def compress(self, data):
        self.data += data
        return b""

    def flush(self):
        # as many blocks as pay, and no more rounds than do: fifteen take off another hundred bytes
        return zopfli.zlib.compress(bytes(self.data), numiterations=5, blocksplittingmax=0)[2:-4]


def repack(wheel):
    """Write the wheel again, in place."""
    smaller = Path(f"{wheel}.smaller")
    ours = mock.patch.object(zipfile, "_get_compressor", Compressor)  # zipfile takes no compressor of one's own
    with ours, zipfile.ZipFile(wheel) as old, zipfile.ZipFile(smaller, "w") as new:
        for file in old.infolist():
            new.writestr(file, old.read(file), zipfile.ZIP_DEFLATED)
    os.replace(smaller, wheel)


if __name__ == "__main__":
    for given in sys.argv[1:]:
        repack(given)
