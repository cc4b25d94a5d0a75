/* Included before the C that Cython writes, which has a name for code that runs once, at import, and leaves it empty for
   clang; and which does not say that making a traceback is rare. What is cold is compiled for size, and lies apart. */
#if defined(__clang__)
#define RP_COLD __attribute__((cold, minsize))
#else
#define RP_COLD __attribute__((cold))
#endif

#define CYTHON_SMALL_CODE RP_COLD

__attribute__((unused)) static void __Pyx_AddTraceback(const char *, int, int, const char *) RP_COLD;
