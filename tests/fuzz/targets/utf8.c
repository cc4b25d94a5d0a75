/* Text with its ill-formed parts replaced, next to the decoder of java.lang.String written down again: what it finds
 * malformed, and by how many bytes. */
#include "fuzz.h"
#include "recordpress/utf8.h"

static int continues(const uint8_t *p, size_t left, size_t i) { return i < left && (p[i] & 0xc0) == 0x80; }

/* Bytes of the character at p; negative: of the part that is replaced. */
static int sequence(const uint8_t *p, size_t left) {
    unsigned b = p[0], next = left > 1 ? p[1] : 0;
    if (b < 0x80) return 1;
    if (b >= 0xc2 && b <= 0xdf) return continues(p, left, 1) ? 2 : -1;
    if (b >= 0xe0 && b <= 0xef) {
        if (!continues(p, left, 1) || (b == 0xe0 && next < 0xa0)) return -1;
        if (!continues(p, left, 2)) return -2;
        return b == 0xed && next >= 0xa0 ? -3 : 3; /* a surrogate is one malformed character, not three */
    }
    if (b < 0xf0 || b > 0xf4) return -1;
    if (!continues(p, left, 1) || (b == 0xf0 && next < 0x90) || (b == 0xf4 && next > 0x8f)) return -1;
    if (!continues(p, left, 2)) return -2;
    return continues(p, left, 3) ? 4 : -3;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t *expected = malloc(3 * size + 1), *copied = malloc(size ? 3 * size : 1);
    CHECK(expected && copied);
    size_t end = 0;
    for (size_t i = 0; i < size;) {
        int n = sequence(data + i, size - i);
        CHECK(rp_utf8_sequence(data + i, size - i) == n);
        const uint8_t *from = n > 0 ? data + i : (const uint8_t *)"\xef\xbf\xbd";
        size_t bytes = n > 0 ? (size_t)n : 3;
        memcpy(expected + end, from, bytes);
        end += bytes;
        i += (size_t)(n > 0 ? n : -n);
    }
    CHECK(rp_utf8_copy(copied, data, size) == end && !memcmp(copied, expected, end));
    for (size_t i = 0; i < end;) { /* the result is well-formed */
        int n = rp_utf8_sequence(copied + i, end - i);
        CHECK(n > 0);
        i += (size_t)n;
    }
    free(expected);
    free(copied);
    return 0;
}
