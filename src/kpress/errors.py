"""The exceptions of kpress, with Kafka's names and error codes.

::

    KpressError
    ├── CorruptRecordError                CORRUPT_MESSAGE (2)
    │   └── DecompressionError            CORRUPT_MESSAGE (2)
    ├── InvalidRecordError                INVALID_RECORD (87)
    ├── UnsupportedCompressionTypeError   UNSUPPORTED_COMPRESSION_TYPE (76)
    ├── StorageError                      KAFKA_STORAGE_ERROR (56), also an OSError
    ├── OutputTooLargeError               the caller's limit was reached; the data may be sound
    ├── InvalidArgumentError              also a ValueError
    │   └── ClosedError
    └── ArgumentTypeError                 also a TypeError

Data that was read raises the first four, a store that fails StorageError, and a wrong argument one of the last three.
Local files raise Python's own OSError, and running out of memory its MemoryError.
"""

__all__ = [
    "ArgumentTypeError",
    "ClosedError",
    "CorruptRecordError",
    "DecompressionError",
    "InvalidArgumentError",
    "InvalidRecordError",
    "KpressError",
    "OutputTooLargeError",
    "StorageError",
    "UnsupportedCompressionTypeError",
]


class KpressError(Exception):
    """Base of all errors of this package.

    Its attributes say where the error is, as far as that is known; the others are None.

    Attributes
    ----------
    file : str | None
        The file that was being read.
    position : int | None
        Position in the file or buffer of the entry or field that is wrong.
    offset : int | None
        Kafka's offset of the batch or record.
    field : str | None
        The field that is wrong, named as in Kafka's protocol or the codec's format; or the argument that is wrong.
    rule : str | None
        The rule that was broken.
    code : int | None
        Kafka's error code, if it has one for the error.

    Examples
    --------
    >>> import kpress
    >>> try:
    ...     kpress.decompress(b"no frame at all", "lz4")
    ... except kpress.KpressError as error:
    ...     print(type(error).__name__, error.field, error.position, error.code)
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
        rule: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        self.position = position
        self.offset = offset
        self.field = field
        self.rule = rule

    def __str__(self) -> str:
        known = (
            ("file", self.file),
            ("byte", self.position),
            ("offset", self.offset),
            ("field", self.field),
            ("rule", self.rule),
        )
        where = ", ".join(f"{name} {value}" for name, value in known if value is not None)
        return f"{self.message} ({where})" if where else self.message

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.message, self.__dict__.copy()))


def _rebuild(cls: type[KpressError], message: str, state: dict[str, object]) -> KpressError:
    """Unpickle an error with its data: Spark carries exceptions from executors to the driver."""
    error = cls(message)
    error.__dict__.update(state)
    return error


class CorruptRecordError(KpressError):
    """The bytes are not a record set: a bad checksum, an impossible size, an unknown magic."""

    code = 2


class DecompressionError(CorruptRecordError):
    """A codec's stream is damaged, cut short, or uses features that Kafka does not accept."""


class InvalidRecordError(KpressError):
    """A record or batch breaks a rule of the format, even if its checksum is right."""

    code = 87


class UnsupportedCompressionTypeError(KpressError):
    """No codec has this compression type id, or this message format does not allow it."""

    code = 76


class OutputTooLargeError(KpressError):
    """Decompression reached the caller's limit, max_decompressed_bytes."""


class StorageError(KpressError, OSError):
    """An object store or another remote file system failed; this says nothing about the data."""

    code = 56


class InvalidArgumentError(KpressError, ValueError):
    """An argument has a value that is not accepted; the message says which values are."""


class ClosedError(InvalidArgumentError):
    """The object was closed, or its result was already taken."""


class ArgumentTypeError(KpressError, TypeError):
    """An argument has a type that is not accepted; the message says which types are."""
