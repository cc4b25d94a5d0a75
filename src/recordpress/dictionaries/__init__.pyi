from recordpress.codecs import DEFAULT_DICTIONARY_SIZE, Dictionary, dictionary_id, train
from recordpress.codecs.dictionary_types import Dictionaries, DictionariesById
from recordpress.dictionaries._codec import DictionaryCodec
from recordpress.dictionaries._store import DictionaryStore

__all__ = [
    "DEFAULT_DICTIONARY_SIZE",
    "Dictionaries",
    "DictionariesById",
    "Dictionary",
    "DictionaryCodec",
    "DictionaryStore",
    "dictionary_id",
    "train",
]
