"""Declarations only: one .pxd per C library, and one for our own headers."""
