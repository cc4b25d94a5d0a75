"""One call at a time in a store that has no locks: an object beside the work says who is at it.

::

    write own object ──► list the others ──► none that lives: work, and write it again and again ──► delete it
                                         └─► one that lives: delete own, refuse

Listings of object stores show what was written before (S3 since 2020), so of two calls at least one sees the other;
both may be refused. A call that was killed leaves its object: it counts no longer if it is old by the store's own
clock, or if it came from this system and its process is gone.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event
from uuid import uuid4

from recordpress.errors import InvalidArgumentError
from recordpress.files import Background, FileInfo, FileSystem

_PREFIX = ".recordpress-at-work-"
_LARGEST = 4096  # bytes that are read of another's object
RENEWED_EVERY = 15.0  # seconds
COUNTS_FOR = 60.0  # seconds after it was written


def is_lease(name: str) -> bool:
    """Whether a file is such an object."""
    return name.startswith(_PREFIX)


@contextmanager
def lease(files: FileSystem, directory: str, target: str) -> Iterator[str]:
    """Work in a directory to which no other call writes.

    Parameters
    ----------
    files : FileSystem
    directory : str
        Where the object is.
    target : str
        What messages name.

    Yields
    ------
    str
        The object's path. Once the call has ended, or counts as dead, there is nothing.

    Raises
    ------
    InvalidArgumentError
        Another call is at work there.
    """
    own = files.join(directory, f"{_PREFIX}{uuid4().hex}")
    stop = Event()
    files.make_directory(directory)
    try:
        _write(files, own)
        _refuse_others(files, directory, own, target)
        renewal = Background(lambda: _renew(files, own, stop), "recordpress lease")
        try:
            yield own
        finally:
            stop.set()
            renewal.wait()
    finally:
        with suppress(OSError):  # it counts no longer after a while
            files.delete(own)


def _write(files: FileSystem, path: str) -> None:
    with files.create(path) as writer:
        writer.write(json.dumps({"system": system_id(), "process": os.getpid()}).encode())
        writer.publish()


def _renew(files: FileSystem, path: str, stop: Event) -> None:
    while not stop.wait(RENEWED_EVERY):
        try:
            files.info(path)
            _write(files, path)
        except FileNotFoundError:
            return  # this call counted as dead, and another one works
        except OSError:
            pass  # the next one may succeed before the time is over


def _refuse_others(files: FileSystem, directory: str, own: str, target: str) -> None:
    found = [info for info in files.list(directory) if is_lease(info.name)]
    now = next((info.modified for info in found if info.name == files.name(own)), None)
    for info in found:
        if info.name == files.name(own):
            continue
        if _lives(files, info, now):
            raise InvalidArgumentError(
                f"another call is writing to {files.url(target)}: {files.url(info.path)} says so. If that call has "
                f"died, this counts for {COUNTS_FOR:.0f} seconds",
                field="dst",
            )
        with suppress(FileNotFoundError):
            files.delete(info.path)


def _lives(files: FileSystem, info: FileInfo, now: float | None) -> bool:
    if now is not None and info.modified is not None and now - info.modified >= COUNTS_FOR:
        return False
    try:
        with files.open(info.path) as file:
            said = json.loads(file.read_at(0, min(file.size, _LARGEST)))
        system, process = said["system"], said["process"]
    except FileNotFoundError:
        return False  # it has just ended
    except (ValueError, TypeError, KeyError):
        return True
    return not (system and system == system_id() and isinstance(process, int) and is_gone(process))


def is_gone(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return True
    except PermissionError:
        pass
    return False


def system_id() -> str:
    """Where a process number means the same process: one boot of a Linux kernel, and one namespace of it; else ''."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return f"{file.read().strip()} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""
