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
    """Refuse a symbolic link that leads out of `root`, a resolved path, or to nothing.

    Raises
    ------
    InvalidArgumentError

    Examples
    --------
    >>> from pathlib import Path
    >>> from recordpress.files import check_link
    >>> check_link(Path("demo/logs/sessions-0"), Path("demo/logs").resolve())
    """
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
    """Refuse what is not a file.

    Raises
    ------
    InvalidArgumentError
    OSError
        There is nothing at `path`, or it cannot be examined.

    Examples
    --------
    >>> from recordpress.files import check_regular
    >>> check_regular("demo/logs/sessions-0/partition.metadata")
    """
    refuse_url(path)
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode):
        kind = _KINDS.get(stat.S_IFMT(mode), "something else")
        raise InvalidArgumentError(f"{printable(path)} is {kind}, not a file", file=printable(path))


def open_file(path: str | Path) -> FileIO:
    """Open a file for reading; a named pipe is refused without waiting for it.

    Raises
    ------
    InvalidArgumentError, OSError
        As `check_regular`.

    Examples
    --------
    >>> from recordpress.files import open_file
    >>> with open_file("demo/logs/sessions-0/partition.metadata") as file:
    ...     file.read(10)
    b'version: 0'
    """
    check_regular(path)
    return FileIO(os.fspath(path), opener=_without_waiting)


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)
