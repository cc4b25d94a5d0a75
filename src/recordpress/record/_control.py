"""Records of control batches: transaction markers and KRaft's own records.

::

    key                     version int16 | type int16
    value of ABORT, COMMIT  version int16 | coordinatorEpoch int32 | ...
"""

from recordpress.errors import ArgumentTypeError, InvalidRecordError
from recordpress.record._records import Record
from recordpress.record._types import CONTROL_TYPES

__all__ = ["ControlRecord", "control_record"]

_END_TXN = ("ABORT", "COMMIT")

_KEY = 4  # bytes
_END_TXN_VALUE = 6

_RULE = "control record"


class ControlRecord:
    """Type of a control record (org.apache.kafka.common.record.ControlRecordType), and a marker's epoch.

    Attributes
    ----------
    type : str
        'ABORT', 'COMMIT', 'LEADER_CHANGE', 'SNAPSHOT_HEADER', 'SNAPSHOT_FOOTER', 'KRAFT_VERSION', 'KRAFT_VOTERS',
        or 'UNKNOWN', which readers skip.
    coordinator_epoch : int | None
        Epoch of the transaction coordinator that wrote an ABORT or COMMIT marker.

    Examples
    --------
    >>> import recordpress
    >>> recordpress.ControlRecord("COMMIT", 15) == recordpress.ControlRecord("COMMIT", 15)
    True
    >>> recordpress.ControlRecord("ABORT").type
    'ABORT'
    """

    # written out: importing typing or dataclasses for it would take a third of the package's import time
    __slots__ = ("coordinator_epoch", "type")

    def __init__(self, type: str, coordinator_epoch: int | None = None) -> None:
        self.type = type
        self.coordinator_epoch = coordinator_epoch

    def __repr__(self) -> str:
        return f"ControlRecord(type={self.type!r}, coordinator_epoch={self.coordinator_epoch!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ControlRecord):
            return NotImplemented
        return (self.type, self.coordinator_epoch) == (other.type, other.coordinator_epoch)

    def __hash__(self) -> int:
        return hash((self.type, self.coordinator_epoch))


def control_record(record: Record) -> ControlRecord:
    """Read the key of a record in a control batch, and the value if it is a transaction marker.

    Unknown higher versions are read as version 0, as in Kafka.

    Parameters
    ----------
    record : Record
        A record of a batch whose is_control is True.

    Returns
    -------
    ControlRecord

    Raises
    ------
    InvalidRecordError
        Key or value is too short, or its version is negative.

    Examples
    --------
    >>> import recordpress
    >>> builder = recordpress.BatchBuilder(is_control=True, is_transactional=True, producer_id=7, producer_epoch=0)
    >>> builder.append_end_txn_marker(True, coordinator_epoch=15)
    True
    >>> [[record]] = recordpress.read_batches(builder.build())
    >>> recordpress.control_record(record)
    ControlRecord(type='COMMIT', coordinator_epoch=15)
    """
    if not isinstance(record, Record):
        raise ArgumentTypeError(f"record must be a recordpress.Record, not {type(record).__name__}", field="record")
    number = _versioned(_KEY, record.key, record.offset, "key")
    name = CONTROL_TYPES[number] if 0 <= number < len(CONTROL_TYPES) else "UNKNOWN"
    if name not in _END_TXN:
        return ControlRecord(name)
    return ControlRecord(name, _versioned(_END_TXN_VALUE, record.value, record.offset, "value"))


def _versioned(size: int, data: bytes | None, offset: int, field: str) -> int:
    """Return the integer between the version, which must not be negative, and byte `size`."""
    if data is None or len(data) < size:
        found = "null" if data is None else f"{len(data)} bytes"
        raise InvalidRecordError(
            f"a control record's {field} is {found}, less than {size}", offset=offset, field=field, rule=_RULE
        )
    # not struct: importing it would add a thirtieth to the package's import time
    version = int.from_bytes(data[:2], "big", signed=True)
    if version < 0:
        raise InvalidRecordError(
            f"a control record's {field} has version {version}", offset=offset, field=field, rule=_RULE
        )
    return int.from_bytes(data[2:size], "big", signed=True)
