"""Where bytes are: local files, and what pyarrow.fs and fsspec open.

::

    path or URL ──► _resolve ──► FileSystem ─┬─► info, list      FileInfo
                                 _local      ├─► open            RandomAccessFile ──► _read_ahead ──► iter_columns
                                 _arrow      │
                                 _fsspec     │                   (or a _part of it)   _buffered, _walked
                                             └─► create          Writer: hidden while it is written, then published

`_interface` defines their common behaviour. Local files are read with pread: truncating an open file causes an error,
where a mapping would fault. `_links` refuses links that leave a directory, pipes and the like; `_unfinished` hides what
is being written until it is complete, and `_locks` excludes other writers; `_background` is a call in a separate
thread. The meaning of files is left to `recordpress.log`.
"""

from recordpress.files._background import Background
from recordpress.files._buffered import Buffered, buffered
from recordpress.files._errors import located, move_positions, named
from recordpress.files._interface import Fence, FileInfo, FileSystem, RandomAccessFile, Writer, is_unfinished
from recordpress.files._links import check_link, check_regular, open_file
from recordpress.files._local import LocalFileSystem, remove_if_empty, sync_directory
from recordpress.files._locks import only_one
from recordpress.files._part import FilePart, JoinedFiles
from recordpress.files._read_ahead import READ_AHEAD_BYTES, SequentialFile, read_ahead
from recordpress.files._resolve import resolve, text_of
from recordpress.files._unfinished import sweep_directory, unfinished_file
from recordpress.files._walked import WALK_BYTES, Walked, walked

__all__ = [
    "READ_AHEAD_BYTES",
    "WALK_BYTES",
    "Background",
    "Buffered",
    "Fence",
    "FileInfo",
    "FilePart",
    "FileSystem",
    "JoinedFiles",
    "LocalFileSystem",
    "RandomAccessFile",
    "SequentialFile",
    "Walked",
    "Writer",
    "buffered",
    "check_link",
    "check_regular",
    "is_unfinished",
    "located",
    "move_positions",
    "named",
    "only_one",
    "open_file",
    "read_ahead",
    "remove_if_empty",
    "resolve",
    "sweep_directory",
    "sync_directory",
    "text_of",
    "unfinished_file",
    "walked",
]
