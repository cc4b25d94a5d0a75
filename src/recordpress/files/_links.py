"""Local files in a directory that others wrote: links, pipes and directories may have any name."""

from __future__ import annotations

import os
import stat
from io import FileIO
from pathlib import Path

from recordpress._file_names import printable, refuse_url
from recordpress.errors import InvalidArgumentError

_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFBLK: "a device",
    stat.S_IFCHR: "a device",
}


def check_link(path: Path, root: Path) -> None:
    """Refuse a symbolic link that leads out of `root`, a resolved path, or to nothing."""
    if not path.is_symlink():
        return
    target = Path(os.path.realpath(path))
    if not target.is_relative_to(root):
        raise InvalidArgumentError(
            f"{printable(path)} is a symbolic link to {printable(target)}, which is outside {printable(root)}; "
            "links are followed only inside the directory that was given",
            file=printable(path),
        )
    if not target.exists():
        raise InvalidArgumentError(
            f"{printable(path)} is a symbolic link to {printable(target)}, which does not exist", file=printable(path)
        )


def check_regular(path: str | Path) -> None:
    """Refuse what is not a file."""
    refuse_url(path)
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode):
        kind = _KINDS.get(stat.S_IFMT(mode), "something else")
        raise InvalidArgumentError(f"{printable(path)} is {kind}, not a file", file=printable(path))


def open_file(path: str | Path) -> FileIO:
    """Open a file for reading; a named pipe is refused without waiting for it."""
    check_regular(path)
    return FileIO(os.fspath(path), opener=_without_waiting)


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)
