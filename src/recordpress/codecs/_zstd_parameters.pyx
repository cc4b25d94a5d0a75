"""The zstd parameters from KIP-780 that change the compressed bytes: level, window and strategy."""

from recordpress._arguments cimport choice_of, integer_of
from recordpress._c.zstd cimport ZSTD_estimateDCtxSize
from recordpress.codecs._zstd_frames cimport BLOCK_MAX, WINDOW_LOG_MIN
from recordpress.codecs._zstd cimport (
    LEVEL_MAX, LEVEL_MIN, own_strategy, own_window_log, packed_level, plain_level, window_log_of,
)

from recordpress.errors import InvalidArgumentError

cdef enum:
    LEVEL_OF_KAFKA = 3
    WILDCOPY_OVERLENGTH = 32   # zstd_internal.h
    WINDOW_LOG_MAX = 27   # libzstd's default limit for readers, which zstd-jni's ZstdInputStream uses

# ZSTD_strategy, from 1
cdef tuple NAMES = ("fast", "dfast", "greedy", "lazy", "lazy2", "btlazy2", "btopt", "btultra", "btultra2")
cdef dict STRATEGIES = {name: number for number, name in enumerate(NAMES, 1)}


cdef class ZstdParameters:
    """ZstdParameters(level=None, *, window_log=None, strategy=None)
--

    A zstd level with a window or a strategy other than the level's own, for the argument ``level`` of every call
    that compresses.

    Parameters
    ----------
    level : int | None | "kafka-default"
        -131072 to 22; None and "kafka-default" mean 3.
    window_log : int | None
        windowLog, 10 to 27: matches are searched for in the last ``2 ** window_log`` bytes, for which every reader of a
        batch reserves memory. Kafka refuses larger windows. None: the level's window.
    strategy : str | None
        fast, dfast, greedy, lazy, lazy2, btlazy2, btopt, btultra or btultra2: from the fastest to the one with the
        smallest output. None: the level's strategy.

    Raises
    ------
    InvalidArgumentError
        The level, window or strategy is invalid.
    ArgumentTypeError
        An argument has the wrong type.

    Notes
    -----
    Objects are compared and hashed by value. Their text for the command line, Spark's options and JSON is
    ``19,windowLog=20,strategy=btopt``. zstd's worker threads are not used: a batch is too small for them.

    Examples
    --------
    >>> import recordpress
    >>> small = recordpress.ZstdParameters(19, window_log=17)
    >>> data = recordpress.compress(bytes(100_000), "zstd", small)
    >>> recordpress.decompress(data, "zstd") == bytes(100_000)
    True
    >>> small.decoder_bytes < recordpress.ZstdParameters(19).decoder_bytes / 10
    True
    """

    def __cinit__(self, level=None, *, window_log=None, strategy=None):
        cdef int number = LEVEL_OF_KAFKA
        cdef int window = 0
        if level is not None and not (isinstance(level, str) and level == "kafka-default"):
            number = <int>integer_of(level, "level", LEVEL_MIN, LEVEL_MAX)
        if window_log is not None:
            try:
                window = <int>integer_of(window_log, "window_log", WINDOW_LOG_MIN, WINDOW_LOG_MAX)
            except InvalidArgumentError as error:
                raise InvalidArgumentError(f"{error.message}: Kafka's readers refuse a larger window",
                                           field="window_log") from None
        self.packed = packed_level(number, window,
                                   0 if strategy is None else choice_of("strategy", strategy, STRATEGIES))

    @property
    def level(self):
        """int: the level."""
        return plain_level(self.packed)

    @property
    def window_log(self):
        """int | None: base-2 logarithm of the window's size in bytes; None for the level's window."""
        return own_window_log(self.packed) or None

    @property
    def strategy(self):
        """str | None: name of the strategy; None for the level's strategy."""
        cdef int number = own_strategy(self.packed)
        return NAMES[number - 1] if number else None

    @property
    def decoder_bytes(self):
        """int: memory in bytes that libzstd needs, also in Kafka's readers, to decompress one batch as a stream.

        Examples
        --------
        >>> import recordpress
        >>> [recordpress.ZstdParameters(3, window_log=log).decoder_bytes >> 20 for log in (17, 21, 27)]
        [0, 2, 128]
        """
        cdef size_t window = <size_t>1 << window_log_of(self.packed)
        # ZSTD_estimateDStreamSize of libzstd 1.5.5 and newer; older versions count whole blocks for small windows too
        return ZSTD_estimateDCtxSize() + window + 3 * min(window, <size_t>BLOCK_MAX) + 2 * WILDCOPY_OVERLENGTH

    def __eq__(self, other):
        return type(other) is ZstdParameters and self.packed == (<ZstdParameters>other).packed

    def __hash__(self):
        return hash((ZstdParameters, self.packed))

    def __reduce__(self):
        return restored, (self.level, self.window_log, self.strategy)

    def __repr__(self):
        return f"ZstdParameters({self.level}, window_log={self.window_log}, strategy={self.strategy!r})"

    def __str__(self):
        words = {"windowLog": self.window_log, "strategy": self.strategy}
        return ",".join((str(self.level), *(f"{name}={value}" for name, value in words.items() if value is not None)))


def restored(level, window_log, strategy):
    """Return unpickled parameters."""
    return ZstdParameters(level, window_log=window_log, strategy=strategy)
