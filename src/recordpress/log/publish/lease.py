"""Locks on a target: a lock file on a local disk; in an object store, which has no locks, a lease.

::

    write own object ──► list the others ──► all dead: work, and renew the lease regularly ──► delete it
                                         └─► one alive: delete own object, refuse

Listings of object stores show all earlier writes (S3 since 2020), so at least one of two calls sees the other; both may
be refused. The lease of a killed call expires when it is old by the store's clock, or when it came from this system
and its process has ended. The object is written once: a late renewal, which writes another object next to it, cannot
bring it back after another call deleted it.
"""

from __future__ import annotations

import json
import os
import random
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from threading import Event
from typing import Any
from uuid import uuid4

from recordpress._file_names import printable
from recordpress.errors import InvalidArgumentError
from recordpress.files import Background, Fence, FileInfo, FileSystem, LocalFileSystem, only_one

_PREFIX = ".recordpress-at-work-"
_RENEWED = ".renewed"
_LARGEST = 4096  # bytes to read of another call's object; ours are far smaller
RENEWED_EVERY = 15.0  # seconds; chosen, not measured: few requests to a store
COUNTS_FOR = 4 * RENEWED_EVERY  # seconds after the object was written: three renewals may fail
_LOOK_EVERY = 2.0  # seconds between looks at another call's lease; chosen, not measured: few requests to a store


class HeldError(InvalidArgumentError):
    """Another call holds the lock; the message names the call, and gives the age of its lock."""


def is_lease(name: str) -> bool:
    """Return whether a file name is that of a lease."""
    return name.startswith(_PREFIX)


@contextmanager
def file_lock(path: str, target: str) -> Iterator[None]:
    """Hold the lock file `path` for work on `target`."""
    with ExitStack() as held:
        try:
            held.enter_context(only_one(path, owner_bytes(os.getpid())))
        except BlockingIOError:
            raise _held(LocalFileSystem(), path, target) from None
        yield


def _held(files: FileSystem, path: str, target: str) -> HeldError:
    """Return the error for a lock file that another process holds."""
    seconds = None
    with suppress(OSError):
        seconds = _seconds(time.time(), files.info(path))
    return HeldError(f"another call is writing to {printable(target)}: {_holder(files, path, seconds)}", field="dst")


@contextmanager
def lease(files: FileSystem, directory: str, target: str, counts_for: float = 0.0) -> Iterator[Fence]:
    """Hold a lease in `directory` for work on `target`; yield the fence for that work, whose file disappears with the
    lease, and whose checks count for `counts_for` seconds."""
    own = Fence(files.join(directory, f"{_PREFIX}{uuid4().hex}"), counts_for)
    stop = Event()
    files.make_directory(directory)
    try:
        begun = time.monotonic()
        files.write_file(own.path, owner_bytes(os.getpid()))
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


def wait_for_others(files: FileSystem, directory: str) -> None:
    """Wait until no call holds a lease in `directory`, or the holder no longer renews it."""
    seen: dict[str, float | None] = {}
    since = time.monotonic()
    while time.monotonic() - since < COUNTS_FOR:
        found = _leases(files, directory)
        if all(_is_over(files, info.path) for name, info in found.items() if not name.endswith(_RENEWED)):
            break
        times = {name: info.modified for name, info in found.items()}
        if times != seen:
            seen, since = times, time.monotonic()
        time.sleep(_LOOK_EVERY)
    time.sleep(random.uniform(0.0, _LOOK_EVERY))  # two calls that begin at the same moment refuse each other


def _renew(files: FileSystem, own: Fence, stop: Event, renewed: float) -> None:
    """Renew the lease regularly; end the lease if the object is gone, or before others may take it for expired."""
    while not stop.wait(RENEWED_EVERY):
        begun = time.monotonic()
        if begun - renewed > COUNTS_FOR - RENEWED_EVERY:
            break
        try:
            files.info(own.path)
            files.write_file(own.path + _RENEWED, owner_bytes(os.getpid()))
            renewed = begun
        except FileNotFoundError:  # another call took over
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


def _leases(files: FileSystem, directory: str) -> dict[str, FileInfo]:
    try:
        return {info.name: info for info in files.list(directory) if is_lease(info.name)}
    except FileNotFoundError:
        return {}


def _refuse_others(files: FileSystem, directory: str, own: str, target: str) -> None:
    found = _leases(files, directory)
    now = found[files.name(own)].modified if files.name(own) in found else None
    for name in {name.removesuffix(_RENEWED) for name in found} - {files.name(own)}:
        path, ages = files.join(directory, name), [_seconds(now, found.get(one)) for one in (name, name + _RENEWED)]
        is_old = all(age is None or age >= COUNTS_FOR for age in ages) and ages != [None, None]
        if name in found and not is_old and not _is_over(files, path):
            raise HeldError(
                f"another call is writing to {files.url(target)}: {_holder(files, path, ages[0])}. If that call has "
                f"died, its lease expires after {COUNTS_FOR:.0f} seconds",
                field="dst",
            )
        _delete(files, path)


def _seconds(now: float | None, info: FileInfo | None) -> float | None:
    """Return the age of a file; None if unknown."""
    return None if now is None or info is None or info.modified is None else max(now - info.modified, 0.0)


def _is_over(files: FileSystem, path: str) -> bool:
    """Return whether a lease is gone, or its process on this system has ended; False if it cannot be read now."""
    try:
        return bool(is_gone(read_owner(files, path)))
    except FileNotFoundError:
        return True
    except OSError:
        return False


# --- owners of locks, leases and jobs ---------------------------------------------------------------------------------


def owner_bytes(process: int) -> bytes:
    """Return the content of a file that names a process of this system."""
    return json.dumps({"host": socket.gethostname(), "system": system_id(), "process": process}).encode()


def read_owner(files: FileSystem, path: str) -> dict[str, Any] | None:
    """Read a file that names a process; return None if it has other content."""
    with files.open(path) as file:
        data = file.read_at(0, min(file.size, _LARGEST))
    with suppress(ValueError, RecursionError):
        owner = json.loads(data)
        return owner if isinstance(owner, dict) else None
    return None


def is_gone(owner: dict[str, Any] | None) -> bool | None:
    """Return whether a process has ended; None if it is on another system, or unknown."""
    system, process = (owner or {}).get("system"), (owner or {}).get("process")
    if not system or system != system_id() or not isinstance(process, int):
        return None
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return True
    except PermissionError:
        pass
    return False


def _holder(files: FileSystem, path: str, seconds: float | None) -> str:
    """Describe the process that a lock or a lease names."""
    owner = None
    with suppress(OSError):
        owner = read_owner(files, path)
    who = "it"
    if owner is not None and isinstance(owner.get("process"), int):
        who = f"process {owner['process']} on {printable(str(owner.get('host', 'an unknown host'))[:100])}"
    if seconds is None:
        return f"{who} holds {files.url(path)}"
    return f"{who} has held {files.url(path)} for {seconds:.0f} seconds"


def system_id() -> str:
    """Return the id of the system in which a process id is valid: Linux's boot id and PID namespace; '' if unknown."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return f"{file.read().strip()} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""
