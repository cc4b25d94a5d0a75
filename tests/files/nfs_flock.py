"""flock as Linux does it on NFS (flock(2), "NFS details"), for processes that stand for different hosts."""

import errno
import fcntl
import os
import stat

_flock = fcntl.flock


def install() -> None:
    """From now on in this process."""
    fcntl.flock = flock


def flock(descriptor: int, operation: int) -> None:
    """A lock on a directory is not seen by other hosts, an exclusive one wants its file open for writing."""
    if stat.S_ISDIR(os.fstat(descriptor).st_mode):
        return
    if operation & fcntl.LOCK_EX and fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    _flock(descriptor, operation)
