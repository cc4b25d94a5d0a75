"""A broker's treatment of one record set."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from recordpress._html import html_table
from recordpress._protocol_errors import Errors, name_of
from recordpress.broker._reasons import Finding, Reason

if TYPE_CHECKING:
    from recordpress.broker._validator import StoredSet

Relation = Literal["nothing stored", "kept", "kept, tail cut", "header rewritten", "rebuilt"]
"""Relation of the stored bytes to the sent bytes."""


class _Stored:
    """Mixin that creates the bytes of a kept set on request: a copy costs as much as all checks."""

    __slots__ = ("_stored",)

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            if name != "records":
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
            records = self._stored.records
            object.__setattr__(self, "records", records)
            return records


@dataclass(frozen=True, slots=True)
class Verdict(_Stored):
    """A broker's answer to a record set, the stored form, and the reasons.

    Attributes
    ----------
    error_code : int | None
        Kafka's code; 0 if the record set is accepted, None if the broker closes the connection without an answer.
    error : str
        The code's name in Kafka, such as ``"NONE"`` or ``"INVALID_RECORD"``; ``"CONNECTION_CLOSED"`` if code is None.
    error_message : str | None
        The response's message, without the partition's name; brokers send none for most errors.
    record_errors : list of (int, str | None)
        Records that fail, by their index in the batch; any of them fails the whole batch. Responses contain them, and
        the message, from Produce 8.
    relation : str
        What the log holds: ``"nothing stored"``; ``"kept"``: only base offset and leader epoch change;
        ``"kept, tail cut"``: a partial entry at the end is also dropped; ``"header rewritten"``: other header fields
        and the checksum change too, but the records area does not; ``"rebuilt"``: every record is written again.
    records : bytes
        What the log would hold; empty if nothing is stored.
    reasons : list of Reason
        Reasons for the answer and for changes, most important first; empty if the set is kept.
    findings : list of Finding
        Defects that the broker accepts, but that affect consumers or operators.
    log_append_time : int
        Field of the response, in ms: the broker's clock if the topic is LogAppendTime; if the batch is a duplicate,
        the largest timestamp of the first copy; otherwise -1.
    base_offset : int
        Field of the response; -1 if it has none. For a duplicate, the base offset of the first copy.

    Examples
    --------
    >>> import recordpress
    >>> from recordpress.broker import validate
    >>> sent = recordpress.write_records([b"a", b"b"], compression_type="lz4", timestamps=[1_700_000_000_000] * 2)
    >>> verdict = validate(sent, topic_config={"compression.type": "zstd"}, next_offset=42)
    >>> verdict.error, verdict.relation, verdict.base_offset, [str(reason) for reason in verdict.reasons]
    ('NONE', 'rebuilt', 42, ['CODEC_DIFFERS'])
    """

    error_code: int | None
    error: str
    error_message: str | None = None
    record_errors: list[tuple[int, str | None]] = field(default_factory=list)
    relation: Relation = "nothing stored"
    records: bytes = field(default=b"", repr=False)
    reasons: list[Reason] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    log_append_time: int = -1
    base_offset: int = -1

    @property
    def accepted(self) -> bool:
        """Whether the response has no error; a duplicate is accepted, but not stored again.

        Examples
        --------
        >>> from recordpress.broker import validate
        >>> validate(b"no record set").accepted
        False
        """
        return self.error_code == 0

    def _repr_html_(self) -> str:
        found: list[Reason | Finding] = [*self.reasons, *self.findings]
        rows = [(str(one), one.message) for one in found]
        return html_table(f"{self.error}; {self.relation}", ("reason", "meaning"), rows, len(rows))


_NONE = int(Errors.NONE), Errors.NONE.name


def accepted(
    *,
    relation: Relation = "nothing stored",
    records: bytes | StoredSet = b"",
    reasons: list[Reason],
    findings: list[Finding] | None = None,
    log_append_time: int = -1,
    base_offset: int = -1,
) -> Verdict:
    """Return the verdict on a record set that the broker answers without an error."""
    made = records if isinstance(records, bytes) else b""
    verdict = Verdict(*_NONE, None, [], relation, made, reasons, findings or [], log_append_time, base_offset)
    if made is not records:
        object.__setattr__(verdict, "_stored", records)
        object.__delattr__(verdict, "records")
    return verdict


def refused(
    code: int | None,
    *reasons: Reason,
    message: str | None = None,
    record_errors: list[tuple[int, str | None]] | None = None,
    findings: list[Finding] | None = None,
) -> Verdict:
    """Return the verdict on a record set that is not stored because of an error."""
    return Verdict(
        error_code=None if code is None else int(code),
        error=name_of(code),
        error_message=message,
        record_errors=record_errors or [],
        reasons=list(reasons),
        findings=findings or [],
    )
