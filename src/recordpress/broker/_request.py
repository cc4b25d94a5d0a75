"""Decisions from headers alone, before the log (KafkaApis.handleProduceRequest, ProduceRequest)."""

from __future__ import annotations

from typing import NamedTuple

from recordpress._protocol_errors import Errors
from recordpress.broker._analyze import Analysis
from recordpress.broker._config import CODEC_IDS
from recordpress.broker._reasons import Reason
from recordpress.broker._verdict import Verdict, refused
from recordpress.broker._versions import BrokerRules
from recordpress.record.header import CODEC_BITS, PRODUCER_ID_END, BatchHeader

_BATCHES_ALONE = 3  # from this Produce version, a record set is one batch of magic 2
_TAKES_ZSTD = 7  # KIP-110
_LAST_OF_MESSAGES = 2  # clients use it to send messages of magic 0 and 1 (ProduceRequest.forMagic)


class Request(NamedTuple):
    """One partition's share of a Produce request."""

    version: int
    transactional_id: str | None

    @property
    def has_transactional_id(self) -> bool:
        return self.transactional_id is not None and self.version >= _BATCHES_ALONE


def version_for(first: BatchHeader | None, rules: BrokerRules) -> int:
    """Return the Produce version that a client would choose for a record set."""
    least, most = rules.produce_versions
    if first is not None and first.magic < 2 and rules.max_magic == 2:
        return max(least, _LAST_OF_MESSAGES)
    return most


def closed(reason: Reason, helpful_code: int | None = None) -> Verdict:
    """Return the verdict for a closed connection, or for an error with `helpful_code` if it is given."""
    return refused(helpful_code, reason)


def check_request(
    found: Analysis, request: Request, rules: BrokerRules, known: frozenset[int], helpful: bool
) -> Verdict | None:
    """Return the verdict of the request layer; None if it does not reject the record set."""
    checks = rules.request_checks
    if checks == "none" or (checks == "parser" and request.version < _BATCHES_ALONE):
        return None
    verdict = _check_set(found, request, rules, known, helpful)
    if checks == "partition":
        return verdict
    is_unread = found.first is None or _is_short(found.first)
    if verdict is None and is_unread:
        verdict = refused(rules.invalid_record, Reason.NO_BATCH if found.first is None else Reason.ENTRY_SIZE)
    if verdict is None or helpful or not (checks == "parser" or is_unread):
        return verdict
    return closed(verdict.reasons[0])


def _is_short(first: BatchHeader) -> bool:
    """Return whether the first batch is too short for a producer id, which the parser reads."""
    return first.magic > 1 and first.size < PRODUCER_ID_END


def _check_set(
    found: Analysis, request: Request, rules: BrokerRules, known: frozenset[int], helpful: bool
) -> Verdict | None:
    first = found.first
    if found.refusal and found.scan_error_after == 0:
        return refused(_scan_code(found, helpful), Reason[found.refusal], message=found.scan_message)
    is_anonymous = rules.needs_transactional_id and not request.has_transactional_id
    if first is not None and first.is_transactional and is_anonymous:
        return refused(Errors.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, Reason.TRANSACTIONAL_ID_MISSING)
    if request.version < _BATCHES_ALONE:
        return None
    return _check_batches(found, request, rules, known, helpful)


def _check_batches(
    found: Analysis, request: Request, rules: BrokerRules, known: frozenset[int], helpful: bool
) -> Verdict | None:
    """Run the checks of ProduceRequest.validateRecords on the batches, in the same order."""
    first = found.first
    if first is None:
        return refused(rules.invalid_record, Reason.NO_BATCH)
    if first.magic != 2:
        return refused(rules.invalid_record, Reason.REQUEST_MAGIC)
    if rules.zstd and request.version < _TAKES_ZSTD:
        codec = first.attributes & CODEC_BITS
        if codec not in known:
            code = Errors.UNSUPPORTED_COMPRESSION_TYPE if helpful else Errors.UNKNOWN_SERVER_ERROR
            return refused(code, Reason.UNKNOWN_CODEC)
        if codec >= CODEC_IDS["zstd"]:  # the caller's codecs need the same version as zstd
            return refused(Errors.UNSUPPORTED_COMPRESSION_TYPE, Reason.ZSTD_PRODUCE_VERSION)
    if found.refusal and found.scan_error_after == 1:
        return refused(_scan_code(found, helpful), Reason[found.refusal])
    if found.second is not None:
        return refused(rules.invalid_record, Reason.MORE_THAN_ONE_BATCH)
    return None


def _scan_code(found: Analysis, helpful: bool) -> int:
    """Return the scanner's error code, such as -1 for a size near 2^31; a helpful answer is always CORRUPT_MESSAGE."""
    return Errors.CORRUPT_MESSAGE if helpful else found.error_code
