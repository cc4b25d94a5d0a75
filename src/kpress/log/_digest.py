"""A digest of records in order: two logs with the same digest hold the same records.

Each column is hashed as a stream of its own, and then the digests of all streams together: neither the division of rows
into Arrow batches nor that of records into Kafka batches matters. Streams consist of whole Arrow buffers, so no record
becomes a Python object. Needs pyarrow and NumPy.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

_DIGEST_BYTES = 16


class RecordDigest:
    """BLAKE2b over the columns of records, batch by batch.

    Examples
    --------
    >>> import pyarrow as pa
    >>> whole, halves = RecordDigest(["key"]), RecordDigest(["key"])
    >>> batch = pa.record_batch({"key": [b"a", None, b"", b"bc"]})
    >>> whole.update(batch)
    >>> halves.update(batch[:2]); halves.update(batch[2:])
    >>> whole.hexdigest() == halves.hexdigest()
    True
    """

    def __init__(self, columns: Iterable[str]) -> None:
        self.columns = tuple(columns)
        self.records = 0
        self._streams: dict[str, Any] = {}

    def update(self, batch: pa.RecordBatch) -> None:
        """Continue with the rows of `batch`, which has all of the columns and perhaps others."""
        self.records += batch.num_rows
        for name in self.columns:
            self._add(name, batch.column(name))

    def hexdigest(self) -> str:
        """32 hexadecimal digits."""
        whole = hashlib.blake2b(digest_size=_DIGEST_BYTES)
        whole.update(f"{self.records} {' '.join(self.columns)}".encode())
        for name in sorted(self._streams):
            whole.update(name.encode() + b"\0" + self._streams[name].digest())
        return whole.hexdigest()

    def _stream(self, name: str) -> Any:
        if name not in self._streams:
            self._streams[name] = hashlib.blake2b(digest_size=_DIGEST_BYTES)
        return self._streams[name]

    def _add(self, name: str, array: pa.Array) -> None:
        import pyarrow as pa

        if pa.types.is_list(array.type):
            self._add_lists(name, array)
        elif pa.types.is_string(array.type) or pa.types.is_binary(array.type):
            self._add_binary(name, array)
        else:
            self._add_numbers(name, array)

    def _add_lists(self, name: str, array: pa.Array) -> None:
        self._add_lengths(name, array.value_lengths())
        for i, field in enumerate(array.type.value_type):
            self._add(f"{name}.{field.name}", array.flatten().flatten()[i])

    def _add_binary(self, name: str, array: pa.Array) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        self._add_lengths(name, pc.binary_length(array))
        values = array.drop_null().cast(pa.binary())
        _, _, data = values.buffers()
        if data is not None and len(values):
            first, last = _ends(values)
            self._stream(name).update(memoryview(data)[first:last])

    def _add_lengths(self, name: str, lengths: pa.Array) -> None:
        """-1 stands for null. The lengths say where each value in the stream of bytes ends."""
        self._stream(f"{name} length").update(lengths.fill_null(-1).to_numpy(zero_copy_only=False).data)

    def _add_numbers(self, name: str, array: pa.Array) -> None:
        import pyarrow as pa

        valid = array.is_valid().to_numpy(zero_copy_only=False)
        if pa.types.is_timestamp(array.type):
            array = array.cast(pa.timestamp("us", array.type.tz)).cast(pa.int64())
        if pa.types.is_boolean(array.type):
            array = array.cast(pa.int8())
        self._stream(f"{name} valid").update(valid.data)
        self._stream(name).update(array.fill_null(0).to_numpy(zero_copy_only=False).data)


def _ends(values: pa.Array) -> tuple[int, int]:
    """Where the data of a binary array's first value begins and of its last ends."""
    import numpy as np

    offsets = np.frombuffer(values.buffers()[1], dtype=np.int32)
    return int(offsets[values.offset]), int(offsets[values.offset + len(values)])
