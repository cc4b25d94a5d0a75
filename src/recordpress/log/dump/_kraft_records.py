"""KRaft's own control records, as Kafka's DumpLogSegments (4.3.1) prints them.

Their values are the messages LeaderChangeMessage, SnapshotHeaderRecord, SnapshotFooterRecord, KRaftVersionRecord and
VotersRecord (``*.json`` in Kafka's sources).
"""

from __future__ import annotations

from recordpress.errors import InvalidRecordError
from recordpress.log.dump._messages import Message, UnreadableMessageError, json_text, schema
from recordpress.record import Record

# By type of control record: the tool's name for it, and the schema of its value. The tool reads version 0 only.
_KINDS: dict[str, tuple[str, str]] = {
    "LEADER_CHANGE": (
        "LeaderChange:",
        """\
0 flexible 0+: version int16, leaderId int32
  voters []Voter
    voterId int32
  grantingVoters []Voter""",
    ),
    "SNAPSHOT_HEADER": ("SnapshotHeader", "0 flexible 0+: version int16, lastContainedLogTimestamp int64"),
    "SNAPSHOT_FOOTER": ("SnapshotFooter", "0 flexible 0+: version int16"),
    "KRAFT_VERSION": ("KRaftVersion", "0 flexible 0+: version int16, kRaftVersion int16"),
    "KRAFT_VOTERS": (
        "KRaftVoters",
        """\
0 flexible 0+: version int16
  voters []Voter
    voterId int32, voterDirectoryId uuid
    endpoints []Endpoint
      name string, host string, port uint16
    kRaftVersionFeature KRaftVersionFeature
      minSupportedVersion int16, maxSupportedVersion int16""",
    ),
}


def kraft_record_text(type: str, record: Record) -> str | None:
    """Return the tool's text for the value of a control record; None for a type that it prints by its number."""
    if type not in _KINDS:
        return None
    name, fields = _KINDS[type]
    try:
        value = schema(fields).read(Message(record.value or b""), 0)
    except UnreadableMessageError as error:
        message = f"the value of a control record is not a {name.rstrip(':')} record: {error}"
        raise InvalidRecordError(message, offset=record.offset, field="value", rule="control record") from None
    return f"{name} {json_text(value)}"
