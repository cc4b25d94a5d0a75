"""The options of a call that reads columns, checked once: from Python's values to the plan and the result's fields."""

from libc.stdint cimport INT32_MAX, INT64_MAX, INT64_MIN, int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from recordpress._arguments cimport choice_of, did_you_mean, flag_of, integer_of, shown, time_of, tuple_of
from recordpress._c.wire cimport RP_BINARY, RP_BINARY_VIEW, RP_LARGE_BINARY
from recordpress._sealed cimport seal
from recordpress.codecs.table cimport reading_table_of, table_of
from recordpress.columns._arrow_out cimport Field
from recordpress.columns._plan cimport plan
from recordpress.columns._select_batches cimport aborted_transaction, walk
from recordpress.columns.catalogue cimport (
    AS_BINARY, AS_HEADERS, BASE_OFFSET, BY_BATCH, HEADERS, KEY, SEQUENCE, TIMESTAMP, VALUE, column_of,
)

from recordpress._arguments import MOST_THREADS
from recordpress.columns.catalogue import DEFAULT, FORMATS as _FORMATS, NAMES
from recordpress.errors import ArgumentTypeError, InvalidArgumentError

# binary_type: layout, bytes of a row, Arrow format
_LAYOUTS = {"binary": (RP_BINARY, 4, "z"), "large_binary": (RP_LARGE_BINARY, 8, "Z"),
            "binary_view": (RP_BINARY_VIEW, 16, "vz")}
# timestamp_unit: whether milliseconds are multiplied, Arrow format
_UNITS = {"ms": (False, "tsm:UTC"), "us": (True, "tsu:UTC")}
_NUMBERS = {name: number for number, name in enumerate(NAMES)}
_HEADER = (Field("item", "+s", False, (Field("key", "u"), Field("value", "z", True))),)

_ABORTED = "aborted_transactions"
_PAIR = "a pair of (producerId, firstOffset)"


cdef class Options:
    """See `read_columns` and `iter_columns`."""

    def __init__(self):
        raise TypeError("Options objects are made by read_columns and iter_columns")

    @staticmethod
    cdef Options make(columns, check_crcs, binary_type, timestamp_unit, start_offset, end_offset, start_timestamp,
                      end_timestamp, control, aborted_transactions, threads, complete, max_decompressed_bytes,
                      max_message_bytes, chunk_bytes, codecs, lz4_header_checksum):
        """Return the arguments of `read_columns`, in its order."""
        cdef Options self = Options.__new__(Options)
        cdef plan* p = &self.plan
        self.codecs = reading_table_of(codecs, lz4_header_checksum)
        self.ignores_header_checksum = self.codecs is not table_of(codecs)
        p.codecs = &self.codecs.rows
        p.layout, p.row_width, binary_format = choice_of("binary_type", binary_type, _LAYOUTS)
        p.micros, timestamp_format = choice_of("timestamp_unit", timestamp_unit, _UNITS)
        p.check_crcs = flag_of(check_crcs, "check_crcs")
        p.control = flag_of(control, "control")
        p.cap = integer_of(max_decompressed_bytes, "max_decompressed_bytes", 1, INT32_MAX)
        p.chunk_bytes = integer_of(chunk_bytes, "chunk_bytes", 1, INT32_MAX)
        p.max_message_bytes = integer_of(max_message_bytes, "max_message_bytes", 1, INT32_MAX)
        self.threads = integer_of(threads, "threads", 1, MOST_THREADS)
        self.complete = flag_of(complete, "complete")
        p.first_offset = INT64_MIN if start_offset is None else integer_of(start_offset, "start_offset", INT64_MIN,
                                                                           INT64_MAX)
        p.last_offset = before(end_offset, None if end_offset is None else
                               integer_of(end_offset, "end_offset", INT64_MIN + 1, INT64_MAX))
        p.first_timestamp = INT64_MIN if start_timestamp is None else time_of(start_timestamp, "start_timestamp",
                                                                              INT64_MIN, INT64_MAX)
        p.last_timestamp = before(end_timestamp, None if end_timestamp is None else
                                  time_of(end_timestamp, "end_timestamp", INT64_MIN + 1, INT64_MAX))
        p.filtered = (start_offset is not None or end_offset is not None or start_timestamp is not None
                      or end_timestamp is not None)
        self._ask_columns(DEFAULT if columns is None else columns, binary_format, timestamp_format)
        p.by_header = not (p.want[KEY] or p.want[VALUE] or p.want[HEADERS] or p.want[SEQUENCE] or p.want[BASE_OFFSET])
        p.asks_times = p.want[TIMESTAMP] or start_timestamp is not None or end_timestamp is not None
        if aborted_transactions is not None:
            self._set_aborted(aborted_transactions)
        return self

    def __dealloc__(self):
        free(self.aborted)

    cdef _ask_columns(self, columns, binary_format, timestamp_format):
        cdef plan* p = &self.plan
        cdef int number
        fields = []
        for i, name in enumerate(columns if columns is DEFAULT else tuple_of(columns, "columns", "names")):
            if not isinstance(name, str):
                raise ArgumentTypeError(f"columns[{i}] must be a name, not {type(name).__name__}", field="columns")
            found = _NUMBERS.get(str(name))
            if found is None:
                raise InvalidArgumentError(f"unknown column {shown(name)}; accepted are {', '.join(NAMES)}"
                                           f"{did_you_mean(name, NAMES)}", field="columns")
            number = found
            if p.want[number]:
                raise InvalidArgumentError(f"column {name!r} is named twice", field="columns")
            p.want[number] = True
            p.asked[p.n_asked] = number
            p.n_asked += 1
            if column_of(number).gathered == BY_BATCH:
                p.by_batch[p.n_by_batch] = number
                p.n_by_batch += 1
            fields.append(field_of(number, binary_format, timestamp_format))
        self.fields = tuple(fields)

    cdef _set_aborted(self, transactions):
        pairs = []
        for number, pair in enumerate(tuple_of(transactions, _ABORTED, "pairs of (producerId, firstOffset)")):
            try:
                pairs.append(pair_of(pair))
            except (ArgumentTypeError, InvalidArgumentError) as error:
                raise type(error)(f"{_ABORTED}[{number}]: {error.message}", field=_ABORTED) from None
        pairs.sort()
        cdef int64_t i
        self.aborted = <aborted_transaction*>malloc(sizeof(aborted_transaction) * <size_t>(len(pairs) + 1))
        if self.aborted == NULL:
            raise MemoryError()
        for i, (first, producer) in enumerate(pairs):
            self.aborted[i].first_offset = first
            self.aborted[i].producer_id = producer
        self.n_aborted = len(pairs)

    cdef int begin(self, walk* w, int64_t position) except -1:
        memset(w, 0, sizeof(walk))
        w.position = position
        w.isolation.aborted = self.aborted
        w.isolation.n_aborted = self.n_aborted
        if self.n_aborted:
            w.isolation.open = <aborted_transaction*>malloc(sizeof(aborted_transaction) * <size_t>self.n_aborted)
            if w.isolation.open == NULL:
                raise MemoryError()
        return 0


seal(Options, "read_columns and iter_columns")


cdef tuple pair_of(given):
    """Return (first offset, producer id), which sorts by the start of transactions."""
    pair = tuple_of(given, "it", "producerId and firstOffset")
    if len(pair) != 2:
        raise ArgumentTypeError(f"it must be {_PAIR}, not {shown(pair)}")
    producer, first = pair
    return (integer_of(first, "firstOffset", INT64_MIN, INT64_MAX),
            integer_of(producer, "producerId", INT64_MIN, INT64_MAX))


cdef object field_of(int number, binary_format, timestamp_format):
    cdef int gathered = column_of(number).gathered
    if gathered == AS_HEADERS:
        return Field(NAMES[number], "+l", True, _HEADER)
    if gathered == AS_BINARY:
        return Field(NAMES[number], binary_format, True)
    if _FORMATS[number] is None:
        return Field(NAMES[number], timestamp_format, True)
    return Field(NAMES[number], _FORMATS[number])


cdef int64_t before(given, number) except? -1:
    """Return the last value below an exclusive upper bound."""
    return INT64_MAX if given is None else number - 1
