"""Declarations only: one .pxd per C library; wire.pxd for our own headers, and one per header that few modules use."""
