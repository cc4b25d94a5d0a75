from typing import Protocol

class _ArrowArrayExportable(Protocol):
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

class _ArrowStreamExportable(Protocol):
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

def write_columns(
    data: _ArrowArrayExportable | _ArrowStreamExportable,
    *,
    compression_type: str | int = "none",
    level: int | str | None = None,
    magic: int = 2,
    base_offset: int | None = None,
    batch_bytes: int | None = 1 << 20,
    batch_records: int | None = None,
    timestamp_type: int | None = None,
    log_append_time: int = -1,
    producer_id: int = -1,
    producer_epoch: int = -1,
    base_sequence: int = -1,
    partition_leader_epoch: int = -1,
    is_transactional: bool = False,
    delete_horizon_ms: int | None = None,
) -> bytes: ...
