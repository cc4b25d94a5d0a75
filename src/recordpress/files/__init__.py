"""Where bytes are: local files, and what pyarrow.fs and fsspec open.

::

    path or URL ──► _resolve ──► FileSystem ─┬─► info, list      FileInfo
                                 _local      ├─► open            RandomAccessFile ──► _read_ahead ──► iter_columns
                                 _arrow      │
                                 _fsspec     │                   (or a _part of it)   _buffered
                                             └─► create          Writer: hidden while it is written, then published

`_interface` defines their common behaviour. Local files are read with pread: truncating an open file causes an error,
where a mapping would fault. `_links` refuses links that leave a directory, pipes and the like; `_unfinished` hides what
is being written until it is complete, and `_locks` excludes other writers; `_background` is a call in a separate
thread. The meaning of files is left to `recordpress.log`.
"""

from recordpress._lazy import publish
from recordpress.files._background import Background as Background, for_each as for_each, results as results
from recordpress.files._buffered import Buffered as Buffered, buffered as buffered
from recordpress.files._errors import located as located, move_positions as move_positions, named as named
from recordpress.files._interface import (
    LISTS_AT_ONCE as LISTS_AT_ONCE,
    READ_BYTES as READ_BYTES,
    Fence as Fence,
    FileInfo,
    FileSystem,
    Listing as Listing,
    RandomAccessFile,
    Writer,
    is_unfinished as is_unfinished,
)
from recordpress.files._links import check_link as check_link, check_regular as check_regular, open_file as open_file
from recordpress.files._local import (
    LocalFileSystem as LocalFileSystem,
    remove_if_empty as remove_if_empty,
    sync_directory as sync_directory,
)
from recordpress.files._locks import only_one as only_one
from recordpress.files._part import FilePart as FilePart, JoinedFiles as JoinedFiles
from recordpress.files._read_ahead import (
    READ_AHEAD_BYTES as READ_AHEAD_BYTES,
    WALK_BYTES as WALK_BYTES,
    Walked as Walked,
    read_ahead as read_ahead,
    walked as walked,
)
from recordpress.files._resolve import resolve, text_of as text_of

__all__ = ["FileInfo", "FileSystem", "RandomAccessFile", "Writer", "resolve"]  # what other rooms hand to users

publish(__name__, __all__, globals())
