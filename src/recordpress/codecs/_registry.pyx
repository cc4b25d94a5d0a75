"""Codec plug-ins, which batches name (KIP-984): callers register them, and a batch finds them only by name.

KIP-984 was never released: no Kafka broker or client reads such a batch. Plug-ins are for closed loops, in which
every writer and every reader has the plug-in.
"""

cimport cython
from cpython.bytes cimport PyBytes_CheckExact
from libc.stdint cimport INT32_MAX, int64_t, uint8_t
from libc.string cimport memcpy, memset

from recordpress._arguments cimport flag_of, integer_of, shown
from recordpress._buffers cimport InputView, pooled
from recordpress._c.wire cimport (
    RP_CODEC_COMPRESS, RP_CODEC_DECOMPRESS, RP_CODEC_EXPANDS, RP_NO_MEMORY, RP_OK, RP_OUTPUT_CAP, RP_OUTPUT_FULL,
    RP_PLUGIN_NAME_MAX, rp_error, rp_fail, rp_plugin_name_char,
)
from recordpress._status cimport check, note_cause
from recordpress.codecs._output cimport output_room
from recordpress.codecs.codec cimport (
    CODEC_IDS, CODEC_ROWS, append, codec as codec_row, codec_stream, level_or_default, progress, size_range,
)

import sys
from _thread import RLock  # the RLock of threading, whose import takes a tenth of the time of importing recordpress

from recordpress.errors import ArgumentTypeError, InvalidArgumentError

# --- a codec that the caller supplies as a Python object -------------------------------------------------------------

# It is not trusted with memory: its arguments are bytes objects, and the size of its result is checked before the
# copy. Its exceptions cross code without the GIL as a number (see `note_cause`) and become the cause of ours.

cdef enum:
    # How much larger than its input a result may be. Any format needs less for data that cannot be compressed.
    # These four were chosen, not measured.
    BOUND_FACTOR = 2
    BOUND_MORE = 1024
    # The room to begin with; if that is too little, the codec is called a second time.
    GUESS_FACTOR = 8
    GUESS_LEAST = 1 << 16


cdef int failed(rp_error* err, int status, Plugin plugin, object exception) noexcept:
    if isinstance(exception, MemoryError):
        return rp_fail(err, RP_NO_MEMORY, -1, 0, 0)
    return rp_fail(err, status, 0 if status == RP_CODEC_DECOMPRESS else -1, note_cause(exception, plugin.name), 0)


cdef void object_expect(const codec_row* row, const uint8_t* src, size_t size, size_range* expected) noexcept nogil:
    """Expect an unknown size."""
    expected.least = 0
    expected.most = max(<size_t>GUESS_FACTOR * size, <size_t>GUESS_LEAST)
    expected.sure = False
    expected.first.size = 0


cdef inline Plugin plugin_of(const codec_row* row):
    return <Plugin>row.object


cdef int take_result(object result, uint8_t* dst, size_t capacity, size_t* size) except -1:
    """Copy the result to dst if it fits there, and set `size` to its size."""
    cdef InputView view = InputView(result, "the codec's result")
    size[0] = <size_t>view.size
    if 0 < size[0] <= capacity:
        memcpy(dst, view.data, size[0])
    return 0


cdef int object_decode(const codec_row* row, void** state, int magic, const uint8_t* src, size_t size, uint8_t* dst,
                       size_t capacity, progress* at, rp_error* err) noexcept nogil:
    cdef size_t given = 0
    with gil:
        try:
            take_result(plugin_of(row).decompressed(src[:size], at.cap), dst, capacity, &given)
        except BaseException as exception:
            return failed(err, RP_CODEC_DECOMPRESS, plugin_of(row), exception)
    if given > capacity:
        at.wanted = given
        return rp_fail(err, RP_OUTPUT_FULL, 0, 0, <int64_t>capacity)
    at.consumed = size
    at.produced = given
    return RP_OK


cdef bint object_prefix(void** state, const uint8_t* src, size_t size, pooled* out, size_t start,
                        size_t cap) noexcept nogil:
    """Return False: a damaged payload has no intact prefix."""
    out.size = start
    return False


cdef size_t object_bound(size_t size) noexcept nogil:
    return BOUND_FACTOR * size + BOUND_MORE


cdef int object_encode(const codec_row* row, void** state, int level, int magic, bint raw, const uint8_t* src,
                       size_t size, uint8_t* dst, size_t capacity, size_t* produced, rp_error* err) noexcept nogil:
    with gil:
        try:
            take_result(plugin_of(row).compressed(src[:size], level_or_default(row, level)), dst, object_bound(size),
                        produced)
        except BaseException as exception:
            return failed(err, RP_CODEC_COMPRESS, plugin_of(row), exception)
    if produced[0] > object_bound(size):
        return rp_fail(err, RP_CODEC_EXPANDS, -1, <int64_t>produced[0], <int64_t>object_bound(size))
    return RP_OK


# --- from Python, where neither the caller's bytes nor the plug-in's are copied --------------------------------------

cdef bytes result_bytes(object result, size_t most, size_t* size):
    """Return the result as bytes, and set `size`; return None if a copy would be needed and is larger than `most`."""
    cdef InputView view
    if PyBytes_CheckExact(result):
        size[0] = <size_t>len(<bytes>result)
        return <bytes>result
    view = InputView(result, "the codec's result")
    size[0] = <size_t>view.size
    return view.data[:view.size] if size[0] <= most else None


cdef bytes object_compressed(const codec_row* row, bytes data, int level):
    cdef size_t size = 0, bound = object_bound(len(data))
    cdef rp_error err
    try:
        result = result_bytes(plugin_of(row).compressed(data, level_or_default(row, level)), bound, &size)
    except BaseException as exception:
        check(failed(&err, RP_CODEC_COMPRESS, plugin_of(row), exception), &err)
    if size > bound:
        check(rp_fail(&err, RP_CODEC_EXPANDS, -1, <int64_t>size, <int64_t>bound), &err)
    return result


cdef bytes object_decompressed(const codec_row* row, bytes data, size_t cap):
    cdef size_t size = 0
    cdef rp_error err
    try:
        result = result_bytes(plugin_of(row).decompressed(data, cap), cap, &size)
    except BaseException as exception:
        check(failed(&err, RP_CODEC_DECOMPRESS, plugin_of(row), exception), &err)
    if size > cap:
        check(rp_fail(&err, RP_OUTPUT_CAP, 0, 0, <int64_t>cap), &err)
    return result


# --- in chunks: all input waits until the end ------------------------------------------------------------------------

cdef int object_step(codec_stream* s, const uint8_t* src, size_t size, rp_error* err) noexcept nogil:
    return append(&s.pending, src, size, err)


cdef int object_compress_end(codec_stream* s, rp_error* err) noexcept nogil:
    cdef size_t produced = 0
    if (output_room(s, object_bound(s.pending.size), err) != RP_OK
            or object_encode(s.row, s.shared, s.level, s.magic, False, s.pending.data, s.pending.size,
                             s.out.data + s.out.size, s.out.capacity - s.out.size, &produced, err) != RP_OK):
        return err.status
    s.out.size += produced
    return RP_OK


cdef int object_decompress_end(codec_stream* s, rp_error* err) noexcept nogil:
    cdef progress at
    cdef size_range expected
    cdef int status
    memset(&at, 0, sizeof(progress))
    at.cap = s.left
    object_expect(s.row, s.pending.data, s.pending.size, &expected)
    at.wanted = min(expected.most, s.left)
    while True:
        if output_room(s, at.wanted, err) != RP_OK:
            return err.status
        status = object_decode(s.row, s.shared, s.magic, s.pending.data, s.pending.size, s.out.data + s.out.size,
                               min(s.out.capacity - s.out.size, s.left), &at, err)
        if status != RP_OUTPUT_FULL:
            break
        if at.wanted > s.left:
            return rp_fail(err, RP_OUTPUT_CAP, -1, 0, <int64_t>s.max_size)
    s.out.size += at.produced
    s.left -= at.produced
    return status


cdef bint object_complete(const codec_stream* s) noexcept nogil:
    return True


cdef void object_row(codec_row* row, Plugin plugin) noexcept:
    """Fill the row except for its ids, names and levels."""
    row.least_magic = 2   # a plug-in is for record batches
    row.object = <void*>plugin
    row.expect = object_expect
    row.decode = object_decode
    row.prefix = object_prefix
    row.bound = object_bound
    row.encode = object_encode
    row.compressor.step = object_step
    row.compressor.end = object_compress_end
    row.decompressor.step = object_step
    row.decompressor.end = object_decompress_end
    row.decompressor.complete = object_complete


# --- the registry ----------------------------------------------------------------------------------------------------

cdef enum:
    MOST_PLUGINS = CODEC_ROWS - CODEC_IDS

cdef set TAKEN = {"pluggable", "producer", "uncompressed"}
cdef set kafkas = set()


def stored_as(str name):
    """Return the Kafka codec in the attributes of batches with this compression type; None if it is a plug-in."""
    codec = name.partition(":")[0]
    return codec if codec in kafkas and name[:5] != "none:" else None


cdef str name_given(object name):
    """Return the name if a batch can have it and it is not a value of compression.type; else raise an error."""
    if not isinstance(name, str):
        raise ArgumentTypeError(f"the name of a codec must be a str, not {type(name).__name__}", field="name")
    cdef str text = str.__str__(name)
    cdef bint possible = text.isascii() and 1 <= len(text) <= RP_PLUGIN_NAME_MAX
    if not possible or not all(rp_plugin_name_char(<uint8_t>ord(c)) for c in text):
        raise InvalidArgumentError(f"the name of a codec must be 1 to {RP_PLUGIN_NAME_MAX} characters of A-Z, a-z, "
                                   f"0-9 and _.$:/-, not {shown(text)}", field="name")
    if text.lower() in TAKEN or text.lower() in kafkas:
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
    """A registered codec. Its methods are looked up once, here."""

    def __cinit__(self, name, codec, thread_safe):
        self.name = name_given(name)
        self.provides = stored_as(self.name)
        self.field = b"" if self.provides is not None else bytes((len(self.name),)) + self.name.encode("ascii")
        self.compress, self.decompress = function_of(codec, "compress"), function_of(codec, "decompress")
        self.levels = levels_of(codec)
        self.joins = flag_of(getattr(codec, "joins", False), "joins")
        if thread_safe is None:
            thread_safe = getattr(codec, "thread_safe", True)
        # reentrant: a codec that calls recordpress again in the same thread must not wait for itself
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

    A registered name is a compression type like Kafka's. Batches of that type have the codec id 5, and the name in
    front of their records, as KIP-984 proposed. No released Kafka broker or client reads them: every reader needs
    recordpress and the same codec. Only record batches (magic 2) can have such a codec.

    A name in a batch is only looked up among the registered names: no name in data causes an import. Reading the
    records of a batch with an unregistered name raises `UnsupportedCompressionTypeError`. Its header remains
    readable, and `Batch.plugin_name` has the name.

    A name such as ``gzip:isal`` registers a provider: another implementation of Kafka's gzip, snappy, lz4 or zstd. Its
    batches have that codec, and every Kafka client reads them. A call writes with a provider only if it names the
    provider, and reads with it only after `read_with`.

    A call uses the codecs that are registered when it begins; an object, such as a `BatchBuilder`, uses the codecs
    that are registered when it is created.

    A registry can be pickled, for processes on other machines: codecs from `load` are imported again where the
    registry is unpickled, and other codecs are pickled with it.

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
        self.plugins, self.readers = {}, {}
        self.lock = RLock()

    @cython.critical_section
    cdef int change(self, dict plugins, dict readers) except -1:
        self.plugins, self.readers = plugins, readers
        with cython.critical_section(self):
            self.table = None
        return 0

    def register(self, name, codec, *, replace=False, thread_safe=None):
        """Register a codec under a name.

        Parameters
        ----------
        name : str
            The name in batches: 1 to 127 characters of ``A-Z``, ``a-z``, ``0-9`` and ``_.$:/-``.
        codec : object
            An object with

            - ``compress(data)``: returns a bytes-like object of at most ``2 * len(data) + 1024`` bytes.
            - ``decompress(data, max_output)``: returns a bytes-like object. It should raise any exception before the
              result is larger than ``max_output`` bytes.
            - ``thread_safe``, optional: False if calls may not overlap. recordpress then makes one call at a
              time.
            - ``levels``, optional: (lowest, highest, default). The call is then ``compress(data, level)``.
            - ``joins``, optional: True if two results, one after the other, decompress to the data of both. A
              `BatchBuilder` then need not compress all its records again for each record appended near its limit.

            Both functions are called with a bytes object, from any thread. Their exception becomes the cause of a
            DecompressionError or, when compressing, an InvalidArgumentError; interrupts and MemoryError propagate.
        replace : bool
            Replace a codec that is already registered under the name.
        thread_safe : bool | None
            Overrides the codec's attribute, unless None.

        Raises
        ------
        InvalidArgumentError
            The name is invalid or taken; the registry is full (56 codecs); a provider and Kafka's implementation do
            not read each other's payloads.
        ArgumentTypeError
            `codec` lacks one of these methods, or an attribute has the wrong type.

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
        cdef CodecRegistry alone
        if plugin.provides is not None:
            from recordpress.codecs._proof import prove

            alone = CodecRegistry()
            alone.change({plugin.name: plugin}, {})
            prove(plugin.name, plugin.provides, plugin.levels, plugin.joins, alone)
        with self.lock:
            if plugin.name in self.plugins and not replaces:
                raise InvalidArgumentError(f"{plugin.name!r} is already registered: replace=True replaces it",
                                           field="name")
            if plugin.name not in self.plugins and len(self.plugins) >= MOST_PLUGINS:
                raise InvalidArgumentError(f"a registry holds at most {MOST_PLUGINS} codecs", field="name")
            self.change({**self.plugins, plugin.name: plugin}, self.readers)

    def unregister(self, name):
        """Remove a codec. Running calls and existing objects keep it.

        Parameters
        ----------
        name : str

        Raises
        ------
        InvalidArgumentError
            The name is not registered.

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
            text = str.__str__(name)
            self.change({known: plugin for known, plugin in self.plugins.items() if known != text},
                        {codec: reader for codec, reader in self.readers.items() if reader != text})

    def load(self, path, name=None):
        """Import and register a codec that a command line or configuration file names, whose author is trusted.

        Parameters
        ----------
        path : str
            ``"package.module:attribute"``. The attribute is a codec, or a class or function that returns a codec when
            it is called without arguments. Never take `path` from data.
        name : str | None
            Name of the codec. None: its attribute ``name`` or, if that is missing or None, the last name in `path`.

        Returns
        -------
        str
            The registered name.

        Raises
        ------
        InvalidArgumentError
            `path` is malformed or cannot be imported; the class or function fails; the name is invalid or taken.
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

    def read_with(self, name):
        """Read the batches of a Kafka codec with one of its providers.

        Parameters
        ----------
        name : str
            Name of the provider, or of the codec itself to return to Kafka's implementation.

        Raises
        ------
        InvalidArgumentError
            The name is not that of a registered provider.

        Notes
        -----
        The provider reads record batches (magic 2). Kafka's implementation still reads older messages, streams, the
        records in front of damage, and all that `recordpress.broker` validates.

        Examples
        --------
        >>> import gzip, recordpress
        >>> class Zlib:
        ...     compress = staticmethod(gzip.compress)
        ...     def decompress(self, data, max_output):
        ...         return gzip.decompress(data)
        >>> codecs = recordpress.CodecRegistry()
        >>> codecs.register("gzip:zlib", Zlib())
        >>> data = recordpress.write_records([b"line"], compression_type="gzip:zlib", codecs=codecs)
        >>> codecs.read_with("gzip:zlib")
        >>> [batch.compression_type for batch in recordpress.read_batches(data, codecs=codecs)]
        ['gzip']
        """
        with self.lock:
            if isinstance(name, str) and name in kafkas:
                self.change(self.plugins, {codec: one for codec, one in self.readers.items() if codec != name})
                return
            provides = (<Plugin>self.plugins[name]).provides if name in self else None
            if provides is None:
                raise InvalidArgumentError(f"{shown(name)} is not a registered provider of a Kafka codec",
                                           field="name")
            self.change(self.plugins, {**self.readers, provides: str.__str__(name)})

    @property
    @cython.critical_section
    def names(self):
        """tuple[str, ...]: the registered names, in the order of registration."""
        return tuple(self.plugins)

    def __contains__(self, name):
        return isinstance(name, str) and str.__str__(name) in self.names

    @cython.critical_section
    def __len__(self):
        return len(self.plugins)

    def __reduce__(self):
        with self.lock:
            return registry_of, ([(<Plugin>plugin).again for plugin in self.plugins.values()]
                                 + [("read_with", (name,), {}) for name in self.readers.values()],)

    def __repr__(self):
        return f"<recordpress.CodecRegistry: {', '.join(self.names) or 'empty'}>"


def registry_of(list codecs):
    """Return an unpickled registry; `codecs` has the name and the arguments of a method for each codec."""
    cdef CodecRegistry made = CodecRegistry()
    for method, arguments, options in codecs:
        getattr(made, method)(*arguments, **options)
    return made


cdef object imported(object path):
    """Return the codec at ``package.module:attribute``, or the result of a class or function there."""
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
