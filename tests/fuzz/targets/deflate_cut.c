/* A deflate stream that is cut: what is left holds whole units, within the limit, and is read back bit by bit. More
 * bytes never hold fewer units. Bytes that are no stream are given too, with an input that is not theirs: they must
 * only stay within bounds. */
#include "../../native/inflate_reference.h"
#include "fuzz.h"
#include "recordpress/deflate_cut.h"

enum { ROOM = 1 << 14, UNITS = 1 << 10 };

/* Ends of units of drawn sizes, up to the input's end. */
static int64_t draw_ends(input *in, size_t size, size_t *ends) {
    size_t least = 1 + take_below(in, 40), spread = 1 + take_below(in, 200), at = 0;
    uint64_t seed = take(in, 2);
    int64_t n = 0;
    while (n < UNITS && at < size) {
        at += least + next_random(&seed) % spread;
        if (at > size) at = size;
        ends[n++] = at;
    }
    return n;
}

static int64_t cut(const uint8_t *stream, size_t size, size_t limit, const uint8_t *data, const size_t *ends, int64_t n,
                   int is_sound) {
    static rp_deflate_cutter cutter; /* dirty from one run to the next */
    static uint8_t back[ROOM];
    uint8_t *out = malloc(limit ? limit : 1);
    size_t written = 0, used;
    CHECK(out);
    int64_t units = rp_deflate_cut(&cutter, stream, size, limit, data, ends, n, out, &written);
    CHECK(units >= 0 && units <= n && written <= limit && written <= size);
    if (units && is_sound) {
        uint8_t *exact = exact_copy(out, written);
        CHECK(inflate_stream(exact, written, back, ROOM, &used) == (long)ends[units - 1]);
        CHECK(used == written && !memcmp(back, data, ends[units - 1]));
        free(exact);
    }
    free(out);
    return units;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static uint8_t inflated[ROOM];
    static size_t ends[UNITS];
    input in = {data, size};
    size_t share = take_below(&in, 256), used;
    input choices = {in.p, in.left < 4 ? in.left : 4};
    take(&in, 4);
    uint8_t *stream = exact_copy(in.p, in.left);
    long length = inflate_stream(stream, in.left, inflated, ROOM, &used);
    size_t whole = length < 0 ? in.left : used, of_input = length < 0 ? 7 * in.left % ROOM : (size_t)length;
    uint8_t *exact = exact_copy(inflated, of_input);
    int64_t n = draw_ends(&choices, of_input, ends);
    int64_t units = cut(stream, whole, whole * share >> 8, exact, ends, n, length >= 0);
    CHECK(cut(stream, whole, whole * (share + 1) >> 8, exact, ends, n, length >= 0) >= units);
    free(exact);
    free(stream);
    return 0;
}
