"""Exceptions of recordpress, with Kafka's names and error codes.

::

    RecordpressError
    ├── CorruptRecordError                CORRUPT_MESSAGE (2)
    │   └── DecompressionError            CORRUPT_MESSAGE (2)
    ├── InvalidRecordError                INVALID_RECORD (87)
    ├── UnsupportedCompressionTypeError   UNSUPPORTED_COMPRESSION_TYPE (76)
    ├── StorageError                      KAFKA_STORAGE_ERROR (56), also an OSError
    ├── OutputTooLargeError               the caller's limit was reached; the data may be sound
    ├── InvalidArgumentError              also a ValueError
    │   ├── ClosedError
    │   ├── InUseError                also a RuntimeError
    │   └── NotFoundError             also a KeyError and an IndexError
    └── ArgumentTypeError                 also a TypeError

Bad data raises one of the first four, a store that fails raises StorageError, and a wrong call one of the last five.
Local files raise Python's own OSError, and a lack of memory raises MemoryError.
"""

__all__ = [
    "ArgumentTypeError",
    "ClosedError",
    "CorruptRecordError",
    "DecompressionError",
    "InUseError",
    "InvalidArgumentError",
    "InvalidRecordError",
    "NotFoundError",
    "OutputTooLargeError",
    "RecordpressError",
    "StorageError",
    "UnsupportedCompressionTypeError",
]


class RecordpressError(Exception):
    """Base of all errors of this package.

    The attributes state the place of the error; an attribute that is not known is None.

    Attributes
    ----------
    file : str | None
        The file that was being read.
    position : int | None
        Position of the bad batch, or of another entry, in the file or buffer.
    offset : int | None
        Kafka's offset of the batch or record.
    field : str | None
        The wrong field, named as in Kafka's protocol or the codec's format; or the wrong argument.
    field_position : int | None
        Position of the field in the file or buffer, unless it lies in compressed data.
    rule : str | None
        The rule that was broken.
    code : int | None
        Kafka's error code, if Kafka has a code for the error.

    Remedy
    ------
    Catch this class to handle all errors of recordpress. Its attributes name the file, byte and field to look at.

    Examples
    --------
    >>> import recordpress
    >>> try:
    ...     recordpress.decompress(b"no frame at all", "lz4")
    ... except recordpress.RecordpressError as error:
    ...     print(type(error).__name__, error.field, error.field_position, error.code)
    DecompressionError magic 0 2
    """

    code: int | None = None

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        position: int | None = None,
        offset: int | None = None,
        field: str | None = None,
        field_position: int | None = None,
        rule: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        self.position = position
        self.offset = offset
        self.field = field
        self.field_position = field_position
        self.rule = rule

    def __str__(self) -> str:
        at = "" if self.field_position is None else f" at byte {self.field_position}"
        known = (
            ("file", self.file),
            ("byte", self.position),
            ("offset", self.offset),
            ("field", None if self.field is None else self.field + at),
            ("rule", self.rule),
        )
        where = ", ".join(f"{name} {value}" for name, value in known if value is not None)
        return f"{self.message} ({where})" if where else self.message

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.message, self.__dict__.copy()))


def _rebuild(cls: type[RecordpressError], message: str, state: dict[str, object]) -> RecordpressError:
    """Unpickle an error with its data: Spark carries exceptions from executors to the driver."""
    error = cls(message)
    error.__dict__.update(state)
    return error


class CorruptRecordError(RecordpressError):
    """The bytes are not a record set: a bad checksum, an impossible size, or an unknown magic.

    Remedy
    ------
    Look at `position`: the batch there is damaged, or no batch begins there. `recordpress scan` finds all damage
    in a log and `recordpress repair` copies the intact batches. A fetch response with a truncated last entry is not an
    error unless ``complete=True`` requires complete entries.

    Examples
    --------
    >>> import recordpress
    >>> data = bytearray(recordpress.write_records([b"value"]))
    >>> data[-1] ^= 1
    >>> try:
    ...     recordpress.read_columns(data)
    ... except recordpress.CorruptRecordError as error:
    ...     print(error.position, error.field, error.field_position, error.code)
    0 crc 17 2
    """

    code = 2


class DecompressionError(CorruptRecordError):
    """A codec's stream is damaged or truncated, or uses features that Kafka does not accept.

    Remedy
    ------
    If the checksum of the batch is right, its writer produced a stream that Kafka's readers also refuse: write the
    batch again with another codec or library. Otherwise, treat the error as a CorruptRecordError.

    Examples
    --------
    >>> import recordpress
    >>> try:
    ...     recordpress.decompress(recordpress.compress(b"a line " * 100, "gzip")[:-1], "gzip")
    ... except recordpress.DecompressionError as error:
    ...     print(error.code)
    2
    """


class InvalidRecordError(RecordpressError):
    """A record or batch breaks a rule of the format, even if its checksum is right.

    Remedy
    ------
    The writer is at fault, and `rule` names the rule that it broke. A broker rejects such a batch when it is produced,
    so correct the writer. `recordpress explain` shows a broker's answer.

    Examples
    --------
    >>> import recordpress
    >>> data = bytearray(recordpress.write_records([b"value"]))
    >>> data[57:61] = (2).to_bytes(4, "big")                     # recordsCount
    >>> data[17:21] = recordpress.crc32c(data[21:]).to_bytes(4, "big")
    >>> try:
    ...     recordpress.read_columns(data)
    ... except recordpress.InvalidRecordError as error:
    ...     print(error.code)
    87
    """

    code = 87


class UnsupportedCompressionTypeError(RecordpressError):
    """No codec has this compression type id, or this message format does not allow it.

    Remedy
    ------
    Ids 6 and 7 are not assigned; a batch with id 5 names a plug-in, which a `CodecRegistry` passed as
    ``codecs=`` must have. Formats v0 and v1 do not support zstd: write v2, or use another codec.

    Examples
    --------
    >>> import recordpress
    >>> data = bytearray(recordpress.write_records([b"value"]))
    >>> data[22] |= 7                                            # the codec's bits of the attributes
    >>> data[17:21] = recordpress.crc32c(data[21:]).to_bytes(4, "big")
    >>> try:
    ...     recordpress.read_columns(data)
    ... except recordpress.UnsupportedCompressionTypeError as error:
    ...     print(error.code)
    76
    """

    code = 76


class OutputTooLargeError(RecordpressError):
    """Decompression reached the caller's limit, max_decompressed_bytes.

    Remedy
    ------
    If you trust the data and have the memory, raise ``max_decompressed_bytes``; the limit is `DEFAULT_MAX_SIZE`
    by default, and 2 GiB - 1 at most. Otherwise, treat the data as an attack: small inputs can claim
    gigabytes.

    Examples
    --------
    >>> import recordpress
    >>> bomb = recordpress.compress(bytes(1_000_000), "zstd")
    >>> try:
    ...     recordpress.decompress(bomb, "zstd", max_decompressed_bytes=1000)
    ... except recordpress.OutputTooLargeError as error:
    ...     print(len(bomb) < 100, error.code)
    True None
    """


class StorageError(RecordpressError, OSError):
    """An object store or another remote file system failed; the data may be intact.

    Remedy
    ------
    Check credentials, region and network, and try again. Repeat the call to resume an interrupted copy.

    Examples
    --------
    >>> import recordpress
    >>> recordpress.StorageError("the store did not answer", file="s3://backup/orders-0").file
    's3://backup/orders-0'
    >>> issubclass(recordpress.StorageError, OSError)
    True
    """

    code = 56


class InvalidArgumentError(RecordpressError, ValueError):
    """An argument has a value that is not accepted; the message lists the accepted values.

    Remedy
    ------
    Correct the call: `field` is the argument, and the message lists what is accepted.

    Examples
    --------
    >>> import recordpress
    >>> try:
    ...     recordpress.compress(b"data", "zstd", 99)
    ... except recordpress.InvalidArgumentError as error:
    ...     print(error.field, isinstance(error, ValueError))
    level True
    """


class ClosedError(InvalidArgumentError):
    """The object was closed, or its result was already taken.

    Remedy
    ------
    Create a new object: a builder builds one batch, and a reader reads once.

    Examples
    --------
    >>> import recordpress
    >>> builder = recordpress.BatchBuilder()
    >>> data = builder.build()
    >>> try:
    ...     builder.append(b"value")
    ... except recordpress.ClosedError as error:
    ...     print(isinstance(error, ValueError))
    True
    """


class InUseError(InvalidArgumentError, RuntimeError):
    """Another call is using the object: a call of another thread, or the call that led to this call.

    Remedy
    ------
    Give each thread a separate object, or use a lock; do not use an object in code that its calls run, such
    as a callback.

    Examples
    --------
    >>> import recordpress
    >>> builder = recordpress.BatchBuilder()
    >>> class Headers(list):
    ...     def __iter__(self):
    ...         builder.append(b"another record")
    >>> try:
    ...     builder.append(b"value", headers=Headers([("key", b"")]))
    ... except recordpress.InUseError as error:
    ...     print(error)
    the builder is in use by another call
    """


class NotFoundError(InvalidArgumentError, KeyError, IndexError):
    """A column with this name, a row or record with this number, or a dictionary with this id does not exist.

    Remedy
    ------
    The message lists the columns, or states the number of rows or records, or the id.

    Examples
    --------
    >>> import recordpress
    >>> try:
    ...     recordpress.read_columns(b"")["values"]
    ... except KeyError as error:
    ...     print(type(error).__name__)
    NotFoundError
    """


class ArgumentTypeError(RecordpressError, TypeError):
    """An argument has a type that is not accepted; the message lists the accepted types.

    Remedy
    ------
    Correct the call: `field` is the argument. Text is not bytes: encode it first.

    Examples
    --------
    >>> import recordpress
    >>> try:
    ...     recordpress.compress("text", "zstd")
    ... except recordpress.ArgumentTypeError as error:
    ...     print(error.field, isinstance(error, TypeError))
    data True
    """
