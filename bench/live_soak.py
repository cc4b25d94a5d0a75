"""Columns out of a consumer group that rebalances: no offset lost or repeated, and no growth of memory.

`make -f labs.mk live-soak SOAK=30` runs it for 30 minutes. A producer numbers its records. Two consumers of a group
read them as columns; every 20 seconds a third joins or leaves. The clients themselves commit offsets.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pyarrow as pa

import recordpress.adapters.aiokafka as fast

ROOT = Path(__file__).parents[1]
PARTITIONS = 6
RECORDS = 2_000  # of one call of send_columns
TOPIC = "soak"


async def produce(address: str, until: float) -> int:
    """Send numbered records until this time; return how many."""
    from aiokafka import AIOKafkaProducer

    producer = AIOKafkaProducer(bootstrap_servers=address, compression_type="lz4", enable_idempotence=True)
    await producer.start()
    count = 0
    while time.monotonic() < until:
        numbers = range(count, count + RECORDS)
        table = pa.table({"key": [b"%d" % n for n in numbers], "value": [b"%d " % n * 12 for n in numbers]})
        await (await fast.send_columns(producer, TOPIC, table)).batches()
        count += RECORDS
        await asyncio.sleep(0.2)
    await producer.stop()
    return count


async def consume(address: str, seen: bytearray, stop: asyncio.Event) -> None:
    """Count every number that this consumer returns."""
    from aiokafka import AIOKafkaConsumer

    consumer = AIOKafkaConsumer(
        TOPIC, bootstrap_servers=address, group_id="soak", auto_offset_reset="earliest", auto_commit_interval_ms=1000,
        session_timeout_ms=10_000, heartbeat_interval_ms=500,
    )  # fmt: skip
    await consumer.start()
    reader = fast.columns(consumer, ["value"], timeout_ms=200)
    while not stop.is_set():
        with contextlib.suppress(StopAsyncIteration):
            for value in (await anext(reader))["value"].to_pylist():
                seen[int(value.split()[0])] += 1
    await consumer.stop()  # which commits


def resident() -> float:
    """Return the resident set in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / (1 << 20)


async def soak(address: str, minutes: float) -> int:
    seen = bytearray(RECORDS * 300 * round(minutes + 1))  # times that each number was returned
    seen[:] = bytes(len(seen))  # the pages are resident from the start
    stop, leave = asyncio.Event(), asyncio.Event()
    until = time.monotonic() + 60 * minutes
    producing = asyncio.create_task(produce(address, until))
    members = [asyncio.create_task(consume(address, seen, stop)) for _ in range(2)]
    third: Any = None
    rebalances = 0
    memory: list[tuple[float, float]] = []
    while not producing.done():
        await asyncio.sleep(20)
        rebalances += 1
        if third is None:
            leave.clear()
            third = asyncio.create_task(consume(address, seen, leave))
        else:
            leave.set()
            await third
            third = None
        memory.append((time.monotonic(), resident()))
        print(f"{rebalances} rebalances, {len(seen) - seen.count(0):,} records, {memory[-1][1]:.0f} MiB", flush=True)
    count = producing.result()
    deadline = time.monotonic() + 60
    while seen.count(0, 0, count) and time.monotonic() < deadline:
        await asyncio.sleep(0.5)
    stop.set()
    leave.set()
    await asyncio.gather(*members, *([third] if third else []))
    lost, repeated = seen.count(0, 0, count), sum(seen) - count + seen.count(0, 0, count)
    growth = 60 * statistics.linear_regression(*zip(*memory[len(memory) // 2 :], strict=True)).slope
    print(f"{count:,} records sent, {lost} lost, {repeated} repeated; {rebalances} rebalances; "
          f"memory in the second half: {growth:+.2f} MiB a minute")  # fmt: skip
    return 1 if lost or repeated else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    options = parser.parse_args()
    sys.path.append(str(ROOT / "tests" / "log"))
    from kafka.admin import KafkaAdminClient, NewTopic

    from broker import Broker

    with tempfile.TemporaryDirectory() as directory, Broker(Path(directory)) as broker:
        admin = KafkaAdminClient(bootstrap_servers=broker.address)
        admin.create_topics([NewTopic(TOPIC, PARTITIONS, 1)])
        admin.close()
        return asyncio.run(soak(broker.address, options.minutes))


if __name__ == "__main__":
    sys.exit(main())
