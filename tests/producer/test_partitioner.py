"""partitions_of: where Kafka's producer puts records with keys, and the same place each time for those without."""

import random
from collections import Counter
from typing import Any

import pytest

import recordpress
from recordpress.producer import partition_for_key, partitions_of

pa: Any = pytest.importorskip("pyarrow", reason="pyarrow is not installed")

# test/utils/UtilsTest.java of Kafka
JAVA = {
    b"21": -973932308,
    b"foobar": -790332482,
    b"a-little-bit-long-string": -985981536,
    b"a-little-bit-longer-string": -1486304829,
    b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
    b"abc": 479470107,
}


def test_keys_go_where_the_java_producer_sends_them() -> None:
    keys = list(JAVA)
    for partitions in (1, 12, 2**31 - 1):
        found = partitions_of(pa.table({"key": keys}), partitions)
        assert list(found) == [(number & 0x7FFFFFFF) % partitions for number in JAVA.values()]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # in modules of kafka-python
def test_drawn_keys_go_where_kafka_python_sends_them() -> None:
    theirs = pytest.importorskip("kafka.partitioner.default", reason="kafka-python is not installed")
    draw = random.Random(7)
    keys = [draw.randbytes(draw.choice((0, 1, 2, 3, 4, 5, 8, 31, 1000))) for _ in range(2000)]
    expected = [(theirs.murmur2(key) & 0x7FFFFFFF) % 31 for key in keys]
    for kind in (pa.binary(), pa.large_binary()):
        columns = pa.table({"value": pa.nulls(len(keys), pa.binary()), "key": pa.array(keys, kind)})
        assert list(partitions_of(columns, 31)) == expected
    assert [partition_for_key(key, 31) for key in keys] == expected


def test_records_without_a_key_are_spread_and_stay_where_they_are() -> None:
    rows = pa.table({"key": pa.nulls(9000, pa.binary()), "value": [b"same"] * 6000 + [None] * 3000})
    found = list(partitions_of(rows, 9))
    for part in (found[:6000], found[6000:]):
        counts = Counter(part)
        assert len(counts) == 9 and max(counts.values()) < 1.3 * min(counts.values())
    assert list(partitions_of(rows.slice(700), 9, position=700)) == found[700:]
    assert list(partitions_of(pa.table({"value": [b"same"] * 10}), 9)) == found[:10]
    assert list(partitions_of(rows.slice(0, 0), 9)) == []


def test_what_it_does_not_take() -> None:
    rows = pa.table({"key": [b"a"]})
    for partitions in (0, -1, 2**31):
        with pytest.raises(recordpress.InvalidArgumentError, match="partitions"):
            partitions_of(rows, partitions)
    with pytest.raises(recordpress.InvalidArgumentError, match="position"):
        partitions_of(rows, 3, position=-1)
    with pytest.raises(recordpress.ArgumentTypeError, match="column key must be binary"):
        partitions_of(pa.table({"key": [1]}), 3)
    with pytest.raises(recordpress.ArgumentTypeError):
        partitions_of([b"a"], 3)  # type: ignore[arg-type]
