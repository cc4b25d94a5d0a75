"""The names that `recordpress.dictionaries` offers."""

from recordpress.codecs import DEFAULT_DICTIONARY_SIZE, Dictionary, dictionary_id, train
from recordpress.dictionaries._codec import DictionaryCodec
from recordpress.dictionaries._store import DictionaryStore

__all__ = ["DEFAULT_DICTIONARY_SIZE", "Dictionary", "DictionaryCodec", "DictionaryStore", "dictionary_id", "train"]
