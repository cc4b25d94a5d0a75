"""Logs in HDFS, below its root and elsewhere: `make -f labs.mk hdfs`."""

from pathlib import Path
from typing import Any

import pytest

import recordpress

pytest.importorskip("pyarrow.fs")

SESSIONS = Path(__file__).resolve().parents[2] / "demo" / "logs" / "sessions-0"


@pytest.mark.slow
@pytest.mark.parametrize("target", ["zstd", "logs/deep/zstd"])
def test_a_log_is_read_verified_and_copied(hdfs: Any, name_node: int, target: str) -> None:
    hdfs.create_dir("/logs/sessions-0")
    for path in SESSIONS.iterdir():
        with hdfs.open_output_stream(f"/logs/sessions-0/{path.name}") as stream:
            stream.write(path.read_bytes())
    root = f"hdfs://127.0.0.1:{name_node}"
    (partition,) = recordpress.open_log(f"{root}/lo*/sess*-0").partitions
    assert partition.url == f"{root}/logs/sessions-0"
    assert recordpress.log.verify(f"{root}/logs", "record").findings == []
    recordpress.transcode(f"{root}/logs/sessions-0", f"{root}/{target}", "zstd")
    copy = recordpress.open_log(f"{root}/{target}")
    assert sum(columns.num_rows for columns in copy.read(["offset"])) == 1634
    assert {header.compression_type for header in copy.batches()} == {"none", "zstd"}  # control batches have none
    hdfs.delete_dir(f"/{target}")
