"""Whether a broker runs on a log dir: it holds a lock on the file ``.lock`` there (Kafka's LogManager.lockLogDirs)."""

from __future__ import annotations

import fcntl
import os
import struct
import sys

from recordpress._file_names import printable
from recordpress.errors import InvalidArgumentError

# struct flock (fcntl(2)), and where l_type is in it: l_start, l_len, l_pid, l_type, l_whence on macOS, and on Linux
# l_type, l_whence, l_start, l_len, l_pid
_FLOCK, _TYPE = (struct.Struct("@qqihh"), 3) if sys.platform == "darwin" else (struct.Struct("@hhqqi0q"), 0)


def refuse_running_broker(log_dir: str) -> None:
    """Raise if a broker runs on the directory: the last segment of each partition is then in use."""
    path = os.path.join(log_dir, ".lock")
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:
        return  # no broker was ever here, or we may not read it
    try:
        asked = [0] * 5  # all bytes of the file: SEEK_SET is 0
        asked[_TYPE] = fcntl.F_WRLCK
        kind = _FLOCK.unpack(fcntl.fcntl(descriptor, fcntl.F_GETLK, _FLOCK.pack(*asked)))[_TYPE]
    except OSError:
        return  # a file system without locks
    finally:
        os.close(descriptor)
    if kind != fcntl.F_UNLCK:
        raise InvalidArgumentError(
            f"a broker runs on {printable(log_dir)}: stop it, or write to another directory", field="path"
        )
