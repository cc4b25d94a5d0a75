"""C status -> Python exception: the only place that translates one into the other."""

from libc.stdint cimport int64_t

from kpress import errors
from kpress._c.status cimport (
    KP_KIND_ARGUMENT, KP_KIND_CORRUPT, KP_KIND_DECOMPRESS, KP_KIND_INVALID, KP_KIND_MEMORY, KP_KIND_NONE,
    KP_KIND_TOO_LARGE, KP_KIND_UNSUPPORTED, kp_status_of, kp_status_row,
)
from kpress._c.wire cimport KP_STATUS_COUNT, kp_error

cdef dict CLASSES = {
    KP_KIND_CORRUPT: errors.CorruptRecordError,
    KP_KIND_INVALID: errors.InvalidRecordError,
    KP_KIND_DECOMPRESS: errors.DecompressionError,
    KP_KIND_UNSUPPORTED: errors.UnsupportedCompressionTypeError,
    KP_KIND_TOO_LARGE: errors.OutputTooLargeError,
    KP_KIND_ARGUMENT: errors.InvalidArgumentError,
}


cdef object error_of(const kp_error* err, int64_t base=0, object offset=None, object file=None, bint inside=False):
    """The exception for a failed status.

    base: where the buffer that was being read starts in the file or buffer of the user. inside: that buffer
    was decompressed data, so the position in it goes into the sentence and base is what `position` says.
    """
    cdef const kp_status_row* row = kp_status_of(err.status)
    sentence = row.sentence.decode("ascii").format(found=err.found, limit=err.limit)
    if row.kind == KP_KIND_MEMORY:
        return MemoryError(sentence)
    position = None
    if inside:
        position = base
        if err.position >= 0:
            sentence += f" at byte {err.position} of the decompressed records"
    elif err.position >= 0:
        position = base + err.position
    return CLASSES[row.kind](
        sentence,
        position=position,
        offset=offset,
        file=file,
        field=row.field.decode("ascii") or None,
        rule=row.rule.decode("ascii") or None,
    )


cdef int raise_status(const kp_error* err) except -1:
    raise error_of(err)


def _every_status():
    """(name, exception) for every status: lets a test see each row translated."""
    cdef kp_error err
    rows = []
    for status in range(KP_STATUS_COUNT):
        if kp_status_of(status).kind == KP_KIND_NONE:
            continue
        err.status, err.position, err.found, err.limit = status, 1, 2, 3
        rows.append((kp_status_of(status).name.decode("ascii"), error_of(&err)))
    return rows
