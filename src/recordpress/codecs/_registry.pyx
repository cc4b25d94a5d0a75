"""Codecs of the caller's own, which batches name (KIP-984): registered by hand, found by name and in no other way.

KIP-984 was never released: no Kafka broker or client reads such a batch. They are for closed loops, in which every
writer and every reader has the plug-in.
"""

cimport cython
from libc.stdint cimport INT32_MAX, uint8_t

from recordpress._arguments cimport flag_of, integer_of, shown
from recordpress._c.wire cimport RP_PLUGIN_NAME_MAX, rp_plugin_name_char
from recordpress.codecs.codec cimport CODEC_IDS, CODEC_ROWS

import sys
from _thread import RLock  # that of threading, whose import is a tenth of the time that importing recordpress takes

from recordpress.errors import ArgumentTypeError, InvalidArgumentError

cdef enum:
    MOST_PLUGINS = CODEC_ROWS - CODEC_IDS

cdef set taken = {"pluggable", "producer", "uncompressed"}


cdef str name_given(object name):
    """Return a name that a batch can have and that no other codec has."""
    if not isinstance(name, str):
        raise ArgumentTypeError(f"the name of a codec must be a str, not {type(name).__name__}", field="name")
    cdef str text = str.__str__(name)
    cdef bint possible = text.isascii() and 1 <= len(text) <= RP_PLUGIN_NAME_MAX
    if not possible or not all(rp_plugin_name_char(<uint8_t>ord(c)) for c in text):
        raise InvalidArgumentError(f"the name of a codec must be 1 to {RP_PLUGIN_NAME_MAX} characters of A-Z, a-z, "
                                   f"0-9 and _.$:/-, not {shown(text)}", field="name")
    if text.lower() in taken:
        raise InvalidArgumentError(f"{shown(text)} is a value of compression.type: choose another name for the codec",
                                   field="name")
    return sys.intern(text)


cdef object function_of(object codec, str name):
    function = getattr(codec, name, None)
    if isinstance(codec, type) or not callable(function):
        raise ArgumentTypeError("a codec must be an object with the methods compress(data) and decompress(data, "
                                f"max_output), not {shown(codec)}", field="codec")
    return function


cdef tuple levels_of(object codec):
    levels = getattr(codec, "levels", None)
    if levels is None:
        return None
    if not isinstance(levels, tuple) or len(levels) != 3:
        raise ArgumentTypeError("the levels of a codec must be a tuple (lowest, highest, default)", field="levels")
    least = integer_of(levels[0], "levels", -INT32_MAX, INT32_MAX)
    most = integer_of(levels[1], "levels", least, INT32_MAX)
    return least, most, integer_of(levels[2], "levels", least, most)


cdef class Plugin:
    """A codec as it was registered. Its methods are looked up once, here."""

    def __cinit__(self, name, codec, thread_safe):
        self.name = name_given(name)
        self.field = bytes((len(self.name),)) + self.name.encode("ascii")
        self.compress, self.decompress = function_of(codec, "compress"), function_of(codec, "decompress")
        self.levels = levels_of(codec)
        self.joins = flag_of(getattr(codec, "joins", False), "joins")
        if thread_safe is None:
            thread_safe = getattr(codec, "thread_safe", True)
        # one that calls recordpress again in the same thread must not wait for itself
        self.lock = None if flag_of(thread_safe, "thread_safe") else RLock()
        self.again = "register", (self.name, codec), {"thread_safe": bool(thread_safe)}

    cdef object compressed(self, bytes data, object level):
        arguments = (data,) if self.levels is None else (data, level)
        if self.lock is None:
            return self.compress(*arguments)
        with self.lock:
            return self.compress(*arguments)

    cdef object decompressed(self, bytes data, object max_output):
        if self.lock is None:
            return self.decompress(data, max_output)
        with self.lock:
            return self.decompress(data, max_output)


cdef class CodecRegistry:
    """CodecRegistry()
--

    Codec plug-ins, for the argument ``codecs`` of every call that reads or writes record sets.

    A registered name is a compression type like Kafka's. The batches that it writes have the codec id 5 and the name
    in front of their records, as KIP-984 proposed. No released Kafka broker or client reads them: every reader needs
    recordpress and the same codec. Only record batches (magic 2) can have such a codec.

    A name in a batch is looked up among the registered names, and used for nothing else: nothing is imported because of
    it. A batch with another name is an `UnsupportedCompressionTypeError`. Its header stays readable, and
    `Batch.plugin_name` has the name.

    A call takes the codecs that are registered when it begins; so does an object, such as a `BatchBuilder`, when it is
    made.

    A registry can be pickled, for processes on other machines: codecs that `load` imported are imported where it
    arrives, and the others are pickled with it.

    Examples
    --------
    >>> import recordpress
    >>> class Reverse:
    ...     def compress(self, data):
    ...         return data[::-1]
    ...     def decompress(self, data, max_output):
    ...         return data[::-1]
    >>> codecs = recordpress.CodecRegistry()
    >>> codecs.register("reverse", Reverse())
    >>> data = recordpress.write_records([b"a", b"b"], compression_type="reverse", codecs=codecs)
    >>> [batch] = recordpress.read_batches(data, codecs=codecs)
    >>> batch.compression_type, [record.value for record in batch]
    ('reverse', [b'a', b'b'])
    >>> [batch] = recordpress.read_batches(data)
    >>> batch.compression_type, batch.plugin_name, batch.records_count
    ('pluggable', 'reverse', 2)
    """

    def __cinit__(self):
        self.plugins = {}
        self.lock = RLock()

    @cython.critical_section
    cdef int change(self, dict plugins) except -1:
        self.plugins, self.table = plugins, None
        return 0

    def register(self, name, codec, *, replace=False, thread_safe=None):
        """Register a codec under a name.

        Parameters
        ----------
        name : str
            As batches have it: 1 to 127 characters of ``A-Z``, ``a-z``, ``0-9`` and ``_.$:/-``.
        codec : object
            It has

            - ``compress(data)``: gives a bytes-like object of at most ``2 * len(data) + 1024`` bytes.
            - ``decompress(data, max_output)``: gives a bytes-like object. It should raise an exception, whichever it
              likes, before the result is larger than ``max_output`` bytes.
            - ``thread_safe``, optional: False if calls may not overlap. recordpress then makes them one by
              one.
            - ``levels``, optional: (lowest, highest, default). The call is then ``compress(data, level)``.
            - ``joins``, optional: True if two results, one after the other, decompress to the data of both. A
              `BatchBuilder` then need not compress all its records again for each one that is appended near its limit.

            Both functions get a bytes object, and are called from any thread. Their exception is the cause of a
            DecompressionError or, when compressing, of an InvalidArgumentError; interrupts and MemoryError pass.
        replace : bool
            The name may be registered already.
        thread_safe : bool | None
            In place of the codec's attribute.

        Raises
        ------
        InvalidArgumentError
            A name that is not possible, or taken; more codecs than a registry holds, which is 56.
        ArgumentTypeError
            An object without these methods, or an attribute of another type.

        Notes
        -----
        A codec whose calls may not overlap must not wait for another thread that uses it.

        Examples
        --------
        >>> import bz2, recordpress
        >>> class Bzip2:
        ...     compress = staticmethod(bz2.compress)
        ...     def decompress(self, data, max_output):
        ...         return bz2.BZ2Decompressor().decompress(data, max_output)
        >>> codecs = recordpress.CodecRegistry()
        >>> codecs.register("bzip2", Bzip2())
        >>> small = recordpress.compress(b"line" * 100, "bzip2", codecs=codecs)
        >>> recordpress.decompress(small, "bzip2", codecs=codecs)[:8]
        b'lineline'
        """
        cdef Plugin plugin = Plugin(name, codec, thread_safe)
        cdef bint replaces = flag_of(replace, "replace")
        with self.lock:
            if plugin.name in self.plugins and not replaces:
                raise InvalidArgumentError(f"{plugin.name!r} is already registered: replace=True replaces it",
                                           field="name")
            if plugin.name not in self.plugins and len(self.plugins) >= MOST_PLUGINS:
                raise InvalidArgumentError(f"a registry holds at most {MOST_PLUGINS} codecs", field="name")
            self.change({**self.plugins, plugin.name: plugin})

    def unregister(self, name):
        """Forget a codec. Calls and objects that have begun keep it.

        Parameters
        ----------
        name : str

        Raises
        ------
        InvalidArgumentError
            It is not registered.

        Examples
        --------
        >>> import recordpress
        >>> recordpress.CodecRegistry().unregister("reverse")
        Traceback (most recent call last):
        recordpress.errors.InvalidArgumentError: 'reverse' is not registered (name)
        """
        with self.lock:
            if name not in self:
                raise InvalidArgumentError(f"{shown(name)} is not registered", field="name")
            self.change({known: plugin for known, plugin in self.plugins.items() if known != str.__str__(name)})

    def load(self, path, name=None):
        """Import a codec and register it: for a command line or a configuration file, whose author is trusted.

        Parameters
        ----------
        path : str
            ``"package.module:attribute"``. The attribute is a codec, or a class or function that makes one when it is
            called without arguments. Never take it from data.
        name : str | None
            Of the codec. None: its attribute ``name`` or, if it has none, the attribute's own name in `path`.

        Returns
        -------
        str
            The name.

        Raises
        ------
        InvalidArgumentError
            No such form, module or attribute; a module, class or function that fails; a name that is taken.
        ArgumentTypeError
            The object is not a codec.

        Examples
        --------
        >>> import recordpress
        >>> recordpress.CodecRegistry().load("no.such.module:codec")
        Traceback (most recent call last):
        recordpress.errors.InvalidArgumentError: 'no.such.module:codec' cannot be imported: ModuleNotFoundError: ...
        """
        codec = imported(path)
        if name is None:
            name = getattr(codec, "name", None)
        if name is None:
            name = path.rpartition(":")[2].rpartition(".")[2]
        name = name_given(name)
        with self.lock:
            self.register(name, codec)
            (<Plugin>self.plugins[name]).again = "load", (path, name), {}
        return name

    @property
    @cython.critical_section
    def names(self):
        """tuple[str, ...]: in the order of registration."""
        return tuple(self.plugins)

    def __contains__(self, name):
        return isinstance(name, str) and str.__str__(name) in self.names

    @cython.critical_section
    def __len__(self):
        return len(self.plugins)

    def __reduce__(self):
        with self.lock:
            return registry_of, ([(<Plugin>plugin).again for plugin in self.plugins.values()],)

    def __repr__(self):
        return f"<recordpress.CodecRegistry: {', '.join(self.names) or 'empty'}>"


def registry_of(list codecs):
    """Return a registry that was pickled: each codec by the name and the arguments of a method."""
    cdef CodecRegistry made = CodecRegistry()
    for method, arguments, options in codecs:
        getattr(made, method)(*arguments, **options)
    return made


cdef object imported(object path):
    """Return the codec at ``package.module:attribute``; call it if it is a class or function."""
    import importlib
    import inspect

    if not isinstance(path, str):
        raise ArgumentTypeError(f"a codec plug-in must be given as a str, not {type(path).__name__}", field="codec")
    module, colon, attribute = path.partition(":")
    if not colon or not all(part.isidentifier() for part in (*module.split("."), *attribute.split("."))):
        raise InvalidArgumentError(f"a codec plug-in must have the form package.module:attribute, not {shown(path)}",
                                   field="codec")
    try:
        found = importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
        return found() if inspect.isclass(found) or inspect.isroutine(found) else found
    except Exception as error:
        raise InvalidArgumentError(f"{shown(path)} cannot be imported: {type(error).__name__}: {error}",
                                   field="codec") from error
