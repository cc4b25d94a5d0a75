"""aiokafka's record classes and codec functions on recordpress: the same names, arguments and results.

`install` puts them under the client, `uninstall` takes them out, `installed` does both around a block. Without that
they can be used by themselves. Supported are aiokafka 0.12 to 0.14. Where aiokafka differs from Kafka, these do as
Kafka does: the table is in docs/adapters.md.

Examples
--------
>>> import recordpress.adapters.aiokafka as fast
>>> builder = fast.DefaultRecordBatchBuilder(2, 4, 0, -1, -1, -1, 16384)
>>> builder.append(0, timestamp=1700000000000, key=b"k", value=b"v", headers=[])
DefaultRecordMetadata(offset=0, size=9, timestamp=1700000000000)
>>> [batch] = [fast.MemoryRecords(bytes(builder.build())).next_batch()]
>>> batch.validate_crc(), [record.value for record in batch]
(True, [b'v'])
"""

from __future__ import annotations

import aiokafka.codec as _client_codec
import aiokafka.errors as _errors
from aiokafka.record import control_record as _control

from recordpress.adapters import _aiokafka, _aiokafka_building
from recordpress.adapters._aiokafka import (
    DefaultRecord,
    DefaultRecordBatch,
    LegacyRecord,
    LegacyRecordBatch,
    MemoryRecords,
)
from recordpress.adapters._aiokafka_building import BatchBuilder, DefaultRecordBatchBuilder, LegacyRecordBatchBuilder
from recordpress.adapters._building import DefaultRecordMetadata, LegacyRecordMetadata
from recordpress.adapters._codecs import (
    calc_crc32c,
    client_of,
    decoders,
    gzip_encode,
    has_gzip,
    has_lz4,
    has_snappy,
    has_zstd,
    lz4_encode,
    snappy_encode,
    zstd_encode,
)
from recordpress.adapters._install import Adapter, calls_of, check_version

__all__ = [
    "ABORT_MARKER",
    "COMMIT_MARKER",
    "BatchBuilder",
    "ControlRecord",
    "DefaultRecord",
    "DefaultRecordBatch",
    "DefaultRecordBatchBuilder",
    "DefaultRecordMetadata",
    "LegacyRecord",
    "LegacyRecordBatch",
    "LegacyRecordBatchBuilder",
    "LegacyRecordMetadata",
    "MemoryRecords",
    "calc_crc32c",
    "gzip_decode",
    "gzip_encode",
    "has_gzip",
    "has_lz4",
    "has_snappy",
    "has_zstd",
    "install",
    "installed",
    "lz4_decode",
    "lz4_encode",
    "snappy_decode",
    "snappy_encode",
    "uninstall",
    "zstd_decode",
    "zstd_encode",
]

ControlRecord = _control.ControlRecord
"""Version and type of a control record, by its key; aiokafka's own class.

>>> from recordpress.adapters import aiokafka as fast
>>> fast.ControlRecord.parse(bytes([0, 0, 0, 1]))
ControlRecord(version=0, type_=1)
"""

ABORT_MARKER = _control.ABORT_MARKER
"""Control record of an aborted transaction; aiokafka's own class.

>>> from recordpress.adapters import aiokafka as fast
>>> fast.ABORT_MARKER.type_
0
"""

COMMIT_MARKER = _control.COMMIT_MARKER
"""Control record of a committed transaction; aiokafka's own class.

>>> from recordpress.adapters import aiokafka as fast
>>> fast.COMMIT_MARKER.type_
1
"""

_VERSION = check_version("aiokafka", (0, 12), (0, 15))
_client = client_of(
    _errors.CorruptRecordException,
    _errors.UnsupportedCodecError,
    _client_codec,
    "Unknown compression codec {:#04x}",
)
_decoders = decoders(_client, "aiokafka")
gzip_decode, snappy_decode = _decoders["gzip_decode"], _decoders["snappy_decode"]
lz4_decode, zstd_decode = _decoders["lz4_decode"], _decoders["zstd_decode"]
_aiokafka.use(_client)
_aiokafka_building.use(_client)

_CODECS = "has_gzip has_lz4 has_snappy has_zstd gzip_decode gzip_encode lz4_decode lz4_encode"
_NAMES = {
    "aiokafka.record.default_records": (
        "DefaultRecord DefaultRecordBatch DefaultRecordBatchBuilder DefaultRecordMetadata"
    ),
    "aiokafka.record.legacy_records": "LegacyRecord LegacyRecordBatch LegacyRecordBatchBuilder LegacyRecordMetadata",
    "aiokafka.record.memory_records": "MemoryRecords",
    "aiokafka.record.util": "calc_crc32c",
    "aiokafka.codec": f"{_CODECS} snappy_decode snappy_encode zstd_decode zstd_encode",
}
if _VERSION >= (0, 14):  # before, its first argument was the magic
    _NAMES["aiokafka.producer.message_accumulator"] = "BatchBuilder"

_adapter = Adapter(
    "aiokafka",
    globals(),
    _NAMES,
    [("aiokafka.producer.producer", "AIOKafkaProducer", "_COMPRESSORS")],
    ["aiokafka", "aiokafka.consumer.fetcher", "aiokafka.producer.message_accumulator", "aiokafka.protocol.message"],
)

install, uninstall, installed = calls_of(
    _adapter, _client, name="aiokafka", module="aiokafka", libraries="cramjam", corrupt="CorruptRecordException"
)
