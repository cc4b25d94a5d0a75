from typing_extensions import disjoint_base

from recordpress.record.header import BatchHeader

@disjoint_base
class StoredSet:
    size: int
    header: BatchHeader | None
    rewritten: bool
    @property
    def records(self) -> bytes: ...
