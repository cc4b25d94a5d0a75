"""What executors measure is what one process measures."""

from pathlib import Path
from typing import Any

import pytest

import oracle
import recordpress

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

import recordpress.spark


def test_it_is_what_a_copy_takes(spark: Any, tmp_path: Path) -> None:
    """A log that is as small as its samples; one topic has no intact record."""
    for partition in oracle.PARTITIONS:
        if partition.entry["dir"] in [f"kafka-4.3.1/headers-v2-{number}" for number in (0, 1)]:
            partition.write_to(tmp_path / "logs")
    damaged = tmp_path / "logs" / "damaged-0" / f"{0:020d}.log"
    damaged.parent.mkdir()
    damaged.write_bytes(recordpress.write_records([b"value"])[:-1] + b"!")
    rows = recordpress.spark.estimate(spark, tmp_path / "logs", "zstd,1,9/lz4").collect()
    assert [(row.topic, row.compressionType, row.level) for row in rows if row.topic == "headers-v2"] == [
        ("headers-v2", "zstd", "1"),
        ("headers-v2", "zstd", "9"),
        ("headers-v2", "lz4", None),
    ]
    [odd] = [row for row in rows if row.topic == "damaged"]
    assert (odd.compressionType, odd.bytesAfter, odd.bytes, len(odd.findings)) == (
        None,
        None,
        damaged.stat().st_size,
        1,
    )
    for row in rows:
        if row.compressionType:
            sources = [str(tmp_path / "logs" / f"headers-v2-{number}") for number in (0, 1)]
            copy = recordpress.transcode(
                sources,
                tmp_path / f"{row.compressionType}{row.level}",
                row.compressionType,
                level=None if row.level is None else int(row.level),
                min_gain=None,
            )
            totals = copy.totals
            assert (row.bytes, row.bytesAfter) == (totals["source_bytes"], totals["bytes"])
            assert row.savedBytes == row.bytes - row.bytesAfter
            assert row.sampledRecords == totals["records"]
            assert row.cpuSeconds > 0


@pytest.mark.parametrize("arguments", [{"codecs": "brotli"}, {"sample_bytes": 1}, {"seed": -1}])
def test_arguments(arguments: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / f"{0:020d}.log").write_bytes(recordpress.write_records([b"value"]))
    with pytest.raises(recordpress.InvalidArgumentError):
        recordpress.spark.estimate(None, tmp_path, **arguments)  # type: ignore[arg-type]
