"""write_columns on foreign Arrow structs that contradict themselves.

An input is the seed of a small table in ctypes structs, of which a few fields are then changed. No field says how large
a buffer is, so every buffer holds CAPACITY rows, and only numbers that no honest struct has go beyond that: negative
ones, ones whose sum overflows, and lengths that their own child does not have. All that may come out is an error of
recordpress, and every struct that was taken is released once.
"""

from __future__ import annotations

import ctypes
import random
import struct
import sys
from ctypes import POINTER, c_char_p, c_int, c_int64, c_void_p
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import campaign

import recordpress

CAPACITY = 64  # more than the sums of lengths and offsets below
IMPOSSIBLE = (-1, -2, -(1 << 31), -(1 << 63), (1 << 63) - 1)
FIXED = {"l": 8, "tsm:": 8, "tsu:": 8, "tss:UTC": 8, "i": 4, "s": 2, "b": None, "n": 0}
BINARY = {"z": "i", "u": "i", "Z": "q", "U": "q"}
VIEWS = ("vz", "vu")
COLUMNS = {
    "offset": ("l",),
    "timestamp": ("l", "tsm:", "tsu:", "tss:UTC"),
    "key": ("z", "Z", "vz", "u"),
    "value": ("z", "Z", "vz", "U"),
    "headers": ("+l", "+L"),
    "sequence": ("i",),
    "producerId": ("l",),
    "partition": ("i",),
}


class ArrowSchema(ctypes.Structure):
    pass


class ArrowArray(ctypes.Structure):
    pass


ReleaseSchema = ctypes.CFUNCTYPE(None, POINTER(ArrowSchema))
ReleaseArray = ctypes.CFUNCTYPE(None, POINTER(ArrowArray))
ArrowSchema._fields_ = [
    ("format", c_char_p),
    ("name", c_char_p),
    ("metadata", c_char_p),
    ("flags", c_int64),
    ("n_children", c_int64),
    ("children", POINTER(POINTER(ArrowSchema))),
    ("dictionary", POINTER(ArrowSchema)),
    ("release", ReleaseSchema),
    ("private_data", c_void_p),
]
ArrowArray._fields_ = [
    ("length", c_int64),
    ("null_count", c_int64),
    ("offset", c_int64),
    ("n_buffers", c_int64),
    ("n_children", c_int64),
    ("buffers", POINTER(c_void_p)),
    ("children", POINTER(POINTER(ArrowArray))),
    ("dictionary", POINTER(ArrowArray)),
    ("release", ReleaseArray),
    ("private_data", c_void_p),
]

new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [c_void_p, c_char_p, c_void_p]
SCHEMA, ARRAY = b"arrow_schema", b"arrow_array"  # capsules keep the pointer to their name


class Table:
    """One struct array with its schema, and everything that they point to."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.kept: list[object] = []
        self.released = 0
        self.rows = rng.randrange(10)
        names = rng.sample(sorted(COLUMNS), rng.randrange(1, 5))
        nodes = [self._node(name, rng.choice(COLUMNS[name]), self.rows) for name in names]
        self.schema, self.array = self._struct("", "+s", nodes, [None], self.rows)
        self._change_fields()
        callbacks = ReleaseSchema(self._release), ReleaseArray(self._release)
        self.schema.release, self.array.release = callbacks
        self.kept += callbacks  # a struct forgets its callback when it is given another one

    def _release(self, pointer: ctypes._Pointer) -> None:
        self.released += 1
        pointer.contents.release = type(pointer.contents.release)()

    # ---- what is honest

    def _node(self, name: str, form: str, rows: int) -> tuple[ArrowSchema, ArrowArray]:
        if form.startswith("+"):
            return self._headers(name, form, rows)
        if form in VIEWS:
            return self._struct(name, form, [], self._views(), rows)
        if form in BINARY:
            return self._struct(name, form, [], [self._validity(), self._ends(BINARY[form], 4), self._bytes(300)], rows)
        width = FIXED[form]
        numbers = [self.rng.randrange(-1, 5) + i for i in range(CAPACITY)]
        content = struct.pack(f"<{CAPACITY}{'q' if width == 8 else 'i'}", *numbers)
        return self._struct(name, form, [], [self._validity(), self._keep(content)], rows)

    def _headers(self, name: str, form: str, rows: int) -> tuple[ArrowSchema, ArrowArray]:
        pair = [self._node("key", self.rng.choice("zu"), CAPACITY - 16), self._node("value", "z", CAPACITY - 16)]
        entries = self._struct("item", "+s", pair, [None], CAPACITY - 16)
        ends = self._ends("i" if form == "+l" else "q", 1)
        return self._struct(name, form, [entries], [self._validity(), ends], rows)

    def _struct(self, name, form, children, buffers, length) -> tuple[ArrowSchema, ArrowArray]:
        count = len(children)
        schemas = (POINTER(ArrowSchema) * (count or 1))(*(ctypes.pointer(child[0]) for child in children))
        arrays = (POINTER(ArrowArray) * (count or 1))(*(ctypes.pointer(child[1]) for child in children))
        pointers = (c_void_p * (len(buffers) or 1))(*buffers)
        schema = ArrowSchema(form.encode(), name.encode(), None, 2, count, schemas)
        array = ArrowArray(length, self.rng.choice((-1, 0, 1)), 0, len(buffers), count, pointers, arrays)
        for node in (schema, array):
            node.release = type(node.release)(lambda pointer: None)
        self.kept += [children, schemas, arrays, pointers, schema, array]
        return schema, array

    def _keep(self, content: bytes) -> int:
        buffer = (ctypes.c_char * len(content)).from_buffer_copy(content)
        self.kept.append(buffer)
        return ctypes.addressof(buffer)

    def _bytes(self, size: int) -> int:
        return self._keep(self.rng.randbytes(size))

    def _validity(self) -> int | None:
        return self._bytes(CAPACITY // 8) if self.rng.random() < 0.4 else None

    def _ends(self, code: str, step: int) -> int:
        """Offsets that rise by at most `step`, mostly."""
        ends = [0]
        for _ in range(CAPACITY):
            ends.append(min(ends[-1] + self.rng.randrange(step + 1), CAPACITY - 16 if step == 1 else 1 << 20))
        if self.rng.random() < 0.2:
            ends[self.rng.randrange(len(ends))] = self.rng.choice((-1, -5, 0, CAPACITY - 16))
        return self._keep(struct.pack(f"<{CAPACITY + 1}{code}", *ends))

    def _views(self) -> list[int | None]:
        views = b""
        for _ in range(CAPACITY):
            size = self.rng.choice((0, 5, 12, 13, 30))
            views += struct.pack("<i4sii", size, b"0123", self.rng.randrange(2), self.rng.randrange(60))
        if self.rng.random() < 0.3:
            at = 16 * self.rng.randrange(CAPACITY)
            wrong = (
                self.rng.choice((-1, 20, 1 << 30)),
                self.rng.choice((-1, 0, 2, 1 << 30)),
                self.rng.choice((-1, 95)),
            )
            views = views[:at] + struct.pack("<i4sii", wrong[0], b"0123", *wrong[1:]) + views[at + 16 :]
        sizes = self.rng.choice(((100, 90), (100, 90), (100, -1), (0, 100)))
        return [
            self._validity(),
            self._keep(views),
            self._bytes(100),
            self._bytes(100),
            self._keep(struct.pack("<2q", *sizes)),
        ]

    # ---- what is not

    def _change_fields(self) -> None:
        changes = (self._length, self._length, self._offset, self._counts, self._pointer, self._format, self._names)
        for _ in range(self.rng.choice((0, 1, 1, 2, 3))):
            self.rng.choice(changes)()

    def _any(self) -> tuple[ArrowSchema, ArrowArray]:
        schema, array = self.schema, self.array
        while (
            min(array.n_children, schema.n_children) > 0
            and array.children
            and schema.children
            and self.rng.random() < 0.7
        ):
            index = self.rng.randrange(min(array.n_children, schema.n_children, 4))
            if not (array.children[index] and schema.children[index]):
                break
            schema, array = schema.children[index].contents, array.children[index].contents
        return schema, array

    def _length(self) -> None:
        self._any()[1].length = self.rng.choice((*range(10), *IMPOSSIBLE[:-1]))

    def _offset(self) -> None:
        self._any()[1].offset = self.rng.choice((*range(10), *IMPOSSIBLE))

    def _counts(self) -> None:
        schema, array = self._any()
        field = self.rng.choice(("n_buffers", "n_children", "schema", "null_count"))
        fewer = self.rng.choice((0, 0, 1, 2, -1, -(1 << 63)))
        if field == "schema":
            schema.n_children = min(schema.n_children, fewer)
        elif field == "null_count":
            array.null_count = self.rng.choice((-5, 3, 1 << 62))
        else:
            setattr(array, field, min(getattr(array, field), fewer))

    def _pointer(self) -> None:
        schema, array = self._any()
        kind = self.rng.randrange(6)
        if kind == 0 and array.n_buffers > 0 and array.buffers:
            array.buffers[self.rng.randrange(array.n_buffers)] = None
        elif kind == 1:
            array.buffers = POINTER(c_void_p)()
        elif kind == 2:
            array.children = POINTER(POINTER(ArrowArray))()
        elif kind == 3:
            schema.children = POINTER(POINTER(ArrowSchema))()
        elif kind == 4 and array.n_children > 0 and array.children:
            array.children[0] = POINTER(ArrowArray)()
        elif kind == 5:
            array.dictionary = ctypes.pointer(ArrowArray())
            schema.dictionary = ctypes.pointer(ArrowSchema(b"z", b""))
            self.kept += [array.dictionary, schema.dictionary]

    def _format(self) -> None:
        """A form of the same width at most, or one that cannot be read."""
        schema, _ = self._any()
        forms = (
            b"",
            b"n",
            b"b",
            b"c",
            b"w:1",
            b"+s",
            b"+ud:0,1",
            b"+us:0",
            b"ts",
            b"tsm:Mars",
            b"\xff",
            b"d:5,2",
            None,
        )
        schema.format = self.rng.choice(forms)

    def _names(self) -> None:
        self._any()[0].name = self.rng.choice((None, b"", b"value", b"\xff\xfe", b"x" * 500))

    # ---- how it is handed over

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        return (
            new_capsule(ctypes.addressof(self.schema), SCHEMA, None),
            new_capsule(ctypes.addressof(self.array), ARRAY, None),
        )

    def check_released(self) -> None:
        taken = sum(not node.release for node in (self.schema, self.array))
        if self.released > 2 or self.released < taken:
            raise AssertionError(f"{taken} structs taken, {self.released} released")


class Stream:
    """A table handed over as a stream of one or two, or of errors."""

    class Struct(ctypes.Structure):
        pass

    GetSchema = ctypes.CFUNCTYPE(c_int, POINTER(Struct), POINTER(ArrowSchema))
    GetNext = ctypes.CFUNCTYPE(c_int, POINTER(Struct), POINTER(ArrowArray))
    LastError = ctypes.CFUNCTYPE(c_void_p, POINTER(Struct))
    Release = ctypes.CFUNCTYPE(None, POINTER(Struct))
    Struct._fields_ = [  # noqa: RUF012
        ("get_schema", GetSchema),
        ("get_next", GetNext),
        ("get_last_error", LastError),
        ("release", Release),
        ("private_data", c_void_p),
    ]
    NAME = b"arrow_array_stream"

    def __init__(self, table: Table, rng: random.Random) -> None:
        self.table, self.left = table, rng.choice((0, 1, 1))
        self.schema_error, self.next_error = rng.choice((0, 0, 0, 5)), rng.choice((0, 0, 0, 12))
        self.stream = Stream.Struct(
            Stream.GetSchema(self._get_schema),
            Stream.GetNext(self._get_next),
            Stream.LastError(lambda stream: None),
            Stream.Release(self._release),
        )

    def _get_schema(self, stream: object, out: ctypes._Pointer) -> int:
        if not self.schema_error:
            ctypes.memmove(out, ctypes.byref(self.table.schema), ctypes.sizeof(ArrowSchema))
            self.table.schema.release = ReleaseSchema()
        return self.schema_error

    def _get_next(self, stream: object, out: ctypes._Pointer) -> int:
        ctypes.memset(out, 0, ctypes.sizeof(ArrowArray))
        if self.left:
            self.left -= 1
            ctypes.memmove(out, ctypes.byref(self.table.array), ctypes.sizeof(ArrowArray))
            self.table.array.release = ReleaseArray()
            return 0
        return self.next_error

    def _release(self, stream: ctypes._Pointer) -> None:
        stream.contents.release = Stream.Release()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return new_capsule(ctypes.addressof(self.stream), self.NAME, None)


def run(data: bytes) -> None:
    rng = random.Random(data)
    table = Table(rng)
    source: Table | Stream = Stream(table, rng) if rng.random() < 0.3 else table
    options: dict[str, object] = {
        "compression_type": rng.choice(("none", "none", "lz4")),
        "magic": rng.choice((2, 2, 1, 0)),
    }
    if rng.random() < 0.3:
        options["batch_records"] = rng.choice((1, 3))
    try:
        made = recordpress.write_columns(source, **options)
    except recordpress.RecordpressError:
        pass
    else:
        for batch in recordpress.read_batches(made):
            batch.ensure_valid()
    table.check_released()


def draw(rng: random.Random) -> bytes:
    return rng.randbytes(8)


if __name__ == "__main__":
    sys.exit(campaign.main("arrow", draw, run))
