"""Findings in a log: damage, and everything skipped, truncated or read only once."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from recordpress._json_keys import JsonFields
from recordpress.errors import (
    CorruptRecordError,
    InvalidRecordError,
    OutputTooLargeError,
    RecordpressError,
    UnsupportedCompressionTypeError,
)

# Errors in a log's bytes, not errors of a store or in arguments.
DAMAGE = (CorruptRecordError, InvalidRecordError, UnsupportedCompressionTypeError, OutputTooLargeError)


@dataclass(frozen=True)
class Finding(JsonFields):
    """Defect or notable fact in a log, and its place.

    Attributes
    ----------
    file : str
    position : int | None
        Position of the first affected byte; None if the finding is about the file as a whole.
    size : int | None
        Number of affected bytes.
    offset : int | None
        Kafka's offset of the batch or record; or the offset that is expected there.
    rule : str
        The rule that was broken, named as in the errors of recordpress, such as ``checksum``.
    message : str
    field_position : int | None
        Position of the wrong field, if known.

    Examples
    --------
    >>> from recordpress.log import Finding
    >>> finding = Finding("orders-0/00000000000000000000.log", 4160, 61, 120, "checksum", "stored checksum 0x1 ...")
    >>> print(finding)
    orders-0/00000000000000000000.log: byte 4160, offset 120: stored checksum 0x1 ... (checksum)
    """

    file: str
    position: int | None
    size: int | None
    offset: int | None
    rule: str
    message: str
    field_position: int | None = None

    @classmethod
    def of_error(cls, error: RecordpressError, *, file: str = "", size: int | None = None) -> Finding:
        """Return an error as a finding.

        Examples
        --------
        >>> import recordpress
        >>> from recordpress.log import Finding
        >>> Finding.of_error(recordpress.CorruptRecordError("bad", file="a.log", position=7, rule="checksum")).position
        7
        """
        place = (error.file or file, error.position, size, error.offset)
        return cls(*place, error.rule or "", error.message, error.field_position)

    @classmethod
    def of_damage(cls, error: RecordpressError, *, file: str = "") -> Finding:
        """Return an error in a log's bytes as a finding; raise any other error.

        Examples
        --------
        >>> import recordpress
        >>> from recordpress.log import Finding
        >>> Finding.of_damage(recordpress.StorageError("the store is away"))
        Traceback (most recent call last):
        recordpress.errors.StorageError: the store is away
        """
        if not isinstance(error, DAMAGE):
            raise error
        return cls.of_error(error, file=file)

    def __str__(self) -> str:
        known = (("byte", self.position), ("offset", self.offset))
        where = ", ".join(f"{name} {value}" for name, value in known if value is not None)
        return ": ".join(part for part in (self.file, where, self.message) if part) + f" ({self.rule})"


def to_json(findings: Iterable[Finding]) -> str:
    """Return findings as the JSON object that the commands print."""
    return json.dumps({"findings": [finding.to_dict() for finding in findings]})
