/* Records as a broker skips them: whatever a reader of whole records takes is skipped to the same end, with the same
 * numbers; where it finds none, there is a reason; and no step leaves the bytes. */
#include "fuzz.h"
#include "recordpress/skip.h"

static int64_t or_null(int64_t size) { return size < 0 ? -1 : size; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    rp_cursor whole = rp_cursor_of(data, size);
    while (rp_cursor_left(&whole)) {
        const uint8_t *at = whole.p;
        rp_cursor skipped = rp_cursor_of(at, (size_t)(data + size - at));
        rp_record r, s;
        int status = rp_record_skip(&skipped, &s);
        if (status == RP_SKIP_OK) CHECK(skipped.p > at && skipped.p <= data + size);
        if (!rp_record_read(&whole, &r)) {
            CHECK(rp_record_fault(at, data + size) != RP_SKIP_OK);
            if (status != RP_SKIP_OK) break;
            whole = skipped; /* its length lies */
            continue;
        }
        CHECK(status == RP_SKIP_OK && skipped.p == whole.p);
        CHECK(s.timestamp == r.timestamp && s.offset == r.offset);
        CHECK(or_null(s.key.size) == r.key.size && or_null(s.value.size) == r.value.size);
    }
    return 0;
}
