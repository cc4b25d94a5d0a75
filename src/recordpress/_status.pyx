"""C status -> Python exception: the only place that translates one into the other."""

from _thread import get_ident

cimport cython
from cpython.ref cimport PyObject
from libc.stdint cimport int64_t

from recordpress import errors
from recordpress._c.status cimport (
    RP_KIND_ARGUMENT, RP_KIND_CORRUPT, RP_KIND_DECOMPRESS, RP_KIND_INVALID, RP_KIND_MEMORY, RP_KIND_NONE,
    RP_KIND_TOO_LARGE, RP_KIND_UNSUPPORTED, rp_status_of, rp_status_row,
)
from recordpress._c.wire cimport (
    RP_CODEC_COMPRESS, RP_CODEC_DECOMPRESS, RP_IN_RECORDS, RP_OK, RP_PLUGIN_UNKNOWN, RP_STATUS_COUNT, rp_batch,
    rp_error, rp_fail, rp_ref_count, rp_ref_drop, rp_ref_take,
)

cdef dict CLASSES = {
    RP_KIND_CORRUPT: errors.CorruptRecordError,
    RP_KIND_INVALID: errors.InvalidRecordError,
    RP_KIND_DECOMPRESS: errors.DecompressionError,
    RP_KIND_UNSUPPORTED: errors.UnsupportedCompressionTypeError,
    RP_KIND_TOO_LARGE: errors.OutputTooLargeError,
    RP_KIND_ARGUMENT: errors.InvalidArgumentError,
}


cdef place place_at(int64_t entry, int64_t base=0, object file=None) noexcept:
    """Return the place of an entry whose header could not be read, without an offset."""
    cdef place at
    at.file = <PyObject*>file
    at.base = base
    at.entry = entry
    at.offset = 0
    at.has_offset = False
    return at


cdef place place_of(const rp_batch* batch, int64_t base=0, object file=None) noexcept:
    """Return the place of an entry whose header was read."""
    cdef place at = place_at(batch.position, base, file)
    at.offset = batch.base_offset
    at.has_offset = True
    return at


cdef object field_position_of(const rp_error* err, const place* at):
    """Return the byte position of the field in the caller's file or data; None if unknown."""
    if err.frame == RP_IN_RECORDS or err.position < 0:
        return None
    return err.position if at == NULL else at.base + at.entry + err.start + err.position


cdef object error_of(const rp_error* err, const place* at=NULL):
    """Return the exception for a failed status."""
    cdef const rp_status_row* row = rp_status_of(err.status)
    cause = plugin = None
    if err.status in CAUSED:
        cause, plugin = taken_cause(err.found)
        if cause is not None and not isinstance(cause, Exception):  # an interrupt
            return cause
    sentence = row.sentence.decode("ascii").format(found=err.found, limit=err.limit)
    if row.kind == RP_KIND_MEMORY:
        return MemoryError(sentence)
    if err.frame == RP_IN_RECORDS and err.position >= 0:
        sentence += f" at byte {err.position} of the decompressed records"
    if plugin is not None:
        sentence += f": {plugin!r}"
    if cause is not None:
        sentence += f": {type(cause).__name__}: {text_of(cause)}"
    error = CLASSES[row.kind](
        sentence,
        file=<object>at.file if at != NULL else None,
        position=at.base + at.entry if at != NULL else None,
        offset=at.offset if at != NULL and at.has_offset else None,
        field=row.field.decode("ascii") or None,
        field_position=field_position_of(err, at),
        rule=row.rule.decode("ascii") or None,
    )
    error.__cause__ = cause
    return error


cdef str text_of(object cause):
    """Return the message of an exception of the caller's code, whose __str__ may fail too."""
    try:
        return str(cause)
    except Exception:
        return "(its message could not be read)"


# Exceptions of plug-ins, the plug-ins' names, and the threads that noted them, by number. Each is kept until its error
# is created. A thread keeps only the last CAUSES_KEPT causes that are never requested.
cdef dict CAUSES = {}
cdef dict NOTED = {}           # by thread: its numbers that are in CAUSES, in order (keys)
cdef object TABLES = object()  # whose lock guards the two on a Python without the GIL
cdef int64_t last_cause = 0
cdef int64_t keepers = 0
cdef frozenset CAUSED = frozenset((RP_CODEC_COMPRESS, RP_CODEC_DECOMPRESS, RP_PLUGIN_UNKNOWN))
cdef enum:
    CAUSES_KEPT = 64   # causes of one thread; chosen, not measured


cdef int64_t note_cause(object exception, str plugin) noexcept:
    global last_cause
    cdef list dropped = []  # freed after the change of the tables, because that may run the caller's code
    with cython.critical_section(TABLES):
        last_cause += 1
        number = last_cause
        thread = get_ident()
        CAUSES[number] = (exception, plugin, thread)
        NOTED.setdefault(thread, {})[number] = None
        while rp_ref_count(&keepers) == 0 and len(NOTED[thread]) > CAUSES_KEPT:
            dropped.append(taken_cause(next(iter(NOTED[thread]))))
    return number


cdef tuple taken_cause(int64_t number):
    """Remove and return the exception and the plug-in with that number."""
    cdef dict noted
    with cython.critical_section(TABLES):
        exception, plugin, thread = CAUSES.pop(number, (None, None, None))
        noted = NOTED.get(thread)
        if noted is not None:
            noted.pop(number, None)
            if not noted:
                del NOTED[thread]
    return exception, plugin


cdef void keep_causes() noexcept nogil:
    rp_ref_take(&keepers)


cdef void stop_keeping_causes() noexcept nogil:
    rp_ref_drop(&keepers)


cdef int check(int status, const rp_error* err, const place* at=NULL) except -1:
    if status != RP_OK:
        raise error_of(err, at)
    return 0


def _every_status():
    """Return (name, exception) for every status, so that a test sees each one translated."""
    cdef rp_error err
    rows = []
    for status in range(RP_STATUS_COUNT):
        if rp_status_of(status).kind == RP_KIND_NONE:
            continue
        rp_fail(&err, status, 1, 2, 3)
        rows.append((rp_status_of(status).name.decode("ascii"), error_of(&err)))
    return rows
