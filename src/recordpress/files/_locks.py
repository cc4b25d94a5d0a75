"""Locks that also hold between processes on several hosts: flock on files that exist only for locking.

On NFS, Linux keeps a lock on a directory to its host, and grants an exclusive lock on a file only if the file is open
for writing (flock(2), "NFS details"). So only files are locked, and they are open for writing.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_FLAGS = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


def take(descriptor: int) -> bool:
    """Lock a file that is open for writing, without waiting; return False if the file system has no locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError as error:
        if error.errno == errno.ESTALE:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT)) from error
        return False
    return True


@contextmanager
def _at(path: str | os.PathLike[str]) -> Iterator[None]:
    """Add the path of the file to an error about its descriptor."""
    try:
        yield
    except OSError as error:
        error.filename = os.fspath(path)
        raise


@contextmanager
def only_one(path: str | os.PathLike[str], owner: bytes = b"") -> Iterator[None]:
    """Hold the lock file `path`, which exists only while the lock is held, and names its `owner`; in a file system
    without locks, nobody is excluded."""
    descriptor = _held(path)
    if descriptor is None:
        raise BlockingIOError(errno.EAGAIN, "another process holds the lock", os.fspath(path))
    try:
        with _at(path):
            os.write(descriptor, owner)
        yield
    finally:
        with suppress(OSError):
            os.unlink(path)  # while it is held: the next holder sees that its file is not the one at the path
        os.close(descriptor)


def _held(path: str | os.PathLike[str]) -> int | None:
    """Return the descriptor of the locked file, or None if another process holds the lock."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | _FLAGS, 0o666)
        is_held = False
        try:
            take(descriptor)
            is_held = is_at(path, descriptor)
        except BlockingIOError:
            return None
        except FileNotFoundError:
            pass
        finally:
            if not is_held:
                os.close(descriptor)
        if is_held:
            return descriptor


def is_at(path: str | os.PathLike[str], descriptor: int) -> bool:
    """Return whether an open file is still the one at a path, which is opened again because NFS may answer a stat from
    memory."""
    try:
        there = os.open(path, os.O_RDONLY | _FLAGS)
    except FileNotFoundError:
        return False
    try:
        return os.path.samestat(os.fstat(there), os.fstat(descriptor))
    finally:
        os.close(there)
