"""Types for annotations of zstd dictionaries; importing recordpress does not load this module."""

from __future__ import annotations

from typing import Protocol, TypeAlias

from recordpress.codecs import Dictionary

__all__ = ["Dictionaries", "DictionariesById"]


class DictionariesById(Protocol):
    """A dict of dictionaries by id, or a `recordpress.dictionaries.DictionaryStore`.

    Examples
    --------
    >>> import recordpress
    >>> lines = [b'{"user": %d, "city": "Paris"}' % number for number in range(1000)]
    >>> dictionary = recordpress.dictionaries.train_values(lines, 1024)
    >>> known: recordpress.dictionaries.DictionariesById = {dictionary.id: dictionary}
    >>> small = recordpress.compress(lines[7], "zstd", dictionary=dictionary)
    >>> recordpress.decompress(small, "zstd", dictionaries=known) == lines[7]
    True
    """

    def get(self, key: int, /) -> Dictionary | None:
        """Return the dictionary with an id, or None."""
        ...


Dictionaries: TypeAlias = Dictionary | DictionariesById
"""Dictionaries that zstd frames may name: one, or several by id."""
