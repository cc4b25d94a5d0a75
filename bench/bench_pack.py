"""Batches of exact sizes, against compressing the same batches once at boundaries that are known beforehand."""

import pyarrow as pa
import pytest

import recordpress
from bench.answers import equal
from bench.corpus import CODECS, SETS, RecordSet
from bench.race import Cell, Contender

LIMITS = {"16 KiB": (1 << 14, 1), "256 KiB": (1 << 18, 24)}  # and how many times the records are taken


def numbered(records: RecordSet, times: int) -> pa.Table:
    """The records again and again, each with a running number before it: no codec sees a line twice."""
    lines = (b"%d %b" % (number, line) for number, line in enumerate(records.values * times))
    table = pa.concat_tables([records.table.select(["timestamp", "key", "value"])] * times)
    return table.set_column(2, "value", pa.array(lines, pa.binary())).combine_chunks()


@pytest.mark.parametrize("codec", CODECS[1:])
@pytest.mark.parametrize("size", LIMITS)
def bench_pack(race, smoke, size, codec):
    """Arrow columns to batches of at most so many compressed bytes."""
    limit, times = LIMITS[size]
    records = SETS["apache5000"]
    table = numbered(records, 1 if smoke else times)

    def ours() -> list[bytes]:
        return list(recordpress.producer.pack(table, limit=limit, compression_type=codec))

    cuts, start = [], 0
    for data in ours():
        [batch] = recordpress.read_batches(data)
        cuts.append(table.slice(start, batch.records_count))
        start += batch.records_count

    def once() -> list[bytes]:
        return [recordpress.write_columns(cut, codec, batch_bytes=None) for cut in cuts]

    def check() -> None:
        equal(start, table.num_rows, "record count")
        equal(max(len(data) for data in ours()) <= limit, True, "within the limit")

    race(
        Cell(f"pack to {size}", records.name, codec, table.num_rows, records.size * times),
        ours,
        Contender("cuts known", once),
        check=check,
    )
