from recordpress.codecs import (
    DEFAULT_DICTIONARY_SIZE as DEFAULT_DICTIONARY_SIZE,
    Dictionary as Dictionary,
    dictionary_id as dictionary_id,
    train_values as train_values,
)
from recordpress.codecs.dictionary_types import Dictionaries as Dictionaries, DictionariesById as DictionariesById
from recordpress.dictionaries._codec import DictionaryCodec as DictionaryCodec
from recordpress.dictionaries._store import DictionaryStore as DictionaryStore
