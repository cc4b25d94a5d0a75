"""Columns in the words of the vectors' expected content (see facts), through pyarrow."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from facts import TIMESTAMP_TYPES, Facts, bytes_fact

RECORD_COLUMNS = ("offset", "timestamp", "timestampType", "key", "value", "headers")
BATCH_COLUMNS = (
    "producerId",
    "producerEpoch",
    "sequence",
    "partitionLeaderEpoch",
    "isTransactional",
    "isControl",
    "baseOffset",
)


def column_facts(table: pa.Table) -> dict[str, list[Any]]:
    """One list per column; a null timestamp is Kafka's -1."""
    columns = {name: table.column(name).to_pylist() for name in table.column_names if name != "timestamp"}
    if "timestamp" in table.column_names:
        ticks = table.column("timestamp").cast(pa.int64()).to_pylist()
        columns["timestamp"] = [-1 if tick is None else tick for tick in ticks]
    if "timestampType" in columns:
        columns["timestampType"] = [TIMESTAMP_TYPES[number] for number in columns["timestampType"]]
    for name in {"key", "value"} & columns.keys():
        columns[name] = [bytes_fact(item) for item in columns[name]]
    if "headers" in columns:
        columns["headers"] = [[[h["key"], bytes_fact(h["value"])] for h in row] for row in columns["headers"]]
    return columns


def expected_columns(batches: list[Facts]) -> dict[str, list[Any]]:
    """The same from the expected content: every record of these batches, in order."""
    columns: dict[str, list[Any]] = {name: [] for name in RECORD_COLUMNS + BATCH_COLUMNS}
    for batch in batches:
        for record in batch["records"]:
            for name in ("offset", "timestamp", "key", "value", "headers"):
                columns[name].append(record[name])
            columns["timestampType"].append(batch["timestamp_type"])
            columns["producerId"].append(batch.get("producer_id", -1))
            columns["producerEpoch"].append(batch.get("producer_epoch", -1))
            columns["sequence"].append(record.get("sequence", -1))
            columns["partitionLeaderEpoch"].append(batch.get("leader_epoch", -1))
            columns["isTransactional"].append(batch.get("is_transactional", False))
            columns["isControl"].append(batch.get("is_control", False))
            columns["baseOffset"].append(batch["base_offset"])
    return columns
