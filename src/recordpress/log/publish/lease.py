"""Lock for stores without locks: an object next to the output names its owner.

::

    write own object ──► list the others ──► all dead: work, and renew the lease regularly ──► delete it
                                         └─► one alive: delete own object, refuse

Listings of object stores show all earlier writes (S3 since 2020), so at least one of two calls sees the other; both may
be refused. The lease of a killed call expires when it is old by the store's clock, or when it came from this system
and its process has ended. The object is written once: a late renewal, which writes another one next to it, cannot bring
it back after another call deleted it.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event
from uuid import uuid4

from recordpress.errors import InvalidArgumentError
from recordpress.files import Background, Fence, FileSystem

_PREFIX = ".recordpress-at-work-"
_RENEWED = ".renewed"
_LARGEST = 4096  # bytes to read of another call's object; ours are far smaller
RENEWED_EVERY = 15.0  # seconds: three renewals may fail before the lease ends
COUNTS_FOR = 60.0  # seconds after the object was written; chosen, not measured


def is_lease(name: str) -> bool:
    """Return whether a file name is that of a lease."""
    return name.startswith(_PREFIX)


@contextmanager
def lease(files: FileSystem, directory: str, target: str) -> Iterator[Fence]:
    """Hold a lease in `directory` for work on `target`; yield the fence for that work, whose file disappears with the
    lease."""
    own = Fence(files.join(directory, f"{_PREFIX}{uuid4().hex}"))
    stop = Event()
    files.make_directory(directory)
    try:
        begun = time.monotonic()
        _write(files, own.path)
        _refuse_others(files, directory, own.path, target)
        renewal = Background(lambda: _renew(files, own, stop, begun), "recordpress lease")
        try:
            yield own
        finally:
            stop.set()
            renewal.wait()
    finally:
        with suppress(OSError):  # it expires
            _delete(files, own.path)


def _write(files: FileSystem, path: str) -> None:
    with files.create(path) as writer:
        writer.write(json.dumps({"system": system_id(), "process": os.getpid()}).encode())
        writer.publish()


def _renew(files: FileSystem, own: Fence, stop: Event, renewed: float) -> None:
    """Renew the lease regularly; end the lease if the object is gone, or before others may take it for expired."""
    while not stop.wait(RENEWED_EVERY):
        begun = time.monotonic()
        if begun - renewed > COUNTS_FOR - RENEWED_EVERY:
            break
        try:
            files.info(own.path)
            _write(files, own.path + _RENEWED)
            renewed = begun
        except FileNotFoundError:  # another call works
            break
        except OSError:
            pass  # the next attempt may succeed before the lease expires
    else:
        return
    own.end()
    with suppress(OSError):
        _delete(files, own.path)


def _delete(files: FileSystem, path: str) -> None:
    for one in (path, path + _RENEWED):
        with suppress(FileNotFoundError):
            files.delete(one)


def _refuse_others(files: FileSystem, directory: str, own: str, target: str) -> None:
    found = {info.name: info for info in files.list(directory) if is_lease(info.name)}
    now = found[files.name(own)].modified if files.name(own) in found else None
    for name in {name.removesuffix(_RENEWED) for name in found} - {files.name(own)}:
        times = [found[one].modified for one in (name, name + _RENEWED) if one in found]
        path = files.join(directory, name)
        if name in found and _lives(files, path, max((one for one in times if one is not None), default=None), now):
            raise InvalidArgumentError(
                f"another call is writing to {files.url(target)}, as {files.url(path)} shows. If that call has "
                f"died, its lease expires after {COUNTS_FOR:.0f} seconds",
                field="dst",
            )
        _delete(files, path)


def _lives(files: FileSystem, path: str, modified: float | None, now: float | None) -> bool:
    if now is not None and modified is not None and now - modified >= COUNTS_FOR:
        return False
    try:
        with files.open(path) as file:
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
