"""Keep a directory of Parquet files fed from a live topic: every record exactly once, also after kill -9.

    python examples/live_parquet.py BOOTSTRAP TOPIC DIRECTORY

The offsets at which to continue are in the metadata of each file, not in the consumer group: a file and its offsets
appear together, by a rename. Only one process may write to the directory.
"""

import argparse
import asyncio
import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from aiokafka import AIOKafkaConsumer, TopicPartition

import recordpress.adapters.aiokafka as fast

OFFSETS = b"kafka.next_offsets"


def next_offsets(directory: Path) -> dict[int, int]:
    """Return the next offset of each partition; the newest file has those of all files before it."""
    files = sorted(directory.glob("*.parquet"))
    if not files:
        return {}
    metadata = pq.read_schema(files[-1]).metadata
    return {int(partition): offset for partition, offset in json.loads(metadata[OFFSETS]).items()}


def write(directory: Path, number: int, table: pa.Table, offsets: dict[int, int]) -> None:
    """Write one file, which appears only when it is complete."""
    table = table.replace_schema_metadata({OFFSETS: json.dumps(offsets)})
    part = directory / "next.part"
    with open(part, "wb") as file:
        pq.write_table(table, file, compression="zstd")
        os.fsync(file.fileno())
    part.rename(directory / f"{number:012d}.parquet")
    folder = os.open(directory, os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)


async def feed(address: str, topic: str, directory: Path, idle_ms: int | None, max_bytes: int) -> None:
    """Write the topic's records, starting where the directory ends."""
    directory.mkdir(parents=True, exist_ok=True)
    offsets = next_offsets(directory)
    number = len(list(directory.glob("*.parquet")))
    consumer = AIOKafkaConsumer(  # without a group, it reads all partitions
        topic, bootstrap_servers=address, auto_offset_reset="earliest", isolation_level="read_committed"
    )
    await consumer.start()
    try:
        for partition, offset in offsets.items():
            consumer.seek(TopicPartition(topic, partition), offset)
        async for part in fast.columns(consumer, max_bytes=max_bytes, timeout_ms=idle_ms):
            positions = {one.partition: await consumer.position(one) for one in consumer.assignment()}
            await asyncio.to_thread(write, directory, number, pa.table(part), positions)
            number += 1
    finally:
        await consumer.stop()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("bootstrap", help="a broker's address, such as 127.0.0.1:9092")
    parser.add_argument("topic", help="the topic to read")
    parser.add_argument("directory", type=Path, help="the directory to write to, created if it is missing")
    parser.add_argument("--idle-ms", type=int, help="end when no record arrives for this many milliseconds")
    parser.add_argument("--max-bytes", type=int, default=64 << 20, help="fetched bytes in one file")
    options = parser.parse_args()
    asyncio.run(feed(options.bootstrap, options.topic, options.directory, options.idle_ms, options.max_bytes))
