from typing_extensions import disjoint_base

@disjoint_base
class DeepIterator: ...

def analyze(data: bytes, max_message_bytes: int) -> tuple[int, int]: ...
def largest_entry(records: bytes) -> int: ...

@disjoint_base
class MessageValidator(DeepIterator): ...

@disjoint_base
class StoredMessages:
    records: bytes
    count: int
    reasons: int
    is_rebuilt: bool

def validate_messages(
    data: bytes,
    *,
    generation: int,
    source_codec: int,
    target_codec: int,
    target_magic: int,
    compacted: bool,
    log_append_time: bool,
    before_max_ms: int,
    next_offset: int,
    now_ms: int,
) -> StoredMessages: ...
def compare_messages(sent: bytes, stored: bytes) -> int: ...
