/* Records as a broker skips them: whatever a reader of whole records takes is skipped to the same end, with the same
 * numbers; where it finds none, there is a reason; and no step leaves the bytes. */
#include "fuzz.h"
#include "kpress/skip.h"

static int64_t or_null(int64_t size) { return size < 0 ? -1 : size; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    kp_cursor whole = kp_cursor_of(data, size);
    while (kp_cursor_left(&whole)) {
        const uint8_t *at = whole.p;
        kp_cursor skipped = kp_cursor_of(at, (size_t)(data + size - at));
        kp_record r, s;
        int status = kp_record_skip(&skipped, &s);
        if (status == KP_SKIP_OK) CHECK(skipped.p > at && skipped.p <= data + size);
        if (!kp_record_read(&whole, &r)) {
            CHECK(kp_record_fault(at, data + size) != KP_SKIP_OK);
            if (status != KP_SKIP_OK) break;
            whole = skipped; /* its length lies */
            continue;
        }
        CHECK(status == KP_SKIP_OK && skipped.p == whole.p);
        CHECK(s.timestamp == r.timestamp && s.offset == r.offset);
        CHECK(or_null(s.key.size) == r.key.size && or_null(s.value.size) == r.value.size);
    }
    return 0;
}
