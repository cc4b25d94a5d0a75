"""The record classes of aiokafka and kafka-python. Importing the latter warns use of importlib."""

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from aiokafka.record import default_records as aiokafka_v2, legacy_records as aiokafka_legacy
    from aiokafka.record.memory_records import MemoryRecords as AiokafkaRecords
    from kafka.record import default_records as kafka_python_v2, legacy_records as kafka_python_legacy
    from kafka.record.memory_records import MemoryRecords as KafkaPythonRecords

READERS = {"aiokafka": AiokafkaRecords, "kafka-python": KafkaPythonRecords}
BUILDERS = {
    "aiokafka": (aiokafka_legacy.LegacyRecordBatchBuilder, aiokafka_v2.DefaultRecordBatchBuilder),
    "kafka-python": (kafka_python_legacy.LegacyRecordBatchBuilder, kafka_python_v2.DefaultRecordBatchBuilder),
}
