"""Codec for closed loops: batches compressed by zstd with a dictionary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from recordpress._arguments import integer
from recordpress.codecs import Dictionary, compress, decompress
from recordpress.codecs.choice import ZSTD_LEVELS, CodecChoice
from recordpress.errors import ArgumentTypeError

if TYPE_CHECKING:
    from recordpress.codecs.dictionary_types import Dictionaries
    from recordpress.typing import Integer, Level

_MOST = 2_147_483_647  # the largest cap that decompress accepts


class DictionaryCodec:
    """Codec ``zstd-dict`` for a `CodecRegistry`: zstd with a dictionary, which every reader of the batches needs.

    It is for closed loops: released brokers and clients do not support it. Each batch names its dictionary, so writers
    may use a new dictionary while batches with the old one are still read.

    Parameters
    ----------
    dictionary : Dictionary
        Dictionary to compress batches with.
    dictionaries : Dictionary, DictionaryStore or dict of int to Dictionary, optional
        Further dictionaries, for reading batches that name them.
    level : int, optional
        zstd level, by default 3. A writer may choose another level.

    Attributes
    ----------
    name : str
        ``"zstd-dict"``.
    levels : tuple of int
        Lowest, highest and default level.

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError

    Examples
    --------
    >>> import recordpress
    >>> dictionary = recordpress.dictionaries.train_values([b"value %d of many" % n for n in range(1000)], 512)
    >>> codec = recordpress.dictionaries.DictionaryCodec(dictionary)
    >>> codec.decompress(codec.compress(b"value 7 of many"), 100)
    b'value 7 of many'
    """

    name = "zstd-dict"

    def __init__(
        self,
        dictionary: Dictionary,
        dictionaries: Dictionaries | None = None,
        *,
        level: Integer | Literal["kafka-default"] | None = None,
    ) -> None:
        if not isinstance(dictionary, Dictionary):
            raise ArgumentTypeError(
                f"dictionary must be a recordpress.dictionaries.Dictionary, not {type(dictionary).__name__}",
                field="dictionary",
            )
        CodecChoice("zstd", level, dictionary=dictionary)
        decompress(b"", "zstd", dictionaries={} if dictionaries is None else dictionaries)
        self.dictionary = dictionary
        self.dictionaries = dictionaries
        least, most, default = ZSTD_LEVELS
        preferred = default if level is None or isinstance(level, str) else integer(level, "level", least, most)
        self.levels = (least, most, preferred)

    def compress(self, data: bytes, level: Level = None) -> bytes:
        """Compress to one frame."""
        level = self.levels[2] if level is None else level
        return compress(data, "zstd", level, dictionary=self.dictionary)

    def decompress(self, data: bytes, max_output: int) -> bytes:
        """Decompress to at most `max_output` bytes.

        Raises
        ------
        DecompressionError
            The data is damaged, or the dictionary is missing: the message then names its id.
        OutputTooLargeError
        """
        return decompress(data, "zstd", min(max_output, _MOST), dictionaries=self)

    def get(self, id: int) -> Dictionary | None:
        """Return the dictionary that a frame names."""
        if id == self.dictionary.id:
            return self.dictionary
        if isinstance(self.dictionaries, Dictionary):
            return self.dictionaries if id == self.dictionaries.id else None
        return None if self.dictionaries is None else self.dictionaries.get(id)

    def __repr__(self) -> str:
        return f"<recordpress.dictionaries.DictionaryCodec {self.dictionary.id}>"
