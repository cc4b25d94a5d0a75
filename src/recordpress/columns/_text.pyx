"""Values as text: numbers, UTF-8, hex, base64 (RFC 4648), JSON (RFC 8259) and CSV (RFC 4180).

Bytes that are not UTF-8 become U+FFFD as in utf8.h, so the output is always UTF-8.
"""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint64_t
from libc.string cimport memchr, memcmp, memcpy

from recordpress._buffers cimport pooled
from recordpress._c.wire cimport RP_OK, rp_json_copy, rp_utf8_copy, rp_utf8_sequence

cdef enum:
    STEP = 4096         # bytes for which room is reserved at a time; escaped, they may become six times as many
    DEEPEST = 64        # levels of arrays and objects: bits of a number

cdef uint64_t HIGH = 0x8080808080808080

cdef uint16_t[4096] PAIRS   # two characters of base64 for 12 bits
cdef char[512] HEX          # two characters for a byte
cdef char[256] ESCAPES      # the letter after a backslash; 1: \u00XX


cdef void fill_tables():
    cdef const char* alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    cdef const char* hexadecimal = b"0123456789abcdef"
    cdef char[2] pair
    cdef int i
    for i in range(4096):
        pair[0], pair[1] = alphabet[i >> 6], alphabet[i & 63]
        memcpy(&PAIRS[i], pair, 2)
    for i in range(256):
        HEX[2 * i], HEX[2 * i + 1] = hexadecimal[i >> 4], hexadecimal[i & 15]
        ESCAPES[i] = 1 if i < 0x20 else 0
    for i, letter in ((8, b"b"), (9, b"t"), (10, b"n"), (12, b"f"), (13, b"r"), (34, b'"'), (92, b"\\")):
        ESCAPES[i] = (<bytes>letter)[0]


fill_tables()


# --- text -------------------------------------------------------------------------------------------------------

cdef int put_utf8(pooled* out, const uint8_t* p, size_t size) noexcept nogil:
    cdef size_t i = 0, n
    cdef uint64_t eight
    if room(out, 3 * size if size < STEP else size + 2 * STEP):
        return -1
    while i < size:
        n = i
        while size - n >= 8:
            memcpy(&eight, p + n, 8)
            if eight & HIGH:
                break
            n += 8
        if n > i:
            if put(out, p + i, n - i):
                return -1
            i = n
            continue
        n = min(<size_t>8, size - i)
        while n < size - i and p[i + n] & 0xc0 == 0x80:  # not in the middle of a character
            n += 1
        if room(out, 3 * n):
            return -1
        out.size += rp_utf8_copy(out.data + out.size, p + i, n)
        i += n
    return RP_OK


cdef inline uint8_t* escape(uint8_t* to, uint8_t byte) noexcept nogil:
    cdef char letter = ESCAPES[byte]
    to[0] = 92
    if letter != 1:
        to[1] = <uint8_t>letter
        return to + 2
    memcpy(to + 1, b"u00", 3)
    memcpy(to + 4, HEX + 2 * byte, 2)
    return to + 6


cdef int put_escaped(pooled* out, const uint8_t* p, size_t size) noexcept nogil:
    """Write the inside of a JSON string."""
    cdef size_t i = 0, stop, n
    cdef uint8_t* to
    cdef int sequence
    while i < size:
        stop = min(size, i + STEP)
        if room(out, 6 * (stop - i) + 8):
            return -1
        to = out.data + out.size
        while i < stop:
            n = rp_json_copy(to, p + i, stop - i)
            to += n
            i += n
            if i == stop:
                break
            if p[i] < 0x80:
                to = escape(to, p[i])
                i += 1
            else:
                sequence = rp_utf8_sequence(p + i, size - i)
                n = <size_t>(sequence if sequence > 0 else -sequence)
                to += rp_utf8_copy(to, p + i, n)
                i += n
        out.size = <size_t>(to - out.data)
    return RP_OK


cdef int put_json_text(pooled* out, const uint8_t* p, size_t size) noexcept nogil:
    if put(out, b'"', 1) or put_escaped(out, p, size):
        return -1
    return put(out, b'"', 1)


# --- bytes ------------------------------------------------------------------------------------------------------

cdef int put_hex(pooled* out, const uint8_t* p, size_t size) noexcept nogil:
    cdef size_t i
    if room(out, 2 * size):
        return -1
    for i in range(size):
        memcpy(out.data + out.size + 2 * i, HEX + 2 * p[i], 2)
    out.size += 2 * size
    return RP_OK


cdef int put_base64(pooled* out, const uint8_t* p, size_t size) noexcept nogil:
    cdef size_t i = 0
    cdef unsigned int bits
    cdef uint8_t* to
    if room(out, 4 * (size // 3 + 1)):
        return -1
    to = out.data + out.size
    while size - i >= 3:
        bits = <unsigned int>p[i] << 16 | <unsigned int>p[i + 1] << 8 | p[i + 2]
        memcpy(to, &PAIRS[bits >> 12], 2)
        memcpy(to + 2, &PAIRS[bits & 4095], 2)
        to += 4
        i += 3
    if i < size:
        bits = <unsigned int>p[i] << 16 | (<unsigned int>p[i + 1] << 8 if size - i == 2 else 0)
        memcpy(to, &PAIRS[bits >> 12], 2)
        memcpy(to + 2, &PAIRS[bits & 4095], 2)
        to[3] = 61
        if size - i == 1:
            to[2] = 61
        to += 4
    out.size = <size_t>(to - out.data)
    return RP_OK


cdef int put_json_bytes(pooled* out, const uint8_t* p, size_t size, shown_as form) noexcept nogil:
    cdef size_t start = out.size
    if form == AS_SIZE:
        return put_number(out, <int64_t>size)
    if form == AS_UTF8:
        return put_json_text(out, p, size)
    if form == AS_JSON:
        if put_json(out, p, size):
            return RP_OK
        out.size = start  # not JSON: shown as text
        return put_json_text(out, p, size)
    if put(out, b'"', 1) or (put_hex(out, p, size) if form == AS_HEX else put_base64(out, p, size)):
        return -1
    return put(out, b'"', 1)


cdef int put_csv_quoted(pooled* out, const uint8_t* p, size_t size) noexcept nogil:
    """Write a text in quotes, with inner quotes doubled."""
    cdef const uint8_t* quote
    cdef size_t n
    if put(out, b'"', 1):
        return -1
    while size:
        quote = <const uint8_t*>memchr(p, 34, size)
        n = size if quote == NULL else <size_t>(quote - p) + 1
        if put(out, p, n) or (quote != NULL and put(out, b'"', 1)):
            return -1
        p += n
        size -= n
    return put(out, b'"', 1)


cdef int put_csv_bytes(pooled* out, const uint8_t* p, size_t size, shown_as form, pooled* scratch) noexcept nogil:
    scratch.size = 0
    if form == AS_SIZE:
        return put_number(out, <int64_t>size)
    if form == AS_HEX:
        return put_hex(out, p, size) if size else put(out, b'""', 2)  # null is an empty field
    if form == AS_BASE64:
        return put_base64(out, p, size) if size else put(out, b'""', 2)
    if put_utf8(scratch, p, size):
        return -1
    return put_csv_quoted(out, scratch.data, scratch.size)


# --- JSON in values ---------------------------------------------------------------------------------------------

cdef inline bint is_digit(uint8_t c) noexcept nogil:
    return 48 <= c <= 57


cdef size_t number_at(const uint8_t* p, size_t size) noexcept nogil:
    """Return the size of the JSON number at p, or 0."""
    cdef size_t i = 0, digits
    if i < size and p[i] == 45:
        i += 1
    if i < size and p[i] == 48:
        i += 1
    else:
        digits = i
        while i < size and is_digit(p[i]):
            i += 1
        if i == digits:
            return 0
    if i < size and p[i] == 46:
        i += 1
        digits = i
        while i < size and is_digit(p[i]):
            i += 1
        if i == digits:
            return 0
    if i < size and (p[i] == 101 or p[i] == 69):
        i += 1
        if i < size and (p[i] == 43 or p[i] == 45):
            i += 1
        digits = i
        while i < size and is_digit(p[i]):
            i += 1
        if i == digits:
            return 0
    return i


cdef inline bint is_hexadecimal(uint8_t c) noexcept nogil:
    return 48 <= c <= 57 or 97 <= (c | 32) <= 102


cdef size_t string_at(const uint8_t* p, size_t size) noexcept nogil:
    """Return the size of the JSON string at p, with its quotes, or 0."""
    cdef size_t i = 1, n
    cdef int sequence
    if not size or p[0] != 34:
        return 0
    while i < size:
        if p[i] == 34:
            return i + 1
        if p[i] < 0x20:
            return 0
        if p[i] == 92:
            if size - i < 2 or memchr(b'"\\/bfnrtu', p[i + 1], 9) == NULL:
                return 0
            n = 6 if p[i + 1] == 117 else 2
            if size - i < n or (n == 6 and not (is_hexadecimal(p[i + 2]) and is_hexadecimal(p[i + 3])
                                                and is_hexadecimal(p[i + 4]) and is_hexadecimal(p[i + 5]))):
                return 0
            i += n
            continue
        sequence = rp_utf8_sequence(p + i, size - i)
        if sequence < 0:
            return 0
        i += <size_t>sequence
    return 0


cdef size_t scalar_at(const uint8_t* p, size_t size) noexcept nogil:
    """Return the size of the JSON string, number or word at p, or 0."""
    if p[0] == 34:
        return string_at(p, size)
    if size >= 4 and (memcmp(p, b"true", 4) == 0 or memcmp(p, b"null", 4) == 0):
        return 4
    if size >= 5 and memcmp(p, b"false", 5) == 0:
        return 5
    return number_at(p, size)


cdef inline bint is_space(uint8_t c) noexcept nogil:
    return c == 32 or c == 10 or c == 13 or c == 9


cdef enum:
    WANTS_VALUE, WANTS_KEY, WANTS_COLON, HAS_VALUE


cdef bint put_json(pooled* out, const uint8_t* p, size_t size) noexcept nogil:
    """Write the value on one line if it is JSON; else return False, and the caller must discard the output."""
    cdef uint64_t kinds = 0    # a bit for each level: whether the level is an object
    cdef int depth = 0, state = WANTS_VALUE
    cdef bint is_first = False
    cdef size_t i = 0, n
    cdef uint8_t c
    while i < size:
        c = p[i]
        n = 1
        if is_space(c):
            i += 1
            continue
        if state == HAS_VALUE:
            if not depth or (c != 44 and c != (125 if kinds & 1 else 93)):
                return False
            if c == 44:
                state = WANTS_KEY if kinds & 1 else WANTS_VALUE
                is_first = False
            else:
                kinds >>= 1
                depth -= 1
        elif state == WANTS_COLON:
            if c != 58:
                return False
            state = WANTS_VALUE
        elif is_first and c == (125 if kinds & 1 else 93):
            kinds >>= 1
            depth -= 1
            state, is_first = HAS_VALUE, False
        elif state == WANTS_KEY:
            n = string_at(p + i, size - i)
            state, is_first = WANTS_COLON, False
        elif c == 123 or c == 91:
            if depth == DEEPEST:
                return False
            kinds = kinds << 1 | (c == 123)
            depth += 1
            state, is_first = WANTS_KEY if c == 123 else WANTS_VALUE, True
        else:
            n = scalar_at(p + i, size - i)
            state, is_first = HAS_VALUE, False
        if not n or put(out, p + i, n):
            return False
        i += n
    return state == HAS_VALUE and not depth
