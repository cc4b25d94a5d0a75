"""Read the record set in a file with a cap of 1 MiB; print the errors and how far the peak memory rose."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

from hostile_sets import read_columns, read_objects

CAP = 1 << 20


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def main(path: str) -> None:
    data = Path(path).read_bytes()
    before = _peak_bytes()
    errors = {type(error).__name__ for error in read_objects(data, cap=CAP)}
    errors.add(type(read_columns(data, max_decompressed_bytes=CAP)).__name__)
    print(*sorted(errors), _peak_bytes() - before)


if __name__ == "__main__":
    main(sys.argv[1])
