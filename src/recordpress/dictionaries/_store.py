"""A directory of dictionaries.

Each file is a plain dictionary, and any program that uses zstd dictionaries can read it. The file name has the id and
the SHA-256 of the bytes: ``1234567.<64 hex digits>.zdict``. Files are published whole and never changed. Writers hold a
lock (flock) on the file ``.lock`` from looking an id up to changing its file; readers need no lock.
"""

from __future__ import annotations

import fcntl
import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recordpress._arguments import integer
from recordpress._file_names import printable, refuse_url
from recordpress.codecs import Dictionary
from recordpress.codecs.choice import DICTIONARY_SIZES
from recordpress.errors import CorruptRecordError, InvalidArgumentError, NotFoundError
from recordpress.files import LocalFileSystem, sync_directory, text_of

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from recordpress.typing import Integer

_NAME = re.compile(r"([1-9][0-9]{0,9})\.([0-9a-f]{64})\.zdict")
_MOST_ID = (1 << 32) - 1  # ids are uint32 (RFC 8878)
_SETTLED_NS = 2_000_000_000  # a directory that changed more recently may change again within the same time stamp


class DictionaryStore(Mapping[int, Dictionary]):
    """Directory of dictionaries by id.

    It is a mapping that `recordpress.decompress` accepts as ``dictionaries=``. A file is read and checked when its
    dictionary is first requested, and the dictionary is then kept. Dictionaries that others add later are found, too.
    Several threads may use the object, and it can be pickled: the receiver then opens the same path.

    Parameters
    ----------
    path : str or PathLike
        A directory; `add` creates it if it does not exist.

    Raises
    ------
    ArgumentTypeError, InvalidArgumentError

    Examples
    --------
    >>> import tempfile, recordpress
    >>> store = recordpress.dictionaries.DictionaryStore(tempfile.mkdtemp())
    >>> lines = [b"value %d of many" % n for n in range(1000)]
    >>> id = store.add(recordpress.dictionaries.train_values(lines, 512, dictionary_id=70000))
    >>> frame = recordpress.compress(lines[7], "zstd", dictionary=store[id])
    >>> list(store), recordpress.decompress(frame, "zstd", dictionaries=store)
    ([70000], b'value 7 of many')
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        refuse_url(text_of(path))
        self.path = os.path.abspath(path)
        self._files = LocalFileSystem()
        self._names: dict[int, tuple[str, ...]] = {}
        self._loaded: dict[int, Dictionary] = {}
        self._seen = -1  # st_mtime_ns of the directory when it was listed; -1: it must be listed

    # ---- reading

    def get(self, key: int, default: Any = None, /) -> Any:
        """Return the dictionary with an id, or `default` if the store does not have it.

        Raises
        ------
        CorruptRecordError
            Its file is damaged.
        InvalidArgumentError
            Several files have the id.
        OSError
        """
        found = self._loaded.get(key)
        if found is not None:
            return found
        names = self._names.get(key)
        if names is None:
            self._list()
            names = self._names.get(key)
        return default if names is None else self._load(key, names)

    def __getitem__(self, key: int) -> Dictionary:
        found: Dictionary | None = self.get(key)
        if found is None:
            raise NotFoundError(f"{printable(self.path)} has no dictionary {key}", field="key")
        return found

    def __contains__(self, key: object) -> bool:
        self._list()
        return key in self._names

    def __iter__(self) -> Iterator[int]:
        self._list()
        return iter(sorted(self._names))

    def __len__(self) -> int:
        self._list()
        return len(self._names)

    def _list(self) -> None:
        """Read the directory if it may have changed."""
        changed = os.stat(self.path).st_mtime_ns
        if changed == self._seen:
            return
        found: dict[int, tuple[str, ...]] = {}
        for name in sorted(os.listdir(self.path)):
            if match := _NAME.fullmatch(name):
                found[int(match[1])] = (*found.get(int(match[1]), ()), name)
        self._names = found
        self._loaded = {id: one for id, one in self._loaded.items() if id in found}
        self._seen = changed if time.time_ns() - changed > _SETTLED_NS else -1

    def _load(self, id: int, names: tuple[str, ...]) -> Dictionary:
        if len(names) > 1:
            raise InvalidArgumentError(
                f"{printable(self.path)}: several files have the dictionary {id}: {', '.join(names)}", field="path"
            )
        path = os.path.join(self.path, names[0])
        dictionary = self._read(path, id, names[0].split(".")[1])
        return self._loaded.setdefault(id, dictionary)

    def _read(self, path: str, id: int, digest: str) -> Dictionary:
        with self._files.open(path) as file:
            if file.size > DICTIONARY_SIZES[1]:
                raise self._damaged(path, f"{file.size} bytes; a dictionary has at most {DICTIONARY_SIZES[1]}")
            data = file.read_exactly(0, file.size)
        if sha256(data).hexdigest() != digest:
            raise self._damaged(path, "its SHA-256 differs from the one in its name")
        try:
            dictionary = Dictionary(data)
        except InvalidArgumentError as error:
            raise self._damaged(path, error.message) from error
        if dictionary.id != id:
            raise self._damaged(path, f"its content has the id {dictionary.id}")
        return dictionary

    def _damaged(self, path: str, what: str) -> CorruptRecordError:
        return CorruptRecordError(f"the dictionary is damaged: {what}", file=printable(path), rule="dictionary store")

    # ---- writing

    def add(self, dictionary: Dictionary | Buffer) -> int:
        """Add a dictionary, unless the store already has it.

        Parameters
        ----------
        dictionary : Dictionary or buffer

        Returns
        -------
        int
            Its id.

        Raises
        ------
        InvalidArgumentError
            The store has another dictionary with this id, or the data is not a dictionary.
        CorruptRecordError
            The store already has the dictionary, but its file is damaged.
        OSError

        Examples
        --------
        >>> import tempfile, recordpress
        >>> store = recordpress.dictionaries.DictionaryStore(tempfile.mkdtemp())
        >>> lines = [b"value %d of many" % n for n in range(1000)]
        >>> store.add(recordpress.dictionaries.train_values(lines, 512, dictionary_id=70000))
        70000
        """
        given = dictionary if isinstance(dictionary, Dictionary) else Dictionary(dictionary)
        name = f"{given.id}.{sha256(given.data).hexdigest()}.zdict"
        os.makedirs(self.path, exist_ok=True)
        with self._locked():
            there = self._names.get(given.id, ())
            if there and there != (name,):
                raise InvalidArgumentError(
                    f"{printable(self.path)} has another dictionary with the id {given.id}: train the new dictionary "
                    "with another dictionary_id",
                    field="dictionary",
                )
            if there:
                self._read(os.path.join(self.path, name), given.id, name.split(".")[1])
            else:
                self._publish(name, given.data)
            self._seen = -1
        return given.id

    def _publish(self, name: str, data: bytes) -> None:
        self._files.sweep(self.path)  # files of a killed writer: the lock excludes other writers
        self._files.create_file(os.path.join(self.path, name), data)

    def remove(self, id: Integer) -> None:
        """Remove a dictionary, damaged or not. Values that need it become unreadable.

        Raises
        ------
        NotFoundError
            No dictionary has this id.
        OSError

        Examples
        --------
        >>> import tempfile, recordpress
        >>> store = recordpress.dictionaries.DictionaryStore(tempfile.mkdtemp())
        >>> lines = [b"value %d of many" % n for n in range(1000)]
        >>> store.remove(store.add(recordpress.dictionaries.train_values(lines, 512)))
        >>> list(store)
        []
        """
        number = integer(id, "id", 1, _MOST_ID)
        with self._locked():
            names = self._names.get(number)
            if not names:
                raise NotFoundError(f"{printable(self.path)} has no dictionary {number}", field="id")
            for name in names:
                os.unlink(os.path.join(self.path, name))
            sync_directory(Path(self.path))
            self._loaded.pop(number, None)
            self._seen = -1

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Lock the directory for writing, and list it."""
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        descriptor = os.open(os.path.join(self.path, ".lock"), flags, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            self._seen = -1
            self._list()
            yield
        finally:
            os.close(descriptor)

    # ---- the object

    def __reduce__(self) -> tuple[Any, ...]:
        return DictionaryStore, (self.path,)

    def __repr__(self) -> str:
        return f"<recordpress.dictionaries.DictionaryStore {printable(self.path)}>"
