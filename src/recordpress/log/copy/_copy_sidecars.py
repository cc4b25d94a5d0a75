"""The files beside the segments that refer to offsets: they stay valid for a copy with another codec.

``.index`` and ``.timeindex`` are not among them: byte positions change, and a broker that finds none rebuilds them.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from recordpress._file_names import (
    LEADER_EPOCH_CHECKPOINT,
    PARTITION_METADATA,
    PRODUCER_SNAPSHOT_FILE_SUFFIX,
    TXN_INDEX_FILE_SUFFIX,
)
from recordpress.files import check_link, open_file, sync_directory
from recordpress.log._directory import PartitionDirectory

_SUFFIXES = (PRODUCER_SNAPSHOT_FILE_SUFFIX, TXN_INDEX_FILE_SUFFIX)
_NAMES = (LEADER_EPOCH_CHECKPOINT, PARTITION_METADATA)


def copy_offset_files(partition: PartitionDirectory, target: Path) -> None:
    """Copy a partition's ``leader-epoch-checkpoint``, ``partition.metadata``, ``.snapshot`` and ``.txnindex`` files.

    Parameters
    ----------
    partition : PartitionDirectory
    target : Path
        An existing directory.

    Raises
    ------
    InvalidArgumentError
        One of them is not a file, or a symbolic link that leaves the directory that was listed.
    OSError

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from recordpress.log import copy_offset_files, list_partitions
    >>> target = pathlib.Path(tempfile.mkdtemp())
    >>> copy_offset_files(list_partitions("demo/logs/sessions-0")[0], target)
    >>> (target / "partition.metadata").exists()
    True
    """
    for path in sorted(partition.path.iterdir()):
        if path.name in _NAMES or path.suffix in _SUFFIXES:
            check_link(path, partition.root)
            _copy(path, target / path.name)
    sync_directory(target)


def _copy(source: Path, target: Path) -> None:
    with open_file(source) as file, open(target, "xb", buffering=0) as out:
        shutil.copyfileobj(file, out, 1 << 20)
        os.fsync(out.fileno())
