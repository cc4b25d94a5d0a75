"""recordpress.fits: each limit at its edge, from the producer's estimate to the broker's segment."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pyarrow as pa
import pytest

import recordpress
from recordpress.analysis import Fits

ROOT = Path(__file__).parents[2]
OVERHEAD = 61 + 21 + 1 + 1  # DefaultRecordBatch.estimateBatchSizeUpperBound: no key, no headers
NOISE = random.Random(5).randbytes(40_000)


def rejected(found: Fits) -> list[tuple[int, str | None, int]]:
    return [(one.record, one.limit, one.size) for one in found.rejections]


def limit(found: Fits, name: str) -> tuple[int, int, int]:
    [one] = [one for one in found.limits if one.name == name]
    return one.largest, one.over, one.rejected


@pytest.mark.parametrize("name", ["max_request_size", "buffer_memory"])
def test_the_producer_counts_a_record_as_it_is_before_compression(name: str) -> None:
    value = bytes(5000)
    size = len(value) + OVERHEAD + 2  # its length takes two bytes
    kafkas = name.replace("_", ".")
    assert recordpress.fits([value], compression_type="zstd", **{name: size})
    found = recordpress.fits([b"", value], compression_type="zstd", **{name: size - 1})
    assert (bool(found), rejected(found)) == (False, [(1, kafkas, size)])
    assert limit(found, kafkas) == (size, 1, 1)
    assert (found.records, found.batches, found.rejected) == (2, 1, 1)


def test_keys_and_headers_count() -> None:
    plain = recordpress.fits([b"v"]).limits[1].largest
    assert recordpress.fits([b"v"], [b"0123456789"]).limits[1].largest == plain + 10
    assert recordpress.fits([b"v"], None, None, [[("h", b"xyz")]]).limits[1].largest == plain + 1 + 1 + 1 + 3
    assert plain == recordpress.producer.BatchAccumulator().upper_bound(b"v")


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_the_broker_counts_a_batch_as_it_is_compressed(codec: str) -> None:
    size = len(recordpress.write_records([NOISE], compression_type=codec))
    settings = {"max.message.bytes": size}
    assert recordpress.fits([b"", NOISE], compression_type=codec, topic_config=settings)
    found = recordpress.fits([b"", NOISE], compression_type=codec, topic_config={"max.message.bytes": size - 1})
    assert rejected(found) == [(1, "max.message.bytes", size)]
    assert found.rejections[0].error == "MESSAGE_TOO_LARGE"
    assert recordpress.fits([bytes(40_000)], compression_type=codec, topic_config=settings)
    assert found.limits[0].over == 1  # a separate batch


def test_a_batch_that_cannot_become_smaller_is_rejected() -> None:
    """Kafka's producer sends it again and again until the delivery times out."""
    size = len(recordpress.write_records([NOISE]))
    found = recordpress.fits([NOISE, b""], batch_size=1000, topic_config={"max.message.bytes": size})
    assert (found.batches, found.rejected, found.rejections[0].limit) == (0, 2, "max.message.bytes")


def test_a_segment_holds_every_batch() -> None:
    size = len(recordpress.write_records([NOISE]))
    assert recordpress.fits([NOISE], topic_config={"segment.bytes": size}, broker_version="3.9")
    found = recordpress.fits([NOISE], topic_config={"segment.bytes": size - 1}, broker_version="3.9")
    assert rejected(found) == [(0, "segment.bytes", size)]
    assert found.rejections[0].error == "RECORD_LIST_TOO_LARGE"


def test_batches_linger_until_they_are_full() -> None:
    assert recordpress.fits([bytes(1000)] * 160).batches == 10


def test_a_batch_that_is_split_is_no_rejection() -> None:
    found = recordpress.fits([bytes(1000)] * 20, topic_config={"max.message.bytes": 5000})
    assert bool(found) and found.splits > 0 and found.batches >= 20 // 4
    largest, over, none = limit(found, "max.message.bytes")
    assert (largest > 15_000, over, none) == (True, found.splits, 0)


def test_defaults_are_those_of_the_release() -> None:
    assert [one.value for one in recordpress.fits([]).limits] == [16384, 1048576, 33554432, 1048588, 1073741824]
    assert recordpress.fits([], broker_version="0.10.2").limits[3].value == 1000012


def test_another_reason_than_size() -> None:
    found = recordpress.fits([b"no key"], topic_config={"cleanup.policy": "compact"})
    assert rejected(found) == [(0, None, 61 + 13)]
    assert found.rejections[0].error == "INVALID_RECORD"


def test_a_recompressed_batch_is_looked_at_again() -> None:
    """LogValidator: the topic's codec may make it larger."""
    size = len(recordpress.write_records([bytes(30_000)], compression_type="zstd"))
    settings = {"max.message.bytes": 10 * size, "compression.type": "uncompressed"}
    found = recordpress.fits([bytes(30_000)], compression_type="zstd", topic_config=settings)
    assert rejected(found) == [(0, "max.message.bytes", size)]


def test_the_list_of_rejections_is_short() -> None:
    found = recordpress.fits([bytes(1000)] * 250, max_request_size=500)
    assert (found.rejected, len(found.rejections), found.batches) == (250, 100, 0)


def test_values_columns_lines_and_logs_are_the_same(tmp_path: Path) -> None:
    numbers = random.Random(1)
    values = [bytes(numbers.choices(b"abcdef ", k=numbers.randrange(3000))) for _ in range(300)]
    settings = {"compression_type": "lz4", "topic_config": {"max.message.bytes": 2000}}
    times = [1_700_000_000_000 + i for i in range(len(values))]
    expected = recordpress.fits(values, None, times, **settings).to_dict()
    assert expected["rejected"] and expected["splits"]
    table = pa.table({"value": pa.array(values, pa.binary()), "timestamp": times})
    assert recordpress.fits(table, **settings).to_dict() == expected
    (tmp_path / "topic-3").mkdir()
    log = tmp_path / "topic-3" / f"{70:020}.log"
    log.write_bytes(recordpress.write_columns(table, base_offset=70, batch_bytes=5000))
    of_log = recordpress.fits(tmp_path, **settings).to_dict()
    for one in of_log["rejections"]:
        assert (one.pop("topic"), one.pop("partition"), one.pop("offset")) == ("topic", 3, 70 + one["record"])
    for one in expected["rejections"]:
        assert (one.pop("topic"), one.pop("partition"), one.pop("offset")) == (None, None, None)
    assert of_log == expected
    (tmp_path / "lines.txt").write_bytes(b"\n".join(values))
    of_lines = recordpress.fits(tmp_path / "lines.txt", **settings)
    assert [one.record for one in of_lines.rejections] == [one["record"] for one in expected["rejections"]]


def test_partitions_have_batches_of_their_own(tmp_path: Path) -> None:
    for partition in range(3):
        (tmp_path / f"t-{partition}").mkdir()
        (tmp_path / f"t-{partition}" / f"{0:020}.log").write_bytes(recordpress.write_records([b"x"], base_offset=0))
    found = recordpress.fits(tmp_path)
    assert (found.records, found.batches) == (3, 3)


def test_damage_is_told(tmp_path: Path) -> None:
    batches = [bytearray(recordpress.write_records([b"value"], base_offset=n)) for n in range(3)]
    batches[1][-3] ^= 1
    (tmp_path / f"{0:020}.log").write_bytes(b"".join(batches))
    found = recordpress.fits(tmp_path / f"{0:020}.log")
    assert (found.records, len(found.findings), bool(found)) == (2, 1, True)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"records": [b"x"], "batch_size": -1}, "batch_size"),
        ({"records": [b"x"], "buffer_memory": "1"}, "buffer_memory"),
        ({"records": [b"x"], "compression_type": "brotli"}, "compression_type"),
        ({"records": 5}, "records"),
        ({"records": "x.log", "keys": [b""]}, "keys"),
        ({"records": pa.table({"value": [b"x"]}), "headers": [[]]}, "headers"),
    ],
)
def test_wrong_arguments(arguments: dict, field: str) -> None:
    with pytest.raises(recordpress.RecordpressError) as caught:
        recordpress.fits(**arguments)
    assert caught.value.field == field


def test_the_schema() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((ROOT / "docs" / "fits.schema.json").read_text())
    for found in (recordpress.fits([]), recordpress.fits([b"x", NOISE], max_request_size=100),
                  recordpress.fits([b"x"], topic_config={"cleanup.policy": "compact"})):  # fmt: skip
        jsonschema.validate(found.to_dict(), schema)
