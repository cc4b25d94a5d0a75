"""Reads records and snappy data that end where a page does, the next page out of bounds: a byte too many is a crash.

As in a mapped segment of a whole number of pages. A program of its own, for test_page_ends.py.
"""

import ctypes
import mmap

import recordpress

PAGE = mmap.PAGESIZE
# A literal whose length takes four bytes although it is 16, then a copy whose offset does: the most that one turn of
# the decoder's loop can read. What follows the 25 bytes of data is missing.
DATA = bytes([0xC8, 0x01, 252, 15, 0, 0, 0]) + b"a" * 16 + bytes([15, 1, 0, 0])


def at_page_end(data: bytes) -> memoryview:
    pages = mmap.mmap(-1, 2 * PAGE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    if ctypes.CDLL(None, use_errno=True).mprotect(ctypes.c_void_p(address + PAGE), PAGE, 0):
        raise OSError(ctypes.get_errno(), "mprotect")
    pages[PAGE - len(data) : PAGE] = data
    return memoryview(pages)[PAGE - len(data) : PAGE]


def batch(payload: bytes) -> bytes:
    """A record batch that says it holds one record in `payload`."""
    base = recordpress.write_records([b"x"], compression_type="snappy")[:61]
    header = bytearray(base)
    header[8:12] = (61 + len(payload) - 12).to_bytes(4, "big")
    header[17:21] = recordpress.crc32c(bytes(header[21:]) + payload).to_bytes(4, "big")
    return bytes(header) + payload


def drain(data: memoryview) -> None:
    stream = recordpress.decompressor("snappy")
    stream.decompress(data)
    stream.flush()


def main() -> None:
    framed = bytes.fromhex("82534e415050590000000001000000 01".replace(" ", "")) + len(DATA).to_bytes(4, "big") + DATA
    calls = [
        (DATA, lambda data: recordpress.decompress(data, "snappy")),
        (framed, lambda data: recordpress.decompress(data, "snappy")),
        (DATA, lambda data: recordpress.decompress_into(data, bytearray(1000), "snappy")),
        (DATA, drain),
        (framed, drain),
    ]
    for payload in (DATA, framed):
        records = batch(payload)
        calls += [
            (records, lambda data: [list(entry) for entry in recordpress.read_batches(data)]),
            (records, recordpress.read_columns),
            (records, lambda data: list(recordpress.iter_columns(data))),
            (records, lambda data: recordpress.recompress(data, "none")),
        ]
    for data, call in calls:
        try:
            call(at_page_end(data))
        except recordpress.DecompressionError:
            continue
        raise AssertionError("damaged data was read")
    for size in range(0, 300, 7):  # around the steps in which columns copy
        records = recordpress.write_records([b"v" * size] * 3, keys=[b"k"] * 3)
        for layout in ("binary", "large_binary", "binary_view"):
            found = recordpress.read_columns(
                at_page_end(records), ["offset", "timestamp", "key", "value"], binary_type=layout
            )
            assert found.num_rows == 3
    print("read", len(calls))


main()
