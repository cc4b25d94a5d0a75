"""One record set, one verdict."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from recordpress._version import NEWEST_KAFKA
from recordpress.broker._config import TopicConfig
from recordpress.broker._partition_log import partition
from recordpress.broker._verdict import Verdict
from recordpress.codecs import CodecRegistry
from recordpress.log.sidecars import ProducerState
from recordpress.typing import Integer, Time

if TYPE_CHECKING:
    from typing_extensions import Buffer


def validate(
    records: Buffer | None,
    *,
    broker_version: str = NEWEST_KAFKA,
    produce_version: Integer | None = None,
    topic_config: TopicConfig | None = None,
    transactional_id: str | None = None,
    next_offset: Integer = 0,
    leader_epoch: Integer = 0,
    now_ms: Time | None = None,
    producers: Iterable[ProducerState] | None = None,
    verified_transactions: Iterable[str] = (),
    helpful: bool = False,
    codecs: CodecRegistry | None = None,
) -> Verdict:
    """Return a broker's answer to a record set in a Produce request, the stored form, and the reasons.

    Parameters
    ----------
    records : bytes-like or None
        The partition's record set in a Produce request.
    broker_version : str
        A release of Kafka from 0.8.2 to 4.4, such as ``"3.9"`` or ``"3.9.2"``.
    produce_version : int, optional
        Version of Produce; by default the one that a client would choose: 2 for magic 0 and 1 if the broker still
        supports it, otherwise the latest that the broker supports.
    topic_config : mapping of str to str, int or bool, optional
        Settings of the topic and the broker, keyed by Kafka's property names. Missing settings have the release's
        default. Kafka settings with no effect on a record set are ignored.
    transactional_id : str, optional
        Transactional id of the request.
    next_offset : int
        Next offset of the partition, which the first record gets.
    leader_epoch : int
        Epoch of the partition's leader, which is written into each batch of magic 2.
    now_ms : time, optional
        The broker's clock, in ms since 1970; by default this machine's.
    producers : iterable of ProducerState, optional
        State of the producers, as `recordpress.log.sidecars.read_snapshot` returns it.
    verified_transactions : iterable of str
        Transactional ids of transactions that the coordinator knows to include this partition (KIP-890).
    helpful : bool
        Give better answers than real brokers: 2 for a damaged compressed stream and 76 for an unknown codec id, both
        instead of -1, and a repair of wrong inner offsets where brokers fail to repair them (KAFKA-8106).
    codecs : CodecRegistry, optional
        Codec plug-ins that the broker is assumed to have: see `PartitionLog`.

    Returns
    -------
    Verdict

    Raises
    ------
    InvalidArgumentError
        An unknown release, a setting that Kafka does not have, or a value that it rejects.
    ArgumentTypeError
    OutputTooLargeError
        The decompressed records of a batch exceed 64 MiB; a broker's answer depends on its memory. With `helpful`,
        the verdict has error code 10 instead.

    See Also
    --------
    PartitionLog : The same for successive record sets.

    Examples
    --------
    >>> import recordpress
    >>> from recordpress.broker import validate
    >>> sent = recordpress.write_records([b"line"] * 9, compression_type="gzip", timestamps=1700000000000)
    >>> validate(sent, topic_config={"compression.type": "producer"}).relation
    'kept'
    >>> verdict = validate(sent, topic_config={"compression.type": "zstd", "max.message.bytes": 60})
    >>> verdict.error_code, verdict.error, verdict.reasons[0].rule
    (10, 'MESSAGE_TOO_LARGE', 'max.message.bytes')
    """
    one = partition(
        broker_version, topic_config, next_offset, leader_epoch, producers, verified_transactions, helpful, codecs
    )
    return one.append(records, produce_version, transactional_id, now_ms)
