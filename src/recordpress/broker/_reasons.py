"""Reasons for which a broker changes or rejects a batch: one table for verdicts, `recordpress explain` and the docs.

A `Reason` rebuilds a batch, rewrites its header, cuts its end, or rejects it. The first four members are LogValidator's
reasons to rebuild, bits 0 to 3 of the C validator's result. The others follow the order of a broker's checks.
A `Finding` is a defect that a broker accepts and that affects consumers or operators; in C, it is a bit, from bit 0.
"""

from __future__ import annotations

from enum import StrEnum

REBUILD = "rebuild"  # the broker decompresses the batch and writes a new one
REWRITE = "rewrite"  # the header changes, the records area does not
CUT = "cut"
REQUEST = "request"  # rejected because of the headers, before the log
APPEND = "append"  # rejected by UnifiedLog
BATCH = "batch"  # rejected by LogValidator because of the header
RECORDS = "records"  # rejected because of the records area
PRODUCER = "producer"  # rejected, or answered without being stored, because of the producer's state
FETCH = "fetch"  # a response differs from the log


class Reason(StrEnum):
    """Reason for which a broker changes a batch before storing it, or rejects it.

    A member is a string, its own name, such as ``"CODEC_DIFFERS"``.

    Attributes
    ----------
    stage : str
        Stage of the decision: ``rebuild``, ``rewrite`` and ``cut`` for accepted batches; ``request``, ``append``,
        ``batch``, ``records`` and ``producer`` for other reasons.
    error_code : int | None
        Error code of current brokers; 0 if the batch is accepted, None if the broker closes the connection.
    rule : str
        Short name of the rule.
    source : str
        KIP, issue or Kafka class that defines the rule.
    message : str
        Description, one sentence.
    advice : str
        How to avoid the change or the error, such as a setting of the producer or the topic.

    Examples
    --------
    >>> from recordpress.broker import Reason
    >>> Reason.CODEC_DIFFERS.rule, str(Reason.CODEC_DIFFERS)
    ('codec', 'CODEC_DIFFERS')
    """

    stage: str
    error_code: int | None
    rule: str
    source: str
    message: str
    advice: str

    def __new__(
        cls, name: str, stage: str, error_code: int | None, rule: str, source: str, message: str, advice: str
    ) -> Reason:
        member = str.__new__(cls, name)
        member._value_ = name
        member.stage = stage
        member.error_code = error_code
        member.rule = rule
        member.source = source
        member.message = message
        member.advice = advice
        return member

    # fmt: off
    # ---- rebuilt; the C validator's bits 0 to 3 ---------------------------------------------------------------------
    CODEC_DIFFERS = (
        "CODEC_DIFFERS", REBUILD, 0, "codec", "KIP-390, LogValidator",
        "The batch's codec is not the topic's compression.type, so the broker recompresses it; "
        "levels are never compared.",
        "Set the producer's compression.type to the topic's, or the topic's to 'producer'.",
    )
    MAGIC_CONVERSION = (
        "MAGIC_CONVERSION", REBUILD, 0, "magic conversion", "KIP-98, LogValidator",
        "The batch is not in the message format of the log, so the broker rewrites every record.",
        "Use a client that writes the log's format: Produce 3 or later for magic 2; before Kafka 3.0 the topic's "
        "message.format.version decides.",
    )
    TARGET_V0 = (
        "TARGET_V0", REBUILD, 0, "absolute inner offsets", "KIP-31, LogValidator",
        "A log of magic 0 holds absolute offsets in a compressed message, so the broker writes each of them.",
        "Set the topic's message.format.version to 0.10.0 or later: relative offsets need no rewriting.",
    )
    NON_SEQUENTIAL_INNER_OFFSETS = (
        "NON_SEQUENTIAL_INNER_OFFSETS", REBUILD, 0, "inner offsets", "LogValidator, KAFKA-9669",
        "Offsets in the compressed batch are not 0, 1, 2, ..., so the broker recompresses it.",
        "Update the client: it must count inner offsets from 0 (sarama: PR 1002 for magic 1, PR 1015 for magic 2).",
    )

    # ---- the header is rewritten ------------------------------------------------------------------------------------
    LOG_APPEND_TIME = (
        "LOG_APPEND_TIME", REWRITE, 0, "append time", "KIP-32, LogValidator",
        "The topic's message.timestamp.type is LogAppendTime, so the header gets the broker's time and a new checksum.",
        "No change is needed; CreateTime would keep the producer's timestamps.",
    )
    TIMESTAMP_TYPE = (
        "TIMESTAMP_TYPE", REWRITE, 0, "timestamp type", "KIP-32, LogValidator",
        "The batch is marked LogAppendTime, but the topic's message.timestamp.type is CreateTime, so the broker clears "
        "the bit.",
        "Have the client leave attribute bit 3 at 0; only a broker sets it.",
    )
    MAX_TIMESTAMP = (
        "MAX_TIMESTAMP", REWRITE, 0, "largest timestamp", "LogValidator, DefaultRecordBatch.setMaxTimestamp",
        "The header's largest timestamp differs from that of the records, so the broker corrects it.",
        "Have the client write the largest timestamp of the batch into its header.",
    )
    ATTRIBUTE_BITS = (
        "ATTRIBUTE_BITS", REWRITE, 0, "attribute bits", "DefaultRecordBatch.computeAttributes",
        "Attribute bits without a meaning are lost, because another field of the header is rewritten.",
        "Have the client leave the attribute bits that Kafka does not define at 0.",
    )
    PARTIAL_ENTRY = (
        "PARTIAL_ENTRY", CUT, 0, "partial entry", "UnifiedLog.trimInvalidBytes",
        "The last entry of the record set is incomplete, so the broker stores only the entries before it.",
        "Send complete batches; a proxy or a faulty client may have cut the record set.",
    )

    # ---- the request ------------------------------------------------------------------------------------------------
    NULL_RECORD_SET = (
        "NULL_RECORD_SET", REQUEST, None, "null record set", "ProduceRequest, KafkaApis",
        "The record set of the partition is null, so the broker closes the connection.",
        "Have the client omit partitions without records.",
    )
    PRODUCE_VERSION = (
        "PRODUCE_VERSION", REQUEST, None, "Produce version", "KIP-896, ApiKeys.PRODUCE",
        "The broker does not support this version of Produce, so it closes the connection.",
        "Use a client that negotiates with ApiVersions; Kafka 4.0 needs Produce 3 or later.",
    )
    TRANSACTIONAL_ID_MISSING = (
        "TRANSACTIONAL_ID_MISSING", REQUEST, 53, "transactional id", "KIP-98, KafkaApis.handleProduceRequest",
        "The batch is marked as transactional, but the request has no transactional id.",
        "Set the producer's transactional.id, or have the client leave attribute bit 4 at 0.",
    )
    NO_BATCH = (
        "NO_BATCH", REQUEST, 87, "no batch", "ProduceRequest.validateRecords",
        "The record set holds no complete batch.",
        "Have the client omit partitions without records.",
    )
    ENTRY_SIZE = (
        "ENTRY_SIZE", REQUEST, 2, "entry size", "ByteBufferLogInputStream",
        "The length field of an entry is smaller than any entry can be.",
        "The bytes are damaged or not a record set; check the code that frames them.",
    )
    UNKNOWN_MAGIC = (
        "UNKNOWN_MAGIC", REQUEST, 2, "magic", "ByteBufferLogInputStream",
        "The magic byte of an entry is not 0, 1 or 2.",
        "The bytes are damaged or not a record set; check the code that frames them.",
    )
    REQUEST_MAGIC = (
        "REQUEST_MAGIC", REQUEST, 87, "magic of the request", "KIP-98, ProduceRequest.validateRecords",
        "Produce 3 and later accept only magic 2.",
        "Have the client write magic 2; a client that writes magic 0 or 1 must send Produce 2 or earlier.",
    )
    ZSTD_PRODUCE_VERSION = (
        "ZSTD_PRODUCE_VERSION", REQUEST, 76, "zstd before Produce 7", "KIP-110, ProduceRequest.validateRecords",
        "zstd needs Produce 7 or later.",
        "Update the client, or set its compression.type to lz4, snappy, gzip or none.",
    )
    MORE_THAN_ONE_BATCH = (
        "MORE_THAN_ONE_BATCH", REQUEST, 87, "one batch", "KAFKA-8428, ProduceRequest, LogValidator",
        "The record set holds more than one batch.",
        "Have the client send one batch per partition and request.",
    )
    MIXED_PRODUCERS = (
        "MIXED_PRODUCERS", REQUEST, 49, "one transactional producer", "KIP-890, ReplicaManager.handleProduceAppend",
        "The transactional batches of the record set have several producer ids or epochs.",
        "Have the client send one batch per partition and request; Produce 3 and later accept only one.",
    )
    TRANSACTION_UNVERIFIED = (
        "TRANSACTION_UNVERIFIED", REQUEST, 19, "verified transaction", "KIP-890, ReplicaManager",
        "The coordinator does not know the transaction, or this partition in it.",
        "Send AddPartitionsToTxn before Produce, and retry.",
    )

    # ---- the log's own checks, per batch ----------------------------------------------------------------------------
    BASE_OFFSET = (
        "BASE_OFFSET", APPEND, 87, "base offset", "UnifiedLog.analyzeAndValidateRecords",
        "The base offset of a client's batch must be 0.",
        "Have the client write base offset 0; batches copied from a log keep the log's base offsets.",
    )
    BATCH_TOO_LARGE = (
        "BATCH_TOO_LARGE", APPEND, 10, "max.message.bytes", "UnifiedLog.analyzeAndValidateRecords",
        "The batch is larger than max.message.bytes.",
        "Lower the producer's batch.size or max.request.size, or raise the topic's max.message.bytes.",
    )
    CHECKSUM = (
        "CHECKSUM", APPEND, 2, "checksum", "UnifiedLog, DefaultRecordBatch.ensureValid",
        "The stored checksum does not match the bytes.",
        "Send the batch again; it was damaged, or changed without a new checksum.",
    )
    UNKNOWN_CODEC = (
        "UNKNOWN_CODEC", APPEND, -1, "codec id", "CompressionType.forId",
        "The broker does not know the codec id in the attributes.",
        "Use a codec that the broker supports; zstd needs Kafka 2.1, lz4 needs 0.8.2.",
    )
    PLUGIN_NAME = (
        "PLUGIN_NAME", APPEND, 2, "plug-in name", "KIP-984",
        "The batch has a pluggable codec, and the name of its plug-in is incomplete or has invalid characters.",
        "Have the client write the plug-in's name, preceded by its length, after the header.",
    )
    REBUILT_TOO_LARGE = (
        "REBUILT_TOO_LARGE", APPEND, 10, "max.message.bytes after a rebuild", "UnifiedLog.append",
        "The rebuilt batch is larger than max.message.bytes.",
        "Avoid the rebuild, raise the topic's max.message.bytes, or lower the producer's batch.size.",
    )
    SET_TOO_LARGE = (
        "SET_TOO_LARGE", APPEND, 18, "segment.bytes", "UnifiedLog.append",
        "The record set is larger than segment.bytes.",
        "Raise the topic's segment.bytes, or lower the producer's batch.size.",
    )

    # ---- LogValidator, by the header --------------------------------------------------------------------------------
    ZSTD_INTER_BROKER_PROTOCOL = (
        "ZSTD_INTER_BROKER_PROTOCOL", BATCH, 76, "zstd before protocol 2.1", "KIP-110, LogValidator",
        "The topic's codec is zstd, but inter.broker.protocol.version is below 2.1.",
        "Raise inter.broker.protocol.version, or set the topic's compression.type to another codec.",
    )
    MIXED_MAGIC = (
        "MIXED_MAGIC", BATCH, 87, "one magic", "LogValidator.validateBatch",
        "The magic of an entry differs from the magic of the first entry.",
        "Have the client write one message format per request.",
    )
    OFFSET_RANGE = (
        "OFFSET_RANGE", BATCH, 87, "last offset delta", "LogValidator.validateBatch",
        "The header's last offset delta is negative.",
        "Have the client write the number of records less 1.",
    )
    RECORD_COUNT = (
        "RECORD_COUNT", BATCH, 87, "record count", "LogValidator.validateBatch",
        "The header's record count is not positive; brokers never accept a batch without records.",
        "Have the client send batches of one record or more.",
    )
    COUNT_AND_OFFSETS = (
        "COUNT_AND_OFFSETS", BATCH, 87, "count and last offset", "KAFKA-6554, LogValidator.validateBatch",
        "The header's record count is not its last offset delta plus 1.",
        "Update the client: the last offset delta is the number of records less 1 (sarama: PR 1015).",
    )
    CONTROL_BATCH = (
        "CONTROL_BATCH", BATCH, 87, "control batch", "KIP-98, LogValidator.validateBatch",
        "Only brokers write control batches.",
        "Have the client leave attribute bit 5 at 0; omit control batches when you copy a log.",
    )
    NO_SEQUENCE = (
        "NO_SEQUENCE", BATCH, 87, "base sequence", "KIP-98, LogValidator.validateBatch",
        "The batch has a producer id but a negative sequence number.",
        "Have the client number its batches, or leave the producer id at -1.",
    )
    TRANSACTIONAL_MAGIC = (
        "TRANSACTIONAL_MAGIC", BATCH, 43, "transactions and magic", "KIP-98, LogValidator.validateBatch",
        "Transactional batches need a log of magic 2.",
        "Set the topic's message.format.version to 0.11.0 or later.",
    )
    IDEMPOTENT_MAGIC = (
        "IDEMPOTENT_MAGIC", BATCH, 43, "producer ids and magic", "KIP-98, LogValidator.validateBatch",
        "Batches with a producer id need a log of magic 2.",
        "Set the topic's message.format.version to 0.11.0 or later, or the producer's enable.idempotence to false.",
    )

    # ---- LogValidator, by the records -------------------------------------------------------------------------------
    DECOMPRESSION = (
        "DECOMPRESSION", RECORDS, -1, "compressed stream", "KIP-57, LogValidator",
        "The records area is not a valid stream of the batch's codec.",
        "Check the client's compressor: framing, checksums and the end of the stream.",
    )
    LZ4_HEADER_CHECKSUM = (
        "LZ4_HEADER_CHECKSUM", RECORDS, -1, "LZ4 header checksum", "KIP-57, Lz4BlockInputStream",
        "The LZ4 frame's header checksum is not what this broker expects for the magic.",
        "Magic 0 needs the checksum of old clients, over magic and descriptor; magic 1 and 2 need the standard "
        "checksum, over the descriptor alone (recordpress.fix_lz4_header, recordpress.break_lz4_header).",
    )
    LZ4_CONTENT_SIZE = (
        "LZ4_CONTENT_SIZE", RECORDS, -1, "LZ4 content size and checksum", "KIP-57, KafkaLZ4BlockInputStream",
        "Brokers before 0.10 reject LZ4 frames with a content size or content checksum.",
        "Have the client omit both from the frame.",
    )
    DECOMPRESSED_TOO_LARGE = (
        "DECOMPRESSED_TOO_LARGE", RECORDS, 10, "decompressed size", "max_decompressed_bytes",
        "The decompressed records exceed max_decompressed_bytes; a broker would run out of memory.",
        "Send smaller batches, or raise max_decompressed_bytes.",
    )
    RECORD_STRUCTURE = (
        "RECORD_STRUCTURE", RECORDS, 87, "record layout", "DefaultRecord.readFrom",
        "A record is malformed: a field extends beyond the end of the record, or the record has extra bytes.",
        "Check the client's encoder; the batch is malformed, or was changed later.",
    )
    RECORD_SIZE = (
        "RECORD_SIZE", RECORDS, 87, "max.decompressed.message.bytes", "DefaultRecord.readFrom",
        "A record of a compressed batch is larger than max.decompressed.message.bytes, or its length is negative.",
        "Send smaller records, or raise the topic's max.decompressed.message.bytes.",
    )
    RECORDS_AND_COUNT = (
        "RECORDS_AND_COUNT", RECORDS, 87, "records and count", "DefaultRecordBatch.RecordIterator",
        "The number of records differs from the header's count.",
        "Have the client write the number of records that it encodes.",
    )
    WRAPPER = (
        "WRAPPER", RECORDS, 87, "compressed message", "AbstractLegacyRecordBatch.DeepRecordsIterator",
        "The compressed message of magic 0 or 1 has a null value, no records, or the wrong offsets or magic.",
        "Check the client's encoder; a compressed message holds one or more messages with the wrapper's magic.",
    )
    WRAPPER_CODEC = (
        "WRAPPER_CODEC", RECORDS, 87, "codec of magic 0 and 1", "KIP-110, AbstractLegacyRecordBatch",
        "zstd needs magic 2.",
        "Have the client write magic 2, or use lz4, snappy or gzip.",
    )
    NESTED_COMPRESSION = (
        "NESTED_COMPRESSION", RECORDS, 87, "nested compression", "LogValidator.validateRecordCompression",
        "A message in a compressed message is itself compressed.",
        "Have the client compress only once.",
    )
    RECORD_MAGIC = (
        "RECORD_MAGIC", RECORDS, 87, "inner magic", "LogValidator.validateRecord",
        "A message in a compressed message has a different magic.",
        "Have the client write one message format per batch.",
    )
    INNER_CHECKSUM = (
        "INNER_CHECKSUM", RECORDS, 2, "inner checksum", "LogValidator.validateRecord",
        "The checksum of a message in a compressed message does not match its bytes.",
        "Send the message again; it was damaged before compression.",
    )
    NULL_KEY = (
        "NULL_KEY", RECORDS, 87, "key of a compacted topic", "LogValidator.validateKey",
        "A record has no key, which a compacted topic needs.",
        "Set a key on every record, or remove 'compact' from the topic's cleanup.policy.",
    )
    TIMESTAMP_RANGE = (
        "TIMESTAMP_RANGE", RECORDS, 32, "timestamp bounds", "KIP-32, KIP-937, LogValidator.validateTimestamp",
        "A record's timestamp is further from the broker's clock than the topic allows.",
        "Set message.timestamp.before.max.ms and message.timestamp.after.max.ms (one hour by default from Kafka 4.0), "
        "or correct the producer's clock.",
    )
    LOG_APPEND_TIME_BY_CLIENT = (
        "LOG_APPEND_TIME_BY_CLIENT", RECORDS, 32, "timestamp type of a client", "KIP-32, LogValidator",
        "The batch is marked as LogAppendTime, which only a broker may set.",
        "Have the client leave attribute bit 3 at 0.",
    )
    OFFSETS_NOT_REPAIRED = (
        "OFFSETS_NOT_REPAIRED", RECORDS, -1, "inner offsets, same codec", "KAFKA-8106, LogValidator",
        "The inner offsets are wrong. The broker expected to keep the batch and skipped its keys and values, so it "
        "cannot rebuild it.",
        "Update the client: it must count offset deltas from 0.",
    )
    OFFSETS_REFUSED = (
        "OFFSETS_REFUSED", RECORDS, 87, "inner offsets, Kafka 2.4.0 and 2.4.1", "KAFKA-9669",
        "These releases reject compressed batches whose inner offsets are not 0, 1, 2, ...; others repair them.",
        "Update the client, or the broker to 2.4.2 or later.",
    )
    HEADERS_MAGIC = (
        "HEADERS_MAGIC", RECORDS, -1, "headers and magic", "KIP-82, MemoryRecordsBuilder",
        "A record has headers, which a log of magic 0 or 1 cannot store.",
        "Set the topic's message.format.version to 0.11.0 or later, or send no headers.",
    )
    REBUILD_REFUSED = (
        "REBUILD_REFUSED", RECORDS, -1, "builder", "MemoryRecordsBuilder",
        "The builder rejects a value of the batch: a timestamp below -1, a producer id without an epoch, a transaction "
        "without a producer id, an offset above the maximum, or zstd in magic 0 or 1.",
        "Check the client's encoder, or avoid the rebuild.",
    )

    # ---- the state of the producer ----------------------------------------------------------------------------------
    DUPLICATE_BATCH = (
        "DUPLICATE_BATCH", PRODUCER, 0, "duplicate", "KIP-98, ProducerStateEntry.findDuplicateBatch",
        "The batch repeats one of the producer's last five, so the broker returns the offset of the first copy and "
        "stores nothing.",
        "No change is needed: this is how a broker ignores retries.",
    )
    PRODUCER_EPOCH = (
        "PRODUCER_EPOCH", PRODUCER, 47, "producer epoch", "KIP-98, KIP-588, ProducerAppendInfo",
        "The producer's epoch is lower than an earlier epoch: a newer producer has taken over.",
        "Close this producer; two producers with the same transactional.id fence each other.",
    )
    OUT_OF_ORDER_SEQUENCE = (
        "OUT_OF_ORDER_SEQUENCE", PRODUCER, 45, "sequence", "KIP-98, ProducerAppendInfo.checkSequence",
        "The batch's first sequence number does not follow the producer's last sequence number.",
        "Retry in order; max.in.flight.requests.per.connection must be 5 or less.",
    )
    NEW_EPOCH_SEQUENCE = (
        "NEW_EPOCH_SEQUENCE", PRODUCER, 45, "sequence of a new epoch", "KIP-98, ProducerAppendInfo.checkSequence",
        "The first batch of a new epoch must have sequence number 0.",
        "Have the client restart at sequence number 0 after it gets a new epoch.",
    )
    UNKNOWN_PRODUCER = (
        "UNKNOWN_PRODUCER", PRODUCER, 59, "known producer", "KIP-360, ProducerAppendInfo",
        "The producer is unknown and its sequence number is not 0; later brokers accept any number.",
        "Raise transactional.id.expiration.ms or the topic's retention, or update the broker to 2.5 or later.",
    )
    TRANSACTION_OPEN = (
        "TRANSACTION_OPEN", PRODUCER, 48, "open transaction", "KIP-98, ProducerAppendInfo.appendDataBatch",
        "The producer has an open transaction in this partition, and the batch is not transactional.",
        "Commit or abort the transaction first.",
    )
    COORDINATOR_EPOCH = (
        "COORDINATOR_EPOCH", PRODUCER, 52, "coordinator epoch", "KIP-98, ProducerAppendInfo.checkCoordinatorEpoch",
        "The marker comes from a transaction coordinator that has been replaced.",
        "No change is needed: the new coordinator writes the marker.",
    )

    # ---- a fetch ----------------------------------------------------------------------------------------------------
    FETCH_VERSION = (
        "FETCH_VERSION", FETCH, None, "Fetch version", "KIP-896, ApiKeys.FETCH",
        "The broker does not support this version of Fetch, so it closes the connection.",
        "Use a client that negotiates with ApiVersions; Kafka 4.0 needs Fetch 4 or later.",
    )
    OFFSET_OUT_OF_RANGE = (
        "OFFSET_OUT_OF_RANGE", FETCH, 1, "offset range", "LocalLog.read",
        "The offset is before the log's start or after its end.",
        "Check the consumer's auto.offset.reset and the topic's retention.ms.",
    )
    FETCH_SIZE = (
        "FETCH_SIZE", FETCH, -1, "fetch size", "LogSegment.read",
        "The byte limit of the request is negative.",
        "Set the consumer's max.partition.fetch.bytes to 0 or more.",
    )
    DAMAGED_LOG = (
        "DAMAGED_LOG", FETCH, 2, "entry in the log", "FileLogInputStream",
        "An entry of the log is smaller than any entry can be.",
        "Check the disk; recordpress.log.verify reports all damage.",
    )
    ZSTD_FETCH_VERSION = (
        "ZSTD_FETCH_VERSION", FETCH, 76, "zstd before Fetch 10", "KIP-110, KafkaApis.handleFetchRequest",
        "The topic's compression.type is zstd, which brokers 2.1 to 3.9 send only to Fetch 10 and later.",
        "Update the client, or set the topic's compression.type to another codec.",
    )
    DOWN_CONVERSION_DISABLED = (
        "DOWN_CONVERSION_DISABLED", FETCH, 35, "message.downconversion.enable", "KIP-283",
        "The client supports only an older message format, and the topic does not allow conversion.",
        "Update the client, or set the topic's message.downconversion.enable to true.",
    )
    ZSTD_DOWN_CONVERSION = (
        "ZSTD_DOWN_CONVERSION", FETCH, 76, "zstd in an older magic", "KIP-110, RecordsUtil.downConvert",
        "A zstd batch cannot be converted to an older message format, so the client gets the batches before it, or "
        "this error.",
        "Update the client: Fetch 4 and later get the batch unchanged, and Fetch 10 and later support zstd.",
    )
    CONVERSION_FAILED = (
        "CONVERSION_FAILED", FETCH, -1, "records of an older magic", "RecordsUtil.downConvert",
        "The first batch cannot be converted: its records break a rule.",
        "Check the batch with recordpress.log.verify; clients that need no conversion get it unchanged.",
    )
    RESPONSE_UNFINISHED = (
        "RESPONSE_UNFINISHED", FETCH, None, "end of the response", "LazyDownConversionRecordsSend",
        "A batch cannot be converted after the response has begun, so the broker closes the connection.",
        "Fetch fewer bytes at a time, or update the client.",
    )
    DOWN_CONVERSION = (
        "DOWN_CONVERSION", FETCH, 0, "down-conversion", "KIP-31, KIP-98, RecordsUtil.downConvert",
        "The client supports only an older message format, so the broker rewrites every record.",
        "Update the client: Fetch 4 and later need no conversion.",
    )


# fmt: off
class Finding(StrEnum):
    """Defect that a broker accepts and that affects consumers or operators.

    A member is a string, its own name in lower case, such as ``"poisoned"``.

    Attributes
    ----------
    rule, source, message, advice : str
        As in `Reason`.

    Examples
    --------
    >>> from recordpress.broker import Finding
    >>> Finding("poisoned").rule
    'record length'
    """

    rule: str
    source: str
    message: str
    advice: str

    def __new__(cls, name: str, rule: str, source: str, message: str, advice: str) -> Finding:
        member = str.__new__(cls, name)
        member._value_ = name
        member.rule = rule
        member.source = source
        member.message = message
        member.advice = advice
        return member

    POISONED = (
        "poisoned", "record length", "DefaultRecordBatch.skipKeyValueIterator, KAFKA-8106",
        "A record's length is wrong. A broker that keeps the batch ignores the length; a consumer stops at the record.",
        "Check the client's encoder, and do not store the batch.",
    )
    UNSEEN_OFFSETS = (
        "unseen_offsets", "offset deltas of an uncompressed batch", "LogValidator.assignOffsetsNonCompressed",
        "Offset deltas are not 0, 1, 2, ...; a broker ignores them in an uncompressed batch, so the log gets "
        "duplicate or unordered offsets.",
        "Update the client: it must count offset deltas from 0.",
    )
    BAD_LZ4_HEADER_CHECKSUM = (
        "bad_lz4_header_checksum", "LZ4 header checksum", "KIP-57",
        "The LZ4 frame's header checksum violates the standard, as magic 0 requires; readers do not check it.",
        "Use a client that writes magic 1 or 2 with the standard checksum; recordpress.fix_lz4_header repairs a frame.",
    )
    TRAILING_BYTES = (
        "trailing_bytes", "end of the compressed stream", "DefaultRecordBatch.RecordIterator",
        "The batch has bytes after the end of the compressed stream; brokers store them, and readers skip them.",
        "Check the client's compressor; the bytes cost space, and some readers reject them.",
    )
    UNKNOWN_ATTRIBUTES = (
        "unknown_attributes", "attribute bits", "DefaultRecordBatch",
        "The batch has attribute bits that Kafka does not define for a client; brokers store them.",
        "Have the client leave these bits at 0: a later version may give them a meaning.",
    )
    NEGATIVE_TIMESTAMPS = (
        "negative_timestamps", "timestamp below -1", "LogValidator.validateTimestamp",
        "A record's timestamp is below -1, which has no meaning; the header's largest timestamp becomes -1.",
        "Have the client write -1 for records without a timestamp.",
    )
    LOST_FIELDS = (
        "lost_fields", "fields without a place", "RecordsUtil.downConvert",
        "Records lose headers, timestamps, producers or transactions, because the older format cannot store them.",
        "Update the client: Fetch 4 and later get all fields.",
    )
    DROPPED_MARKERS = (
        "dropped_markers", "control batches without a place", "KIP-98, RecordsUtil.downConvert",
        "Control batches are omitted, so records of aborted transactions look like all other records.",
        "Update the client, and have it read committed records.",
    )
    REPEATED_BATCHES = (
        "repeated_batches", "batches that are sent twice", "LazyDownConversionRecords.Iterator",
        "The first batch with records is sent twice, because the broker counts it and the batches before it as one.",
        "Have the client skip repeated offsets, or update the client.",
    )
    OVERFLOW_FILLER = (
        "overflow_filler", "filler of the response", "KIP-283, LazyDownConversionRecordsSend",
        "The announced response is longer than its records, so it ends with an entry that looks incomplete.",
        "No change is needed; a client must treat it as an incomplete entry.",
    )
    CUT_ENTRY = (
        "cut_entry", "cut entry of the response", "KIP-74, LogSegment.read",
        "The last entry is incomplete because of the response limit; the client fetches it again.",
        "No change is needed; a client must ignore the incomplete entry.",
    )


def reasons_of(bits: int) -> list[Reason]:
    """Return the reasons to rebuild in a bit set of the C validator."""
    return [reason for bit, reason in enumerate(_REBUILDS) if bits >> bit & 1] if bits else []


def findings_of(bits: int) -> list[Finding]:
    """Return the findings in a bit set of the C validator."""
    return [finding for bit, finding in enumerate(Finding) if bits >> bit & 1] if bits else []


_REBUILDS = [reason for reason in Reason if reason.stage == REBUILD]
