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
        Kafka's code; 0 on success, None if the broker closes the connection before or during the response.
    error : str
        The code's name in Kafka; ``"CONNECTION_CLOSED"`` if the code is None.
    records : bytes
        Records in the response; the last entry may be truncated, or a filler that claims to be longer than it is.
    size : int
        Bytes of records that the response announces and, unless the connection is closed, contains.
    log_start_offset, high_watermark : int
        Offsets in the response; -1 if an error response has none.
    last_stable_offset : int
        End of the records that a ``read_committed`` client may read; -1 for other clients.
    aborted_transactions : list of (int, int) | None
        Producer id and first offset of each, as `read_columns` takes them; None for other clients, and if no complete
        batch fits. Some may begin after the records: a broker takes their bound from its index.
    magic : int | None
        Magic to which the records were converted; None if they are as in the log.
    read_bytes : int
        Bytes read from the log, which the request's max_bytes limits.
    converted_batches, converted_records : int
        Converted batches and records; one that is sent twice counts twice.
    dropped_control_batches, dropped_records : int
        Control batches, which older magics do not have; records before the requested offset.
    lost : dict of str to int
        Counts of what the older magic lacks: ``headers``; records with ``timestamps``, of ``producers``, of
        ``transactions``, with ``leader_epochs``, with ``record_attributes``; control records (``markers``); batches
        with ``delete_horizons`` and ``empty_batches``.
    repeated_batches : int
        Batches of the log that are sent twice.
    filler_bytes, cut_bytes : int
        Bytes of the filler, or of the truncated entry, at the end of the records.
    message : str | None
        Cause, if the log could not be read or completely converted; otherwise None.
    reasons : list of Reason
        Reasons for differences from the log's records, or for a response without records.
    findings : list of Finding
        Effects that the client may not notice, or may fail on.

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
