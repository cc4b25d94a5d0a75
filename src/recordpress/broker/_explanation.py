"""The result of `recordpress.explain`: batches with verdicts, and groups of batches with equal verdicts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from recordpress._html import html_table
from recordpress._json_keys import JsonFields
from recordpress.broker._depth import DepthAdvice
from recordpress.broker._reasons import Finding, Reason
from recordpress.log import Finding as LogFinding

REJECTED, RECOMPRESSED, CONVERTED, REWRITTEN = "rejected", "recompressed", "converted", "rewritten"
CUT, DUPLICATE, KEPT = "tail cut", "duplicate", "kept"
VERDICTS = (REJECTED, RECOMPRESSED, CONVERTED, REWRITTEN, CUT, DUPLICATE, KEPT)  # from bad to good
_COSTLY = (REJECTED, RECOMPRESSED, CONVERTED)
_MOST_PRODUCERS = 1000  # counted separately; chosen, not measured


@dataclass(frozen=True, slots=True)
class Cost(JsonFields):
    """Cost of a broker's work on a batch, measured here with the codecs of recordpress on one thread.

    Attributes
    ----------
    size_after : int
        Size of the stored batch in bytes; 0 if nothing is stored.
    bytes_changed : int
        Number of stored bytes that differ from the sent bytes: all of them if the batch is rebuilt.
    records_size : int
        Size of the records before compression, in bytes; 0 if they cannot be decompressed.
    decompress_seconds, compress_seconds : float
        Seconds of each step; 0 if the broker skips it. It decompresses every compressed batch, to check its records.

    Examples
    --------
    >>> import recordpress
    >>> data = recordpress.write_records([b"line"] * 100, compression_type="gzip")
    >>> found = recordpress.explain(data, topic_config={"compression.type": "zstd"})
    >>> cost = found.batches[0].cost
    >>> cost.size_after > 0, cost.compress_seconds >= 0
    (True, True)
    """

    size_after: int = 0
    bytes_changed: int = 0
    records_size: int = 0
    decompress_seconds: float = 0.0
    compress_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class ExplainedBatch:
    """A batch, and its treatment by a broker.

    Attributes
    ----------
    position, size : int
        Place in the input, which is a record set, a captured request or a segment; size in bytes.
    verdict : str
        ``rejected``, ``recompressed``, ``converted`` (another message format, without a codec), ``rewritten`` (its
        header), ``tail cut``, ``duplicate`` or ``kept``.
    relation : str
        As in `recordpress.broker.Verdict`.
    error_code : int | None
    error : str
    error_message : str | None
    record_errors : list of (int, str | None)
    reasons : list of Reason
    findings : list of Finding
    file, topic : str | None
    partition : int | None
    magic, records : int | None
        None if the entry is incomplete. `records` is also None for a v0/v1 wrapper that cannot be read.
    compression_type, client : str | None
        The codec, and the client that the compressed stream reveals.
    producer_id : int
    inner_offsets : str | None
        Offsets inside the batch: ``0, 1, 2, ...``, ``all 0``, or the first wrong offset. None if they cannot be read,
        or for a message of magic 0 or 1 that is not a wrapper.
    diagnosis : str | None
        Cause and effect of wrong offsets inside a batch of this format (Cloudflare's case).
    cost : Cost

    Examples
    --------
    >>> import recordpress
    >>> data = recordpress.write_records([b"line"] * 100, compression_type="gzip")
    >>> found = recordpress.explain(data, topic_config={"compression.type": "zstd"})
    >>> batch = found.batches[0]
    >>> batch.verdict, [str(reason) for reason in batch.reasons]
    ('recompressed', ['CODEC_DIFFERS'])
    """

    position: int
    size: int
    verdict: str
    relation: str
    error_code: int | None
    error: str
    error_message: str | None = None
    record_errors: list[tuple[int, str | None]] = field(default_factory=list)
    reasons: list[Reason] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    file: str | None = None
    topic: str | None = None
    partition: int | None = None
    magic: int | None = None
    compression_type: str | None = None
    client: str | None = None
    records: int | None = None
    producer_id: int = -1
    inner_offsets: str | None = None
    diagnosis: str | None = None
    cost: Cost = field(default_factory=Cost)

    @property
    def is_finding(self) -> bool:
        """Whether the batch is rejected, rebuilt or poisoned."""
        return self.verdict in _COSTLY or Finding.POISONED in self.findings

    @property
    def likeness(self) -> tuple[object, ...]:
        """Key that all batches of a group share."""
        offsets = None if self.inner_offsets is None else self.inner_offsets.partition(":")[0]
        return (
            VERDICTS.index(self.verdict),
            self.error_code,
            tuple(self.reasons),
            tuple(self.findings),
            self.magic,
            self.compression_type,
            offsets,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the fields for JSON."""
        return {
            "position": self.position,
            "verdict": self.verdict,
            "errorCode": self.error_code,
            "relation": self.relation,
            "reasons": [reason_dict(reason) for reason in self.reasons],
            "findings": [reason_dict(finding) for finding in self.findings],
            "file": self.file,
            "topic": self.topic,
            "partition": self.partition,
            "size": self.size,
            "magic": self.magic,
            "compressionType": self.compression_type,
            "client": self.client,
            "records": self.records,
            "producerId": self.producer_id,
            "innerOffsets": self.inner_offsets,
            "diagnosis": self.diagnosis,
            "error": self.error,
            "errorMessage": self.error_message,
            "recordErrors": [list(error) for error in self.record_errors],
            "cost": self.cost.to_dict(),
        }


def reason_dict(reason: Reason | Finding) -> dict[str, str]:
    """Return a row of the table of reasons, for JSON."""
    return {
        "id": str(reason),
        "rule": reason.rule,
        "source": reason.source,
        "message": reason.message,
        "advice": reason.advice,
    }


@dataclass(slots=True)
class BatchGroup:
    """Batches of one form with the same verdict and reasons.

    Attributes
    ----------
    first : ExplainedBatch
    opened : int
        Number of opened batches; the others are assumed to be alike.
    batches, bytes, bytes_after : int
        Totals, estimated if some batches were not opened.
    cpu_seconds : (float, float)
        CPU seconds to decompress and to compress all batches.
    producers : dict of int to (int, int)
        Number and bytes of opened batches by producer id. -1 stands for producers without an id, None for
        producers after the first thousand.
    clients : dict of str to int
        Number of opened batches by the client that the compressed streams reveal.
    topics : dict of str or None to int
        Number of opened batches by topic.

    Examples
    --------
    >>> import recordpress
    >>> data = recordpress.write_records([b"line"] * 100, compression_type="gzip")
    >>> found = recordpress.explain(data, topic_config={"compression.type": "zstd"})
    >>> [group] = found.groups
    >>> group.batches, group.first.verdict, group.bytes == len(data)
    (1, 'recompressed', True)
    """

    first: ExplainedBatch
    opened: int = 0
    batches: int = 0
    bytes: int = 0
    bytes_after: int = 0
    cpu_seconds: tuple[float, float] = (0.0, 0.0)
    producers: dict[int | None, tuple[int, int]] = field(default_factory=dict)
    clients: dict[str, int] = field(default_factory=dict)
    topics: dict[str | None, int] = field(default_factory=dict)

    def add(self, batch: ExplainedBatch) -> None:
        """Count a batch that was opened."""
        self.opened += 1
        self.batches += 1
        self.bytes += batch.size
        self.bytes_after += batch.cost.size_after
        decompress, compress = self.cpu_seconds
        self.cpu_seconds = (decompress + batch.cost.decompress_seconds, compress + batch.cost.compress_seconds)
        producer: int | None = batch.producer_id
        if producer not in self.producers and len(self.producers) >= _MOST_PRODUCERS:
            producer = None
        batches, size = self.producers.get(producer, (0, 0))
        self.producers[producer] = (batches + 1, size + batch.size)
        client = batch.client or "?"
        self.clients[client] = self.clients.get(client, 0) + 1
        self.topics[batch.topic] = self.topics.get(batch.topic, 0) + 1

    def add_unopened(self, batches: int, size: int, opened_bytes: int) -> None:
        """Estimate unopened batches from the opened batches, which have `opened_bytes`."""
        more = size / opened_bytes if opened_bytes else 0.0
        self.batches += batches
        self.bytes += size
        self.bytes_after += round(self.bytes_after * more)
        decompress, compress = self.cpu_seconds
        self.cpu_seconds = (decompress * (1 + more), compress * (1 + more))

    def join(self, other: BatchGroup) -> None:
        """Add another group with the same likeness."""
        self.opened += other.opened
        self.batches += other.batches
        self.bytes += other.bytes
        self.bytes_after += other.bytes_after
        self.cpu_seconds = (self.cpu_seconds[0] + other.cpu_seconds[0], self.cpu_seconds[1] + other.cpu_seconds[1])
        for producer, (batches, size) in other.producers.items():
            known = self.producers.get(producer, (0, 0))
            self.producers[producer] = (known[0] + batches, known[1] + size)
        for client, number in other.clients.items():
            self.clients[client] = self.clients.get(client, 0) + number
        for topic, number in other.topics.items():
            self.topics[topic] = self.topics.get(topic, 0) + number

    def to_dict(self) -> dict[str, Any]:
        """Return the first batch with the figures of the group, for JSON."""
        producers = sorted(self.producers.items(), key=lambda item: -item[1][1])
        return {
            **self.first.to_dict(),
            "batches": self.batches,
            "bytes": self.bytes,
            "bytesAfter": self.bytes_after,
            "opened": self.opened,
            "cpuSeconds": {"decompress": self.cpu_seconds[0], "compress": self.cpu_seconds[1]},
            "producers": [
                {"producerId": producer, "batches": batches, "bytes": size} for producer, (batches, size) in producers
            ],
            "clients": dict(sorted(self.clients.items(), key=lambda item: -item[1])),
            "topics": [
                {"topic": topic, "batches": number}
                for topic, number in sorted(self.topics.items(), key=lambda item: -item[1])
            ],
        }


@dataclass(slots=True)
class Explanation:
    """A broker's treatment of record sets, with its reasons.

    Attributes
    ----------
    kind : str
        ``record set``, ``Produce request`` or ``log``.
    broker_version : str
    topic_config : dict of str to str, int or bool
        Settings of the broker and the topic, as given in the call.
    batches : list of ExplainedBatch
        One for each batch of a record set or request; for a log, the first batch of each group.
    groups : list of BatchGroup
        Batches of one form with the same verdict and reasons; the worst verdict comes first.
    control_batches, compacted_batches : int
        Batches of a log that were not examined: batches that brokers wrote, and batches that the cleaner changed,
        whose sent form cannot be reconstructed.
    depths : list of DepthAdvice
        For each topic of a log with small batches, the settings with which its producers fill deeper batches.
    findings : list of recordpress.log.Finding
        Damage in a log.
    notes : list of str
        Notes on assumptions and on skipped data.

    Examples
    --------
    >>> import recordpress
    >>> explanation = recordpress.explain(recordpress.write_records([b"a"] * 3, compression_type="lz4"),
    ...                              topic_config={"compression.type": "zstd"})
    >>> [batch] = explanation.batches
    >>> batch.verdict, batch.reasons[0].rule, explanation.has_findings
    ('recompressed', 'codec', True)
    """

    kind: str
    broker_version: str
    topic_config: dict[str, str | int | bool]
    batches: list[ExplainedBatch] = field(default_factory=list)
    groups: list[BatchGroup] = field(default_factory=list)
    control_batches: int = 0
    compacted_batches: int = 0
    depths: list[DepthAdvice] = field(default_factory=list)
    findings: list[LogFinding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def has_findings(self) -> bool:
        """Whether a batch is rejected, rebuilt or poisoned, or a log is damaged."""
        return bool(self.findings) or any(group.first.is_finding for group in self.groups)

    @property
    def reasons(self) -> list[Reason | Finding]:
        """All reasons and findings that occur, without duplicates."""
        found: dict[Reason | Finding, None] = {}
        for group in self.groups:
            found.update(dict.fromkeys([*group.first.reasons, *group.first.findings]))
        return list(found)

    def _repr_html_(self) -> str:
        rows = (
            (
                group.first.verdict,
                group.batches,
                group.bytes,
                group.bytes_after,
                ", ".join(map(str, group.first.reasons)),
            )
            for group in self.groups
        )
        caption = f"{self.kind}; a broker of Kafka {self.broker_version}"
        return html_table(caption, ("verdict", "batches", "bytes", "bytes after", "reasons"), rows, len(self.groups))

    def to_list(self) -> list[dict[str, Any]]:
        """Return the result for JSON: an object per batch, as `ExplainedBatch.to_dict` returns it; for a log, one per
        group with its figures."""
        if self.kind == "log":
            depths = {depth.topic: depth.to_dict() for depth in self.depths}
            found = [group.to_dict() for group in self.groups]
            for topic in (topic for group in found for topic in group["topics"]):
                topic["depth"] = depths.get(topic["topic"])
            return found
        return [batch.to_dict() for batch in self.batches]


def grouped(batches: Iterable[ExplainedBatch]) -> dict[tuple[object, ...], BatchGroup]:
    """Group batches by their likeness."""
    groups: dict[tuple[object, ...], BatchGroup] = {}
    for batch in batches:
        group = groups.get(batch.likeness)
        if group is None:
            group = groups[batch.likeness] = BatchGroup(batch)
        group.add(batch)
    return groups


def in_order(groups: Iterable[BatchGroup]) -> list[BatchGroup]:
    """Return the groups in order: the worst verdict first, then the largest group."""
    return sorted(groups, key=lambda group: (VERDICTS.index(group.first.verdict), -group.bytes))
