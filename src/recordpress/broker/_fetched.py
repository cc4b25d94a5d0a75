"""A broker's answer to a fetch of one partition."""

from __future__ import annotations

from dataclasses import dataclass, field

from recordpress.broker._reasons import Finding, Reason


@dataclass(frozen=True, slots=True)
class Fetched:
    """One partition of a Fetch response, with the reasons.

    Attributes
    ----------
    error_code : int | None
        Kafka's code; 0 without an error, None if the broker closes the connection instead of answering, or while it
        answers.
    error : str
        The code's name in Kafka; ``"CONNECTION_CLOSED"`` without one.
    records : bytes
        As the response carries them: the last entry may be cut, or a filler that claims to be longer than it is.
    size : int
        Bytes of records that the response announces. No others, but if the connection is closed.
    log_start_offset, high_watermark : int
        -1 where an error comes with neither.
    last_stable_offset : int
        Up to which a client may read that reads committed records; -1 if it does not.
    aborted_transactions : list of (int, int) | None
        Producer id and first offset of each, as `read_columns` takes them; None if it does not read committed records,
        or gets none for want of room. Some may lie after the records: a broker takes their bound from its index.
    magic : int | None
        That the records were converted to; None if they are as the log has them.
    read_bytes : int
        That were read of the log: it is these that max_bytes of the request limits.
    converted_batches, converted_records : int
        One that is sent twice counts twice.
    dropped_control_batches, dropped_records : int
        Control batches, which no older magic has; records before the offset that was requested.
    lost : dict of str to int
        Fields that the older magic lacks: how many ``headers``; records with ``timestamps``, of ``producers``, of
        ``transactions``, with ``leader_epochs``, with ``record_attributes``; control records (``markers``); batches
        with ``delete_horizons`` and ``empty_batches``.
    repeated_batches : int
        Batches of the log that are sent twice.
    filler_bytes, cut_bytes : int
        Bytes of the filler, or of the truncated entry, at the end of the records.
    message : str | None
        What is wrong with the log where that kept the broker from converting it.
    reasons : list of Reason
        Why the records differ from the log's, or why the answer has none.
    findings : list of Finding
        What the client will not notice, or stumble over.

    Examples
    --------
    >>> import recordpress
    >>> from recordpress.broker import fetch
    >>> log = recordpress.write_records([b"a", b"b"], compression_type="snappy", timestamps=[1, 2])
    >>> fetched = fetch(log, 0, fetch_version=1)
    >>> fetched.error, fetched.magic, fetched.lost, [str(reason) for reason in fetched.reasons]
    ('NONE', 0, {'timestamps': 2}, ['DOWN_CONVERSION'])
    >>> [batch.magic for batch in recordpress.read_batches(fetched.records)]
    [0]
    """

    error_code: int | None
    error: str
    records: bytes = field(default=b"", repr=False)
    size: int = 0
    log_start_offset: int = -1
    high_watermark: int = -1
    last_stable_offset: int = -1
    aborted_transactions: list[tuple[int, int]] | None = None
    magic: int | None = None
    read_bytes: int = 0
    converted_batches: int = 0
    converted_records: int = 0
    dropped_control_batches: int = 0
    dropped_records: int = 0
    lost: dict[str, int] = field(default_factory=dict)
    repeated_batches: int = 0
    filler_bytes: int = 0
    cut_bytes: int = 0
    message: str | None = None
    reasons: list[Reason] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
