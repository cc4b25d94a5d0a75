"""A partition that keeps its state from one record set to the next."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from recordpress._arguments import INT16_MAX, INT32_MAX, INT64_MAX, check_flags, integer
from recordpress.broker._config import TopicConfig
from recordpress.broker._partition import Partition, clock
from recordpress.broker._producers import Producers, listed
from recordpress.broker._settings import settings_of
from recordpress.broker._verdict import Verdict
from recordpress.codecs import CodecRegistry
from recordpress.errors import ArgumentTypeError
from recordpress.log.sidecars import ProducerState
from recordpress.record import BatchBuilder
from recordpress.typing import Integer, Time

if TYPE_CHECKING:
    from typing_extensions import Buffer

# A batch holds fewer than 2^31 records, and no offset may be larger than 2^63 - 1.
_LAST_NEXT_OFFSET = INT64_MAX - 2**31
_LAST_EPOCH = INT32_MAX
_NO_TEXTS: frozenset[str] = frozenset()


class PartitionLog:
    """One partition of a broker, without its log, that answers successive record sets.

    Parameters
    ----------
    broker_version : str
        A release of Kafka from 0.8.2 to 4.4, such as ``"3.9"`` or ``"3.9.2"``.
    topic_config : mapping of str to str, int or bool, optional
        Settings of the topic and the broker, keyed by Kafka's property names. Missing settings have the release's
        default. Kafka settings with no effect on a record set are ignored.
    next_offset : int
        Offset of the next record.
    leader_epoch : int
        Epoch of the partition's leader, which is written into each batch of magic 2.
    verified_transactions : iterable of str
        Transactional ids of transactions that the coordinator knows to include this partition (KIP-890).
    helpful : bool
        Give better answers than real brokers: 2 for a damaged compressed stream and 76 for an unknown codec id, both
        instead of -1, and a repair of wrong inner offsets where brokers fail to repair them (KAFKA-8106).
    codecs : CodecRegistry, optional
        Codec plug-ins that the broker is assumed to have: ``compression.type`` may be ``pluggable``, with the name
        in ``pluggable.factory.plugin`` (KIP-984). A batch whose plug-in is not the topic's is compressed again.
        By default the broker has no plug-ins and, like real brokers, answers -1 to their batches.

    Raises
    ------
    InvalidArgumentError
        An unknown release, a setting that Kafka does not have, or a value that it rejects.
    ArgumentTypeError

    Notes
    -----
    The model covers only the effect of Produce requests: it has no retention and no expiry of producers, and only
    `end_transaction` ends a transaction.

    Examples
    --------
    >>> import recordpress
    >>> from recordpress.broker import PartitionLog
    >>> log = PartitionLog(broker_version="3.9", next_offset=100)
    >>> batch = recordpress.write_records([b"a", b"b"], timestamps=1, producer_id=7, producer_epoch=0, base_sequence=0)
    >>> [(verdict.error, verdict.relation, verdict.base_offset) for verdict in (log.append(batch), log.append(batch))]
    [('NONE', 'kept', 100), ('NONE', 'nothing stored', 100)]
    >>> log.next_offset
    102
    """

    __slots__ = ("_partition",)

    def __init__(
        self,
        *,
        broker_version: str,
        topic_config: TopicConfig | None = None,
        next_offset: Integer = 0,
        leader_epoch: Integer = 0,
        verified_transactions: Iterable[str] = (),
        helpful: bool = False,
        codecs: CodecRegistry | None = None,
    ) -> None:
        self._partition = partition(
            broker_version, topic_config, next_offset, leader_epoch, None, verified_transactions, helpful, codecs
        )

    @property
    def max_message_bytes(self) -> int:
        """Maximum size of a batch in bytes: ``max.message.bytes``, or the broker's ``message.max.bytes``."""
        return self._partition.config.max_message_bytes

    @property
    def segment_bytes(self) -> int:
        """Maximum size of a segment in bytes, and so of a record set: ``segment.bytes``."""
        return self._partition.config.segment_bytes

    def append(
        self,
        records: Buffer | None,
        *,
        produce_version: Integer | None = None,
        transactional_id: str | None = None,
        now_ms: Time | None = None,
    ) -> Verdict:
        """Append a record set if the broker would accept it; return the partition's answer.

        Parameters
        ----------
        records : bytes-like or None
            The partition's record set in a Produce request.
        produce_version : int, optional
            Version of Produce; by default the one that a client would choose: 2 for magic 0 and 1 if the broker still
            supports it, otherwise the latest that the broker supports.
        transactional_id : str, optional
            Transactional id of the request.
        now_ms : time, optional
            The broker's clock, in ms since 1970; by default this machine's.

        Returns
        -------
        Verdict

        Raises
        ------
        InvalidArgumentError, ArgumentTypeError
        OutputTooLargeError
            As for `validate`; the log does not change.

        Examples
        --------
        >>> import recordpress
        >>> from recordpress.broker import PartitionLog
        >>> log = PartitionLog(broker_version="4.4", topic_config={"cleanup.policy": "compact"})
        >>> verdict = log.append(recordpress.write_records([b"a", b"b"], [b"key", None], timestamps=1))
        >>> verdict.error, verdict.record_errors
        ('INVALID_RECORD', [(1, 'Compacted topic cannot accept message without key')])
        """
        return self._partition.append(records, produce_version, transactional_id, now_ms)

    def end_transaction(
        self,
        producer_id: Integer,
        producer_epoch: Integer,
        *,
        commit: bool,
        coordinator_epoch: Integer = 0,
        transaction_version: Integer = 0,
        now_ms: Time | None = None,
    ) -> Verdict:
        """Append a marker of the transaction coordinator (WriteTxnMarkers); return the partition's answer.

        Parameters
        ----------
        producer_id, producer_epoch : int
            Id and epoch in the marker. For a client with Produce 12 or later, the epoch is that of its batches plus 1.
        commit : bool
            Whether to commit the transaction; False aborts it.
        coordinator_epoch : int
            Epoch of the transaction coordinator.
        transaction_version : int
            Version of the feature ``transaction.version``, 0 to 2. With 2, Kafka 4.2 and later reject a marker whose
            epoch is not above that of the open transaction (KIP-1228).
        now_ms : time, optional
            As for `append`.

        Returns
        -------
        Verdict
            The verdict on the marker; its `records` are the stored marker.

        Raises
        ------
        InvalidArgumentError, ArgumentTypeError

        Examples
        --------
        >>> import recordpress
        >>> from recordpress.broker import PartitionLog
        >>> log = PartitionLog(broker_version="3.9", verified_transactions=["orders"])
        >>> batch = recordpress.write_records(
        ...     [b"a"], timestamps=1, producer_id=7, producer_epoch=0, base_sequence=0, is_transactional=True
        ... )
        >>> log.append(batch, transactional_id="orders").error, log.open_transactions
        ('NONE', {7: 0})
        >>> log.end_transaction(7, 0, commit=True).base_offset, log.open_transactions
        (1, {})
        """
        now = clock(now_ms)
        epoch = integer(coordinator_epoch, "coordinator_epoch", 0, _LAST_EPOCH)
        version = integer(transaction_version, "transaction_version", 0, 2)
        marker = BatchBuilder(
            is_control=True,
            is_transactional=True,
            producer_id=integer(producer_id, "producer_id", 0, INT64_MAX),
            producer_epoch=integer(producer_epoch, "producer_epoch", 0, INT16_MAX),
        )
        marker.append_end_txn_marker(commit, epoch, now)
        return self._partition.append_marker(marker.build(), epoch, version, now)

    @property
    def next_offset(self) -> int:
        """Offset of the next record."""
        return self._partition.next_offset

    @property
    def producers(self) -> list[ProducerState]:
        """State of each producer, as `recordpress.log.sidecars.read_snapshot` returns it.

        Examples
        --------
        >>> import recordpress
        >>> from recordpress.broker import PartitionLog
        >>> log = PartitionLog(broker_version="4.4")
        >>> sent = recordpress.write_records([b"a"], timestamps=1, producer_id=7, producer_epoch=0, base_sequence=0)
        >>> _ = log.append(sent)
        >>> log.producers[0].last_sequence, log.producers[0].last_offset
        (0, 0)
        """
        return self._partition.producers.snapshot()

    @property
    def open_transactions(self) -> dict[int, int]:
        """First offset of each open transaction, by producer id."""
        return self._partition.producers.open_transactions()


def partition(
    broker_version: str,
    topic_config: TopicConfig | None,
    next_offset: Integer,
    leader_epoch: Integer,
    producers: Iterable[ProducerState] | None,
    verified_transactions: Iterable[str],
    helpful: bool,
    codecs: CodecRegistry | None,
) -> Partition:
    """Check the arguments and return a partition."""
    settings = settings_of(broker_version, topic_config, codecs)
    check_flags(helpful=helpful)
    return Partition(
        settings,
        Producers.of_snapshot(settings.rules, producers),
        integer(next_offset, "next_offset", 0, _LAST_NEXT_OFFSET),
        integer(leader_epoch, "leader_epoch", -1, _LAST_EPOCH),
        _texts(verified_transactions),
        helpful,
    )


def _texts(values: Iterable[str]) -> frozenset[str]:
    """Return the transactional ids; reject a single str, which is itself an iterable of str."""
    if type(values) is tuple and not values:
        return _NO_TEXTS
    message = "verified_transactions must be an iterable of str"
    given = listed(values)
    if given is None:
        raise ArgumentTypeError(f"{message}, not {type(values).__name__}", field="verified_transactions")
    if other := [value for value in given if not isinstance(value, str)]:
        raise ArgumentTypeError(f"{message}, not of {type(other[0]).__name__}", field="verified_transactions")
    return frozenset(given)
