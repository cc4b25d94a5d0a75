"""A producer's estimates of the size of records that it has not compressed yet (CompressionRatioEstimator, KIP-126).

All numbers are float32 in every step, as in Java: other rounding could move the end of a batch by a record.
"""

cimport cython
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from libc.float cimport FLT_MAX

from recordpress.codecs.codec cimport CODEC_IDS
from recordpress.codecs.table cimport codec_of, table_of

from recordpress.errors import ArgumentTypeError, InvalidArgumentError

cdef:
    float INITIAL = 1.0             # CompressionType.rate, of every codec
    float IMPROVING_STEP = 0.005    # maximum by which one batch lowers an estimate
    float DETERIORATE_STEP = 0.05   # minimum by which one batch raises an estimate


cdef float updated(float estimate, float observed) noexcept nogil:
    cdef float step
    if observed > estimate:
        step = estimate + DETERIORATE_STEP
    elif observed < estimate:
        step = estimate - IMPROVING_STEP
    else:
        return estimate
    return observed if observed > step else step


cdef double number_given(object value, str name) except? -1:
    if isinstance(value, bool) or not hasattr(type(value), "__float__"):
        raise ArgumentTypeError(f"{name} must be a float, not {type(value).__name__}", field=name)
    try:
        return float(value)
    except TypeError as error:  # a NumPy array has a __float__, which fails unless the array has a single number
        raise ArgumentTypeError(f"{name} must be a float: {error}", field=name) from error
    except OverflowError as error:
        raise InvalidArgumentError(f"{name} must be a float: {error}", field=name) from error


cdef float ratio_given(object value, str name) except -1:
    cdef double number
    if PyFloat_CheckExact(value):
        number = PyFloat_AS_DOUBLE(value)
    else:
        number = number_given(value, name)
    if 0 <= number <= FLT_MAX:
        return <float>number
    raise InvalidArgumentError(f"{name} must be 0 or more and a float32, not {number}", field=name)


cdef inline object name_of(int id, object compression_type):
    """Return the key for a codec without a slot: an exact str, even if the caller gave a subclass."""
    return None if id < CODEC_IDS else str.__str__(compression_type)


cdef class TopicRatios:
    """The estimates of one topic, by the id of a codec or the name of a plug-in."""

    def __cinit__(self):
        self.start_again()

    cdef void start_again(self) noexcept:
        cdef int id
        for id in range(CODEC_IDS):
            self.by_id[id] = INITIAL
        self.by_name = None

    cdef float get(self, int id, object name) except? -1:
        if id < CODEC_IDS:
            return self.by_id[id]
        return INITIAL if self.by_name is None else self.by_name.get(name, INITIAL)

    cdef int put(self, int id, object name, float ratio) except -1:
        if id < CODEC_IDS:
            self.by_id[id] = ratio
            return 0
        if self.by_name is None:
            self.by_name = {}
        self.by_name[name] = ratio
        return 0


cdef class CompressionRatioEstimator:
    """CompressionRatioEstimator(codecs=None)
--

    The compression ratio that a producer expects, per topic and codec (KIP-126).

    A ratio is compressed divided by uncompressed bytes: smaller is better, and it may be above 1. Estimates start at
    1.0. A batch that compresses better than expected lowers the estimate by at most 0.005; a batch that compresses
    worse raises it by at least 0.05, and at least to its own ratio. So it takes ten good batches to offset a bad one.

    Kafka has one such table per process; here, an estimator is an object, which producers may share: any thread may
    call it at any time.

    Parameters
    ----------
    codecs : CodecRegistry | None
        Codec plug-ins in addition to Kafka's: each name has its own estimates.

    Raises
    ------
    InvalidArgumentError
        In every method: the compression type is unknown, or a ratio is below 0 or beyond a float32.
    ArgumentTypeError
        In every method: the topic is not a str, or a ratio is not a number.

    Notes
    -----
    KIP-126 only adds or subtracts the two steps. Kafka's class, and this one, never goes below the ratio that was
    observed.

    Examples
    --------
    >>> from recordpress.producer import CompressionRatioEstimator
    >>> estimator = CompressionRatioEstimator()
    >>> estimator.estimation("logs", "zstd")
    1.0
    >>> round(estimator.update_estimation("logs", "zstd", 0.25), 6)
    0.995
    >>> estimator.set_estimation("logs", "zstd", 0.25)
    >>> estimator.update_estimation("logs", "zstd", 0.5)
    0.5
    """

    def __cinit__(self, codecs=None):
        table_of(codecs)  # rejects other types
        self.codecs = codecs
        self.topics = {}

    cdef TopicRatios ratios_of(self, object topic):
        if type(topic) is not str:
            raise ArgumentTypeError(f"topic must be str, not {type(topic).__name__}", field="topic")
        ratios = self.topics.get(topic)
        if ratios is None:
            ratios = self.topics.setdefault(topic, TopicRatios())
        return <TopicRatios>ratios

    @cython.critical_section
    def estimation(self, topic, compression_type):
        """Return the ratio that is expected now.

        Parameters
        ----------
        topic : str
        compression_type : str

        Returns
        -------
        float
            A float32's value.

        Examples
        --------
        >>> from recordpress.producer import CompressionRatioEstimator
        >>> CompressionRatioEstimator().estimation("logs", "lz4")
        1.0
        """
        cdef int id = codec_of(table_of(self.codecs), compression_type).id
        return self.ratios_of(topic).get(id, name_of(id, compression_type))

    @cython.critical_section
    def update_estimation(self, topic, compression_type, observed):
        """Take the ratio of a batch into account.

        Parameters
        ----------
        topic : str
        compression_type : str
        observed : float
            Compressed divided by uncompressed bytes of the batch's records, without its header. Rounded to a float32.

        Returns
        -------
        float
            The new estimate.

        Examples
        --------
        >>> from recordpress.producer import CompressionRatioEstimator
        >>> round(CompressionRatioEstimator().update_estimation("logs", "gzip", 1.02), 6)
        1.05
        """
        cdef float ratio = ratio_given(observed, "observed")  # may run the caller's code
        cdef int id = codec_of(table_of(self.codecs), compression_type).id
        cdef TopicRatios ratios = self.ratios_of(topic)
        ratio = updated(ratios.get(id, name_of(id, compression_type)), ratio)
        ratios.put(id, name_of(id, compression_type), ratio)
        return ratio

    @cython.critical_section
    def set_estimation(self, topic, compression_type, ratio):
        """Replace the estimate with a ratio, as a producer does when it splits a batch.

        Parameters
        ----------
        topic : str
        compression_type : str
        ratio : float

        Examples
        --------
        >>> from recordpress.producer import CompressionRatioEstimator
        >>> CompressionRatioEstimator().set_estimation("logs", "gzip", 0.3)
        """
        cdef float given = ratio_given(ratio, "ratio")
        cdef int id = codec_of(table_of(self.codecs), compression_type).id
        self.ratios_of(topic).put(id, name_of(id, compression_type), given)

    @cython.critical_section
    def reset_estimation(self, topic):
        """Reset a topic: all of its estimates are 1.0 again.

        Parameters
        ----------
        topic : str

        Examples
        --------
        >>> from recordpress.producer import CompressionRatioEstimator
        >>> CompressionRatioEstimator().reset_estimation("logs")
        """
        self.ratios_of(topic).start_again()
