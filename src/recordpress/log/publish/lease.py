"""Lock for stores without locks: an object next to the output names its owner.

::

    write own object ──► list the others ──► all dead: work, and rewrite the object regularly ──► delete it
                                         └─► one alive: delete own object, refuse

Listings of object stores show all earlier writes (S3 since 2020), so at least one of two calls sees the other; both may
be refused. The object of a killed call expires when it is old by the store's clock, or when it came from this system
and its process has ended.
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
_LARGEST = 4096  # bytes to read of another call's object; ours are far smaller
RENEWED_EVERY = 15.0  # seconds: three renewals may fail before the lease ends
COUNTS_FOR = 60.0  # seconds after the object was written; chosen, not measured


def is_lease(name: str) -> bool:
    """Return whether a file name is that of a lease."""
    return name.startswith(_PREFIX)


@contextmanager
def lease(files: FileSystem, directory: str, target: str) -> Iterator[str]:
    """Hold a lease in `directory` for work on `target`; yield the path of its object, which disappears with the
    lease."""
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
        with suppress(OSError):  # it expires
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
            return  # this lease expired, and another call works
        except OSError:
            pass  # the next attempt may succeed before the lease expires


def _refuse_others(files: FileSystem, directory: str, own: str, target: str) -> None:
    found = [info for info in files.list(directory) if is_lease(info.name)]
    now = next((info.modified for info in found if info.name == files.name(own)), None)
    for info in found:
        if info.name == files.name(own):
            continue
        if _lives(files, info, now):
            raise InvalidArgumentError(
                f"another call is writing to {files.url(target)}, as {files.url(info.path)} shows. If that call has "
                f"died, its lease expires after {COUNTS_FOR:.0f} seconds",
                field="dst",
            )
        with suppress(FileNotFoundError):
            files.delete(info.path)


def _lives(files: FileSystem, info: FileInfo, now: float | None) -> bool:
    if now is not None and info.modified is not None and now - info.modified >= COUNTS_FOR:
        return False
    try:
        with files.open(info.path) as file:
            owner = json.loads(file.read_at(0, min(file.size, _LARGEST)))
        system, process = owner["system"], owner["process"]
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
    """Identify the system in which a process id is valid: the boot of a Linux kernel and its namespace, or ''."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return f"{file.read().strip()} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""
