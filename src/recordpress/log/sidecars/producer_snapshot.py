"""State of the producers at an offset, ``.snapshot`` (Kafka's ProducerStateManager). The file's name is the first
offset that the state excludes.

::

    int16 version (1)  uint32 crc      CRC-32C of all bytes that follow
    int32 count, and for each producer:
      int64 producerId  int16 producerEpoch  int32 lastSequence  int64 lastOffset  int32 offsetDelta  int64 timestamp
      int32 coordinatorEpoch  int64 currentTxnFirstOffset

It holds only the last batch of each producer. A broker that finds it damaged removes it and reads the log again.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import NamedTuple

from recordpress._arguments import INT32_MAX
from recordpress.checksum import crc32c
from recordpress.log.sidecars.sidecar_io import SidecarSource, SidecarTarget, packed, read_sidecar, write_sidecar

_HEADER = struct.Struct(">hIi")
_ENTRY = struct.Struct(">qhiqiqiq")
_VERSION = 1
_CRC_AT, _CRC_COVERS = 2, 6
_RULE = "producer snapshot"


class ProducerState(NamedTuple):
    """State of an idempotent or transactional producer in a broker.

    Attributes
    ----------
    producer_id, producer_epoch : int
    last_sequence, last_offset : int
        Last sequence and last offset of its last batch; -1 if no batch is known, as after a marker.
    offset_delta : int
        Last offset minus first offset of that batch.
    timestamp : int
        Largest timestamp of that batch, or the timestamp of the last marker, in ms.
    coordinator_epoch : int
        Coordinator epoch of the last marker; -1 before the first marker.
    current_txn_first_offset : int
        First offset of its open transaction; -1 if no transaction is open.

    Examples
    --------
    >>> from recordpress.log.sidecars import read_snapshot
    >>> states = read_snapshot("demo/logs/sessions-0/00000000000000000175.snapshot")
    >>> states[0].producer_id, states[0].producer_epoch, states[0].last_sequence
    (1, 0, 174)
    """

    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int
    coordinator_epoch: int
    current_txn_first_offset: int

    @property
    def first_sequence(self) -> int:
        """First sequence of the last batch; 2147483647 wraps to 0 (DefaultRecordBatch.decrementSequence)."""
        first = self.last_sequence - self.offset_delta
        return first if self.last_sequence >= self.offset_delta else first + INT32_MAX + 1


def read_snapshot(source: SidecarSource) -> list[ProducerState]:
    """Read the producers in a ``.snapshot`` file, in file order.

    Parameters
    ----------
    source : path, bytes-like, or an object with `size` and `read_at`

    Returns
    -------
    list of ProducerState

    Raises
    ------
    CorruptRecordError
        The version is not 1, the checksum is wrong, or the size does not match the number of entries.
    OSError

    Examples
    --------
    >>> from recordpress.log.sidecars import read_snapshot
    >>> read_snapshot(bytes.fromhex("0001 48674bc7 00000000"))
    []
    """
    sidecar = read_sidecar(source, _RULE)
    data = sidecar.data
    if len(data) < _HEADER.size:
        raise sidecar.corrupt(f"the file has {len(data)} of {_HEADER.size} header bytes", len(data), "count", _RULE)
    version, stored, count = _HEADER.unpack_from(data)
    if version != _VERSION:
        raise sidecar.corrupt(f"version {version} is not {_VERSION}", 0, "version", _RULE)
    computed = crc32c(memoryview(data)[_CRC_COVERS:])
    if stored != computed:
        raise sidecar.corrupt(f"stored checksum {stored:#010x}, computed {computed:#010x}", _CRC_AT, "crc", _RULE)
    left = len(data) - _HEADER.size
    if count * _ENTRY.size != left:
        message = f"{count} entries of {_ENTRY.size} bytes, but {left} bytes follow the header"
        raise sidecar.corrupt(message, _CRC_COVERS, "count", _RULE)
    return [ProducerState(*fields) for fields in _ENTRY.iter_unpack(memoryview(data)[_HEADER.size :])]


def snapshot_bytes(producers: Iterable[ProducerState]) -> bytes:
    """Return the bytes of a ``.snapshot`` file; see `write_snapshot`."""
    entries = list(producers)
    body = len(entries).to_bytes(4, "big") + packed(_ENTRY, entries, ProducerState._fields)
    return struct.pack(">hI", _VERSION, crc32c(body)) + body


def write_snapshot(target: SidecarTarget, producers: Iterable[ProducerState]) -> None:
    """Write a ``.snapshot`` file.

    Parameters
    ----------
    target : path, or an object with `write`
        A file is written under a hidden name and renamed when it is complete.
    producers : iterable of ProducerState

    Raises
    ------
    InvalidArgumentError
        A value does not fit its field.
    OSError

    Examples
    --------
    >>> import io
    >>> out = io.BytesIO()
    >>> write_snapshot(out, [ProducerState(4242, 3, 24, 14, 4, 1700000000000, 15, -1)])
    >>> out.getvalue()[:6].hex(" "), len(out.getvalue())
    ('00 01 38 27 be 6d', 56)
    """
    write_sidecar(target, snapshot_bytes(producers))
