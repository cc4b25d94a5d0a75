"""Structs of the Arrow C data interface, made by hand: every field can have any value, every buffer has its exact size,
and every release is counted."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from typing import Any

RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
GET = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
LAST_ERROR = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)


class ArrowSchema(ctypes.Structure):
    pass


class ArrowArray(ctypes.Structure):
    pass


class ArrowStream(ctypes.Structure):
    _fields_ = (
        ("get_schema", GET),
        ("get_next", GET),
        ("get_last_error", LAST_ERROR),
        ("release", RELEASE),
        ("private_data", ctypes.c_void_p),
    )


ArrowSchema._fields_ = (
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(ArrowSchema))),
    ("dictionary", ctypes.POINTER(ArrowSchema)),
    ("release", RELEASE),
    ("private_data", ctypes.c_void_p),
)
ArrowArray._fields_ = (
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(ArrowArray))),
    ("dictionary", ctypes.POINTER(ArrowArray)),
    ("release", RELEASE),
    ("private_data", ctypes.c_void_p),
)

_new = ctypes.pythonapi.PyCapsule_New
_new.restype, _new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_kept: list[Any] = []  # names of capsules, which they only point to


def capsule(struct_: ctypes.Structure, name: bytes) -> Any:
    """A capsule that does not own the struct."""
    text = ctypes.create_string_buffer(name)
    _kept.append(text)
    return _new(ctypes.addressof(struct_), ctypes.cast(text, ctypes.c_char_p), None)


_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def struct_of(capsule: Any, kind: type[ctypes.Structure]) -> Any:
    """The struct in a capsule."""
    return kind.from_address(_pointer(capsule, {ArrowSchema: b"arrow_schema", ArrowArray: b"arrow_array"}[kind]))


class Memory:
    """Keeps what the structs point to, and counts the releases of those that `released` names."""

    def __init__(self) -> None:
        self.kept: list[Any] = []
        self.released = 0

    def keep(self, item: Any) -> Any:
        self.kept.append(item)
        return item

    def release(self, kind: type[ctypes.Structure]) -> Any:
        def release(at: int) -> None:
            kind.from_address(at).release = RELEASE()
            self.released += 1

        return self.keep(RELEASE(release))

    def buffer(self, content: bytes | None, skew: int = 0) -> int | None:
        """The address of a copy that ends at the end of its block, and begins `skew` bytes after the block."""
        if content is None:
            return None
        block = self.keep((ctypes.c_char * (skew + len(content))).from_buffer_copy(b"\0" * skew + content))
        return ctypes.addressof(block) + skew

    def pointers(self, structs: Sequence[Any], kind: Any) -> Any:
        return self.keep((ctypes.POINTER(kind) * len(structs))(*(ctypes.pointer(one) for one in structs)))

    def schema(self, format: bytes, name: bytes = b"", children: Sequence[Any] = (), **fields: Any) -> Any:
        made = ArrowSchema(format=format, name=name, n_children=len(children), release=self.release(ArrowSchema))
        if children:
            made.children = self.pointers(children, ArrowSchema)
        for field, value in fields.items():
            setattr(made, field, value)
        return self.keep(made)

    def array(
        self,
        length: int,
        buffers: Sequence[bytes | None],
        children: Sequence[Any] = (),
        /,
        *,
        skew: int = 0,
        **fields: Any,
    ) -> Any:
        made = ArrowArray(length=length, n_buffers=len(buffers), n_children=len(children))
        made.release = self.release(ArrowArray)
        made.buffers = self.keep((ctypes.c_void_p * len(buffers))(*(self.buffer(one, skew) for one in buffers)))
        if children:
            made.children = self.pointers(children, ArrowArray)
        for field, value in fields.items():
            setattr(made, field, value)
        return self.keep(made)


class ArrayProducer:
    def __init__(self, schema: Any, array: Any) -> None:
        self.given = capsule(schema, b"arrow_schema"), capsule(array, b"arrow_array")

    def __arrow_c_array__(self, requested_schema: object = None) -> Any:
        return self.given


class StreamProducer:
    """A stream of the structs given; `fields` are set in its own struct."""

    def __init__(self, memory: Memory, schema: Any, arrays: Sequence[Any], code: int = 0, **fields: Any) -> None:
        left = list(arrays)

        def get_schema(stream: int, out: int) -> int:
            ctypes.memmove(out, ctypes.addressof(schema), ctypes.sizeof(ArrowSchema))
            return 0

        def get_next(stream: int, out: int) -> int:
            if left:
                ctypes.memmove(out, ctypes.addressof(left.pop(0)), ctypes.sizeof(ArrowArray))
                return 0
            ctypes.memset(out, 0, ctypes.sizeof(ArrowArray))
            return code

        self.stream = ArrowStream(memory.keep(GET(get_schema)), memory.keep(GET(get_next)))
        self.stream.release = memory.release(ArrowStream)
        for field, value in fields.items():
            setattr(self.stream, field, value)
        self.given = capsule(self.stream, b"arrow_array_stream")

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return self.given


def i32(*numbers: int) -> bytes:
    return struct.pack(f"={len(numbers)}i", *numbers)


def i64(*numbers: int) -> bytes:
    return struct.pack(f"={len(numbers)}q", *numbers)
