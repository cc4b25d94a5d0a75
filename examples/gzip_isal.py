"""ISA-L, Intel's library (PyPI: isal), as a provider of gzip: Kafka's clients read its batches like any other gzip.

    recordpress transcode /backup /archive --codec gzip:isal --codec-plugin gzip_isal:Isal

>>> import recordpress
>>> codecs = recordpress.CodecRegistry()
>>> codecs.register("gzip:isal", Isal())
>>> data = recordpress.write_records([b"line"] * 1000, compression_type="gzip:isal", codecs=codecs)
>>> [batch.compression_type for batch in recordpress.read_batches(data)]
['gzip']
"""

from __future__ import annotations

from isal import isal_zlib

_GZIP = 31  # wbits for a gzip header and a window of 32 KiB


class Isal:
    """ISA-L at levels 0 to 3, all much faster than zlib's level 6."""

    name = "gzip:isal"
    levels = (0, 3, 2)
    joins = True

    def compress(self, data: bytes, level: int) -> bytes:
        return isal_zlib.compress(data, level, _GZIP)

    def decompress(self, data: bytes, max_output: int) -> bytes:
        """Decompress all members."""
        members = []
        while data:
            member = isal_zlib.decompressobj(_GZIP)
            members.append(member.decompress(data, max_output + 1))
            max_output -= len(members[-1])
            if not member.eof:
                raise ValueError("the payload is cut short, or its content is larger than max_output")
            data = member.unused_data
        return b"".join(members)
