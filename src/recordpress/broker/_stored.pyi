from typing_extensions import disjoint_base

from recordpress.broker._analyze import BatchHeader

@disjoint_base
class StoredSet:
    size: int
    header: BatchHeader | None
    rewritten: bool
    @property
    def records(self) -> bytes: ...
