from collections.abc import Iterable

from typing_extensions import Buffer

def write_records(
    values: Iterable[Buffer | None],
    keys: Iterable[Buffer | None] | None = None,
    timestamps: int | Iterable[int] | None = None,
    headers: Iterable[Iterable[tuple[str, Buffer | None]] | None] | None = None,
    *,
    offsets: Iterable[int] | None = None,
    compression_type: str | int = "none",
    level: int | str | None = None,
    magic: int = 2,
    base_offset: int | None = None,
    batch_bytes: int | None = None,
    batch_records: int | None = None,
    timestamp_type: int = 0,
    log_append_time: int = -1,
    producer_id: int = -1,
    producer_epoch: int = -1,
    base_sequence: int = -1,
    partition_leader_epoch: int = -1,
    is_transactional: bool = False,
    delete_horizon_ms: int | None = None,
) -> bytes: ...
