"""One partition and its answers to record sets, with the checks in a broker's order (UnifiedLog.append).

::

    headers ──► _request ──► verification ──► analyze ──► validate_records ──► sizes ──► _producers ──► Verdict
    _analyze                 _producers       _analyze    _validator
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple, cast

from recordpress._arguments import INT16_MAX, INT64_MAX, integer, time as time_of
from recordpress._buffers import InputView
from recordpress._protocol_errors import Errors
from recordpress.broker._analyze import Analysis, analyze, headers
from recordpress.broker._config import CODEC_IDS
from recordpress.broker._message_sets import append_messages
from recordpress.broker._producers import Producers, RememberedBatch
from recordpress.broker._reasons import Finding, Reason, findings_of, reasons_of
from recordpress.broker._request import Request, check_request, closed, version_for
from recordpress.broker._settings import Settings
from recordpress.broker._validator import StoredSet, Validation, validate_records
from recordpress.broker._verdict import Relation, Verdict, accepted, refused
from recordpress.broker._versions import MessageSets
from recordpress.errors import ArgumentTypeError
from recordpress.record.header import LOG_APPEND_TIME, LOG_OVERHEAD, BatchHeader, entry_prefix
from recordpress.typing import Integer, Time

if TYPE_CHECKING:
    from typing_extensions import Buffer

_ZSTD = CODEC_IDS["zstd"]
_NEWEST_MAGIC = 2  # since Kafka 0.11 (KIP-98)
_TELLS_OF_RECORDS = 8  # from this Produce version (KIP-467)


class _Ready(NamedTuple):
    """A record set that may be appended."""

    was_cut: bool
    sent: BatchHeader
    stored: BatchHeader
    records: StoredSet
    validation: Validation


class Partition:
    """Settings and state of a partition."""

    __slots__ = ("config", "helpful", "leader_epoch", "next_offset", "producers", "rules", "settings", "verified")

    def __init__(
        self,
        settings: Settings,
        producers: Producers,
        next_offset: int,
        leader_epoch: int,
        verified: frozenset[str],
        helpful: bool,
    ) -> None:
        self.settings = settings
        self.rules = settings.rules
        self.config = settings.config
        self.producers = producers
        self.next_offset = next_offset
        self.leader_epoch = leader_epoch
        self.verified = verified
        self.helpful = helpful

    def append(
        self, records: Buffer | None, produce_version: Integer | None, transactional_id: str | None, now_ms: Time | None
    ) -> Verdict:
        if transactional_id is not None and not isinstance(transactional_id, str):
            message = f"transactional_id must be a str or None, not {type(transactional_id).__name__}"
            raise ArgumentTypeError(message, field="transactional_id")
        now = clock(now_ms)
        if records is None:
            return closed(Reason.NULL_RECORD_SET, self.rules.invalid_record if self.helpful else None)
        records = self._scanned(records)
        found = headers(records)
        request = Request(self._version(produce_version, found.first), transactional_id)
        least, most = self.rules.produce_versions
        if not least <= request.version <= most:
            return closed(Reason.PRODUCE_VERSION)
        verdict = check_request(found, request, self.rules, self.settings.known_codecs, self.helpful)
        verdict = verdict or self._verify(found, request) or self._append(records, now)
        if verdict.record_errors and request.version < _TELLS_OF_RECORDS and self._cannot_tell:
            return refused(Errors.UNKNOWN_SERVER_ERROR, *verdict.reasons, findings=verdict.findings)
        return verdict

    @property
    def _cannot_tell(self) -> bool:
        return self.rules.record_errors_break_old_responses and not self.helpful

    def _scanned(self, records: Buffer) -> Buffer:
        """Return the entries that the scanner accepts; brokers before 2.0 ignore the magic of a truncated entry."""
        if self.rules.scans_magic_first or self.rules.message_sets is not None:
            return records
        view, position = memoryview(InputView(records, "records")), 0
        while prefix := entry_prefix(view, position):
            _, size, magic = prefix
            if size > len(view) - position - LOG_OVERHEAD:
                return records if 0 <= magic <= _NEWEST_MAGIC else view[:position]
            if size < 0:
                break
            position += LOG_OVERHEAD + size
        return records

    def _version(self, given: Integer | None, first: BatchHeader | None) -> int:
        if given is None:
            return version_for(first, self.rules)
        return integer(given, "produce_version", 0, INT16_MAX)

    def _verify(self, found: Analysis, request: Request) -> Verdict | None:
        """Check the producers of all headers, and verify the transaction with the coordinator (KIP-890)."""
        if not self.rules.verifies_transactions:
            return None
        since = self.rules.epoch_bump_produce_version
        bumps = since is not None and request.version >= since
        verifies = request.has_transactional_id and (bumps or self.config.verifies_transactions)
        if not (verifies or self.rules.compares_producers):
            return None
        if verdict := self._check_producers(found):
            return verdict
        first = found.first
        if not verifies or first is None or not first.is_transactional or first.producer_id < 0:
            return None
        reason = self.producers.verify(first, request.transactional_id in self.verified, bumps)
        return refused(reason.error_code, reason) if reason else None

    def _check_producers(self, found: Analysis) -> Verdict | None:
        """Check the producers of all headers; a broker reads beyond a truncated header, and then answers -1."""
        code = Errors.CORRUPT_MESSAGE if self.helpful else Errors.UNKNOWN_SERVER_ERROR
        if found.hides_producer:
            return refused(code, Reason.ENTRY_SIZE)
        if found.refusal:
            return refused(found.error_code, Reason[found.refusal])
        if found.hides_epoch:
            return refused(code, Reason.ENTRY_SIZE)
        return refused(Errors.INVALID_PRODUCER_ID_MAPPING, Reason.MIXED_PRODUCERS) if found.mixes_producers else None

    def _append(self, records: Buffer, now: int) -> Verdict:
        if self.rules.message_sets is not None:
            return self._append_messages(records, now, self.rules.message_sets)
        ready = self._ready(records, now, is_client=True)
        if isinstance(ready, Verdict):
            return ready
        stored = ready.stored
        if stored.producer_id >= 0:
            if repeated := self.producers.repeated(stored):
                return _repeated(repeated, findings_of(ready.validation.findings))
            if reason := self.producers.check(stored):
                return refused(reason.error_code, reason, findings=findings_of(ready.validation.findings))
            self.producers.append(stored)
        return self._appended(ready)

    def _append_messages(self, records: Buffer, now: int, code: MessageSets) -> Verdict:
        verdict, self.next_offset = append_messages(
            bytes(InputView(records, "records")),
            generation=code,
            config=self.config,
            next_offset=self.next_offset,
            now_ms=now,
            helpful=self.helpful,
        )
        return verdict

    def append_marker(self, marker: bytes, coordinator_epoch: int, transaction_version: int, now: int) -> Verdict:
        """Append the marker that ends a transaction, which only its coordinator may write."""
        ready = self._ready(marker, now, is_client=False)
        if isinstance(ready, Verdict):
            return ready
        if reason := self.producers.check_marker(ready.stored, coordinator_epoch, transaction_version):
            return refused(reason.error_code, reason)
        self.producers.append_marker(ready.stored, coordinator_epoch)
        return self._appended(ready)

    def _ready(self, records: Buffer, now: int, is_client: bool) -> _Ready | Verdict:
        """Run the checks of UnifiedLog and LogValidator; return the set to append, or the final verdict."""
        limit, known = self.config.max_message_bytes, self.settings.last_codec
        found = analyze(
            records,
            max_message_bytes=limit,
            known_codecs=known,
            is_client=is_client,
            helpful=self.helpful,
            codecs=self.settings.codecs,
        )
        if found.refusal:
            return refused(self.rules.code_of(found.error_code), Reason[found.refusal])
        if found.first is None:
            return accepted(reasons=[Reason.NO_BATCH])
        target, level = self.config.target(found.source_codec, self.settings.codecs)
        if target == _ZSTD and not self.config.takes_zstd:
            return refused(Errors.UNSUPPORTED_COMPRESSION_TYPE, Reason.ZSTD_INTER_BROKER_PROTOCOL)
        was_cut = found.size > found.valid_bytes
        whole = memoryview(InputView(records))[: found.valid_bytes] if was_cut else records
        validation = self._validate(whole, found.source_codec, target, level, now, is_client)
        becomes = validation.stored
        if becomes is None:
            return self._invalid(validation, Reason[validation.refusal or ""])
        if validation.size_may_have_changed and validation.largest_batch > limit:
            return refused(Errors.MESSAGE_TOO_LARGE, Reason.REBUILT_TOO_LARGE, *reasons_of(validation.reasons))
        if becomes.size > self.config.segment_bytes:
            return refused(Errors.RECORD_LIST_TOO_LARGE, Reason.SET_TOO_LARGE, *reasons_of(validation.reasons))
        stored = cast(BatchHeader, becomes.header)  # it exists, because the sent set has a batch
        return _Ready(was_cut, found.first, stored, becomes, validation)

    def _validate(
        self, whole: Buffer, source: int, target: int, level: int | None, now: int, is_client: bool
    ) -> Validation:
        config = self.config
        return validate_records(
            whole,
            source_codec=source,
            target_codec=target,
            target_level=level,
            target_magic=config.target_magic,
            log_append_time=config.log_append_time,
            before_max_ms=config.before_max_ms,
            after_max_ms=config.after_max_ms,
            compacted=config.compacted,
            max_record_bytes=config.max_record_bytes,
            leader_epoch=self.leader_epoch,
            next_offset=self.next_offset,
            now_ms=now,
            origin_client=is_client,
            rules=self.settings.quirks,
            helpful=self.helpful,
            codecs=self.settings.codecs,
        )

    def _invalid(self, validation: Validation, reason: Reason) -> Verdict:
        tells = self.rules.record_errors
        return refused(
            self.rules.code_of(validation.error_code),
            reason,
            message=validation.error_message if tells else None,
            record_errors=[*validation.record_errors] if tells else [],
            findings=findings_of(validation.findings),
        )

    def _appended(self, ready: _Ready) -> Verdict:
        base_offset, self.next_offset = self.next_offset, ready.validation.next_offset
        relation, reasons = self._compared(ready)
        if ready.was_cut:
            relation = "kept, tail cut" if relation == "kept" else relation
            reasons.append(Reason.PARTIAL_ENTRY)
        return accepted(
            relation=relation,
            records=ready.records,
            reasons=reasons,
            findings=findings_of(ready.validation.findings),
            log_append_time=ready.validation.log_append_time if self.config.log_append_time else -1,
            base_offset=base_offset,
        )

    def _compared(self, ready: _Ready) -> tuple[Relation, list[Reason]]:
        """Return how the stored bytes differ from the sent bytes, with the reasons."""
        sent, stored, is_rebuilt = ready.sent, ready.stored, ready.validation.rebuilt
        reasons = reasons_of(ready.validation.reasons)
        if not (is_rebuilt or ready.records.rewritten):
            return "kept", []
        if self.config.log_append_time and stored.magic > 0:
            reasons.append(Reason.LOG_APPEND_TIME)
        elif sent.magic > 0 and sent.attributes & LOG_APPEND_TIME:
            reasons.append(Reason.TIMESTAMP_TYPE)
        if is_rebuilt:
            return "rebuilt", reasons
        if not self.config.log_append_time and sent.max_timestamp != stored.max_timestamp:
            reasons.append(Reason.MAX_TIMESTAMP)
        if (sent.attributes ^ stored.attributes) & ~LOG_APPEND_TIME:
            reasons.append(Reason.ATTRIBUTE_BITS)
        return "header rewritten", reasons or [Reason.TIMESTAMP_TYPE]  # of a message after the first


def clock(now_ms: Time | None) -> int:
    if now_ms is None:
        return time.time_ns() // 1_000_000
    return integer(time_of(now_ms, "now_ms"), "now_ms", 0, INT64_MAX)


def _repeated(batch: RememberedBatch, findings: list[Finding]) -> Verdict:
    """Return the answer to a retry, which repeats the answer to the first attempt (UnifiedLog.append)."""
    return accepted(
        reasons=[Reason.DUPLICATE_BATCH],
        findings=findings,
        log_append_time=batch.timestamp,
        base_offset=batch.first_offset,
    )
