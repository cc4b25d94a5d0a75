"""pack on real lines: batches within the limit, as full as it allows, and as small as batches of one call.

`make full` has limits up to 10 MB (RECORDPRESS_PACK_LIMITS), and RECORDPRESS_LINES names a directory of other files of
lines.
"""

from __future__ import annotations

import itertools
import os

import pytest
from endless import columns, names, stream

import recordpress
from together import thinned

LIMITS = [int(limit) for limit in os.environ.get("RECORDPRESS_PACK_LIMITS", "16384,100000").split(",")]
BATCHES = 4
CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]


@pytest.mark.parametrize(("name", "codec", "limit"), thinned(itertools.product(names(), CODECS, LIMITS), 3))
def test_batches_of_real_lines(name: str, codec: str, limit: int) -> None:
    start = packed = at_once = 0
    for batch in itertools.islice(
        recordpress.producer.pack(stream(name), limit=limit, compression_type=codec), BATCHES
    ):
        [header] = recordpress.read_batches(batch)
        count = header.records_count
        rows = columns(name, start, count)
        read = recordpress.read_columns(batch, ["value"], max_decompressed_bytes=2**31 - 1).to_pyarrow()
        assert read["value"].combine_chunks().equals(rows["value"])
        assert len(batch) <= limit
        if len(batch) < 0.97 * limit:
            more = columns(name, start, count + 1)
            assert len(recordpress.write_columns(more, codec, batch_bytes=None)) > limit
        packed += len(batch)
        at_once += len(recordpress.write_columns(rows, codec, batch_bytes=None))
        start += count
    assert packed <= 1.01 * at_once
