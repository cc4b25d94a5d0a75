"""A codec in a module that is on PYTHONPATH: Spark's process for a stream does not see what addPyFile added."""

import bz2
from typing import Any


class Bzip2:
    name = "com.example.bzip2"

    def compress(self, data: Any) -> bytes:
        return bz2.compress(data)

    def decompress(self, data: Any, max_output: int) -> bytes:
        return bz2.BZ2Decompressor().decompress(data, max_output + 1)
