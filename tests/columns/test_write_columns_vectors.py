"""What Kafka's encoders wrote, read as columns and written again from them."""

from __future__ import annotations

import oracle
import recordpress
from facts import record_facts
from oracle import Vector

# Sets of one magic and one codec that every record of can be told by its columns.
SETS = [
    vector
    for vector in oracle.RECORD_SETS
    if vector.entry.get("magic") in (0, 1, 2)
    and vector.entry.get("codec") in ("none", "gzip", "snappy", "lz4", "zstd")
    and not vector.entry.get("has_error")
    and not vector.entry.get("crafted")
]
PLAIN = {
    "leader_epoch": -1,
    "producer_id": -1,
    "is_transactional": False,
    "is_control": False,
    "delete_horizon_ms": None,
    "timestamp_type": "CreateTime",
}


def _write(vector: Vector) -> bytes:
    columns = ["offset", "timestamp", "timestampType", "key", "value", "headers"]
    return recordpress.write_columns(
        recordpress.read_columns(vector.data, columns),
        magic=vector.entry["magic"],
        compression_type=vector.entry["codec"],
        batch_bytes=None,
    )


@oracle.each("vector", SETS)
def test_records_are_kept(vector: Vector) -> None:
    kept = ("offset", "timestamp", "key", "value", "headers")
    batches = [batch for batch in vector.expected["batches"] if not batch.get("is_control")]
    expected = [{name: record[name] for name in kept} for batch in batches for record in batch["records"]]
    magic = vector.entry["magic"]
    written = [record_facts(record, magic) for batch in recordpress.read_batches(_write(vector)) for record in batch]
    assert [{name: facts[name] for name in kept} for facts in written] == expected


def _is_plain(vector: Vector) -> bool:
    """Messages of v0 or v1, or one v2 batch whose header says nothing that is not in the columns."""
    batches = vector.expected["batches"]
    magics = {batch["magic"] for batch in batches}  # compaction by today's brokers makes v2 of older ones
    if magics != {2}:
        return magics == {vector.entry["magic"]}
    return len(batches) == 1 and all(batches[0][name] == value for name, value in PLAIN.items())


PLAIN_SETS = [vector for vector in SETS if vector.entry["codec"] == "none" and _is_plain(vector)]


@oracle.each("vector", PLAIN_SETS)
def test_uncompressed_bytes_are_kept(vector: Vector) -> None:
    assert _write(vector).hex() == vector.data.hex()
