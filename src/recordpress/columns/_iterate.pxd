from libc.stdint cimport int64_t

from recordpress.columns._columns cimport Columns
from recordpress.columns._gather cimport builder
from recordpress.columns._source cimport Source
from recordpress.columns._options cimport Options
from recordpress.columns._select_batches cimport walk
from recordpress._threads cimport Threads
from recordpress.columns._window cimport Window
from recordpress.columns._roundtrip_loss cimport loss


cdef class ColumnsIterator:
    cdef Options options
    cdef Source source
    cdef Threads threads
    cdef int64_t stop_after      # batch_bytes
    cdef walk reached            # by what was read ahead; positions are the input's view's
    cdef bint at_end             # of what can be read ahead
    cdef object ahead            # deque of windows that are being decoded
    cdef object failed           # an exception that is due after the windows in `ahead`
    cdef int64_t start
    cdef walk passed             # by what was decoded; positions are the source's
    cdef bint in_parts           # one window after the other adds to a result, until it has batch_bytes
    cdef builder open            # of a result that is not complete yet
    cdef bint is_open            # whether rows may be in there
    cdef walk returned           # where `passed` was when the result was begun
    cdef list ignored_header_errors         # of the result so far
    cdef loss lost               # of results that had no rows, since the last that had
    cdef Columns rowless         # the last of them, if anything was lost
    cdef int64_t trailing
    cdef readonly list errors
    cdef bint busy
    cdef bint closed

    cdef int64_t _step(self)
    cdef Columns _result(self)
    cdef Columns _next(self)
    cdef void _carry_lost(self, Columns columns) noexcept
    cdef int _read_ahead(self) except -1
    cdef int _put(self, Window window) except -1
    cdef Window _window(self)
    cdef Window _empty_window(self)
    cdef Window _unread_window(self)
    cdef bint _refuse(self, Window window) except -1
    cdef Window _last_window(self)
    cdef Columns _hand_out(self, Window window)
    cdef int _pass(self, Window window, int64_t first_failure) except -1
    cdef _end(self)

    @staticmethod
    cdef ColumnsIterator make(Options options, source, batch_bytes, start_position, end_position, on_corrupt,
                              ascending_from)
