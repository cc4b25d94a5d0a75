"""The bytes of a walk: a buffer, or a file chunk by chunk."""

from cpython.buffer cimport PyObject_CheckBuffer
from cpython.ref cimport PyObject
from libc.stdint cimport INT64_MAX, int64_t, uint8_t, uint32_t
from libc.string cimport memcpy, memmove

from recordpress._arguments cimport integer_of
from recordpress._buffers cimport InputView, PooledBlock, pooled_block
from recordpress._c.python cimport references
from recordpress._c.wire cimport (
    RP_BATCH_HEADER, RP_ENTRY_PREFIX, RP_LOG_OVERHEAD, RP_OK, rp_batch, rp_error, rp_load_be32,
)
from recordpress.record.decode cimport checked_from, compare_crc, crc_update

import io

from recordpress.errors import ArgumentTypeError, InvalidArgumentError

cdef enum:
    # The most that one call of readinto requests: Linux reads no more than 2 GiB - 4 KiB at once.
    MOST_AT_ONCE = 1 << 30
    # An entry of this size is checked before it is read whole: Kafka's default max.message.bytes is 1 MiB.
    LARGE_ENTRY = 1 << 24
    # An entry of more than this part of a view is large enough to be read by itself.
    LARGE_SHARE = 4
    # Of a large entry, for its checksum: these bytes stay in the CPU's caches.
    STEP_BYTES = 1 << 18


cdef Source source_of(object source, int64_t step, object start, object end, int64_t* position):
    """Return the source; `position` becomes the start of the walk in the view."""
    cdef Source self = Source.__new__(Source, source)
    if PyObject_CheckBuffer(source):
        self.view = InputView(source, "source")
        position[0] = integer_of(start, "start_position", 0, self.view.size)
        self.end = self.view.size if end is None else integer_of(end, "end_position", position[0], INT64_MAX)
        self.size = min(self.view.size, self.end)
        return self
    if not hasattr(source, "readinto"):
        raise ArgumentTypeError("source must be a bytes-like object or a binary file (with readinto), "
                                f"not {type(source).__name__}{advice(source)}", field="source")
    if integer_of(start, "start_position", 0, INT64_MAX):
        raise InvalidArgumentError("start_position is for buffers: a file is read from where it is, so seek first",
                                   field="start_position")
    self.view = InputView(b"")
    position[0] = 0
    self.end = INT64_MAX if end is None else integer_of(end, "end_position", 0, INT64_MAX)
    self.step = step
    self.file = source
    name = getattr(source, "name", None)
    self.name = name if isinstance(name, str) else None
    if self.name is not None and not self.name.endswith(".log"):  # most are segments: their name needs no list
        from recordpress._file_names import refuse_without_records

        refuse_without_records(self.name, "source")
    return self


cdef str advice(source):
    """Return the hint for data that names a path."""
    if isinstance(source, str) or hasattr(type(source), "__fspath__"):
        return ": open(path, 'rb') gives the file of a path, and recordpress.open_log(path) reads a segment or a log"
    return ""


cdef int64_t left_in(file):
    """Return the bytes from the file's position to its end; -1 if only reading shows. A file whose size is known can
    also be read at any position. Only plain files of Python and of recordpress.files are examined: an object that wraps
    another file (gzip) may have its descriptor, but not its size."""
    if hasattr(file, "bytes_left"):
        return integer_of(file.bytes_left, "bytes_left", 0, INT64_MAX)
    raw = file.raw if type(file) in (io.BufferedReader, io.BufferedRandom) else file
    if type(raw) is not io.FileIO:
        return -1
    import os
    from stat import S_ISREG

    status = os.fstat(raw.fileno())
    return max(0, status.st_size - file.tell()) if S_ISREG(status.st_mode) else -1


cdef class Source:
    """`source` is what the caller gave; see source_of."""

    def __cinit__(self, source):
        self.view = None

    cdef int64_t rest(self, int64_t position):
        return self.size - position + self.unread

    cdef bint more(self, int64_t* position) except -1:
        cdef int64_t rest = self.size - position[0]
        cdef int64_t begin = self.base + position[0]
        cdef int64_t room
        cdef PooledBlock block
        if self.file is None or begin + rest >= self.end:
            return False
        room = min(self._room(self.view.data + position[0], rest), self.end - begin)
        if room == rest:
            return False
        block = self._block(position[0], rest, room)
        read = self._read(block, rest, room)
        block.buffer.size = <size_t>(rest + read)
        self.block = block
        self.view = InputView(block)
        self.size = self.view.size
        self.base = begin
        position[0] = 0
        return read != 0

    cdef PooledBlock _block(self, int64_t position, int64_t rest, int64_t room):
        """Return a block for the next view, which begins with the rest of this one: the same block, in the CPU's
        caches, if nothing else uses it."""
        cdef PooledBlock block
        cdef bint is_free = self.block is not None and references(<PyObject*>self.view) == 1
        if is_free and room <= <int64_t>self.block.buffer.capacity:
            block = self.block
            memmove(block.buffer.data, self.view.data + position, <size_t>rest)
            block.buffer.size = <size_t>room
            return block
        block = pooled_block(<size_t>room)
        memcpy(block.buffer.data, self.view.data + position, <size_t>rest)
        return block

    cdef int64_t awaited(self, int64_t position) except -1:
        cdef int64_t rest = self.size - position, entry
        if self.file is None or rest < max(self.step, <int64_t>RP_BATCH_HEADER):
            return 0
        # `rest` holds RP_BATCH_HEADER bytes: checked above
        entry = <int64_t>rp_load_be32(self.view.data + position + 8) + RP_LOG_OVERHEAD
        if entry < LARGE_ENTRY or self.base + position + entry > self.end or left_in(self.file) < entry - rest:
            return 0
        return entry

    cdef int check_crc(self, const rp_batch* batch, rp_error* err) except -1:
        cdef const uint8_t* entry = self.view.data + batch.position
        cdef int64_t there = self.size - batch.position
        cdef int64_t left = batch.size - there, begin = checked_from(batch), read
        cdef uint32_t crc = crc_update(0, batch, entry + begin, there - begin)
        cdef PooledBlock block = pooled_block(STEP_BYTES)
        place = self.file.tell()
        try:
            while left:
                read = self._read(block, 0, min(left, <int64_t>STEP_BYTES))
                if read == 0:
                    return RP_OK  # truncated in between: reading it will fail
                crc = crc_update(crc, batch, block.buffer.data, read)
                left -= read
        finally:
            self.file.seek(place)
        return compare_crc(batch, crc, err)

    cdef int skip(self, int64_t* position) except -1:
        self.file.seek(position[0] - self.size, io.SEEK_CUR)
        self.base += position[0]
        self.view = InputView(b"")
        self.block = None  # the windows before point into it
        self.size = position[0] = 0
        return 0

    cdef int64_t _read(self, PooledBlock block, int64_t rest, int64_t room) except -1:
        read = self.file.readinto(memoryview(block)[rest:min(room, rest + MOST_AT_ONCE)])
        if read is None:
            raise InvalidArgumentError("source must be a file that waits for its bytes, not a non-blocking one",
                                       field="source")
        try:
            return integer_of(read, "readinto()", 0, room - rest)
        except (ArgumentTypeError, InvalidArgumentError) as error:
            raise type(error)(f"source does not behave like a Python file: {error.message}", field="source") from None

    cdef int64_t _first_entry(self, const uint8_t* data, int64_t rest, int64_t step) noexcept:
        """Return the end of the prefix after the first entry if that is a large part of a view, else `step`; `rest` is
        at least RP_ENTRY_PREFIX."""
        cdef int64_t size = <int64_t>rp_load_be32(data + 8) + RP_LOG_OVERHEAD + RP_ENTRY_PREFIX
        return size if max(rest, step // LARGE_SHARE) < size <= step else step

    cdef int64_t _room(self, const uint8_t* data, int64_t rest) except -1:
        """Return the size of the next view: `step` bytes, so that a few entries do not become a result of their own. A
        view of a few large entries ends with the first of them, and the prefix of the next; the rest is copied.

        For a larger entry, views grow with the bytes that are there, never by its size field alone. If the file is
        known to hold the whole entry, the view becomes that large at once; if known not to, the rest is not read.
        """
        cdef int64_t step = max(self.step, <int64_t>RP_BATCH_HEADER)  # by which a large entry is judged
        cdef int64_t entry, left
        if rest < RP_ENTRY_PREFIX:
            return step
        if rest < step:
            return self._first_entry(data, rest, step)
        entry = <int64_t>rp_load_be32(data + 8) + RP_LOG_OVERHEAD  # its bounds were checked by the scan
        left = left_in(self.file)
        if left < 0:
            return 2 * rest
        left = min(left, self.end - self.base - self.size)
        if left >= entry - rest:
            return entry
        self.unread = left
        return rest
