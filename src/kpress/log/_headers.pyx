"""The headers of a segment's entries, without their payloads: as far as they lie in a window of the file."""

from libc.stdint cimport INT32_MAX, int64_t, uint64_t

from kpress._buffers cimport InputView
from kpress._c.wire cimport (
    KP_BATCH_HEADER, KP_CONTROL, KP_END, KP_OK, KP_TRANSACTIONAL, kp_batch, kp_batch_last_offset, kp_batch_next,
    kp_error,
)
from kpress._status cimport check, place, place_at


def transactional_batches(window, int64_t left, max_message_bytes=INT32_MAX):
    """What the headers in a window say of transactions.

    Parameters
    ----------
    window : bytes-like
        From the beginning of an entry on; the last entry may go on after it.
    left : int
        Bytes of the file from there on: an entry that does not fit into them is cut.
    max_message_bytes : int
        An entry whose size field is above this is corrupt.

    Returns
    -------
    found : list of (producer id, base offset, is control batch)
    end : int
        Where the next entry begins, counted from the window's beginning and perhaps after its end; 0 if none is whole.
    next_offset : int or None
        After the last entry.

    Raises
    ------
    CorruptRecordError
        The first entry is impossible.
    """
    cdef InputView view = InputView(window)
    cdef int64_t largest = max_message_bytes, position = 0
    cdef kp_batch batch
    cdef kp_error err
    cdef place at
    cdef int status
    cdef list found = []
    next_offset = None
    # a header is read only if all of it is here: no field of an entry lies after KP_BATCH_HEADER bytes
    while view.size - position >= KP_BATCH_HEADER or view.size == left:
        status = kp_batch_next(view.data, left, position, largest, &batch, &err)
        if status != KP_OK:
            if status != KP_END and position == 0:
                at = place_at(0)
                check(status, &err, &at)
            break
        if batch.magic == 2 and batch.attributes & KP_TRANSACTIONAL:
            found.append((batch.producer_id, batch.base_offset, bool(batch.attributes & KP_CONTROL)))
        next_offset = <int64_t>(<uint64_t>kp_batch_last_offset(&batch) + 1)
        position += batch.size
        if position >= view.size:
            break
    return found, position, next_offset
