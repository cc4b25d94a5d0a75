"""libzstd (zstd.h)."""

cdef extern from * nogil:
    """
    /* ZSTD_getCParams: the window that a level has when the size is unknown; and ZSTD_c_srcSizeHint */
    #define ZSTD_STATIC_LINKING_ONLY
    #include <zstd.h>
    #include <zstd_errors.h>
    """
    const char* ZSTD_versionString()
    ctypedef struct ZSTD_CCtx:
        pass
    ctypedef struct ZSTD_DCtx:
        pass
    ctypedef struct ZSTD_inBuffer:
        const void* src
        size_t size
        size_t pos
    ctypedef struct ZSTD_outBuffer:
        void* dst
        size_t size
        size_t pos
    ctypedef struct ZSTD_compressionParameters:
        unsigned windowLog
    ctypedef enum ZSTD_cParameter:
        ZSTD_c_compressionLevel
        ZSTD_c_contentSizeFlag
        ZSTD_c_srcSizeHint
    ctypedef enum ZSTD_EndDirective:
        ZSTD_e_continue
        ZSTD_e_flush
        ZSTD_e_end
    ctypedef enum ZSTD_ResetDirective:
        ZSTD_reset_session_only
    ctypedef enum ZSTD_ErrorCode:
        ZSTD_error_checksum_wrong
        ZSTD_error_dstSize_tooSmall
        ZSTD_error_memory_allocation
        ZSTD_error_prefix_unknown
        ZSTD_error_frameParameter_unsupported

    bint ZSTD_isError(size_t code)
    ZSTD_ErrorCode ZSTD_getErrorCode(size_t code)
    size_t ZSTD_compressBound(size_t size)
    ZSTD_compressionParameters ZSTD_getCParams(int level, unsigned long long size, size_t dictionary_size)

    ZSTD_CCtx* ZSTD_createCCtx()
    size_t ZSTD_freeCCtx(ZSTD_CCtx*)
    size_t ZSTD_sizeof_CCtx(const ZSTD_CCtx*)
    size_t ZSTD_CCtx_setParameter(ZSTD_CCtx*, ZSTD_cParameter, int value)
    size_t ZSTD_CCtx_reset(ZSTD_CCtx*, ZSTD_ResetDirective)
    size_t ZSTD_compress2(ZSTD_CCtx*, void* dst, size_t capacity, const void* src, size_t size)
    size_t ZSTD_compressStream2(ZSTD_CCtx*, ZSTD_outBuffer*, ZSTD_inBuffer*, ZSTD_EndDirective)

    ZSTD_DCtx* ZSTD_createDCtx()
    size_t ZSTD_freeDCtx(ZSTD_DCtx*)
    size_t ZSTD_sizeof_DCtx(const ZSTD_DCtx*)
    size_t ZSTD_DCtx_reset(ZSTD_DCtx*, ZSTD_ResetDirective)
    size_t ZSTD_decompressDCtx(ZSTD_DCtx*, void* dst, size_t capacity, const void* src, size_t size)
    size_t ZSTD_decompressStream(ZSTD_DCtx*, ZSTD_outBuffer*, ZSTD_inBuffer*)
