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
        Of the request; without it, the one that a client would choose: 2 for magic 0 and 1 if the broker still takes
        it, else the latest that the broker takes.
    topic_config : mapping of str to str, int or bool, optional
        Settings of the topic and the broker, by Kafka's property names; missing ones have the release's default.
        Kafka settings that do not matter here are ignored.
    transactional_id : str, optional
        Of the request.
    next_offset : int
        Of the partition: the first record gets it.
    leader_epoch : int
        Of the leader, which is written into each batch of magic 2.
    now_ms : time, optional
        The broker's clock, in ms since 1970; without it, this machine's.
    producers : iterable of ProducerState, optional
        State of the producers, as `recordpress.log.sidecars.read_snapshot` returns it.
    verified_transactions : iterable of str
        The transactional ids whose transactions the coordinator knows, this partition included (KIP-890).
    helpful : bool
        Answers of this package's own where a broker's are of no help: 2 for a damaged compressed stream, and 76 for an
        unknown codec id, instead of -1; a repair of wrong inner offsets where brokers fail at it (KAFKA-8106).
    codecs : CodecRegistry, optional
        Codec plug-ins that the broker is assumed to know: see `PartitionLog`.

    Returns
    -------
    Verdict

    Raises
    ------
    InvalidArgumentError
        A release that is not known, a setting that Kafka does not have, or a value that it does not take.
    ArgumentTypeError
    OutputTooLargeError
        A batch holds more than 64 MiB when it is decompressed; a broker's answer depends on its memory. With
        `helpful` the verdict is 10.

    See Also
    --------
    PartitionLog : The same for record sets that come one after the other.

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
