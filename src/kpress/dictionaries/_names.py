"""The names that `kpress.dictionaries` offers."""

from kpress.codecs import DEFAULT_DICTIONARY_SIZE, Dictionary, dictionary_id, train
from kpress.dictionaries._codec import DictionaryCodec
from kpress.dictionaries._store import DictionaryStore

__all__ = ["DEFAULT_DICTIONARY_SIZE", "Dictionary", "DictionaryCodec", "DictionaryStore", "dictionary_id", "train"]
