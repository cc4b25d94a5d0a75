/* The Arrow C data and C stream interfaces: the structs and flags of the ABI, as its specification
 * defines them (https://arrow.apache.org/docs/format/CDataInterface.html, CStreamInterface.html). The guard
 * macros are the specification's too, so that another header that defines the ABI may be included as well.
 *
 * The receiver of a struct owns it until it calls `release` (which is NULL then). A consumer that keeps a struct
 * moves it: it copies the bytes and sets the source's `release` to NULL.
 */
#ifndef RECORDPRESS_ARROW_C_DATA_H
#define RECORDPRESS_ARROW_C_DATA_H

#include <stdint.h>

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;

    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;

    void (*release)(struct ArrowArray *);
    void *private_data;
};

#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
    /* 0, or an errno; the callee fills `out`, whose `release` is NULL at the end of the stream. */
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);

    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

#endif

#endif
