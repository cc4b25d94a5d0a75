/* Unaligned loads and stores of a stated byte order, through memcpy (defined for every alignment). */
#ifndef RECORDPRESS_ENDIAN_H
#define RECORDPRESS_ENDIAN_H

#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "recordpress needs a little-endian machine (x86_64, aarch64): Arrow buffers are native-endian"
#endif

static inline uint16_t rp_load_le16(const void *p) { uint16_t v; memcpy(&v, p, sizeof v); return v; }
static inline uint32_t rp_load_le32(const void *p) { uint32_t v; memcpy(&v, p, sizeof v); return v; }
static inline uint64_t rp_load_le64(const void *p) { uint64_t v; memcpy(&v, p, sizeof v); return v; }
static inline uint16_t rp_load_be16(const void *p) { return __builtin_bswap16(rp_load_le16(p)); }
static inline uint32_t rp_load_be32(const void *p) { return __builtin_bswap32(rp_load_le32(p)); }
static inline uint64_t rp_load_be64(const void *p) { return __builtin_bswap64(rp_load_le64(p)); }

static inline void rp_store_le32(void *p, uint32_t v) { memcpy(p, &v, sizeof v); }
static inline void rp_store_le64(void *p, uint64_t v) { memcpy(p, &v, sizeof v); }
static inline void rp_store_be16(void *p, uint16_t v) { v = __builtin_bswap16(v); memcpy(p, &v, sizeof v); }
static inline void rp_store_be32(void *p, uint32_t v) { v = __builtin_bswap32(v); memcpy(p, &v, sizeof v); }
static inline void rp_store_be64(void *p, uint64_t v) { v = __builtin_bswap64(v); memcpy(p, &v, sizeof v); }

#endif
