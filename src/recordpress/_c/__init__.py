"""Declarations: one .pxd per C library; wire.pxd for our own headers, and one per header that few modules use. Only
python.pxd has C code, two functions that need Python.h."""
