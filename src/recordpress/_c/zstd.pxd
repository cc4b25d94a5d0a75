"""libzstd (zstd.h)."""

cdef extern from * nogil:
    """
    /* ZSTD_getCParams: the window that a level has when the size is unknown; ZSTD_c_srcSizeHint;
       ZSTD_estimateDCtxSize */
    #define ZSTD_STATIC_LINKING_ONLY
    #include <zstd.h>
    #include <zstd_errors.h>
    #define ZDICT_STATIC_LINKING_ONLY  /* the parameters of training */
    #include <zdict.h>
    """
    const char* ZSTD_versionString()
    ctypedef struct ZSTD_CCtx:
        pass
    ctypedef struct ZSTD_DCtx:
        pass
    ctypedef struct ZSTD_CDict:
        pass
    ctypedef struct ZSTD_DDict:
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
        ZSTD_c_strategy
        ZSTD_c_windowLog
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
    size_t ZSTD_estimateDCtxSize()
    size_t ZSTD_DCtx_reset(ZSTD_DCtx*, ZSTD_ResetDirective)
    size_t ZSTD_decompress_usingDDict(ZSTD_DCtx*, void* dst, size_t capacity, const void* src, size_t size,
                                      const ZSTD_DDict*)
    size_t ZSTD_decompressStream(ZSTD_DCtx*, ZSTD_outBuffer*, ZSTD_inBuffer*)

    # ...byReference: the caller keeps the dictionary's bytes alive
    ZSTD_CDict* ZSTD_createCDict_byReference(const void* dictionary, size_t size, int level)
    size_t ZSTD_freeCDict(ZSTD_CDict*)
    size_t ZSTD_sizeof_CDict(const ZSTD_CDict*)
    size_t ZSTD_CCtx_loadDictionary_byReference(ZSTD_CCtx*, const void* dictionary, size_t size)
    size_t ZSTD_compress_usingCDict(ZSTD_CCtx*, void* dst, size_t capacity, const void* src, size_t size,
                                    const ZSTD_CDict*)
    size_t ZSTD_CCtx_refCDict(ZSTD_CCtx*, const ZSTD_CDict*)
    ZSTD_DDict* ZSTD_createDDict_byReference(const void* dictionary, size_t size)
    size_t ZSTD_freeDDict(ZSTD_DDict*)
    size_t ZSTD_DCtx_refDDict(ZSTD_DCtx*, const ZSTD_DDict*)
    size_t ZSTD_sizeof_DDict(const ZSTD_DDict*)

    # zdict.h
    ctypedef struct ZDICT_params_t:
        int compressionLevel
        unsigned dictID
    ctypedef struct ZDICT_fastCover_params_t:
        unsigned d
        unsigned steps
        ZDICT_params_t zParams
    size_t ZDICT_optimizeTrainFromBuffer_fastCover(void* dictionary, size_t capacity, const void* samples,
                                                   const size_t* sizes, unsigned n, ZDICT_fastCover_params_t*)
    bint ZDICT_isError(size_t code)
